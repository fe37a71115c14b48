/// \file
/// A square Toeplitz matrix between Fourier matrices is Cauchy-like (structmat/toeplitz/
/// to_cauchy_like.hpp has the formulas).
#pragma once

#include <vector>

#include "cauchy/elimination.hpp"
#include "structmat/fft/plan.hpp"
#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat::toeplitz {

/// The transforms of one size n.
template <RealScalar R>
class CauchyImage {
 public:
  using C = std::complex<R>;
  using Node = cauchy::CircleNode<R>;

  explicit CauchyImage(index_t n);

  index_t size() const { return n_; }
  /// exp(i pi m / 2n), 0 <= m < 4n
  const C& root(index_t m) const { return roots_[std::size_t(m)]; }

  /// The generators (n, 2) of the image of 2^-exponent T.
  template <Scalar T>
  void generators(const View<const T, 1>& lags, int exponent, View<C, 2> g, View<C, 2> h) const;

  /// The same as a problem of elimination. With a_i = (4i + 1) pi / 4n and b_j = (4j + 3) pi / 4n,
  ///   s_i - t_j = 2i exp(i (a_i + b_j) - i pi / 2n) sin(a_i - b_j),
  /// the nodes are tan a_i and tan b_j: the quarter of a step by which both are turned keeps them away
  /// from the pole.
  template <Scalar T>
  cauchy::Problem<C, Node> problem(const View<const T, 1>& lags, int exponent) const;

  /// Each row c of columns (k, n): the right-hand side of op(image), from that of op(T).
  void to_image(Op op, View<C, 2> columns) const;
  /// The solution with op(T), from that with op(image).
  void from_image(Op op, View<C, 2> columns) const;

 private:
  enum class Sign { minus, plus };
  /// row := F row or conj(F) row, F_jk = exp(2 pi i j k / n) / sqrt(n)
  void transform(Sign sign, C* row) const;
  /// row_j *= exp(+-i pi j / n)
  void twist(Sign sign, C* row) const;

  index_t n_;
  std::vector<C> roots_;
  fft::Plan<C> plan_;
};

}  // namespace structmat::toeplitz
