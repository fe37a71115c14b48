#include "structmat/cauchy/apply.hpp"

#include <vector>

#include "cauchy/coincidence.hpp"
#include "cauchy/direct.hpp"
#include "core/instantiate.hpp"
#include "core/threads.hpp"

namespace structmat {
namespace {

/// C^T has the entries (h_j . g_i) / (s_i - t_j) = -(h_j . g_i) / (t_j - s_i): the roles exchanged
/// and a sign. C^H x = conj(C^T conj(x)).
template <Scalar T, class V>
cauchy::DirectSums<T> sums_of(const V& m, Op op, index_t batch) {
  cauchy::DirectSums<T> sums;
  sums.s = m.s.select(0, batch);
  sums.t = m.t.select(0, batch);
  if constexpr (requires { m.g; }) {
    sums.factors = true;
    sums.a = m.g.select(0, batch);
    sums.b = m.h.select(0, batch);
  }
  if (op != Op::none) {
    std::swap(sums.s, sums.t);
    std::swap(sums.a, sums.b);
    sums.sign = -1;
  }
  sums.conjugate_x = sums.conjugate_y = is_complex_v<T> && op == Op::adjoint;
  return sums;
}

template <Scalar T, class V>
void apply_direct(const exec::cpu& e, const V& matrix, Op op, View<const T, 3> x, View<T, 3> y) {
  constexpr auto operation = "cauchy::apply";
  const index_t m = matrix.rows(), n = matrix.cols();
  const index_t own = cauchy::checked(matrix, operation).batch();
  const index_t batch =
      detail::check_operands(operation, own, op == Op::none ? m : n, op == Op::none ? n : m, x, y);
  const auto all = cauchy::checked(matrix, operation, batch);
  x = x.broadcast(0, batch);
  std::vector<char> coincide(batch);
  for (index_t b = 0; b < batch; ++b) {
    const bool repeated = b > 0 && all.s.stride(0) == 0 && all.t.stride(0) == 0;
    coincide[b] = repeated ? coincide[0] : cauchy::check_coincidence(operation, all, b);
  }
  const int threads = thread_count(e.threads);
  const int team = batch >= threads ? team_for(threads, batch * m * n * x.extent(2)) : 1;
  parallel_for(team, batch, [&](index_t b) {
    auto sums = sums_of<T>(all, op, b);
    sums.coincide = coincide[b] != 0;
    cauchy::add_direct<T>(team > 1 ? 1 : threads, sums, x.select(0, b), y.select(0, b));
  });
}

}  // namespace

template <Scalar T>
void apply(const exec::cpu& e, const CauchyView<T>& m, Op op, View<const T, 3> x, View<T, 3> y) {
  apply_direct(e, m, op, x, y);
}
template <Scalar T>
void apply(const exec::cpu& e, const CauchyLikeView<T>& m, Op op, View<const T, 3> x,
           View<T, 3> y) {
  apply_direct(e, m, op, x, y);
}

#define STRUCTMAT_INSTANTIATE(T)                                                          \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const CauchyView<T>&, Op,     \
                                          View<const T, 3>, View<T, 3>);                  \
  template STRUCTMAT_EXPORT void apply<T>(const exec::cpu&, const CauchyLikeView<T>&, Op, \
                                          View<const T, 3>, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
