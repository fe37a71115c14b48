/// \file
/// The three kinds of matrices that a plan reduces every displacement to: shift and shift, diagonal and
/// shift, diagonal and diagonal, all Sylvester with plain shifts.
#pragma once

#include <memory>

#include "structmat/core/exec.hpp"
#include "structmat/displacement/generators.hpp"

namespace structmat::displacement {

template <Scalar T>
class Core {
 public:
  explicit Core(Generators<T> x) : x_(std::move(x)) {}
  virtual ~Core() = default;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  index_t rows() const { return x_.rows(); }
  index_t cols() const { return x_.cols(); }
  index_t order() const { return x_.order(); }

  /// y := X x or X^T x. x: (n, k), y: (m, k) or exchanged, any strides.
  virtual void apply(const exec::cpu& e, bool transposed, View<const T, 2> x,
                     View<T, 2> y) const = 0;
  virtual T entry(index_t i, index_t j) const = 0;
  /// dense holds G H^T and receives X.
  virtual void solve_displacement(View<T, 2> dense) const = 0;

  const Generators<T>& generators() const { return x_; }

 protected:
  Generators<T> x_;
};

/// Z_e X - X Z_f.
template <Scalar T>
std::unique_ptr<const Core<T>> make_toeplitz_like(Generators<T> x);
/// D_x X - X Z_f.
template <Scalar T>
std::unique_ptr<const Core<T>> make_vandermonde_like(Generators<T> x);
/// D_s X - X D_t.
template <Scalar T>
std::unique_ptr<const Core<T>> make_cauchy_like(Generators<T> x);

}  // namespace structmat::displacement
