/// \file
/// Factors of a square Toeplitz matrix: LU with pivoting of its Cauchy-like image, in O(n^2).
///
///   T = F^H C F D (to_cauchy_like.hpp),  C = L U but for the order of rows and columns
///
/// F and D are unitary, so that pivots do what they do for dense matrices: no leading minor of T needs
/// to be regular, and indefinite and complex matrices are as good as any. The price is complex
/// arithmetic for real T.
#pragma once

#include <memory>
#include <vector>

#include "structmat/cauchy/lu.hpp"
#include "structmat/toeplitz/hankel.hpp"

namespace structmat::toeplitz {

template <RealScalar R>
class CauchyImage;

/// The factors of one matrix or a batch, from factor_lu; immutable.
template <Scalar T>
class Lu {
 public:
  using value_type = T;

  index_t batch() const { return static_cast<index_t>(entries_.size()); }
  index_t size() const { return size_; }
  index_t rows() const { return size_; }
  index_t cols() const { return size_; }
  /// As cauchy::Lu::status; not_finite: lags, with the index of the first bad one from c_{1-n} on.
  const PivotStatus& status() const { return status_; }
  /// As cauchy::Lu::growth.
  double growth() const { return growth_; }

 private:
  template <Scalar U>
  friend struct LuBuilder;
  struct Entry;
  index_t size_ = 0;
  std::shared_ptr<const CauchyImage<real_t<T>>> image_;
  std::vector<std::shared_ptr<const Entry>> entries_;
  PivotStatus status_{};
  double growth_ = 1;
};

/// m: n x n; batch broadcast. Cost: about 42 n^2 flops and n^2 divisions, of real numbers, and
/// O(n log n) for transforms; O(n) memory, Storage::full n^2 complex numbers. Threads: over the batch.
/// Accuracy: backward error about growth n eps ||T||_F. Breakdown is in status(). Throws ShapeError
/// (m x n with m != n).
template <Scalar T>
Lu<T> factor_lu(const exec::cpu& e, const ToeplitzView<T>& m,
                const cauchy::LuOptions& options = {});
template <Scalar T>
Lu<T> factor_lu(const Toeplitz<T>& m, const cauchy::LuOptions& options = {}) {
  return factor_lu(exec::cpu{}, m.view(), options);
}

/// x := op(T)^-1 b.
///
/// f: usable; b: (batch, n, k) in, x: (batch, n, k) out; any strides; a batch extent 1 of f or b is
/// broadcast. b and x may be the same view, and must not overlap otherwise. Cost: 2 n^2 entries of L
/// and U are written again, 40 flops each; 8 n^2 flops for each right-hand side. Workspace: 64 n
/// complex numbers for each thread. Accuracy: backward error about growth n eps; solve.hpp refines.
/// Throws ShapeError, DomainError (f broke down; partial overlap).
template <Scalar T>
void solve(const exec::cpu& e, const Lu<T>& f, Op op, View<const T, 3> b, View<T, 3> x);
template <Scalar T, detail::Operand B, class X>
void solve(const exec::cpu& e, const Lu<T>& f, const B& b, X&& x) {
  solve(e, f, Op::none, detail::input<T>(b), detail::output<T>(x));
}

/// det T of one batch entry, as a logarithm and a sign. Accuracy: absolute error of log_abs about
/// n eps times growth and condition number. Sign 0 where T is singular. Throws ShapeError, DomainError
/// (lags that are not finite).
template <Scalar T>
LogDeterminant<T> log_determinant(const Lu<T>& f, index_t batch = 0);

}  // namespace structmat::toeplitz
