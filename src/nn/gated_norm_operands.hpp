/// \file
/// Checks of the operands of gated norms, whatever space they are in.
#pragma once

#include <string>

#include "structmat/core/error.hpp"
#include "structmat/nn/gated_norm.hpp"

namespace structmat::nn {

template <Storage T, class Space = space::host>
struct GatedNormOperands {
  using R = compute_t<T>;

  /// Checks everything but results. Throws ShapeError, DomainError.
  GatedNormOperands(const std::string& operation_, const View<const T, 2, Space>& x_,
                    const View<const T, 2, Space>& z_, const View<const R, 1, Space>& w_,
                    const GatedNormOptions& options)
      : operation(operation_),
        x(x_),
        z(z_),
        w(w_),
        epsilon(options.epsilon),
        before(options.gate == Gate::before) {
    const index_t channels = x.extent(1);
    group = options.group == 0 ? channels : options.group;
    if (group < 0 || (channels > 0 && channels % group != 0)) {
      throw ShapeError(operation + ": groups of " + std::to_string(options.group) +
                       " channels do not divide " + std::to_string(channels));
    }
    if (z.data()) require_same("z", z);
    require_channels("w", w);
    if (!(epsilon >= 0)) {
      throw DomainError(operation + ": epsilon is " + std::to_string(epsilon) + ", expected >= 0");
    }
  }

  void require_result(const View<T, 2, Space>& y) const {
    require_same("y", y);
    const auto same = [&](const View<const T, 2, Space>& v) {
      return v.data() == y.data() && v.strides() == y.strides();
    };
    if ((overlaps(x, y) && !same(x)) || (z.data() && overlaps(z, y) && !same(z))) {
      throw DomainError(operation + ": y overlaps x or z in memory without being it");
    }
  }
  void require_cotangents(const View<const T, 2, Space>& y_bar, const View<T, 2, Space>& x_bar,
                          const View<T, 2, Space>& z_bar, const View<R, 1, Space>& w_bar) const {
    require_same("y_bar", y_bar);
    if (x_bar.data()) require_same("x_bar", x_bar);
    if (z_bar.data()) require_same("z_bar", z_bar);
    require_channels("w_bar", w_bar);
    require_apart("x_bar", x_bar);
    require_apart("z_bar", z_bar);
    require_apart("w_bar", w_bar);
  }

  std::string operation;
  View<const T, 2, Space> x, z;
  View<const R, 1, Space> w;
  double epsilon;
  bool before;
  index_t group = 0;

 private:
  template <class V>
  void require_same(const char* name, const V& v) const {
    if (v.extents() == x.extents()) return;
    throw ShapeError(operation + ": " + name + " is " + std::to_string(v.extent(0)) + " x " +
                     std::to_string(v.extent(1)) + ", x is " + std::to_string(x.extent(0)) + " x " +
                     std::to_string(x.extent(1)));
  }
  template <class V>
  void require_channels(const char* name, const V& v) const {
    if (!v.data() || v.extent(0) == x.extent(1)) return;
    throw ShapeError(operation + ": " + name + " has " + std::to_string(v.extent(0)) +
                     " numbers, x has " + std::to_string(x.extent(1)) + " channels");
  }
  template <class V>
  void require_apart(const char* name, const V& v) const {
    if (!v.data()) return;
    if (overlaps(x, v) || (z.data() && overlaps(z, v)) || (w.data() && overlaps(w, v))) {
      throw DomainError(operation + ": " + name + " overlaps an input in memory");
    }
  }
};

}  // namespace structmat::nn
