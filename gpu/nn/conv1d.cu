#include "structmat/nn/conv1d.hpp"

#include <bit>
#include <cstdlib>
#include <limits>

#include "nn/conv1d_kernels.cuh"
#include "nn/conv1d_operands.hpp"
#include "nn/parameter_sums.cuh"
#include "nn/tiles.cuh"

namespace structmat::nn {
namespace {

using Cuda = space::cuda;

/// Tokens of a thread. In reverse mode it takes W - 1 steps more than tokens.
constexpr int forward_tokens = 32, backward_tokens = 61;
/// Channels of a thread.
template <Storage T>
constexpr int forward_channels = 16 / static_cast<int>(sizeof(T));
constexpr int backward_channels = 4;
/// Of one that takes number by number.
constexpr int strided_channels = 2;

template <Storage T>
struct Convolution : Conv1dOperands<T, Cuda> {
  using Base = Conv1dOperands<T, Cuda>;

  Convolution(const char* name, const Conv1dView<T, Cuda>& m_, const Conv1dInput<T, Cuda>& in_)
      : Base(name, m_, in_), packed(m_.starts.extent(0) > 0) {
    if (packed && this->sequences == 0 && this->length > 0) {
      throw DomainError(this->operation + ": no sequences in " + std::to_string(this->length) +
                        " tokens");
    }
  }

  /// Chunks of `tokens` tokens, at most.
  index_t slots(int tokens) const {
    return gpu::nn::slots_of(this->batch, this->length, this->sequences, packed, tokens);
  }
  index_t* take_table(gpu::Workspace& w) const {
    return w.take<index_t>(gpu::nn::table_size(this->sequences, packed));
  }
  /// Lanes for the channels of a tile in pieces of `each`.
  int lanes(int each) const {
    constexpr index_t most = 32;
    const index_t pieces = (this->channels + each - 1) / each;
    return static_cast<int>(
        std::min(most, static_cast<index_t>(std::bit_ceil(static_cast<std::uint64_t>(pieces)))));
  }
  index_t tiles(int each) const {
    return (this->channels + lanes(each) * each - 1) / (lanes(each) * each);
  }
  /// Rows of blocks.
  index_t rows(int tokens, int each) const {
    const int chunks = gpu::nn::conv_threads / lanes(each);
    return (slots(tokens) + chunks - 1) / chunks;
  }

  /// For threads with so many tokens and channels. Enqueues the making of the table.
  gpu::nn::ConvOperands<T> operands(cudaStream_t stream, int tokens, int each,
                                    index_t* table) const {
    gpu::nn::ConvOperands<T> o;
    o.tokens = gpu::nn::make_tokens(this->operation.c_str(), stream, this->batch, this->length,
                                    this->m.starts, tokens, table);
    o.x = gpu::strided(this->in.x);
    o.weight = gpu::strided(this->m.weight);
    o.bias = gpu::strided(this->m.bias);
    o.initial_state = gpu::strided(this->in.initial_state);
    o.channels = this->channels;
    o.taps = static_cast<int>(this->taps), o.ahead = static_cast<int>(this->m.ahead);
    o.silu = this->m.activation == Activation::silu;
    o.lanes = lanes(each);
    o.tiles = static_cast<unsigned>(tiles(each));
    return o;
  }
  unsigned blocks(int tokens, int each) const {
    const index_t count = rows(tokens, each) * tiles(each);
    if (count > std::numeric_limits<int>::max()) {
      throw Unsupported(this->operation + ": " + std::to_string(count) + " blocks in a grid");
    }
    return static_cast<unsigned>(count);
  }
  bool empty() const { return this->channels == 0 || slots(1) == 0 || this->length == 0; }

  template <class U, class V>
  void refuse_overlap(const U& read, const char* of, const V& written, const char* name) const {
    if (read.data() && written.data() && overlaps(read, written)) {
      throw Unsupported(this->operation + ": " + name + " overlaps " + of + " in memory");
    }
  }

  bool packed;
};

/// Can kernels take it in vectors, with tokens less than 2^31 bytes apart?
template <class V>
bool in_vectors(const V& v) {
  return gpu::nn::whole_vectors(v) &&
         std::abs(v.stride(1)) <=
             std::numeric_limits<int>::max() / static_cast<index_t>(sizeof(*v.data()));
}

/// The kernel for so many taps, in vectors with so many channels or number by number.
#define STRUCTMAT_CONV_KERNEL(name, T, taps, vectors, channels)             \
  ((taps) <= 4 ? ((vectors) ? gpu::nn::name<T, channels, 4, true>           \
                            : gpu::nn::name<T, strided_channels, 4, false>) \
               : ((vectors) ? gpu::nn::name<T, channels, 8, true>           \
                            : gpu::nn::name<T, strided_channels, 8, false>))

unsigned small_grid(const char* operation, index_t numbers) {
  return gpu::persistent_blocks(numbers, gpu::nn::conv_threads, gpu::multiprocessors(operation));
}

}  // namespace

template <Storage T>
index_t apply_workspace_bytes(const Conv1dView<T, Cuda>& m, const Conv1dInput<T, Cuda>& in) {
  constexpr auto operation = "nn::conv1d::apply_workspace_bytes";
  const Convolution<T> c(operation, m, in);
  return gpu::counted(operation, [&](gpu::Workspace& w) { return c.take_table(w); });
}

template <Storage T>
void apply(const exec::cuda& e, const Conv1dView<T, Cuda>& m, const Conv1dInput<T, Cuda>& in,
           const Conv1dOutput<T, Cuda>& out) {
  constexpr auto operation = "nn::conv1d::apply";
  const Convolution<T> c(operation, m, in);
  c.require_results(out);
  gpu::require_writable(operation, out.y, "y");
  gpu::require_writable(operation, out.final_state, "final_state");
  index_t* const table =
      gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { return c.take_table(w); });
  if (c.channels == 0 || c.sequences == 0) return;
  const cudaStream_t stream = gpu::stream_of(e);
  const bool vectors = in_vectors(in.x) && in_vectors(out.y);
  const int each = vectors ? forward_channels<T> : strided_channels;
  const auto operands = c.operands(stream, forward_tokens, each, table);
  gpu::nn::ConvForward<T> p{operands, gpu::strided(out.y), {}};
  // Where one thread has the whole of a sequence, its state may advance in place there.
  const bool alone = !c.packed && c.length <= forward_tokens && !c.empty();
  if (alone) p.final_state = gpu::strided(out.final_state);
  if (!c.empty()) {
    gpu::launch(operation,
                STRUCTMAT_CONV_KERNEL(conv_forward, T, c.taps, vectors, forward_channels<T>),
                c.blocks(forward_tokens, each), gpu::nn::conv_threads, stream, p);
  }
  const index_t states = out.final_state.data() ? c.sequences * c.channels : 0;
  if (alone || states == 0) return;
  p.final_state = gpu::strided(out.final_state);
  gpu::launch(operation, gpu::nn::conv_final_states<T>, small_grid(operation, states),
              gpu::nn::conv_threads, stream, p);
}

namespace {

struct BackwardArrays {
  index_t* table;
  float* sums;
};

template <Storage T>
BackwardArrays take_arrays(const Convolution<T>& c, gpu::Workspace& w) {
  index_t* const table = c.take_table(w);
  // In vectors or not.
  const index_t rows = std::max(c.rows(backward_tokens, backward_channels),
                                c.rows(backward_tokens, strided_channels));
  return {table, w.take<float>(rows * (c.taps + 1) * c.channels)};
}

}  // namespace

template <Storage T>
index_t apply_vjp_workspace_bytes(const Conv1dView<T, Cuda>& m, const Conv1dInput<T, Cuda>& in) {
  constexpr auto operation = "nn::conv1d::apply_vjp_workspace_bytes";
  const Convolution<T> c(operation, m, in);
  return gpu::counted(operation, [&](gpu::Workspace& w) { return take_arrays(c, w); });
}

template <Storage T>
void apply_vjp(const exec::cuda& e, const Conv1dView<T, Cuda>& m, const Conv1dInput<T, Cuda>& in,
               View<const T, 3, Cuda> y_bar, View<const compute_t<T>, 3, Cuda> final_state_bar,
               const Conv1dCotangent<T, Cuda>& bar) {
  constexpr auto operation = "nn::conv1d::apply_vjp";
  const Convolution<T> c(operation, m, in);
  c.require_cotangents(y_bar, final_state_bar, bar);
  gpu::require_writable(operation, bar.x, "the cotangent of x");
  gpu::require_writable(operation, bar.weight, "the cotangent of weight");
  gpu::require_writable(operation, bar.bias, "the cotangent of bias");
  gpu::require_writable(operation, bar.initial_state, "the cotangent of initial_state");
  c.refuse_overlap(y_bar, "y_bar", bar.x, "the cotangent of x");
  c.refuse_overlap(final_state_bar, "final_state_bar", bar.initial_state,
                   "the cotangent of initial_state");
  const auto [table, sums] =
      gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) { return take_arrays(c, w); });
  if (c.channels == 0) return;
  const cudaStream_t stream = gpu::stream_of(e);
  const bool parameters = bar.weight.data() || bar.bias.data();
  const bool vectors =
      in_vectors(in.x) && in_vectors(y_bar) && (!bar.x.data() || in_vectors(bar.x));
  const int each = vectors ? backward_channels : strided_channels;
  const auto operands = c.operands(stream, backward_tokens, each, table);
  const gpu::nn::ConvBackward<T> p{operands,
                                   gpu::strided(y_bar),
                                   gpu::strided(final_state_bar),
                                   gpu::strided(bar.x),
                                   gpu::strided(bar.initial_state),
                                   bar.accumulate,
                                   parameters ? sums : nullptr};
  if (!c.empty() && (parameters || bar.x.data())) {
    gpu::launch(operation,
                STRUCTMAT_CONV_KERNEL(conv_backward, T, c.taps, vectors, backward_channels),
                c.blocks(backward_tokens, each), gpu::nn::conv_threads, stream, p);
  }
  if (parameters) {
    gpu::nn::sum_parameters(operation, stream, sums, c.empty() ? 0 : c.rows(backward_tokens, each),
                            c.channels, {gpu::strided(bar.weight.transposed()), c.taps},
                            {{bar.bias.data(), {0, bar.bias.stride(0)}}, 1}, bar.accumulate);
  }
  const index_t states = bar.initial_state.data() ? c.sequences * c.channels * (c.taps - 1) : 0;
  if (states == 0) return;
  gpu::launch(operation, gpu::nn::conv_initial_states<T>, small_grid(operation, states),
              gpu::nn::conv_threads, stream, p);
}

#define STRUCTMAT_INSTANTIATE(T)                                                               \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes<T>(const Conv1dView<T, Cuda>&,       \
                                                             const Conv1dInput<T, Cuda>&);     \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cuda&, const Conv1dView<T, Cuda>&,       \
                                          const Conv1dInput<T, Cuda>&,                         \
                                          const Conv1dOutput<T, Cuda>&);                       \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes<T>(const Conv1dView<T, Cuda>&,   \
                                                                 const Conv1dInput<T, Cuda>&); \
  template STRUCTMAT_EXPORT void apply_vjp<T>(                                                 \
      const exec::cuda&, const Conv1dView<T, Cuda>&, const Conv1dInput<T, Cuda>&,              \
      View<const T, 3, Cuda>, View<const compute_t<T>, 3, Cuda>, const Conv1dCotangent<T, Cuda>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
