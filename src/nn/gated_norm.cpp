#include "structmat/nn/gated_norm.hpp"

#include <vector>

#include "core/threads.hpp"
#include "nn/activation.hpp"
#include "nn/gated_norm_operands.hpp"
#include "structmat/core/array.hpp"

namespace structmat::nn {
namespace {

/// What both directions need of a call.
template <Storage T>
struct Rows : GatedNormOperands<T> {
  using R = compute_t<T>;
  using Operands = GatedNormOperands<T>;
  using Operands::before, Operands::epsilon, Operands::group, Operands::w, Operands::x, Operands::z;
  using Operands::Operands;

  R weight(index_t c) const { return w.data() ? w(c) : R(1); }
  /// silu(z) of channel c, 1 without a gate.
  R gate(index_t row, index_t c) const { return z.data() ? silu(static_cast<R>(z(row, c))) : R(1); }
  /// What is normalised.
  R input(index_t row, index_t c) const {
    const R v = static_cast<R>(x(row, c));
    return before ? v * gate(row, c) : v;
  }
  /// (mean square of a group + eps)^(-1/2)
  R scale(index_t row, index_t first) const {
    double squares = 0;
    for (index_t c = first; c < first + group; ++c) {
      const double v = static_cast<double>(input(row, c));
      squares += v * v;
    }
    return static_cast<R>(1 / std::sqrt(squares / static_cast<double>(group) + epsilon));
  }
};

}  // namespace

template <Storage T>
void gated_norm(const exec::cpu& e, View<const T, 2> x, View<const T, 2> z,
                View<const compute_t<T>, 1> w, const GatedNormOptions& options, View<T, 2> y) {
  using R = compute_t<T>;
  constexpr auto operation = "nn::gated_norm";
  const Rows<T> rows(operation, x, z, w, options);
  rows.require_result(y);
  parallel_for(team_for(e.threads, 8 * x.size()), x.extent(0), [&](index_t row) {
    std::vector<R> group(static_cast<std::size_t>(rows.group));
    for (index_t first = 0; first < x.extent(1); first += rows.group) {
      const R scale = rows.scale(row, first);
      for (index_t c = 0; c < rows.group; ++c) {
        const R gate = rows.before ? R(1) : rows.gate(row, first + c);
        group[c] = rows.weight(first + c) * (rows.input(row, first + c) * scale) * gate;
      }
      for (index_t c = 0; c < rows.group; ++c) y(row, first + c) = static_cast<T>(group[c]);
    }
  });
}

template <Storage T>
void gated_norm_vjp(const exec::cpu& e, View<const T, 2> x, View<const T, 2> z,
                    View<const compute_t<T>, 1> w, const GatedNormOptions& options,
                    View<const T, 2> y_bar, View<T, 2> x_bar, View<T, 2> z_bar,
                    View<compute_t<T>, 1> w_bar) {
  using R = compute_t<T>;
  constexpr auto operation = "nn::gated_norm_vjp";
  const Rows<T> rows(operation, x, z, w, options);
  rows.require_cotangents(y_bar, x_bar, z_bar, w_bar);
  const auto put = [&](auto& to, R v) {
    to = static_cast<std::remove_cvref_t<decltype(to)>>(options.accumulate ? static_cast<R>(to) + v
                                                                           : v);
  };

  // Sums for w of so many rows, then of those.
  constexpr index_t together = 64;
  const index_t blocks = (x.extent(0) + together - 1) / together, channels = x.extent(1);
  Array<double, 2> sums({w_bar.data() ? blocks : 0, channels});
  parallel_for(team_for(e.threads, 16 * x.size()), blocks, [&](index_t block) {
    const index_t last = std::min(x.extent(0), (block + 1) * together);
    for (index_t row = block * together; row < last; ++row) {
      for (index_t first = 0; first < channels; first += rows.group) {
        const R scale = rows.scale(row, first);
        const auto normed = [&](index_t c) { return rows.input(row, c) * scale; };
        // The cotangent of what the norm gives.
        const auto cotangent = [&](index_t c) {
          const R y = static_cast<R>(y_bar(row, c)) * rows.weight(c);
          return rows.before ? y : y * rows.gate(row, c);
        };
        double product = 0;
        for (index_t c = first; c < first + rows.group; ++c) {
          product += static_cast<double>(cotangent(c)) * static_cast<double>(normed(c));
        }
        const R mean = static_cast<R>(product / static_cast<double>(rows.group));
        for (index_t c = first; c < first + rows.group; ++c) {
          const R n = normed(c), y = static_cast<R>(y_bar(row, c));
          const R input_bar = scale * (cotangent(c) - n * mean);
          const R z_value = z.data() ? static_cast<R>(z(row, c)) : R(0), gate = rows.gate(row, c);
          if (x_bar.data()) {
            put(x_bar(row, c), rows.before ? input_bar * gate : input_bar);
          }
          if (z_bar.data() && z.data()) {
            const R gate_bar =
                rows.before ? input_bar * static_cast<R>(x(row, c)) : y * rows.weight(c) * n;
            put(z_bar(row, c), gate_bar * silu_slope(z_value));
          }
          if (w_bar.data()) {
            sums(block, c) +=
                static_cast<double>(y) * static_cast<double>(rows.before ? n : n * gate);
          }
        }
      }
    }
  });
  if (!w_bar.data()) return;
  for (index_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (index_t block = 0; block < blocks; ++block) sum += sums(block, c);
    put(w_bar(c), static_cast<R>(sum));
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                              \
  template STRUCTMAT_EXPORT void gated_norm<T>(const exec::cpu&, View<const T, 2>,            \
                                               View<const T, 2>, View<const compute_t<T>, 1>, \
                                               const GatedNormOptions&, View<T, 2>);          \
  template STRUCTMAT_EXPORT void gated_norm_vjp<T>(                                           \
      const exec::cpu&, View<const T, 2>, View<const T, 2>, View<const compute_t<T>, 1>,      \
      const GatedNormOptions&, View<const T, 2>, View<T, 2>, View<T, 2>, View<compute_t<T>, 1>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
