#include "structmat/quasiseparable/hadamard.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "quasiseparable/operands.hpp"

namespace structmat::quasiseparable {
namespace {

/// The Kronecker product of numbers, vectors or matrices, element by element.
template <Scalar T>
void kronecker(const View<const T, 1>& x, const View<const T, 1>& y, const View<T, 1>& to) {
  const index_t ry = y.extent(0);
  for (index_t l = 0; l < x.extent(0); ++l) {
    for (index_t u = 0; u < ry; ++u) to(l * ry + u) = product(x(l), y(u));
  }
}
template <Scalar T>
void kronecker(const View<const T, 2>& x, const View<const T, 2>& y, const View<T, 2>& to) {
  const index_t ry = y.extent(0);
  for (index_t l = 0; l < x.extent(0); ++l) {
    for (index_t u = 0; u < ry; ++u) {
      kronecker(x.select(0, l), y.select(0, u), to.select(0, l * ry + u));
    }
  }
}

/// For each batch entry and index.
template <Scalar T, int Rank>
void kronecker_all(const View<const T, Rank>& x, const View<const T, Rank>& y,
                   const View<T, Rank>& to) {
  for (index_t b = 0; b < to.extent(0); ++b) {
    for (index_t i = 0; i < to.extent(1); ++i) {
      if constexpr (Rank == 2) {
        to(b, i) = product(x(b, i), y(b, i));
      } else {
        kronecker(x.select(0, b).select(0, i), y.select(0, b).select(0, i),
                  to.select(0, b).select(0, i));
      }
    }
  }
}

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, K> hadamard(const QuasiseparableView<T, K>& x_in,
                              const QuasiseparableView<T, K>& y_in) {
  const auto [x, y] = checked_operands("quasiseparable::hadamard", x_in, y_in);
  const Order rx = x.order(), ry = y.order();
  Quasiseparable<T, K> c(x.size(), {rx.lower * ry.lower, rx.upper * ry.upper}, x.batch());
  kronecker_all(x.p, y.p, c.p.view());
  kronecker_all(x.q, y.q, c.q.view());
  kronecker_all(x.a, y.a, c.a.view());
  kronecker_all(x.d, y.d, c.d.view());
  kronecker_all(x.g, y.g, c.g.view());
  kronecker_all(x.h, y.h, c.h.view());
  kronecker_all(x.b, y.b, c.b.view());
  return c;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                      \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::K> hadamard<T, transition::K>( \
      const QuasiseparableView<T, transition::K>&, const QuasiseparableView<T, transition::K>&);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
