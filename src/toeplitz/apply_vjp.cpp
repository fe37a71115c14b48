#include "structmat/toeplitz/apply_vjp.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "toeplitz/convolution_full.hpp"

namespace structmat {
namespace {

/// What the cotangents of one call are computed from, after all checks: batches broadcast.
template <Scalar T>
struct Operands {
  index_t batch;
  View<const T, 3> x, y_bar;
  View<T, 2> m_bar;
  View<T, 3> x_bar;
};

std::string extents(const std::array<index_t, 3>& e) {
  return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
}

template <class M, Scalar T>
Operands<T> checked_operands(const std::string& operation, const M& m, index_t numbers, Op op,
                             const View<const T, 3>& x, const View<const T, 3>& y_bar,
                             const View<T, 2>& m_bar, const View<T, 3>& x_bar) {
  const bool direct = op == Op::none;
  const index_t rows = direct ? m.rows() : m.cols(), cols = direct ? m.cols() : m.rows();
  const index_t batch = m.batch() == 1 ? x.extent(0) : m.batch();
  const std::array<index_t, 3> in{batch, cols, x.extent(2)}, out{batch, rows, x.extent(2)};
  if ((x.extent(0) != 1 && x.extent(0) != batch) || x.extent(1) != cols) {
    throw ShapeError(operation + ": x is " + extents(x.extents()) + ", expected " + extents(in));
  }
  if (y_bar.extents() != out) {
    throw ShapeError(operation + ": y_bar is " + extents(y_bar.extents()) + ", expected " +
                     extents(out));
  }
  Operands<T> o{batch, x.broadcast(0, batch), y_bar, {}, {}};
  const auto require_apart = [&](const auto& bar, const char* name) {
    if (overlaps(bar, x) || overlaps(bar, y_bar))
      throw DomainError(operation + ": " + name + " overlaps x or y_bar in memory");
  };
  if (x_bar.data()) {
    if ((x_bar.extent(0) != 1 && x_bar.extent(0) != batch) || x_bar.extent(1) != cols ||
        x_bar.extent(2) != in[2]) {
      throw ShapeError(operation + ": x_bar is " + extents(x_bar.extents()) + ", expected " +
                       extents(in));
    }
    require_apart(View<const T, 3>(x_bar), "x_bar");
    o.x_bar = x_bar.broadcast(0, batch);
  }
  if (m_bar.data()) {
    if ((m_bar.extent(0) != 1 && m_bar.extent(0) != batch) || m_bar.extent(1) != numbers) {
      throw ShapeError(operation + ": the cotangent of the matrix is " +
                       std::to_string(m_bar.extent(0)) + " x " + std::to_string(m_bar.extent(1)) +
                       ", expected " + std::to_string(batch) + " x " + std::to_string(numbers));
    }
    require_apart(View<const T, 2>(m_bar), "the cotangent of the matrix");
    o.m_bar = m_bar.broadcast(0, batch);
  }
  return o;
}

/// x_bar += op(A)^H y_bar
template <class M, Scalar T>
void add_operand_cotangent(const exec::cpu& e, const M& m, Op op, const Operands<T>& o) {
  if (!o.x_bar.data() || o.x_bar.empty()) return;
  Array<T, 3> product(o.x_bar.extents(), uninitialized);
  // A^T has the adjoint conj(A): conj(A) y = conj(A conj(y)).
  const bool conjugated = is_complex_v<T> && op == Op::transpose;
  if (conjugated) {
    Array<T, 3> y = to_array(o.y_bar);
    for (T& v : y) v = conjugate(v);
    apply(e, m, Op::none, View<const T, 3>(y), product.view());
  } else {
    apply(e, m, op == Op::none ? Op::adjoint : Op::none, o.y_bar, product.view());
  }
  for (index_t b = 0; b < product.extent(0); ++b) {
    for (index_t i = 0; i < product.extent(1); ++i) {
      for (index_t c = 0; c < product.extent(2); ++c) {
        const T v = product(b, i, c);
        o.x_bar(b, i, c) += conjugated ? conjugate(v) : v;
      }
    }
  }
}

/// lags_bar_l += sum_{i-j=l} of y_bar_i conj(x_j) for A, conj(x_i) y_bar_j for A^T, x_i conj(y_bar_j) for
/// A^H.
template <Scalar T>
void add_correlation(Op op, const View<const T, 2>& x, const View<const T, 2>& y_bar,
                     const View<T, 1>& lags_bar) {
  const auto& of_rows = op == Op::none ? y_bar : x;
  const auto& of_columns = op == Op::none ? x : y_bar;
  if (of_rows.empty() || of_columns.empty()) return;
  Array<T, 2> reversed = to_array(of_columns.reversed(0));
  for (T& v : reversed) v = conjugate(v);
  toeplitz::add_full_convolution<T>(of_rows, reversed.view(), op == Op::transpose, lags_bar);
}

/// For each batch entry: add(batch entry), at the same time unless they share a sum.
template <Scalar T, class Add>
void over_batch(const exec::cpu& e, const Operands<T>& o, const Add& add) {
  const bool shared = o.batch > 1 && o.m_bar.stride(0) == 0;
  const index_t work = 32 * o.batch * (o.x.extent(1) + o.y_bar.extent(1)) * o.x.extent(2);
  parallel_for(shared ? 1 : team_for(e.threads, work), o.batch, add);
}

template <Scalar T>
void add_lag_cotangent(const exec::cpu& e, Op op, const Operands<T>& o) {
  if (!o.m_bar.data() || o.m_bar.empty()) return;
  over_batch(e, o, [&](index_t b) {
    add_correlation<T>(op, o.x.select(0, b), o.y_bar.select(0, b), o.m_bar.select(0, b));
  });
}

/// H = T J, H^T = J T^T: x or y_bar in the opposite order.
template <Scalar T>
Operands<T> of_toeplitz(Operands<T> o, Op op) {
  auto& v = op == Op::none ? o.x : o.y_bar;
  v = v.reversed(1);
  return o;
}

/// column_bar_p += lags_bar_p +- lags_bar_{p-n}
template <class M, Scalar T>
void circulant_vjp(const std::string& operation, const exec::cpu& e, const M& m, Op op,
                   const View<const T, 3>& x, const View<const T, 3>& y_bar,
                   const View<T, 2>& m_bar, const View<T, 3>& x_bar, T sign) {
  const index_t n = m.size();
  const auto o = checked_operands(operation, m, n, op, x, y_bar, m_bar, x_bar);
  add_operand_cotangent(e, m, op, o);
  if (!o.m_bar.data() || n == 0) return;
  over_batch(e, o, [&](index_t b) {
    Array<T, 1> lags_bar({2 * n - 1});
    add_correlation<T>(op, o.x.select(0, b), o.y_bar.select(0, b), lags_bar.view());
    const View<T, 1> bar = o.m_bar.select(0, b);
    for (index_t p = 0; p < n; ++p)
      bar(p) += lags_bar(n - 1 + p) + (p > 0 ? sign * lags_bar(p - 1) : T{});
  });
}

}  // namespace

template <Scalar T>
void apply_vjp(const exec::cpu& e, const ToeplitzView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar) {
  constexpr auto operation = "toeplitz::apply_vjp";
  const auto t = toeplitz::checked(m, operation);
  const auto o = checked_operands<ToeplitzView<T>, T>(operation, t, t.lags.extent(1), op, x, y_bar,
                                                      m_bar, x_bar);
  add_operand_cotangent(e, t, op, o);
  add_lag_cotangent(e, op, o);
}

template <Scalar T>
void apply_vjp(const exec::cpu& e, const HankelView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar) {
  constexpr auto operation = "hankel::apply_vjp";
  const auto h = hankel::checked(m, operation);
  const auto o = checked_operands<HankelView<T>, T>(operation, h, h.anti_diagonals.extent(1), op, x,
                                                    y_bar, m_bar, x_bar);
  add_operand_cotangent(e, h, op, o);
  add_lag_cotangent(e, op, of_toeplitz(o, op));
}

template <Scalar T>
void apply_vjp(const exec::cpu& e, const CirculantView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar) {
  constexpr auto operation = "circulant::apply_vjp";
  circulant_vjp(operation, e, circulant::checked(m, operation), op, x, y_bar, m_bar, x_bar, T{1});
}

template <Scalar T>
void apply_vjp(const exec::cpu& e, const SkewCirculantView<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar) {
  constexpr auto operation = "skew_circulant::apply_vjp";
  circulant_vjp(operation, e, skew_circulant::checked(m, operation), op, x, y_bar, m_bar, x_bar,
                T{-1});
}

template <Scalar T>
void apply_vjp(const exec::cpu& e, const ToeplitzPlan<T>& m, Op op, View<const T, 3> x,
               View<const T, 3> y_bar, View<T, 2> m_bar, View<T, 3> x_bar) {
  const auto o = checked_operands<ToeplitzPlan<T>, T>(
      "toeplitz::apply_vjp", m, m.lags().lags.extent(1), op, x, y_bar, m_bar, x_bar);
  add_operand_cotangent(e, m, op, o);
  add_lag_cotangent(e, op, m.is_hankel() ? of_toeplitz(o, op) : o);
}

#define STRUCTMAT_INSTANTIATE(T)                                                              \
  template STRUCTMAT_EXPORT void apply_vjp(const exec::cpu&, const ToeplitzView<T>&, Op,      \
                                           View<const T, 3>, View<const T, 3>, View<T, 2>,    \
                                           View<T, 3>);                                       \
  template STRUCTMAT_EXPORT void apply_vjp(const exec::cpu&, const HankelView<T>&, Op,        \
                                           View<const T, 3>, View<const T, 3>, View<T, 2>,    \
                                           View<T, 3>);                                       \
  template STRUCTMAT_EXPORT void apply_vjp(const exec::cpu&, const CirculantView<T>&, Op,     \
                                           View<const T, 3>, View<const T, 3>, View<T, 2>,    \
                                           View<T, 3>);                                       \
  template STRUCTMAT_EXPORT void apply_vjp(const exec::cpu&, const SkewCirculantView<T>&, Op, \
                                           View<const T, 3>, View<const T, 3>, View<T, 2>,    \
                                           View<T, 3>);                                       \
  template STRUCTMAT_EXPORT void apply_vjp(const exec::cpu&, const ToeplitzPlan<T>&, Op,      \
                                           View<const T, 3>, View<const T, 3>, View<T, 2>,    \
                                           View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
