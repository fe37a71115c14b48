/// \file
/// Hermitian quasiseparable matrices: M = L diag(d) L^H, and what the factor is for.
///
/// L is unit lower triangular with the generators p and a of the matrix and new w:
///   i > j:  L_ij = p_i^T a_{i-1} ... a_{j+1} w_j,
/// so that a factor costs n (r + 1) new numbers. From the ratios a that M is stored in, only bounded
/// quantities are formed, however long the sequence and its gaps are: the Hermitian r x r matrix f
/// with f_0 = 0 and
///   u = f conj(p_i),  d_i = M_ii - p_i^T u,  w_i = (q_i - a_i u) / d_i,
///   f := a_i f a_i^H + d_i w_i w_i^H.
///
/// | operation                                         | Scalar, Diagonal | Dense      |
/// |---------------------------------------------------|------------------|------------|
/// | factor_ldl                                        | O(n r^2)         | O(n r^3)   |
/// | solve, solve_lower, apply_lower, adjoints, k rhs  | O(n r k)         | O(n r^2 k) |
/// | log_determinant                                   | O(n)             | O(n)       |
///
/// Source: Foreman-Mackey, Agol, Ambikasaran, Angus, "Fast and scalable Gaussian process modeling
/// with applications to astronomical time series", Astron. J. 154 (2017), section 5; Eidelman,
/// Gohberg, "On a new class of structured matrices" (1999).
#pragma once

#include "structmat/core/operand.hpp"
#include "structmat/core/status.hpp"
#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::quasiseparable {

/// A factor that somebody else owns: p, w (batch, n, r), a as in transition.hpp, d (batch, n).
template <Scalar T, transition::Uniform K>
struct LdlView {
  using value_type = T;
  using transition_type = K;

  const LdlView& view() const { return *this; }

  View<const T, 3> p{}, w{};
  View<const T, K::rank> a{};
  View<const real_t<T>, 2> d{};

  index_t batch() const { return d.extent(0); }
  index_t size() const { return d.extent(1); }
  index_t order() const { return p.extent(2); }
};

/// An LdlView or an Ldl.
template <class F>
concept LdlFactor = requires(const F& f) {
  { f.view() } -> std::same_as<LdlView<typename F::value_type, typename F::transition_type>>;
}
|| requires(const F& f) {
  { f.view() } -> std::same_as<const LdlView<typename F::value_type, typename F::transition_type>&>;
};

/// The same factor with every batch extent 1 broadcast to the largest one, or to `batch` if that is
/// larger. Throws ShapeError, on behalf of `operation`, when the parts do not fit together.
template <Scalar T, transition::Uniform K>
LdlView<T, K> checked(LdlView<T, K> f, const char* operation, index_t batch = 1);

/// A factor that owns its numbers; p and a are copies of the matrix's.
template <Scalar T, transition::Uniform K>
class Ldl {
 public:
  using value_type = T;
  using transition_type = K;

  Array<T, 3> p, w;
  Array<T, K::rank> a;
  Array<real_t<T>, 2> d;
  PivotStatus status;  ///< of the whole batch; unless it is ok, there is no factor

  index_t batch() const { return d.extent(0); }
  index_t size() const { return d.extent(1); }
  index_t order() const { return p.extent(2); }
  bool ok() const { return status.ok(); }
  LdlView<T, K> view() const { return {p.view(), w.view(), a.view(), d.view()}; }
};

struct LdlOptions {
  /// true: Cholesky, all pivots must be positive. false: they must not be 0; nothing bounds the
  /// growth of the factor then.
  bool definite = true;
};

/// M = L diag(d) L^H.
///
/// m: p, a, q and d are read, (batch, n, r) and so on; as LAPACK reads one triangle, the upper part
/// g, h, b is taken to be conj(q), conj(p), a^H, is not read and may be empty. w: (batch, n, r) out
/// with w_{n-1} = 0; d: (batch, n) out. A batch extent 1 of m is broadcast. The outputs must not
/// overlap anything else.
/// Returns the first bad pivot of the first batch entry that has one: not positive (definite), zero
/// (not definite), not finite; a pivot that cannot be finite because of NaN or Inf in a row of
/// generators is reported at that row. Entries with a lower index hold the factor of that leading
/// block, entries with a higher index than the next are not written.
/// Cost: Scalar and Diagonal about 5 n r^2 flops, Dense 4 n r^3; reads each generator once.
/// Workspace O(r^2) per thread, O(r^2) times 64 for packed rows. Threads: over the batch.
/// Accuracy: L diag(d) L^H = M + E, |E| <= c (n + r) eps |L| |d| |L|^H; for a definite M this is
/// small normwise.
/// e.chunks > 1: two phases (exec.hpp), for definite matrices, at 1.3 to 1.5 times the arithmetic;
/// rows behind a bad pivot are unspecified then.
/// Throws ShapeError; DomainError: a diagonal entry with a non-zero imaginary part, overlap, e.chunks
/// < 1; Unsupported: e.chunks > 1 without definite.
template <Scalar T, transition::Uniform K>
PivotStatus factor_ldl(const exec::cpu& e, const QuasiseparableView<T, K>& m,
                       const LdlOptions& options, View<T, 3> w, View<real_t<T>, 2> d);

/// The same as an owning factor.
template <Scalar T, transition::Uniform K>
Ldl<T, K> factor_ldl(const exec::cpu& e, const QuasiseparableView<T, K>& m,
                     const LdlOptions& options = {});
template <Scalar T, class K>
Ldl<T, K> factor_ldl(const Quasiseparable<T, K>& m, const LdlOptions& options = {}) {
  return factor_ldl(exec::cpu{}, m.view(), options);
}

/// What is done with a factor; see the functions below.
enum class LdlPart { solve, solve_lower, solve_lower_adjoint, apply_lower, apply_lower_adjoint };

/// Engine of the functions below.
template <Scalar T, transition::Uniform K>
void ldl_apply(const exec::cpu& e, const LdlView<T, K>& f, LdlPart part, View<const T, 3> x,
               View<T, 3> y);

// In all of these: x in, y out: Views, Arrays or vectors of (n), (n, k) or (batch, n, k), any
// strides; a batch extent 1 of the factor or of x is broadcast. y may be the same view as x;
// otherwise they must not overlap.
// Cost, a triangle and right-hand side: 6 n r flops for Scalar and Diagonal, 2 n (r^2 + 2 r) for
// Dense; generators are read once per tile of right-hand sides (one 64-byte vector), and once for
// each of fewer than three. Workspace: O(64 (r + k)) per thread, Dense O(64 r^2) with fewer than
// three columns. Threads: over batch and tiles; the bits do not depend on their number.
// Accuracy: substitution, componentwise backward error c (n + r) eps in the generators of L.
// e.chunks > 1: two phases (exec.hpp), with fewer than three columns. What a range does to the state
// in front of it costs O(r^2) an index: worth it for small orders.
// Throw ShapeError and DomainError (overlap, e.chunks < 1), before anything is written.

/// y := M^{-1} x = L^{-H} diag(d)^{-1} L^{-1} x.
template <LdlFactor F, detail::Operand X, class Y>
void solve(const exec::cpu& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::solve, detail::input<T>(x), detail::output<T>(y));
}

/// y := L^{-1} x.
template <LdlFactor F, detail::Operand X, class Y>
void solve_lower(const exec::cpu& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::solve_lower, detail::input<T>(x), detail::output<T>(y));
}

/// y := L^{-H} x.
template <LdlFactor F, detail::Operand X, class Y>
void solve_lower_adjoint(const exec::cpu& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::solve_lower_adjoint, detail::input<T>(x),
               detail::output<T>(y));
}

/// y := L diag(d)^{1/2} x: of white noise x, a sample with covariance M. Pivots must be positive.
template <LdlFactor F, detail::Operand X, class Y>
void apply_lower(const exec::cpu& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::apply_lower, detail::input<T>(x), detail::output<T>(y));
}

/// y := diag(d)^{1/2} L^H x. Pivots must be positive.
template <LdlFactor F, detail::Operand X, class Y>
void apply_lower_adjoint(const exec::cpu& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::apply_lower_adjoint, detail::input<T>(x),
               detail::output<T>(y));
}

/// log |det M| and the sign of det M for one batch entry, from the pivots.
///
/// Cost: n logarithms and a compensated sum; error about n^(1/2) eps max |log d| at most. Throws
/// ShapeError (batch).
template <Scalar T, transition::Uniform K>
LogDeterminant<T> log_determinant(const LdlView<T, K>& f, index_t batch = 0);
template <Scalar T, class K>
LogDeterminant<T> log_determinant(const Ldl<T, K>& f, index_t batch = 0) {
  return log_determinant(f.view(), batch);
}

}  // namespace structmat::quasiseparable
