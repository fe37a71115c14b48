/// \file
/// "Order at most N" by random compressions: every off-diagonal block of a matrix is judged by an s
/// x s matrix, s = N + 1 + oversampling.
///
/// With Gaussian G1, G2 (n x s) and L the strictly lower part of A, the compressions
///   M_k = G2(k:n)^H A(k:n, 0:k) G1(0:k)
/// of all blocks H_k = A(k:n, 0:k) follow from two products:
///   M_{k+1} = M_k - g2_k^H (L G1)_k + (L^H G2)_k^H g1_k   (rows k of the four matrices).
/// With A in the place of L the same recurrence gives the compressions of the commutators
/// [A, P_k], P_k the projector on the first k coordinates, whose rank is the sum of the ranks of
/// A(k:n, 0:k) and A(0:k, k:n). Products with A and A^H suffice for that.
///
/// What the outcomes mean, for sigma = sigma_{N+1} of a block, relative to ||A||_F:
///   violated   sigma > tolerance in the block that is named, certainly: its lower bound is
///              sigma_{N+1}(Q^H H_k) <= sigma_{N+1}(H_k), Q an orthonormal basis of H_k G, less n
///              eps for rounding.
///   holds      sigma <= detectable <= tolerance in all blocks, with probability 1 -
///              failure_probability at least. Since sigma_{N+1}(M_k) >= sigma sigma_min(X)
///              sigma_min(Y) with independent Gaussian (N + 1) x s matrices X and Y, and
///              sigma_min of each is above some epsilon with known probability, sigma is at most
///              sigma_{N+1}(M_k) / epsilon^2.
///   undecided  neither: some sigma may lie between tolerance * epsilon^2 and tolerance.
/// The probability is over the Gaussian numbers, whatever A is, as long as A was not made from the
/// seed; pseudo-random numbers stand for random ones.
///
/// Source of the bounds for sigma_min: Edelman, SIAM J. Matrix Anal. Appl. 9 (1988), and Chen,
/// Dongarra, SIAM J. Matrix Anal. Appl. 27 (2005).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "structmat/core/array.hpp"
#include "structmat/core/concepts.hpp"
#include "structmat/core/exec.hpp"
#include "structmat/verify/rank_profile.hpp"

namespace structmat::verify {

enum class Verdict { holds, violated, undecided };

struct RandomisedOptions {
  /// The order in question.
  Order order{};
  /// Relative to ||A||_F. Unset: (n + 10 s) eps / epsilon^2, the least level at which rounding
  /// leaves a decision, with epsilon as above.
  std::optional<double> tolerance{};
  /// Only Relative::matrix is offered.
  Relative relative = Relative::matrix;
  /// More probes bring `detectable` nearer to what is measured: the factor 1 / epsilon^2 is about
  /// 800 for 10 and 20 for 20 (order 64, n = 8000).
  index_t oversampling = 20;
  double failure_probability = 1e-9;
  std::uint64_t seed = 1;
  /// Called now and then with the fraction done, 0 to 1.
  std::function<void(double)> progress{};
  exec::cpu exec{};
};

/// What was asked: both orders, or for an operator their sum.
enum class OrderClaim { both, sum };

/// The block that decides, k = its position: A(k:n, 0:k), A(0:k, k:n) or, for the sum, both.
struct CompressedBlock {
  index_t k = 0;
  std::optional<Part> part{};  ///< unset for the sum
  double compressed =
      0;  ///< an upper bound of sigma_{N+1}(M_k), relative to ||A||_F, with rounding
  double lower_bound = 0;  ///< of sigma_{N+1}(H_k), relative to ||A||_F; 0 where none was computed
};

struct RandomisedReport {
  Verdict verdict = Verdict::holds;
  OrderClaim claim = OrderClaim::both;
  index_t size = 0;
  Order asked{};
  double tolerance = 0;
  double failure_probability = 0;  ///< 0 where no block can exceed the order
  /// A block with sigma_{N+1} > detectable * ||A||_F would have been seen with probability 1 -
  /// failure_probability at least.
  double detectable = 0;
  double frobenius_norm = 0;  ///< for an operator: ||A G1||_F / sqrt(s), an estimate
  /// ||M_n||_F / ||A||_F, which is 0 but for rounding and counts as such: 0 for a dense matrix on the CPU,
  /// where the recurrence starts afresh every 256 rows; on the device the larger one of both parts.
  double drift = 0;
  std::optional<CompressedBlock> worst{};
  index_t probes = 0;  ///< columns of G1 and of G2
  std::uint64_t seed = 0;
};

/// Is the lower order at most options.order.lower and the upper one at most options.order.upper?
///
/// a: (n, n) in, any strides, finite.
/// Cost: 4 n^2 s flops by blocked products, and 8/3 n s^3 for QR factorisations of all M_k, both
/// triangles together; workspace O(n s + n s^2 / 64), and a panel of 256 rows where neither stride
/// is 1. Threads: the products on those of BLAS, the factorisations on options.exec; the report does
/// not depend on options.exec (rounding may change with the threads of BLAS). Accuracy: see above;
/// of the compressions, 4 s eps ||A||_F. Throws ShapeError, DomainError (NaN or Inf with its place;
/// a norm at the ends of the range; options out of range), Unsupported (Relative::block).
/// Source: the randomised range finder of Halko, Martinsson, Tropp, SIAM Review 53 (2011), on both
/// sides.
template <Scalar T>
RandomisedReport randomised(View<const T, 2> a, const RandomisedOptions& options);

template <Scalar T>
RandomisedReport randomised(const Array<T, 2>& a, const RandomisedOptions& options) {
  return randomised(a.view(), options);
}

/// The same for a matrix on the device.
///
/// a: (n, n) in, finite, one stride 1 and the other at least n. The probes are other random numbers
/// than those of the CPU for the same seed: tolerance, asked, failure_probability are equal, what was
/// measured differs as between two seeds. Bounds come from elimination with complete pivoting, M_k = L U
/// + S with `order` columns in L, hence sigma_{N+1}(M_k) <= ||S||_F; of blocks that they leave in doubt the
/// singular values are computed. The lower bound of a suspected block takes two products and a singular
/// value decomposition on the host. Cost: 4 n^2 s + 4 n N s^2 flops; the matrix is read three times, four
/// times where squares of its entries leave the range. Synchronises and allocates: e.workspace is not used;
/// memory: at most 14 n s + 256 n numbers. The report repeats bitwise. Accuracy as
/// above, with the drift of the report in addition. Throws as above, also Unsupported (strides),
/// NotAvailable, BackendError.
template <Scalar T>
RandomisedReport randomised(const exec::cuda& e, View<const T, 2, space::cuda> a,
                            const RandomisedOptions& options);

template <Scalar T>
RandomisedReport randomised(const exec::cuda& e, const Array<T, 2, space::cuda>& a,
                            const RandomisedOptions& options) {
  return randomised(e, a.view(), options);
}

namespace detail {

/// y := A x, or A^H x with `adjoint`.
template <Scalar T>
using Products = std::function<void(bool adjoint, View<const T, 2> x, View<T, 2> y)>;

template <Scalar T>
RandomisedReport randomised(index_t rows, index_t cols, const Products<T>& products,
                            const RandomisedOptions& options);

}  // namespace detail

/// Is the rank of A(k:n, 0:k) plus that of A(0:k, k:n) at most options.order.lower +
/// options.order.upper for every k? For a triangular operator that is its order.
///
/// a: n x n; apply and apply_adjoint are called on blocks of s columns, once each, and twice more
/// where a block is suspected. Cost: those products and 4/3 n s^3 flops for s = lower + upper + 1 +
/// oversampling; workspace O(n s + n s^2 / 64). Threads, options: as for a dense matrix. Accuracy:
/// rounding accumulates over n steps; the drift that is seen at the end is added to all M_k. The
/// norm in which the tolerance counts is the estimate in the report. Throws ShapeError, DomainError
/// (a product that is not finite; options out of range), Unsupported (Relative::block), and what
/// the operator throws.
template <LinearOperator A>
RandomisedReport randomised(const A& a, const RandomisedOptions& options) {
  using T = typename A::value_type;
  const detail::Products<T> products = [&a](bool adjoint, View<const T, 2> x, View<T, 2> y) {
    if (adjoint) {
      a.apply_adjoint(x, y);
    } else {
      a.apply(x, y);
    }
  };
  return detail::randomised<T>(a.rows(), a.cols(), products, options);
}

}  // namespace structmat::verify
