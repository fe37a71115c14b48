/// \file
/// Cauchy and Cauchy-like matrices.
///
///   Cauchy       C_ij = 1 / (s_i - t_j)
///   Cauchy-like  C_ij = (sum_k g_ik h_jk) / (s_i - t_j),  of displacement rank r:
///                diag(s) C - C diag(t) = G H^T  (a plain transpose, also for complex data)
///
/// | part | shape         | of                     |
/// |------|---------------|------------------------|
/// | s    | (batch, m)    | both                   |
/// | t    | (batch, n)    | both                   |
/// | g, h | (batch, m, r), (batch, n, r) | Cauchy-like |
///
/// A leading extent 1 is broadcast over the batch; views may broadcast with stride 0.
///
/// Where s_i = t_j the entry does not exist: every operation then throws DomainError, unless
/// `coincidence` says skip, which counts that entry as zero.
///
/// Source: Heinig, Rost, "Algebraic methods for Toeplitz-like matrices and operators", 1984;
/// Gohberg, Kailath, Olshevsky, "Fast Gaussian elimination with partial pivoting for matrices with
/// displacement structure", Math. Comp. 64 (1995).
#pragma once

#include "structmat/core/apply.hpp"
#include "structmat/core/array.hpp"

namespace structmat {

/// What an entry with s_i = t_j is.
enum class Coincidence {
  error,  ///< there is none: DomainError
  skip    ///< zero
};

/// Nodes that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct CauchyView {
  using value_type = T;

  const CauchyView& view() const { return *this; }

  View<const T, 2, Space> s{}, t{};
  Coincidence coincidence = Coincidence::error;

  index_t batch() const { return s.extent(0); }
  index_t rows() const { return s.extent(1); }
  index_t cols() const { return t.extent(1); }
};

/// Nodes and generators that somebody else owns.
template <Scalar T, class Space = space::host>
struct CauchyLikeView {
  using value_type = T;

  const CauchyLikeView& view() const { return *this; }

  View<const T, 2, Space> s{}, t{};
  View<const T, 3, Space> g{}, h{};
  Coincidence coincidence = Coincidence::error;

  index_t batch() const { return s.extent(0); }
  index_t rows() const { return s.extent(1); }
  index_t cols() const { return t.extent(1); }
  index_t order() const { return g.extent(2); }
};

namespace cauchy {

/// The same matrix with every batch extent 1 broadcast to the largest one, or to `batch` if that is
/// larger. Throws ShapeError, on behalf of `operation`. Nodes are not compared.
template <Scalar T, class Space>
CauchyView<T, Space> checked(CauchyView<T, Space> m, const char* operation, index_t batch = 1);
template <Scalar T, class Space>
CauchyLikeView<T, Space> checked(CauchyLikeView<T, Space> m, const char* operation,
                                 index_t batch = 1);

}  // namespace cauchy

/// A Cauchy matrix that owns its nodes (see the file's head).
template <Scalar T, class Space = space::host>
class Cauchy : public OperatorMembers<Cauchy<T, Space>, T> {
 public:
  using value_type = T;

  Cauchy() = default;

  /// All nodes zero. m, n, batch >= 0; throws ShapeError.
  Cauchy(index_t m, index_t n, index_t batch = 1) : s({batch, m}), t({batch, n}) {}

  /// One matrix with copies of these nodes.
  Cauchy(View<const T, 1> rows, View<const T, 1> cols,
         Coincidence c = Coincidence::error) requires std::same_as<Space, space::host>
      : Cauchy(rows.extent(0), cols.extent(0)) {
    coincidence = c;
    copy(rows, s.view().select(0, 0));
    copy(cols, t.view().select(0, 0));
  }

  Array<T, 2, Space> s, t;
  Coincidence coincidence = Coincidence::error;

  index_t batch() const { return s.extent(0); }
  index_t rows() const { return s.extent(1); }
  index_t cols() const { return t.extent(1); }
  index_t stored() const { return s.size() + t.size(); }

  CauchyView<T, Space> view() const { return {s.view(), t.view(), coincidence}; }
};

/// A Cauchy-like matrix that owns nodes and generators (see the file's head).
template <Scalar T, class Space = space::host>
class CauchyLike : public OperatorMembers<CauchyLike<T, Space>, T> {
 public:
  using value_type = T;

  CauchyLike() = default;

  /// Zero nodes and generators. m, n, order, batch >= 0; throws ShapeError.
  CauchyLike(index_t m, index_t n, index_t order, index_t batch = 1)
      : s({batch, m}), t({batch, n}), g({batch, m, order}), h({batch, n, order}) {}

  Array<T, 2, Space> s, t;
  Array<T, 3, Space> g, h;
  Coincidence coincidence = Coincidence::error;

  index_t batch() const { return s.extent(0); }
  index_t rows() const { return s.extent(1); }
  index_t cols() const { return t.extent(1); }
  /// The displacement rank that is stored.
  index_t order() const { return g.extent(2); }
  index_t stored() const { return s.size() + t.size() + g.size() + h.size(); }

  CauchyLikeView<T, Space> view() const {
    return {s.view(), t.view(), g.view(), h.view(), coincidence};
  }
};

/// Copies on the device and on the host. Blocking. Throw NotAvailable, BackendError.
template <Scalar T>
Cauchy<T, space::cuda> to_device(const Cauchy<T>& m) {
  Cauchy<T, space::cuda> d;
  d.s = to_device(m.s);
  d.t = to_device(m.t);
  d.coincidence = m.coincidence;
  return d;
}
template <Scalar T>
CauchyLike<T, space::cuda> to_device(const CauchyLike<T>& m) {
  CauchyLike<T, space::cuda> d;
  d.s = to_device(m.s);
  d.t = to_device(m.t);
  d.g = to_device(m.g);
  d.h = to_device(m.h);
  d.coincidence = m.coincidence;
  return d;
}
template <Scalar T>
Cauchy<T> to_host(const Cauchy<T, space::cuda>& m) {
  Cauchy<T> h;
  h.s = to_host(m.s);
  h.t = to_host(m.t);
  h.coincidence = m.coincidence;
  return h;
}
template <Scalar T>
CauchyLike<T> to_host(const CauchyLike<T, space::cuda>& m) {
  CauchyLike<T> h;
  h.s = to_host(m.s);
  h.t = to_host(m.t);
  h.g = to_host(m.g);
  h.h = to_host(m.h);
  h.coincidence = m.coincidence;
  return h;
}

/// C_ij of one batch entry. Cost: O(1), Cauchy-like O(r). Accuracy: 3 eps, Cauchy-like (r + 2) eps
/// |g_i|^T |h_j| / |s_i - t_j|. Throws ShapeError; DomainError where s_i = t_j is an error.
template <Scalar T>
T entry(const CauchyView<T>& m, index_t i, index_t j, index_t batch = 0);
template <Scalar T>
T entry(const CauchyLikeView<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := C. dense: (batch, m, n) out, any strides. Cost: O(m n), Cauchy-like O(m n r). Throws as
/// entry.
template <Scalar T>
void to_dense(const CauchyView<T>& m, View<T, 3> dense);
template <Scalar T>
void to_dense(const CauchyLikeView<T>& m, View<T, 3> dense);

/// The same on a device: enqueued on e.stream, neither allocated nor synchronised; dense: any strides but
/// 0. Cost: m n numbers written, m n (r + 1) operations.
/// Nobody compares nodes beforehand: with Coincidence::error the entry of a coinciding pair is not
/// finite. Throws ShapeError, Unsupported (broadcast result), NotAvailable, BackendError.
template <Scalar T>
void to_dense(const exec::cuda& e, const CauchyView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);
template <Scalar T>
void to_dense(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);

}  // namespace structmat
