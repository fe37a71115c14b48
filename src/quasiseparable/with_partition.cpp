#include <algorithm>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "recurrence/block_list.hpp"
#include "structmat/quasiseparable/to_block.hpp"

namespace structmat::quasiseparable {
namespace {

using dense::beside;
using dense::part;
using dense::product;
using dense::stacked;

/// Generators of consecutive rows of a triangle, and of their diagonal block, strictly lower part
/// by blocks: only what lies below the diagonal of `d` is used.
template <Scalar T>
struct Piece {
  Array<T, 2> p, a, q, d;
  index_t rows() const { return p.extent(0); }
};

template <Scalar T>
Array<T, 2> identity(index_t rows, index_t columns, index_t offset) {
  Array<T, 2> m({rows, columns});
  for (index_t i = 0; i < rows && i + offset < columns; ++i) m(i, i + offset) = T{1};
  return m;
}

/// Cuts the first t rows off x.
template <Scalar T>
Piece<T> cut(Piece<T>& x, index_t t) {
  const index_t m = x.rows(), s = x.p.extent(1), next = x.q.extent(1);
  const View<const T, 2> p = x.p.view(), a = x.a.view(), q = x.q.view(), d = x.d.view();
  Piece<T> first, rest;
  first.p = to_array(p.slice(0, 0, t));
  first.d = to_array(part(d, 0, t, 0, t));
  rest.d = to_array(part(d, t, m, t, m));
  rest.q = to_array(q.slice(0, t, m));
  const View<const T, 2> below = part(d, t, m, 0, t);
  if (s + t <= m - t + next) {  // the state carries the columns that were passed
    first.a = identity<T>(s + t, s, 0);
    first.q = identity<T>(t, s + t, s);
    rest.p = beside<T>(p.slice(0, t, m), below);
    rest.a = beside<T>(a, q.slice(0, 0, t).transposed());
  } else {  // the state carries what they contribute to each row to come
    first.a = stacked<T>(p.slice(0, t, m), a);
    first.q = beside<T>(below.transposed(), q.slice(0, 0, t));
    rest.p = identity<T>(m - t, m - t + next, 0);
    rest.a = identity<T>(next, m - t + next, m - t);
  }
  x = std::move(rest);
  return first;
}

/// x with the rows of y behind it.
template <Scalar T>
Piece<T> joined(const Piece<T>& x, const Piece<T>& y) {
  const index_t mx = x.rows(), my = y.rows();
  Piece<T> z;
  z.p = stacked<T>(x.p.view(), product<T>(Op::none, y.p, Op::none, x.a).view());
  z.a = product<T>(Op::none, y.a, Op::none, x.a);
  z.q = stacked<T>(product<T>(Op::none, x.q, Op::transpose, y.a).view(), y.q.view());
  z.d = Array<T, 2>({mx + my, mx + my});
  copy(x.d.view(), part(z.d.view(), 0, mx, 0, mx));
  copy(y.d.view(), part(z.d.view(), mx, mx + my, mx, mx + my));
  copy(product<T>(Op::none, y.p, Op::transpose, x.q).view(), part(z.d.view(), mx, mx + my, 0, mx));
  return z;
}

/// The triangle on the new partition; diagonal(k): the part of the new diagonal block k in which
/// the triangle goes.
template <Scalar T, class Diagonal>
recurrence::BlockList<T> repartition(const Quasiseparable<T, transition::Block>& m,
                                     const BlockTriangle<T>& triangle, bool transposed,
                                     index_t batch, const Partition& partition,
                                     const Diagonal& diagonal) {
  recurrence::BlockList<T> list;
  const index_t entry = triangle.batch() == 1 ? 0 : batch;
  Piece<T> piece;  // what is left of the current block of m
  index_t block = 0;
  for (index_t k = 0; k < partition.blocks(); ++k) {
    Piece<T> whole;
    for (index_t missing = partition.size(k); missing > 0;) {
      if (piece.rows() == 0) {
        const View<const T, 2> d = m.diagonal.block(m.diagonal.batch() == 1 ? 0 : batch, block);
        piece = {to_array(triangle.p(entry, block)), to_array(triangle.a(entry, block)),
                 to_array(triangle.q(entry, block)), to_array(transposed ? d.transposed() : d)};
        ++block;
      }
      const index_t take = std::min(missing, piece.rows());
      missing -= take;
      Piece<T> next = take < piece.rows() ? cut(piece, take) : std::exchange(piece, {});
      whole = whole.rows() == 0 ? std::move(next) : joined(whole, next);
    }
    diagonal(k, std::as_const(whole.d).view());
    list.append(std::move(whole.p), std::move(whole.a), std::move(whole.q));
  }
  return list;
}

}  // namespace

template <Scalar T>
Quasiseparable<T, transition::Block> with_partition(const Quasiseparable<T, transition::Block>& m,
                                                    const Partition& partition) {
  if (partition.rows() != m.size()) {
    throw ShapeError("quasiseparable::with_partition: the partition has " +
                     std::to_string(partition.rows()) + " rows, the matrix " +
                     std::to_string(m.size()));
  }
  if (partition == m.partition) return m;
  Quasiseparable<T, transition::Block> result;
  result.partition = partition;
  result.diagonal = BlockDiagonal<T>(partition, m.batch());
  std::vector<recurrence::BlockList<T>> lower, upper;
  for (index_t b = 0; b < m.batch(); ++b) {
    // The lower triangle brings the diagonal along, the upper one what stands above it.
    lower.push_back(repartition(m, m.lower, false, b, partition, [&](index_t k, const auto& d) {
      copy(d, result.diagonal.block(b, k));
    }));
    upper.push_back(
        repartition(m, m.upper_transposed, true, b, partition, [&](index_t k, const auto& d) {
          const View<T, 2> to = result.diagonal.block(b, k);
          for (index_t i = 0; i < d.extent(0); ++i) {
            for (index_t j = 0; j < i; ++j) to(j, i) = d(i, j);
          }
        }));
  }
  result.lower = recurrence::assemble(partition, lower);
  result.upper_transposed = recurrence::assemble(partition, upper);
  return result;
}

#define STRUCTMAT_INSTANTIATE(T)                                                 \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Block> with_partition( \
      const Quasiseparable<T, transition::Block>&, const Partition&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
