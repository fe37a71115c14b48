#include "structmat/nn/gated_norm.hpp"

#include <bit>

#include "core/workspace.cuh"
#include "nn/gated_norm_kernels.cuh"
#include "nn/gated_norm_operands.hpp"
#include "nn/parameter_sums.cuh"
#include "nn/tiles.cuh"

namespace structmat::nn {
namespace {

using Cuda = space::cuda;

/// Blocks that work at the same time on a large device. Sums for w depend on it.
constexpr index_t forward_blocks = 528, backward_blocks = 264;

template <Storage T>
struct Norm : GatedNormOperands<T, Cuda> {
  using GatedNormOperands<T, Cuda>::GatedNormOperands;
  static constexpr index_t each = 16 / sizeof(T);

  index_t rows() const { return this->x.extent(0); }
  index_t channels() const { return this->x.extent(1); }
  index_t groups() const { return this->group == 0 ? 0 : channels() / this->group; }
  bool empty() const { return rows() == 0 || channels() == 0; }

  /// How rows are shared out; pieces: those of a thread, 0 without vectors.
  struct Plan {
    int pieces, team, teams;
    index_t row_blocks;
    index_t parts() const { return row_blocks * teams; }
  };
  template <class... V>
  bool vectors(const V&... operand) const {
    return this->group % each == 0 && ((!operand.data() || gpu::nn::whole_vectors(operand)) && ...);
  }
  Plan plan(bool whole, index_t blocks) const {
    const auto power = [](index_t n) {
      return static_cast<index_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
    };
    const index_t pieces = this->group / each;
    Plan plan{};
    index_t team = std::min<index_t>(32, power(this->group));
    if (whole && pieces <= gpu::nn::norm_pieces * gpu::nn::norm_threads) {
      plan.pieces = pieces <= gpu::nn::norm_threads       ? 1
                    : pieces <= 2 * gpu::nn::norm_threads ? 2
                                                          : gpu::nn::norm_pieces;
      const index_t warps = (pieces + 32 * plan.pieces - 1) / (32 * plan.pieces);
      team = pieces <= 32 ? power(pieces) : 32 * warps;
    }
    plan.team = static_cast<int>(team);
    plan.teams = gpu::nn::norm_threads / plan.team;
    plan.row_blocks =
        std::min((rows() + plan.teams - 1) / plan.teams, std::max<index_t>(1, blocks / groups()));
    return plan;
  }
  gpu::nn::NormOperands<T> operands(const Plan& plan) const {
    return {gpu::strided(this->x),
            gpu::strided(this->z),
            gpu::strided(this->w),
            rows(),
            groups(),
            this->group,
            static_cast<float>(this->epsilon),
            plan.team,
            plan.teams,
            plan.row_blocks};
  }
  gpu::Grid grid(const Plan& plan) const {
    return {static_cast<unsigned>(groups() * plan.row_blocks),
            static_cast<unsigned>(plan.team * plan.teams)};
  }
};

using gpu::nn::NormGate;

/// Calls launch(gate as a constant) for where the gate is.
template <Storage T, class F>
void with_gate(const Norm<T>& n, const F& launch) {
  if (!n.z.data()) {
    launch(std::integral_constant<NormGate, NormGate::none>{});
  } else if (n.before) {
    launch(std::integral_constant<NormGate, NormGate::before>{});
  } else {
    launch(std::integral_constant<NormGate, NormGate::after>{});
  }
}

template <Storage T>
index_t backward_parts(const Norm<T>& n, bool whole) {
  return n.empty() ? 0 : n.plan(whole, backward_blocks).parts();
}

}  // namespace

template <Storage T>
void gated_norm(const exec::cuda& e, View<const T, 2, Cuda> x, View<const T, 2, Cuda> z,
                View<const compute_t<T>, 1, Cuda> w, const GatedNormOptions& options,
                View<T, 2, Cuda> y) {
  constexpr auto operation = "nn::gated_norm";
  const Norm<T> n(operation, x, z, w, options);
  n.require_result(y);
  gpu::require_writable(operation, y, "y");
  if (n.empty()) return;
  const auto plan = n.plan(n.vectors(x, z, y), forward_blocks);
  const gpu::nn::NormForward<T> p{n.operands(plan), gpu::strided(y)};
  with_gate(n, [&](auto gate) {
    constexpr NormGate is = decltype(gate)::value;
    const auto kernel = plan.pieces == 0   ? gpu::nn::norm_forward_strided<T, is>
                        : plan.pieces == 1 ? gpu::nn::norm_forward<T, is, 1>
                        : plan.pieces == 2 ? gpu::nn::norm_forward<T, is, 2>
                                           : gpu::nn::norm_forward<T, is, 4>;
    gpu::launch(operation, kernel, n.grid(plan), gpu::stream_of(e), p);
  });
}

template <Storage T>
index_t gated_norm_workspace_bytes(View<const T, 2, Cuda> x, const GatedNormOptions& options) {
  const Norm<T> checked("nn::gated_norm_workspace_bytes", x, {}, {}, options);
  return 0;
}

template <Storage T>
index_t gated_norm_vjp_workspace_bytes(View<const T, 2, Cuda> x, const GatedNormOptions& options) {
  constexpr auto operation = "nn::gated_norm_vjp_workspace_bytes";
  const Norm<T> n(operation, x, {}, {}, options);
  // Whichever way other operands allow.
  const index_t parts = std::max(backward_parts(n, n.vectors(x)), backward_parts(n, false));
  return gpu::counted(
      operation, [&](gpu::Workspace& memory) { return memory.take<float>(parts * n.channels()); });
}

template <Storage T>
void gated_norm_vjp(const exec::cuda& e, View<const T, 2, Cuda> x, View<const T, 2, Cuda> z,
                    View<const compute_t<T>, 1, Cuda> w, const GatedNormOptions& options,
                    View<const T, 2, Cuda> y_bar, View<T, 2, Cuda> x_bar, View<T, 2, Cuda> z_bar,
                    View<compute_t<T>, 1, Cuda> w_bar) {
  constexpr auto operation = "nn::gated_norm_vjp";
  const Norm<T> n(operation, x, z, w, options);
  n.require_cotangents(y_bar, x_bar, z_bar, w_bar);
  gpu::require_writable(operation, x_bar, "x_bar");
  gpu::require_writable(operation, z_bar, "z_bar");
  gpu::require_writable(operation, w_bar, "w_bar");
  if (!z.data()) z_bar = {};
  const bool whole = n.vectors(x, z, y_bar, x_bar, z_bar);
  const index_t parts = backward_parts(n, whole);
  float* const sums = gpu::cut(operation, e.workspace, [&](gpu::Workspace& memory) {
    return memory.take<float>(w_bar.data() ? parts * n.channels() : 0);
  });
  const cudaStream_t stream = gpu::stream_of(e);
  if (!n.empty()) {
    const auto plan = n.plan(whole, backward_blocks);
    const gpu::nn::NormBackward<T> p{n.operands(plan),    gpu::strided(y_bar),
                                     gpu::strided(x_bar), gpu::strided(z_bar),
                                     options.accumulate,  w_bar.data() ? sums : nullptr};
    with_gate(n, [&](auto gate) {
      constexpr NormGate is = decltype(gate)::value;
      const auto kernel = plan.pieces == 0   ? gpu::nn::norm_backward_strided<T, is>
                          : plan.pieces == 1 ? gpu::nn::norm_backward<T, is, 1>
                          : plan.pieces == 2 ? gpu::nn::norm_backward<T, is, 2>
                                             : gpu::nn::norm_backward<T, is, 4>;
      gpu::launch(operation, kernel, n.grid(plan), stream, p);
    });
  }
  if (!w_bar.data()) return;
  gpu::nn::sum_parameters(operation, stream, sums, parts, n.channels(),
                          {{w_bar.data(), {0, w_bar.stride(0)}}, 1}, {}, options.accumulate);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                \
  template STRUCTMAT_EXPORT void gated_norm<T>(                                                 \
      const exec::cuda&, View<const T, 2, Cuda>, View<const T, 2, Cuda>,                        \
      View<const compute_t<T>, 1, Cuda>, const GatedNormOptions&, View<T, 2, Cuda>);            \
  template STRUCTMAT_EXPORT index_t gated_norm_workspace_bytes<T>(View<const T, 2, Cuda>,       \
                                                                  const GatedNormOptions&);     \
  template STRUCTMAT_EXPORT index_t gated_norm_vjp_workspace_bytes<T>(View<const T, 2, Cuda>,   \
                                                                      const GatedNormOptions&); \
  template STRUCTMAT_EXPORT void gated_norm_vjp<T>(                                             \
      const exec::cuda&, View<const T, 2, Cuda>, View<const T, 2, Cuda>,                        \
      View<const compute_t<T>, 1, Cuda>, const GatedNormOptions&, View<const T, 2, Cuda>,       \
      View<T, 2, Cuda>, View<T, 2, Cuda>, View<compute_t<T>, 1, Cuda>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
