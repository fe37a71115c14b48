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

/// A factor that somebody else owns, here or on the device: p, w (batch, n, r), a as in transition.hpp, d (batch, n).
template <Scalar T, transition::Uniform K, class Space = space::host>
struct LdlView {
  using value_type = T;
  using transition_type = K;
  using space_type = Space;

  const LdlView& view() const { return *this; }

  View<const T, 3, Space> p{}, w{};
  View<const T, K::rank, Space> a{};
  View<const real_t<T>, 2, Space> d{};

  index_t batch() const { return d.extent(0); }
  index_t size() const { return d.extent(1); }
  index_t order() const { return p.extent(2); }
};

/// An LdlView or an Ldl.
template <class F>
concept LdlFactor = requires(const F& f) {
  []<class T, class K, class S>(const LdlView<T, K, S>&) {}(f.view());
};

/// The same factor with every batch extent 1 broadcast to the largest one, or to `batch` if that is
/// larger. Throws ShapeError, on behalf of `operation`, when the parts do not fit together.
template <Scalar T, transition::Uniform K, class Space>
LdlView<T, K, Space> checked(LdlView<T, K, Space> f, const char* operation, index_t batch = 1);

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

/// The same on the device, one matrix after the other or all at once, and parallel in n: two phases
/// (exec.hpp) with chunks of 32 to 128 rows, whose effects on the state in front of them are combined
/// in a tree. Orders up to 32; any strides.
///
/// status: (batch) out, in device memory: the first bad pivot of every entry, as above; rows behind it
/// are unspecified. A diagonal entry with a non-zero imaginary part counts as not finite. Without
/// `definite`, one chunk: parallel over the batch alone.
/// Enqueues on e.stream, never allocates or synchronises. e.workspace: factor_ldl_workspace_bytes.
/// Cost: generators are read twice, Scalar and Diagonal 16 n r^2 flops, Dense 12 n r^3, in
/// O(chunk + log n) steps. The bits of an entry do not depend on its batch. Accuracy: of the two
/// phases; where pivots are a small part delta of the diagonal, errors of eps / delta.
/// Throws NotAvailable, ShapeError, DomainError (overlap, workspace too small), Unsupported (order,
/// workspace not aligned to 256 bytes, broadcast results), BackendError.
template <Scalar T, transition::Uniform K>
void factor_ldl(const exec::cuda& e, const QuasiseparableView<T, K, space::cuda>& m,
                const LdlOptions& options, View<T, 3, space::cuda> w,
                View<real_t<T>, 2, space::cuda> d, View<PivotStatus, 1, space::cuda> status);

/// Bytes of device workspace for factor_ldl.
template <Scalar T, transition::Uniform K>
index_t factor_ldl_workspace_bytes(const QuasiseparableView<T, K, space::cuda>& m,
                                   const LdlOptions& options = {});

/// What is done with a factor; see the functions below.
enum class LdlPart { solve, solve_lower, solve_lower_adjoint, apply_lower, apply_lower_adjoint };

/// Engine of the functions below.
template <Scalar T, transition::Uniform K>
void ldl_apply(const exec::cpu& e, const LdlView<T, K>& f, LdlPart part, View<const T, 3> x,
               View<T, 3> y);

/// On the device, where factors are LdlViews. As the functions below, but: orders up to 32; two phases
/// always, in which every chunk is swept for its columns and for its r unit states: (1 + 2 r / k) times
/// the arithmetic; a column's bits depend on n alone. Enqueues on e.stream, never allocates or
/// synchronises; e.workspace: ldl_apply_workspace_bytes. The status of the factor is not looked at: NaN
/// and Inf reach the results that depend on them. Throws what factor_ldl on the device throws.
template <Scalar T, transition::Uniform K>
void ldl_apply(const exec::cuda& e, const LdlView<T, K, space::cuda>& f, LdlPart part,
               View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y);

/// Bytes of device workspace for every LdlPart with k columns; batch: of x.
template <Scalar T, transition::Uniform K>
index_t ldl_apply_workspace_bytes(const LdlView<T, K, space::cuda>& f, index_t k,
                                  index_t batch = 1);

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
template <class Exec, LdlFactor F, detail::Operand X, class Y>
void solve(const Exec& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::solve, detail::input<T>(x), detail::output<T>(y));
}

/// y := L^{-1} x.
template <class Exec, LdlFactor F, detail::Operand X, class Y>
void solve_lower(const Exec& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::solve_lower, detail::input<T>(x), detail::output<T>(y));
}

/// y := L^{-H} x.
template <class Exec, LdlFactor F, detail::Operand X, class Y>
void solve_lower_adjoint(const Exec& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::solve_lower_adjoint, detail::input<T>(x),
               detail::output<T>(y));
}

/// y := L diag(d)^{1/2} x: of white noise x, a sample with covariance M. Pivots must be positive.
template <class Exec, LdlFactor F, detail::Operand X, class Y>
void apply_lower(const Exec& e, const F& f, const X& x, Y&& y) {
  using T = typename F::value_type;
  ldl_apply<T>(e, f.view(), LdlPart::apply_lower, detail::input<T>(x), detail::output<T>(y));
}

/// y := diag(d)^{1/2} L^H x. Pivots must be positive.
template <class Exec, LdlFactor F, detail::Operand X, class Y>
void apply_lower_adjoint(const Exec& e, const F& f, const X& x, Y&& y) {
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

/// On the device, for all batch entries: result (batch) out, in device memory. e.workspace:
/// log_determinant_workspace_bytes. Sums in a fixed order; accuracy as above. Throws NotAvailable,
/// ShapeError, DomainError (workspace), Unsupported (workspace not aligned), BackendError.
template <Scalar T, transition::Uniform K>
void log_determinant(const exec::cuda& e, const LdlView<T, K, space::cuda>& f,
                     View<LogDeterminant<T>, 1, space::cuda> result);
template <Scalar T, transition::Uniform K>
index_t log_determinant_workspace_bytes(const LdlView<T, K, space::cuda>& f);

}  // namespace structmat::quasiseparable
