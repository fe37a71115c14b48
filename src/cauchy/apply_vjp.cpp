#include "structmat/cauchy/apply_vjp.hpp"

#include <utility>
#include <vector>

#include "cauchy/coincidence.hpp"
#include "cauchy/direct.hpp"
#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/vjp_operands.hpp"

namespace structmat {
namespace {

template <Scalar T>
Array<T, 2> copied(const View<const T, 2>& from, bool conjugated) {
  Array<T, 2> to = to_array(from);
  if (conjugated) {
    for (T& v : to) v = conjugate(v);
  }
  return to;
}

/// The nodes and generators of the rows or of the columns, and their cotangents.
template <Scalar T>
struct Side {
  View<const T, 1> nodes;
  View<const T, 2> generators;  // ones for a Cauchy matrix
  View<const T, 2> data;        // conj(y_bar) for the rows, x for the columns
  View<T, 1> nodes_bar;
  View<T, 2> generators_bar;
};

/// The cotangents of one side, as if `own` were the rows: the columns see a matrix with entries of the
/// opposite sign.
template <Scalar T>
void pull_back(int threads, const Side<T>& own, const Side<T>& other, bool coincide, int sign) {
  cauchy::DirectSums<T> sums;
  sums.s = own.nodes;
  sums.t = other.nodes;
  sums.factors = true;
  sums.a = own.data;
  sums.b = other.data;
  sums.coincide = coincide;
  if (own.generators_bar.data()) {
    sums.add = sums.conjugate_y = true;
    sums.sign = sign;
    cauchy::add_direct(threads, sums, other.generators, own.generators_bar);
  }
  if (own.nodes_bar.data()) {
    sums.add = sums.conjugate_y = false;
    sums.sign = -sign;
    sums.power = 2;
    Array<T, 2> all(own.generators.extents(), uninitialized);
    cauchy::add_direct(threads, sums, other.generators, all.view());
    for (index_t i = 0; i < all.extent(0); ++i) {
      T sum{};
      for (index_t l = 0; l < all.extent(1); ++l) sum += product(own.generators(i, l), all(i, l));
      own.nodes_bar(i) += conjugate(sum);
    }
  }
}

/// conj(x_bar) += op(C)^T conj(y_bar), or without the conjugation.
template <Scalar T>
void pull_back_operand(int threads, const Side<T>& rows, const Side<T>& cols, bool coincide,
                       bool conjugated, int sign, const View<T, 2>& x_bar) {
  cauchy::DirectSums<T> sums;
  sums.s = cols.nodes;
  sums.t = rows.nodes;
  sums.factors = true;
  sums.a = cols.generators;
  sums.b = rows.generators;
  sums.coincide = coincide;
  sums.add = true;
  sums.conjugate_y = conjugated;
  sums.sign = -sign;
  cauchy::add_direct(threads, sums, rows.data, x_bar);
}

template <class T, int Rank>
View<T, Rank - 1> one(const View<T, Rank>& bar, index_t b) {
  return bar.data() ? bar.select(0, b) : View<T, Rank - 1>{};
}

template <Scalar T, class V, class Bar>
void apply_vjp_direct(const exec::cpu& e, const V& matrix, Op op, View<const T, 3> x,
                      const View<const T, 3>& y_bar, const Bar& matrix_bar, View<T, 3> x_bar) {
  constexpr auto operation = "cauchy::apply_vjp";
  constexpr bool like = requires {
    matrix.g;
  };
  const bool turned = op != Op::none;
  const index_t m = matrix.rows(), n = matrix.cols();
  const index_t own = cauchy::checked(matrix, operation).batch();
  const index_t batch =
      detail::check_vjp_operands(operation, own, turned ? n : m, turned ? m : n, x, y_bar, x_bar);
  const auto all = cauchy::checked(matrix, operation, batch);
  const auto s_bar = detail::checked_cotangent(operation, "s", matrix_bar.s, batch, {m});
  const auto t_bar = detail::checked_cotangent(operation, "t", matrix_bar.t, batch, {n});
  View<T, 3> g_bar, h_bar;
  if constexpr (like) {
    const index_t r = matrix.order();
    g_bar = detail::checked_cotangent(operation, "g", matrix_bar.g, batch, {m, r});
    h_bar = detail::checked_cotangent(operation, "h", matrix_bar.h, batch, {n, r});
  }
  std::vector<char> coincide(batch);
  for (index_t b = 0; b < batch; ++b) coincide[b] = cauchy::check_coincidence(operation, all, b);

  const T unit{1};
  const bool adjoint = is_complex_v<T> && op == Op::adjoint;
  x = x.broadcast(0, batch);
  for (index_t b = 0; b < batch; ++b) {
    Side<T> rows{
        all.s.select(0, b), View<const T, 2>(&unit, {m, 1}, {0, 0}), {}, one(s_bar, b), {}};
    Side<T> cols{
        all.t.select(0, b), View<const T, 2>(&unit, {n, 1}, {0, 0}), {}, one(t_bar, b), {}};
    if constexpr (like) {
      rows.generators = all.g.select(0, b);
      cols.generators = all.h.select(0, b);
      rows.generators_bar = one(g_bar, b);
      cols.generators_bar = one(h_bar, b);
    }
    if (turned) std::swap(rows, cols);
    const int sign = turned ? -1 : 1;
    // y = C^H x is conj(y) = C^T conj(x).
    const auto out_bar = copied(y_bar.select(0, b), is_complex_v<T> && !adjoint);
    const auto in = copied(x.select(0, b), adjoint);
    rows.data = out_bar.view();
    cols.data = in.view();
    pull_back(e.threads, rows, cols, coincide[b] != 0, sign);
    pull_back(e.threads, cols, rows, coincide[b] != 0, -sign);
    if (x_bar.data()) {
      pull_back_operand(e.threads, rows, cols, coincide[b] != 0, is_complex_v<T> && !adjoint, sign,
                        x_bar.select(0, b));
    }
  }
}

}  // namespace

template <Scalar T>
void apply_vjp(const exec::cpu& e, const CauchyView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const CauchyCotangent<T>& m_bar, View<T, 3> x_bar) {
  apply_vjp_direct(e, m, op, x, y_bar, m_bar, x_bar);
}
template <Scalar T>
void apply_vjp(const exec::cpu& e, const CauchyLikeView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, const CauchyLikeCotangent<T>& m_bar, View<T, 3> x_bar) {
  apply_vjp_direct(e, m, op, x, y_bar, m_bar, x_bar);
}

#define STRUCTMAT_INSTANTIATE(T)                                                              \
  template STRUCTMAT_EXPORT void apply_vjp<T>(const exec::cpu&, const CauchyView<T>&, Op,     \
                                              View<const T, 3>, View<const T, 3>,             \
                                              const CauchyCotangent<T>&, View<T, 3>);         \
  template STRUCTMAT_EXPORT void apply_vjp<T>(const exec::cpu&, const CauchyLikeView<T>&, Op, \
                                              View<const T, 3>, View<const T, 3>,             \
                                              const CauchyLikeCotangent<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
