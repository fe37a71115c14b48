/// \file
/// Toeplitz matrices as quasiseparable ones: M_ij = c_{i-j}, where the lags of either side come from
/// a small state,
///   c_l = C A^{l-1} B,  l >= 1          p_i^T = C,  a_i = A,  q_j = B.
///
/// | lags given as                    | function                 | transitions |
/// |----------------------------------|--------------------------|-------------|
/// | sum_k alpha_k z_k^l              | from_exponentials        | Diagonal    |
/// | a rational function of the shift | from_rational_symbol     | Dense       |
/// | numbers                          | realise, from_toeplitz   | Dense       |
///
/// Generators do not depend on the index: results are matrices of size 1, and repeated(m, n) is the
/// n x n Toeplitz matrix with these generators at each index, without a copy. It may be longer than
/// the vector of lags: the state continues it.
#pragma once

#include <optional>
#include <vector>

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// The matrix of size n whose generators at each index are those of m, of size 1 (views of stride 0
/// that refer to m). n >= 0. Throws ShapeError.
template <Scalar T, transition::Uniform K>
QuasiseparableView<T, K> repeated(const QuasiseparableView<T, K>& m, index_t n);

/// c_l = sum_k weights_k bases_k^l.
template <Scalar T>
struct Exponentials {
  std::vector<T> weights, bases;
};

/// i > j: M_ij = sum_k alpha_k z_k^{i-j} of `lower`; i = j: diagonal; i < j: the same of `upper` with
/// j - i.
///
/// Orders: the numbers of terms. p = 1, a = z, q = alpha z. Cost: O(r). Exact but for one product a
/// term. Throws ShapeError (as many weights as bases).
template <Scalar T>
Quasiseparable<T, transition::Diagonal> from_exponentials(const Exponentials<T>& lower, T diagonal,
                                                          const Exponentials<T>& upper);

/// numerator(z) / denominator(z), coefficients of z^0 first.
template <Scalar T>
struct Rational {
  std::vector<T> numerator, denominator{T{1}};
};

/// M = f(Z) + g(Z^T) for the down-shift Z, f = lower, g = upper: the lags are the coefficients of the
/// power series, f_l below, g_l above, f_0 + g_0 on the diagonal.
///
/// Orders: the larger one of both degrees. A is the companion matrix of the denominator, B = e_1.
/// Cost: O(r^2). Accuracy: that of the recursion sum_k denominator_k f_{l-k} = numerator_l. Throws
/// DomainError (no denominator, or one that vanishes at 0).
template <Scalar T>
Quasiseparable<T, transition::Dense> from_rational_symbol(const Rational<T>& lower,
                                                          const Rational<T>& upper);

struct RealiseOptions {
  /// max_l |c_l - C A^{l-1} B| <= tolerance max_l |c_l|. Unset: (1000 + m) eps for m lags.
  std::optional<double> tolerance{};
  /// The largest state; the order is below half of the number of lags anyway. Unset: 256.
  std::optional<index_t> order{};
  /// Brings eigenvalues of A outside of the unit disc back, see realise.
  bool stabilise = true;
  /// Longer vectors of lags take the randomised path.
  index_t direct = 256;
};

/// Lags c_l ~ C A^{l-1} B, and how well.
template <Scalar T>
struct Realisation {
  Array<T, 2> a;  ///< (r, r)
  Array<T, 1> b;  ///< (r)
  Array<T, 1> c;  ///< (r)
  /// max_l |c_l - C A^{l-1} B| and the root of the sum of squares, measured over all lags given.
  double max_error = 0, l2_error = 0;
  double max_lag = 0;            ///< max_l |c_l|
  bool within_tolerance = true;  ///< max_error <= tolerance max_lag
  double spectral_radius = 0;    ///< the largest |eigenvalue| of the A that was found
  bool stabilised = false;       ///< A is another one: its eigenvalues are inside of the unit disc

  index_t order() const { return b.extent(0); }
};

/// A long convolution kernel distilled into a small state, by the method of Kung.
///
/// lags: c_1, c_2, ..., c_m in, any stride, finite.
/// The Hankel matrix H_ij = c_{i+j+1} of q = ceil((m + 1) / 2) columns and p = m + 1 - q rows is U S
/// V^H. R = S^{1/2} V^H (its first r rows) holds the states reached; B is its first column, C the row
/// of H that C R is to be, and A the least-squares solution of A R(:, :q-1) = R(:, 1:).
/// The order is the smallest one with which the lags, computed from (A, B, C), keep to the tolerance,
/// starting from the r with sigma_{r+1} <= q tolerance max |c_l|, below which none can. Where none
/// does, it is the number of singular values above 10 eps sigma_1.
/// m <= direct: H is formed. Otherwise H is multiplied by FFT: the range of H is found by a Gaussian
/// block with one power iteration, doubled until the singular values fall below the tolerance.
/// Stabilising: eigenvalues of modulus above 1 make long products grow. A / spectral_radius is taken
/// if it keeps to the tolerance; otherwise S^{1/2} V_right^H V_left S^{-1/2}, which takes the states
/// behind the last lag to be 0, and is a contraction for the inner product S^{-1}; the errors then
/// say what that costs.
/// That is no treatment for kernels that do grow: they need stabilise = false.
/// Cost: O(m^3 / 8) direct; else O(k m log m + k^2 m) for k about twice the order, plus O(m r^2) for
/// each order tried; workspace O(k m). Accuracy: singular values of H below about 10 eps sigma_1 are
/// noise, a tolerance below that is not reached.
/// Throws DomainError (NaN or Inf, with its lag; a negative tolerance or order), BackendError.
/// Source: Kung, "A new identification and model reduction algorithm via singular value
/// decomposition", Asilomar (1978); Halko, Martinsson, Tropp, "Finding structure with randomness",
/// SIAM Rev. 53 (2011), for the range.
template <Scalar T>
Realisation<T> realise(View<const T, 1> lags, const RealiseOptions& options = {});

/// Result of from_toeplitz.
template <Scalar T>
struct FromToeplitz {
  Quasiseparable<T, transition::Dense> matrix;  ///< of size 1; see repeated
  Realisation<T> lower, upper;
};

/// i > j: M_ij ~ lower_{i-j}, i = j: diagonal, i < j: M_ij ~ upper_{j-i}.
///
/// lower, upper: lags 1, 2, ... in, any stride and number, finite. Cost, accuracy, throws: as realise
/// for both sides.
template <Scalar T>
FromToeplitz<T> from_toeplitz(View<const T, 1> lower, T diagonal, View<const T, 1> upper,
                              const RealiseOptions& options = {});

}  // namespace structmat::quasiseparable
