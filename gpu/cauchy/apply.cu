// y := C x and its transposes on the device, pair by pair: one launch, two where the columns are cut into
// segments. tiled_sums.cuh has how the work is shared out.
#include "structmat/cauchy/apply.hpp"

#include "cauchy/direct_term.cuh"
#include "core/instantiate.hpp"

namespace structmat {
namespace {

using namespace cauchy::device;

constexpr char operation[] = "cauchy::apply";

/// C^T has the entries -(h_j . g_i) / (t_j - s_i): the roles exchanged and a sign.
/// C^H x = conj(C^T conj(x)).
template <class V, class D = gpu::device_scalar_t<typename V::value_type>>
DirectSums<D> sums_of(const V& m, Op op, index_t columns) {
  DirectSums<D> sums;
  sums.batch = m.batch();
  sums.rows = m.rows();
  sums.sources = m.cols();
  sums.columns = columns;
  sums.s = gpu::strided(m.s);
  sums.t = gpu::strided(m.t);
  if constexpr (requires { m.g; }) {
    sums.factors = true;
    sums.order = m.order();
    sums.a = gpu::strided(m.g);
    sums.b = gpu::strided(m.h);
  }
  if (op != Op::none) {
    std::swap(sums.rows, sums.sources);
    std::swap(sums.s, sums.t);
    std::swap(sums.a, sums.b);
  }
  sums.conjugate_x = op == Op::adjoint;
  sums.skip = m.coincidence == Coincidence::skip;
  return sums;
}

template <class D>
index_t count_of(const DirectSums<D>& sums) {
  return sums.with_term(
      [&]<class Term>(const Term& term) { return direct_count<Term>(operation, term.shape); });
}

template <class V>
index_t workspace_bytes(const V& matrix, index_t k, index_t batch) {
  using D = gpu::device_scalar_t<typename V::value_type>;
  const V m = cauchy::checked(matrix, operation, batch);
  if (k < 0)
    throw ShapeError(std::string(operation) + ": " + std::to_string(k) + " right-hand sides");
  const index_t count =
      std::max(count_of(sums_of(m, Op::none, k)), count_of(sums_of(m, Op::transpose, k)));
  return gpu::counted(operation, [&](gpu::Workspace& w) { return w.take<D>(count); });
}

template <class V, class T = typename V::value_type>
void apply_direct(const exec::cuda& e, const V& matrix, Op op,
                  const View<const T, 3, space::cuda>& x, const View<T, 3, space::cuda>& y) {
  using D = gpu::device_scalar_t<T>;
  const index_t m = matrix.rows(), n = matrix.cols();
  const index_t own = cauchy::checked(matrix, operation).batch();
  const index_t batch =
      detail::check_operands(operation, own, op == Op::none ? m : n, op == Op::none ? n : m, x, y);
  const V all = cauchy::checked(matrix, operation, batch);
  gpu::require_writable(operation, y, "y");
  auto sums = sums_of(all, op, x.extent(2));
  sums.x = gpu::strided(x);
  D* const partial = gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) {
    return w.take<D>(y.empty() ? 0 : count_of(sums));
  });
  if (partial != nullptr) {
    gpu::require_apart(operation, e.workspace, x, "x");
    gpu::require_apart(operation, e.workspace, y, "y");
  }
  const int processors = gpu::multiprocessors(operation);
  if (y.empty()) return;
  sums.with_term([&](const auto& term) {
    enqueue(operation, term, partial, Target<D>{gpu::strided(y), op != Op::none, op == Op::adjoint},
            processors, gpu::stream_of(e));
  });
}

}  // namespace

template <Scalar T>
index_t apply_workspace_bytes(const CauchyView<T, space::cuda>& m, index_t k, index_t batch) {
  return workspace_bytes(m, k, batch);
}
template <Scalar T>
index_t apply_workspace_bytes(const CauchyLikeView<T, space::cuda>& m, index_t k, index_t batch) {
  return workspace_bytes(m, k, batch);
}
template <Scalar T>
void apply(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  apply_direct(e, m, op, x, y);
}
template <Scalar T>
void apply(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m, Op op,
           View<const T, 3, space::cuda> x, View<T, 3, space::cuda> y) {
  apply_direct(e, m, op, x, y);
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                     \
  template STRUCTMAT_EXPORT index_t apply_workspace_bytes(const V<T, space::cuda>&, index_t, \
                                                          index_t);                          \
  template STRUCTMAT_EXPORT void apply(const exec::cuda&, const V<T, space::cuda>&, Op,      \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
#define STRUCTMAT_INSTANTIATE(T)            \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
