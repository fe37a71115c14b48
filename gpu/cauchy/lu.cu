// Factors of many small Cauchy and Cauchy-like matrices on the device, and solutions with them.
#include "structmat/cauchy/lu.hpp"

#include "cauchy/elimination_operands.cuh"
#include "core/instantiate.hpp"

namespace structmat::cauchy {
namespace {

using namespace device;

template <class F>
auto factors_of(const F& f) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(f.lower.data())>>;
  // Substitution only reads them.
  const auto pointer = [](auto* p) {
    return const_cast<std::remove_const_t<std::remove_pointer_t<decltype(p)>>*>(p);
  };
  return Factors<gpu::device_scalar_t<T>>{f.size(),
                                          gpu::device_pointer(pointer(f.lower.data())),
                                          gpu::device_pointer(pointer(f.upper.data())),
                                          pointer(f.row_order.data()),
                                          pointer(f.col_order.data()),
                                          pointer(f.status.data())};
}

template <class V>
index_t factor_bytes(const V& matrix) {
  constexpr auto operation = "cauchy::factor_lu";
  const V m = checked(matrix, operation);
  require_square(operation, m);
  const index_t bytes = elimination_bytes(elimination_input(m));
  return gpu::counted(operation, [&](gpu::Workspace& w) { return w.take<std::byte>(bytes); });
}

template <class V, class T>
void factor(const exec::cuda& e, const V& matrix, Lu<T, space::cuda>& f) {
  constexpr auto operation = "cauchy::factor_lu";
  const V m = checked(matrix, operation);
  require_square(operation, m);
  if (f.size() != m.rows() || f.batch() != m.batch()) {
    throw ShapeError(std::string(operation) + ": the factors are for " + std::to_string(f.batch()) +
                     " matrices of size " + std::to_string(f.size()) + ", there are " +
                     std::to_string(m.batch()) + " of size " + std::to_string(m.rows()));
  }
  const auto input = elimination_input(m);
  std::byte* const workspace = gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) {
    return w.take<std::byte>(elimination_bytes(input));
  });
  const int processors = gpu::multiprocessors(operation);
  eliminate(operation, input, workspace, factors_of(f), 0, processors, gpu::stream_of(e));
}

}  // namespace

template <Scalar T>
void factor_lu(const exec::cuda& e, const CauchyLikeView<T, space::cuda>& m,
               Lu<T, space::cuda>& f) {
  factor(e, m, f);
}
template <Scalar T>
void factor_lu(const exec::cuda& e, const CauchyView<T, space::cuda>& m, Lu<T, space::cuda>& f) {
  factor(e, m, f);
}
template <Scalar T>
index_t factor_lu_workspace_bytes(const CauchyLikeView<T, space::cuda>& m) {
  return factor_bytes(m);
}
template <Scalar T>
index_t factor_lu_workspace_bytes(const CauchyView<T, space::cuda>& m) {
  return factor_bytes(m);
}

template <Scalar T>
index_t solve_workspace_bytes(const Lu<T, space::cuda>& f, index_t k, index_t batch) {
  using D = gpu::device_scalar_t<T>;
  const index_t systems = f.batch() == 1 ? batch : f.batch();
  return gpu::counted("cauchy::solve", [&](gpu::Workspace& w) {
    return w.take<D>(substitution_count(systems, f.size(), k));
  });
}

template <Scalar T>
void solve(const exec::cuda& e, const Lu<T, space::cuda>& f, Op op, View<const T, 3, space::cuda> b,
           View<T, 3, space::cuda> x) {
  constexpr auto operation = "cauchy::solve";
  using D = gpu::device_scalar_t<T>;
  const index_t n = f.size();
  Substitution<D> s;
  s.batch = check_systems(operation, f.batch(), n, b, x, true);
  s.columns = x.extent(2);
  s.workspace = gpu::cut(operation, e.workspace, [&](gpu::Workspace& w) {
    return w.take<D>(substitution_count(s.batch, n, s.columns));
  });
  const int processors = gpu::multiprocessors(operation);
  s.factors = factors_of(f);
  s.shared_factors = f.batch() == 1;
  s.transposed = op != Op::none;
  s.conjugated = op == Op::adjoint;
  s.b = gpu::strided(b);
  s.x = gpu::strided(x);
  substitute(operation, s, processors, gpu::stream_of(e));
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, T)                                                \
  template STRUCTMAT_EXPORT void factor_lu(const exec::cuda&, const V<T, space::cuda>&, \
                                           Lu<T, space::cuda>&);                        \
  template STRUCTMAT_EXPORT index_t factor_lu_workspace_bytes(const V<T, space::cuda>&);
#define STRUCTMAT_INSTANTIATE(T)                                                              \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, T)                                                   \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, T)                                               \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes(const Lu<T, space::cuda>&, index_t, \
                                                          index_t);                           \
  template STRUCTMAT_EXPORT void solve(const exec::cuda&, const Lu<T, space::cuda>&, Op,      \
                                       View<const T, 3, space::cuda>, View<T, 3, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::cauchy
