#include "structmat/nn/gated_norm.hpp"

#include <string>
#include <vector>

#include "core/threads.hpp"
#include "nn/activation.hpp"
#include "structmat/core/array.hpp"
#include "structmat/core/error.hpp"

namespace structmat::nn {
namespace {

/// What both directions need of a call.
template <Storage T>
struct Rows {
  using R = compute_t<T>;

  Rows(const std::string& operation, const View<const T, 2>& x_, const View<const T, 2>& z_,
       const View<const R, 1>& w_, const GatedNormOptions& options)
      : x(x_), z(z_), w(w_), epsilon(options.epsilon), before(options.gate == Gate::before) {
    const index_t channels = x.extent(1);
    group = options.group == 0 ? channels : options.group;
    if (group < 0 || (channels > 0 && channels % group != 0)) {
      throw ShapeError(operation + ": groups of " + std::to_string(options.group) +
                       " channels do not divide " + std::to_string(channels));
    }
    require_same(operation, "z", z);
    if (w.data() && w.extent(0) != channels) {
      throw ShapeError(operation + ": w has " + std::to_string(w.extent(0)) + " numbers, x has " +
                       std::to_string(channels) + " channels");
    }
    if (!(epsilon >= 0)) {
      throw DomainError(operation + ": epsilon is " + std::to_string(epsilon) + ", expected >= 0");
    }
  }

  template <class U>
  void require_same(const std::string& operation, const char* name, const View<U, 2>& v) const {
    if (!v.data() || v.extents() == x.extents()) return;
    throw ShapeError(operation + ": " + name + " is " + std::to_string(v.extent(0)) + " x " +
                     std::to_string(v.extent(1)) + ", x is " + std::to_string(x.extent(0)) + " x " +
                     std::to_string(x.extent(1)));
  }
  template <class U>
  void require_apart(const std::string& operation, const char* name, const U& v) const {
    if (!v.data()) return;
    if (overlaps(x, v) || (z.data() && overlaps(z, v)) || (w.data() && overlaps(w, v))) {
      throw DomainError(operation + ": " + name + " overlaps an input in memory");
    }
  }

  R weight(index_t c) const { return w.data() ? w(c) : R(1); }
  /// silu(z) of channel c, 1 without a gate.
  R gate(index_t row, index_t c) const {
    return z.data() ? silu(static_cast<R>(z(row, c))) : R(1);
  }
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

  View<const T, 2> x, z;
  View<const R, 1> w;
  double epsilon;
  bool before;
  index_t group = 0;
};

}  // namespace

template <Storage T>
void gated_norm(const exec::cpu& e, View<const T, 2> x, View<const T, 2> z,
                View<const compute_t<T>, 1> w, const GatedNormOptions& options, View<T, 2> y) {
  using R = compute_t<T>;
  constexpr auto operation = "nn::gated_norm";
  const Rows<T> rows(operation, x, z, w, options);
  if (y.extents() != x.extents()) rows.require_same(operation, "y", View<const T, 2>(y));
  const auto same = [&](const View<const T, 2>& v) {
    return v.data() == y.data() && v.strides() == y.strides();
  };
  if ((overlaps(x, View<const T, 2>(y)) && !same(x)) ||
      (z.data() && overlaps(z, View<const T, 2>(y)) && !same(z))) {
    throw DomainError(std::string(operation) + ": y overlaps x or z in memory without being it");
  }
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
  rows.require_same(operation, "y_bar", y_bar);
  rows.require_same(operation, "x_bar", x_bar);
  rows.require_same(operation, "z_bar", z_bar);
  if (w_bar.data() && w_bar.extent(0) != x.extent(1)) {
    throw ShapeError(std::string(operation) + ": w_bar has " + std::to_string(w_bar.extent(0)) +
                     " numbers, x has " + std::to_string(x.extent(1)) + " channels");
  }
  rows.require_apart(operation, "x_bar", View<const T, 2>(x_bar));
  rows.require_apart(operation, "z_bar", View<const T, 2>(z_bar));
  rows.require_apart(operation, "w_bar", View<const R, 1>(w_bar));

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
            x_bar(row, c) = static_cast<T>(static_cast<R>(x_bar(row, c)) +
                                           (rows.before ? input_bar * gate : input_bar));
          }
          if (z_bar.data() && z.data()) {
            const R gate_bar =
                rows.before ? input_bar * static_cast<R>(x(row, c)) : y * rows.weight(c) * n;
            z_bar(row, c) =
                static_cast<T>(static_cast<R>(z_bar(row, c)) + gate_bar * silu_slope(z_value));
          }
          if (w_bar.data()) {
            sums(block, c) += static_cast<double>(y) *
                              static_cast<double>(rows.before ? n : n * gate);
          }
        }
      }
    }
  });
  if (!w_bar.data()) return;
  for (index_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (index_t block = 0; block < blocks; ++block) sum += sums(block, c);
    w_bar(c) += static_cast<R>(sum);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                              \
  template STRUCTMAT_EXPORT void gated_norm<T>(const exec::cpu&, View<const T, 2>,            \
                                               View<const T, 2>, View<const compute_t<T>, 1>, \
                                               const GatedNormOptions&, View<T, 2>);          \
  template STRUCTMAT_EXPORT void gated_norm_vjp<T>(                                           \
      const exec::cpu&, View<const T, 2>, View<const T, 2>, View<const compute_t<T>, 1>,      \
      const GatedNormOptions&, View<const T, 2>, View<T, 2>, View<T, 2>,                      \
      View<compute_t<T>, 1>);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::nn
