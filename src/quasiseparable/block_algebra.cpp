#include "structmat/quasiseparable/block_algebra.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "recurrence/block_list.hpp"
#include "structmat/quasiseparable/to_block.hpp"

namespace structmat::quasiseparable {
namespace {

using dense::add_product;
using dense::beside;
using dense::part;
using dense::product;
using recurrence::BlockList;

/// The batch of a result of x and y. Throws ShapeError.
template <Scalar T>
index_t common_batch(const std::string& operation, const Blocks<T>& x, const Blocks<T>& y) {
  if (x.size() != y.size()) {
    throw ShapeError(operation + ": the left matrix is of size " + std::to_string(x.size()) +
                     ", the right one of size " + std::to_string(y.size()));
  }
  if (x.batch() != y.batch() && x.batch() != 1 && y.batch() != 1) {
    throw ShapeError(operation + ": the left matrix has batch " + std::to_string(x.batch()) +
                     ", the right one has " + std::to_string(y.batch()));
  }
  return x.batch() == 1 ? y.batch() : x.batch();
}

/// One batch entry of a matrix, its upper triangle as a lower one.
template <Scalar T>
struct Entry {
  BlockList<T> lower, upper;
  std::vector<View<const T, 2>> diagonal;

  Entry(const Blocks<T>& m, index_t b)
      : lower(recurrence::block_list(m.partition, m.lower, b)),
        upper(recurrence::block_list(m.partition, m.upper_transposed, b)) {
    for (index_t k = 0; k < m.partition.blocks(); ++k) {
      diagonal.push_back(m.diagonal.block(m.diagonal.batch() == 1 ? 0 : b, k));
    }
  }
};

/// A result of which every batch entry is made of those of x and y.
///   entry(x, y, lower, upper, diagonal blocks)
template <Scalar T, class Make>
Blocks<T> combine(const std::string& operation, const Blocks<T>& x, const Blocks<T>& y_given,
                  const Make& make) {
  const index_t batch = common_batch(operation, x, y_given);
  const Blocks<T> moved =
      y_given.partition == x.partition ? Blocks<T>() : with_partition(y_given, x.partition);
  const Blocks<T>& y = y_given.partition == x.partition ? y_given : moved;
  Blocks<T> result;
  result.partition = x.partition;
  result.diagonal = BlockDiagonal<T>(x.partition, batch);
  std::vector<BlockList<T>> lower(batch), upper(batch);
  for (index_t b = 0; b < batch; ++b) {
    make(Entry<T>(x, b), Entry<T>(y, b), lower[b], upper[b],
         [&](index_t k) { return result.diagonal.block(b, k); });
  }
  result.lower = recurrence::assemble(x.partition, lower);
  result.upper_transposed = recurrence::assemble(x.partition, upper);
  return result;
}

/// [x, corner; 0, y]
template <Scalar T>
Array<T, 2> triangular(const Array<T, 2>& x, const Array<T, 2>& corner, const Array<T, 2>& y) {
  const index_t m = x.extent(0), n = x.extent(1);
  Array<T, 2> a({m + y.extent(0), n + y.extent(1)});
  copy(x.view(), part(a.view(), 0, m, 0, n));
  if (!corner.empty()) copy(corner.view(), part(a.view(), 0, m, n, a.extent(1)));
  copy(y.view(), part(a.view(), m, a.extent(0), n, a.extent(1)));
  return a;
}

template <Scalar T>
BlockList<T> sum(const BlockList<T>& x, const BlockList<T>& y) {
  BlockList<T> list;
  for (index_t k = 0; k < x.blocks(); ++k) {
    list.append(beside<T>(x.p[k], y.p[k]), triangular(x.a[k], {}, y.a[k]),
                beside<T>(x.q[k], y.q[k]));
  }
  return list;
}

template <Scalar T>
Blocks<T> sum(const std::string& operation, const Blocks<T>& x, const Blocks<T>& y) {
  return combine<T>(operation, x, y,
                    [&](const Entry<T>& ex, const Entry<T>& ey, BlockList<T>& lower,
                        BlockList<T>& upper, const auto& diagonal) {
                      lower = sum(ex.lower, ey.lower);
                      upper = sum(ex.upper, ey.upper);
                      for (index_t k = 0; k < lower.blocks(); ++k) {
                        const View<T, 2> d = diagonal(k);
                        for (index_t i = 0; i < d.extent(0); ++i) {
                          for (index_t j = 0; j < d.extent(1); ++j) {
                            d(i, j) = ex.diagonal[k](i, j) + ey.diagonal[k](i, j);
                          }
                        }
                      }
                    });
}

/// f_k for all k: sums over the rows l in front of block k of (column l of the lower triangle of x)
/// (row l of the upper one of y) in states. z_k: over the rows from block k on, lower and upper
/// exchanged.
template <Scalar T>
struct Gramians {
  std::vector<Array<T, 2>> f, z;

  Gramians(const Entry<T>& x, const Entry<T>& y) : f(x.lower.blocks() + 1), z(f.size()) {
    const index_t blocks = x.lower.blocks();
    f[0] = Array<T, 2>({0, 0});
    z[blocks] = Array<T, 2>({0, 0});
    for (index_t k = 0; k < blocks; ++k) {
      const Array<T, 2> af = product<T>(Op::none, x.lower.a[k], Op::none, f[k]);
      f[k + 1] = product<T>(Op::none, af, Op::transpose, y.upper.a[k]);
      add_product<T>(Op::transpose, x.lower.q[k], Op::none, y.upper.q[k], f[k + 1]);
    }
    for (index_t k = blocks; k-- > 0;) {
      const Array<T, 2> za = product<T>(Op::none, z[k + 1], Op::none, y.lower.a[k]);
      z[k] = product<T>(Op::transpose, x.upper.a[k], Op::none, za);
      add_product<T>(Op::transpose, x.upper.p[k], Op::none, y.lower.p[k], z[k]);
    }
  }
};

/// The strictly lower triangle of x y; with `transposed`, of y^T x^T, given the Gramians of x and y.
template <Scalar T>
BlockList<T> lower_of_product(const Entry<T>& x, const Entry<T>& y, const Gramians<T>& g,
                              bool transposed) {
  const BlockList<T>&xl = transposed ? y.upper : x.lower, &xu = transposed ? y.lower : x.upper,
        &yl = transposed ? x.upper : y.lower, &yu = transposed ? x.lower : y.upper;
  const std::vector<View<const T, 2>>&dx = transposed ? y.diagonal : x.diagonal,
                                  &dy = transposed ? x.diagonal : y.diagonal;
  const Op op = transposed ? Op::transpose : Op::none;
  const Op flipped = transposed ? Op::none : Op::transpose;
  BlockList<T> list;
  for (index_t k = 0; k < xl.blocks(); ++k) {
    // The transposes of the Gramians are those of the transposes.
    Array<T, 2> p = product<T>(op, dx[k], Op::none, yl.p[k]);
    const Array<T, 2> za = product<T>(op, g.z[k + 1], Op::none, yl.a[k]);
    add_product<T>(Op::none, xu.q[k], Op::none, za, p);

    Array<T, 2> q = product<T>(flipped, dy[k], Op::none, xl.q[k]);
    const Array<T, 2> fp = product<T>(op, g.f[k], Op::transpose, yu.p[k]);
    const Array<T, 2> afp = product<T>(Op::none, xl.a[k], Op::none, fp);
    for (index_t i = 0; i < q.extent(0); ++i) {
      for (index_t l = 0; l < q.extent(1); ++l) q(i, l) += afp(l, i);
    }
    list.append(beside<T>(xl.p[k], p),
                triangular(xl.a[k], product<T>(Op::transpose, xl.q[k], Op::none, yl.p[k]), yl.a[k]),
                beside<T>(q, yl.q[k]));
  }
  return list;
}

/// Kronecker products row by row.
template <Scalar T>
Array<T, 2> row_products(const Array<T, 2>& x, const Array<T, 2>& y) {
  Array<T, 2> m({x.extent(0), x.extent(1) * y.extent(1)}, uninitialized);
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t l = 0; l < m.extent(1); ++l) {
      m(i, l) = x(i, l / y.extent(1)) * y(i, l % y.extent(1));
    }
  }
  return m;
}

template <Scalar T>
Array<T, 2> kronecker(const Array<T, 2>& x, const Array<T, 2>& y) {
  const index_t rows = y.extent(0), columns = y.extent(1);
  Array<T, 2> m({x.extent(0) * rows, x.extent(1) * columns}, uninitialized);
  for (index_t i = 0; i < m.extent(0); ++i) {
    for (index_t j = 0; j < m.extent(1); ++j) {
      m(i, j) = x(i / rows, j / columns) * y(i % rows, j % columns);
    }
  }
  return m;
}

template <Scalar T>
BlockList<T> hadamard(const BlockList<T>& x, const BlockList<T>& y) {
  BlockList<T> list;
  for (index_t k = 0; k < x.blocks(); ++k) {
    list.append(row_products(x.p[k], y.p[k]), kronecker(x.a[k], y.a[k]),
                row_products(x.q[k], y.q[k]));
  }
  return list;
}

template <Scalar T>
void scale_rows(BlockTriangle<T>& t, const Partition& partition, View<const T, 1> p_factors,
                View<const T, 1> q_factors) {
  for (index_t b = 0; b < t.batch(); ++b) {
    for (index_t k = 0; k < partition.blocks(); ++k) {
      const View<T, 2> p = t.p(b, k), q = t.q(b, k);
      const index_t begin = partition.begin(k);
      for (index_t i = 0; i < p.extent(0); ++i) {
        for (index_t l = 0; l < p.extent(1); ++l) p(i, l) *= p_factors(begin + i);
        for (index_t l = 0; l < q.extent(1); ++l) q(i, l) *= q_factors(begin + i);
      }
    }
  }
}

}  // namespace

template <Scalar T>
Blocks<T> add(const Blocks<T>& x, const Blocks<T>& y) {
  return sum("quasiseparable::add", x, y);
}

template <Scalar T>
Blocks<T> subtract(const Blocks<T>& x, const Blocks<T>& y) {
  return sum("quasiseparable::subtract", x, scale(T{-1}, y));
}

template <Scalar T>
Blocks<T> scale(T alpha, const Blocks<T>& m) {
  Blocks<T> result = m;
  for (T& v : result.lower.all_p()) v *= alpha;
  for (T& v : result.upper_transposed.all_p()) v *= alpha;
  for (T& v : result.diagonal.all()) v *= alpha;
  return result;
}

template <Scalar T>
Blocks<T> scale_diagonal(View<const T, 1> left, const Blocks<T>& m, View<const T, 1> right) {
  for (const auto& [name, factors] : {std::pair{"left", left}, std::pair{"right", right}}) {
    if (factors.extent(0) == m.size()) continue;
    throw ShapeError("quasiseparable::scale_diagonal: " + std::string(name) + " has " +
                     std::to_string(factors.extent(0)) + " factors, the matrix is of size " +
                     std::to_string(m.size()));
  }
  Blocks<T> result = m;
  scale_rows(result.lower, m.partition, left, right);
  scale_rows(result.upper_transposed, m.partition, right, left);
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t k = 0; k < m.partition.blocks(); ++k) {
      const View<T, 2> d = result.diagonal.block(b, k);
      const index_t begin = m.partition.begin(k);
      for (index_t i = 0; i < d.extent(0); ++i) {
        for (index_t j = 0; j < d.extent(1); ++j) d(i, j) *= left(begin + i) * right(begin + j);
      }
    }
  }
  return result;
}

template <Scalar T>
Blocks<T> transpose(const Blocks<T>& m) {
  Blocks<T> result = m;
  std::swap(result.lower, result.upper_transposed);
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t k = 0; k < m.partition.blocks(); ++k) {
      copy(m.diagonal.block(b, k).transposed(), result.diagonal.block(b, k));
    }
  }
  return result;
}

template <Scalar T>
Blocks<T> adjoint(const Blocks<T>& m) {
  Blocks<T> result = transpose(m);
  if constexpr (is_complex_v<T>) {
    for (BlockTriangle<T>* t : {&result.lower, &result.upper_transposed}) {
      for (Array<T, 2>* all : {&t->all_p(), &t->all_a(), &t->all_q()}) {
        for (T& v : *all) v = conjugate(v);
      }
    }
    for (T& v : result.diagonal.all()) v = conjugate(v);
  }
  return result;
}

template <Scalar T>
Blocks<T> multiply(const Blocks<T>& x, const Blocks<T>& y) {
  return combine<T>(
      "quasiseparable::multiply", x, y,
      [](const Entry<T>& ex, const Entry<T>& ey, BlockList<T>& lower, BlockList<T>& upper,
         const auto& diagonal) {
        const Gramians<T> g(ex, ey);
        lower = lower_of_product(ex, ey, g, false);
        upper = lower_of_product(ex, ey, g, true);
        for (index_t k = 0; k < lower.blocks(); ++k) {
          const View<T, 2> d = diagonal(k);
          add_product<T>(Op::none, ex.diagonal[k], Op::none, ey.diagonal[k], d);
          const Array<T, 2> pf = product<T>(Op::none, ex.lower.p[k], Op::none, g.f[k]);
          add_product<T>(Op::none, pf, Op::transpose, ey.upper.p[k], d);
          const Array<T, 2> qz = product<T>(Op::none, ex.upper.q[k], Op::none, g.z[k + 1]);
          add_product<T>(Op::none, qz, Op::transpose, ey.lower.q[k], d);
        }
      });
}

template <Scalar T>
Blocks<T> hadamard(const Blocks<T>& x, const Blocks<T>& y) {
  return combine<T>("quasiseparable::hadamard", x, y,
                    [](const Entry<T>& ex, const Entry<T>& ey, BlockList<T>& lower,
                       BlockList<T>& upper, const auto& diagonal) {
                      lower = hadamard(ex.lower, ey.lower);
                      upper = hadamard(ex.upper, ey.upper);
                      for (index_t k = 0; k < lower.blocks(); ++k) {
                        const View<T, 2> d = diagonal(k);
                        for (index_t i = 0; i < d.extent(0); ++i) {
                          for (index_t j = 0; j < d.extent(1); ++j) {
                            d(i, j) = ex.diagonal[k](i, j) * ey.diagonal[k](i, j);
                          }
                        }
                      }
                    });
}

#define STRUCTMAT_INSTANTIATE(T)                                                            \
  template STRUCTMAT_EXPORT Blocks<T> add<T>(const Blocks<T>&, const Blocks<T>&);           \
  template STRUCTMAT_EXPORT Blocks<T> subtract<T>(const Blocks<T>&, const Blocks<T>&);      \
  template STRUCTMAT_EXPORT Blocks<T> scale<T>(T, const Blocks<T>&);                        \
  template STRUCTMAT_EXPORT Blocks<T> scale_diagonal<T>(View<const T, 1>, const Blocks<T>&, \
                                                        View<const T, 1>);                  \
  template STRUCTMAT_EXPORT Blocks<T> transpose<T>(const Blocks<T>&);                       \
  template STRUCTMAT_EXPORT Blocks<T> adjoint<T>(const Blocks<T>&);                         \
  template STRUCTMAT_EXPORT Blocks<T> multiply<T>(const Blocks<T>&, const Blocks<T>&);      \
  template STRUCTMAT_EXPORT Blocks<T> hadamard<T>(const Blocks<T>&, const Blocks<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
