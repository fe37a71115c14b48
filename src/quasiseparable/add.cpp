#include "structmat/quasiseparable/add.hpp"

#include "core/instantiate.hpp"
#include "quasiseparable/operands.hpp"
#include "structmat/quasiseparable/with_transition.hpp"

namespace structmat::quasiseparable {
namespace {

/// to := [x, y] along the states.
template <class T>
void beside(const View<const T, 3>& x, const View<const T, 3>& y, const View<T, 3>& to) {
  const index_t r = x.extent(2);
  copy(x, to.slice(2, 0, r));
  copy(y, to.slice(2, r, to.extent(2)));
}

/// to := diag(x, y), which are diagonal or dense; what is zero is left.
template <class T>
void block_diagonal(const View<const T, 3>& x, const View<const T, 3>& y, const View<T, 3>& to) {
  beside(x, y, to);
}
template <class T>
void block_diagonal(const View<const T, 4>& x, const View<const T, 4>& y, const View<T, 4>& to) {
  const index_t r = x.extent(2), all = to.extent(2);
  copy(x, to.slice(2, 0, r).slice(3, 0, r));
  copy(y, to.slice(2, r, all).slice(3, r, all));
}

template <class T>
void negate(const View<T, 3>& v) {
  for (index_t b = 0; b < v.extent(0); ++b) {
    for (index_t i = 0; i < v.extent(1); ++i) {
      for (index_t l = 0; l < v.extent(2); ++l) v(b, i, l) = -v(b, i, l);
    }
  }
}

/// X + Y or X - Y.
template <Scalar T, transition::Uniform K>
Quasiseparable<T, SumTransition<K>> sum(const char* operation, const QuasiseparableView<T, K>& x_in,
                                        const QuasiseparableView<T, K>& y_in, bool negative) {
  const auto [x, y] = checked_operands(operation, x_in, y_in);
  if constexpr (std::same_as<K, transition::Scalar>) {
    const auto xd = with_transition<transition::Diagonal>(x);
    const auto yd = with_transition<transition::Diagonal>(y);
    return sum(operation, xd.view(), yd.view(), negative);
  } else {
    const Order rx = x.order(), ry = y.order();
    Quasiseparable<T, K> c(x.size(), {rx.lower + ry.lower, rx.upper + ry.upper}, x.batch());
    beside(x.p, y.p, c.p.view());
    beside(x.q, y.q, c.q.view());
    block_diagonal(x.a, y.a, c.a.view());
    beside(x.g, y.g, c.g.view());
    beside(x.h, y.h, c.h.view());
    block_diagonal(x.b, y.b, c.b.view());
    if (negative) {
      negate(c.q.view().slice(2, rx.lower, rx.lower + ry.lower));
      negate(c.h.view().slice(2, rx.upper, rx.upper + ry.upper));
    }
    for (index_t b = 0; b < x.batch(); ++b) {
      for (index_t i = 0; i < x.size(); ++i) {
        c.d(b, i) = negative ? x.d(b, i) - y.d(b, i) : x.d(b, i) + y.d(b, i);
      }
    }
    return c;
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, SumTransition<K>> add(const QuasiseparableView<T, K>& x,
                                        const QuasiseparableView<T, K>& y) {
  return sum("quasiseparable::add", x, y, false);
}

template <Scalar T, transition::Uniform K>
Quasiseparable<T, SumTransition<K>> subtract(const QuasiseparableView<T, K>& x,
                                             const QuasiseparableView<T, K>& y) {
  return sum("quasiseparable::subtract", x, y, true);
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                                \
  template STRUCTMAT_EXPORT Quasiseparable<T, SumTransition<transition::K>> add<T, transition::K>( \
      const QuasiseparableView<T, transition::K>&, const QuasiseparableView<T, transition::K>&);   \
  template STRUCTMAT_EXPORT Quasiseparable<T, SumTransition<transition::K>>                        \
  subtract<T, transition::K>(const QuasiseparableView<T, transition::K>&,                          \
                             const QuasiseparableView<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
