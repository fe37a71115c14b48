// Cotangents of nodes, generators and operand on the device: the pairwise sums of apply with other data, each
// followed by a kernel that weights them and adds them to the gradient, over the batch where that is shared.
#include "structmat/cauchy/apply_vjp.hpp"

#include "cauchy/direct_term.cuh"
#include "core/instantiate.hpp"
#include "core/vjp_operands.hpp"

namespace structmat {
namespace {

using namespace cauchy::device;

constexpr char operation[] = "cauchy::apply_vjp";

/// Ones for the generators of a Cauchy matrix.
template <class T>
__global__ void write_one(T* at) {
  *at = T(1);
}

/// One side of op(C), rows or columns: nodes, generators, data (y_bar or x), and their cotangents.
template <class T, class D = gpu::device_scalar_t<T>>
struct Side {
  index_t count = 0;
  gpu::Strided<const D, 2> nodes{};
  gpu::Strided<const D, 3> generators{}, data{};
  bool conjugate_data = false;
  View<T, 2, space::cuda> nodes_bar{};
  View<T, 3, space::cuda> generators_bar{};
};

/// conj(+-sum_l generator_l sum_l)
template <class T>
struct WeightedByGenerators {
  gpu::Strided<const T, 3> generators;
  bool negate;

  __device__ T operator()(const Partial<T>& sums, index_t b, index_t i, index_t) const {
    T total = T(0);
    for (index_t l = 0; l < sums.shape.outputs; ++l)
      total = gpu::multiply_add(T(generators(b, i, l)), sums(b, i, l), total);
    return gpu::conjugate(negate ? -total : total);
  }
};

/// What all cotangents of one call share.
template <class T>
struct Run {
  using D = gpu::device_scalar_t<T>;
  index_t batch, order, columns;
  bool skip;
  D* partial;
  int processors;
  cudaStream_t stream;

  /// sum_j (a_i . b_j) x_j / (own_i - other_j)^power
  DirectSums<D> sums(const Side<T>& own, const Side<T>& other) const {
    DirectSums<D> s;
    s.batch = batch;
    s.rows = own.count;
    s.sources = other.count;
    s.s = own.nodes;
    s.t = other.nodes;
    s.factors = true;
    s.skip = skip;
    return s;
  }

  template <class Finish>
  void add(const DirectSums<D>& sums, const Finish& finish, const gpu::Strided<D, 3>& target,
           index_t outputs) const {
    sums.with_term([&](const auto& term) {
      const auto found = enqueue_sums(operation, term, partial, Target<D>{}, processors, stream);
      enqueue_finish(operation, found, finish, target, outputs, true, processors, stream);
    });
  }

  /// The cotangents of one side, as if `own` were the rows: the columns see a matrix with entries of
  /// the opposite sign.
  void pull_back(const Side<T>& own, const Side<T>& other, bool negate) const {
    DirectSums<D> s = sums(own, other);
    s.order = columns;
    s.a = own.data;
    s.b = other.data;
    s.conjugate_a = own.conjugate_data;
    s.conjugate_b = other.conjugate_data;
    s.columns = order;
    s.x = other.generators;
    if (own.generators_bar.data())
      add(s, Plain<D>{negate, true}, gpu::strided(own.generators_bar), order);
    if (own.nodes_bar.data()) {
      s.power = 2;
      const auto bar = gpu::strided(own.nodes_bar);
      add(s, WeightedByGenerators<D>{own.generators, !negate},
          gpu::Strided<D, 3>{bar.data, {bar.stride[0], bar.stride[1], 0}}, 1);
    }
  }

  /// conj(x_bar) += op(C)^T conj(y_bar), or without the conjugation.
  void pull_back_operand(const Side<T>& rows, const Side<T>& cols, bool conjugated, bool negate,
                         const View<T, 3, space::cuda>& x_bar) const {
    DirectSums<D> s = sums(cols, rows);
    s.order = order;
    s.a = cols.generators;
    s.b = rows.generators;
    s.columns = columns;
    s.x = rows.data;
    s.conjugate_x = rows.conjugate_data;
    add(s, Plain<D>{!negate, conjugated}, gpu::strided(x_bar), columns);
  }
};

template <class D>
struct Buffers {
  D *one, *partial;
};

/// `rows` and `cols` of the matrix; the largest of the sums that a call may take.
template <class D>
auto layout(index_t batch, index_t rows, index_t cols, index_t order, index_t k) {
  return [=](gpu::Workspace& w) {
    index_t count = 0;
    for (const auto& [own, other] : {std::pair{rows, cols}, std::pair{cols, rows}}) {
      for (const index_t outputs : {order, k}) {
        DirectSums<D> s;
        s.batch = batch, s.rows = own, s.sources = other, s.columns = outputs;
        s.factors = true;
        for (const int power : {1, 2}) {
          s.power = power;
          count = std::max(count, s.with_term([]<class Term>(const Term& term) {
            return partial_count<Term>(operation, term.shape);
          }));
        }
      }
    }
    D* const one = w.take<D>(1);
    return Buffers<D>{one, w.take<D>(count)};
  };
}

template <class V>
index_t order_of(const V& m) {
  if constexpr (requires { m.g; })
    return m.order();
  else
    return 1;
}

template <class V>
index_t workspace_bytes(const V& matrix, index_t k, index_t batch) {
  const V m = cauchy::checked(matrix, operation, batch);
  if (k < 0)
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
  using D = gpu::device_scalar_t<typename V::value_type>;
  return gpu::counted(operation, layout<D>(m.batch(), m.rows(), m.cols(), order_of(m), k));
}

template <class V, class Bar, class T = typename V::value_type>
void apply_vjp_direct(const exec::cuda& e, const V& matrix, Op op,
                      const View<const T, 3, space::cuda>& x,
                      const View<const T, 3, space::cuda>& y_bar, const Bar& matrix_bar,
                      View<T, 3, space::cuda> x_bar) {
  using D = gpu::device_scalar_t<T>;
  constexpr bool like = requires {
    matrix.g;
  };
  const bool turned = op != Op::none;
  const index_t m = matrix.rows(), n = matrix.cols(), order = order_of(matrix);
  const index_t own = cauchy::checked(matrix, operation).batch();
  const index_t batch =
      detail::check_vjp_operands(operation, own, turned ? n : m, turned ? m : n, x, y_bar, x_bar);
  const V all = cauchy::checked(matrix, operation, batch);
  Side<T> rows, cols;
  rows.nodes_bar = detail::checked_cotangent(operation, "s", matrix_bar.s, batch, {m});
  cols.nodes_bar = detail::checked_cotangent(operation, "t", matrix_bar.t, batch, {n});
  if constexpr (like) {
    rows.generators_bar =
        detail::checked_cotangent(operation, "g", matrix_bar.g, batch, {m, order});
    cols.generators_bar =
        detail::checked_cotangent(operation, "h", matrix_bar.h, batch, {n, order});
  }
  const index_t k = x.extent(2);
  const auto buffers = gpu::cut(operation, e.workspace, layout<D>(batch, m, n, order, k));
  const int processors = gpu::multiprocessors(operation);
  if (batch == 0 || m == 0 || n == 0 || k == 0) return;

  const cudaStream_t stream = gpu::stream_of(e);
  rows.count = m;
  cols.count = n;
  rows.nodes = gpu::strided(all.s);
  cols.nodes = gpu::strided(all.t);
  if constexpr (like) {
    rows.generators = gpu::strided(all.g);
    cols.generators = gpu::strided(all.h);
  } else {
    gpu::launch(operation, write_one<D>, 1, 1, stream, buffers.one);
    rows.generators = cols.generators = {buffers.one, {0, 0, 0}};
  }
  if (turned) std::swap(rows, cols);
  // y = C^H x is conj(y) = C^T conj(x).
  const bool adjoint = op == Op::adjoint;
  rows.data = gpu::strided(y_bar);
  rows.conjugate_data = !adjoint;
  cols.data = gpu::strided(x);
  cols.conjugate_data = adjoint;
  const Run<T> run{batch,           order,      k,     all.coincidence == Coincidence::skip,
                   buffers.partial, processors, stream};
  run.pull_back(rows, cols, turned);
  run.pull_back(cols, rows, !turned);
  if (x_bar.data()) run.pull_back_operand(rows, cols, !adjoint, turned, x_bar);
}

}  // namespace

template <Scalar T>
index_t apply_vjp_workspace_bytes(const CauchyView<T, space::cuda>& m, index_t k, index_t batch) {
  return workspace_bytes(m, k, batch);
}
template <Scalar T>
index_t apply_vjp_workspace_bytes(const CauchyLikeView<T, space::cuda>& m, index_t k,
                                  index_t batch) {
  return workspace_bytes(m, k, batch);
}
template <Scalar T>
void apply_vjp(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const CauchyCotangent<T, space::cuda>& m_bar, View<T, 3, space::cuda> x_bar) {
  apply_vjp_direct(e, m, op, x, y_bar, m_bar, x_bar);
}
template <Scalar T>
void apply_vjp(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m, Op op,
               View<const T, 3, space::cuda> x, View<const T, 3, space::cuda> y_bar,
               const CauchyLikeCotangent<T, space::cuda>& m_bar, View<T, 3, space::cuda> x_bar) {
  apply_vjp_direct(e, m, op, x, y_bar, m_bar, x_bar);
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, Cotangent, T)                                              \
  template STRUCTMAT_EXPORT index_t apply_vjp_workspace_bytes(const V<T, space::cuda>&, index_t, \
                                                              index_t);                          \
  template STRUCTMAT_EXPORT void apply_vjp(                                                      \
      const exec::cuda&, const V<T, space::cuda>&, Op, View<const T, 3, space::cuda>,            \
      View<const T, 3, space::cuda>, const Cotangent<T, space::cuda>&, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)                             \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, CauchyCotangent, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, CauchyLikeCotangent, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
