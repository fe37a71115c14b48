#include "structmat/butterfly/butterfly.hpp"

#include <vector>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "structmat/core/shape.hpp"

namespace structmat {

namespace butterfly {

template <Scalar T, class Space>
ButterflyView<T, Space> checked(ButterflyView<T, Space> m, const char* operation, index_t batch) {
  const auto number = [](index_t n) { return std::to_string(n); };
  const index_t size = m.size(), levels = m.levels(), count = m.factors.extent(1);
  if (size != index_t{1} << levels) {
    throw ShapeError(std::string(operation) + ": factors are of size " + number(size) +
                     ", it must be a power of two");
  }
  if (m.rows() < 0 || m.cols() < 0 || m.rows() > size || m.cols() > size) {
    throw ShapeError(std::string(operation) + ": the matrix is " + number(m.rows()) + " x " +
                     number(m.cols()) + ", the factors are of size " + number(size));
  }
  if (levels == 0 ? count != 0 : count % levels != 0) {
    throw ShapeError(std::string(operation) + ": there are " + number(count) +
                     " factors, a stage has " + number(levels));
  }
  detail::Shape shape(operation, batch);
  shape.require("factors", m.factors, {count, m.factors.extent(2), 2, 2});
  m.factors = m.factors.broadcast(0, shape.batch());
  return m;
}

}  // namespace butterfly

namespace {

/// x := F_last ... F_0 x by the definition.
template <Scalar T>
void pass(const ButterflyView<T>& m, index_t b, std::vector<T>& x) {
  for (index_t f = 0; f < m.factors.extent(1); ++f) {
    const index_t s = m.stride(f);
    for (index_t p = 0; p < m.size() / 2; ++p) {
      const index_t i = p / s * 2 * s + p % s;
      const T u = x[i], v = x[i + s];
      x[i] = product(m.factors(b, f, p, 0, 0), u) + product(m.factors(b, f, p, 0, 1), v);
      x[i + s] = product(m.factors(b, f, p, 1, 0), u) + product(m.factors(b, f, p, 1, 1), v);
    }
  }
}

template <Scalar T>
std::vector<T> column(const ButterflyView<T>& m, index_t b, index_t j) {
  std::vector<T> x(m.size());
  x[j] = T{1};
  pass(m, b, x);
  return x;
}

}  // namespace

template <Scalar T>
T entry(const ButterflyView<T>& matrix, index_t i, index_t j, index_t batch) {
  const auto m = butterfly::checked(matrix, "butterfly::entry");
  detail::require_index("butterfly::entry", {m.batch(), m.rows(), m.cols()}, {batch, i, j});
  return column(m, batch, j)[i];
}

template <Scalar T>
void to_dense(const ButterflyView<T>& matrix, View<T, 3> dense) {
  const auto m = butterfly::checked(matrix, "butterfly::to_dense");
  detail::require_extents<T, 3, space::host>("butterfly::to_dense", dense,
                                             {m.batch(), m.rows(), m.cols()});
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t j = 0; j < m.cols(); ++j) {
      const std::vector<T> x = column(m, b, j);
      for (index_t i = 0; i < m.rows(); ++i) dense(b, i, j) = x[i];
    }
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                               \
  template STRUCTMAT_EXPORT ButterflyView<T> butterfly::checked(ButterflyView<T>, const char*, \
                                                                index_t);                      \
  template STRUCTMAT_EXPORT ButterflyView<T, space::cuda> butterfly::checked(                  \
      ButterflyView<T, space::cuda>, const char*, index_t);                                    \
  template STRUCTMAT_EXPORT T entry(const ButterflyView<T>&, index_t, index_t, index_t);       \
  template STRUCTMAT_EXPORT void to_dense(const ButterflyView<T>&, View<T, 3>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
