#include <string>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "recurrence/normal_form.hpp"
#include "structmat/quasiseparable/qr.hpp"

namespace structmat::quasiseparable {
namespace {

using dense::add_product;
using dense::part;
using dense::product;
using recurrence::BlockList;

/// Generators of the inverse of one batch entry. With c_k the right-hand sides of the equations left
/// over in front of block k and u_k = [w; v]_k,
///   c_{k+1} = alpha c_k + beta b_k,
///   x_k = X_u u_{k+1} + X_c c_k + X_b b_k,   u_k = Y_u u_{k+1} + Y_c c_k + Y_b b_k,
/// and u_k = G_k c_k + (what b behind block k does), G_k = Y_u G_{k+1} alpha + Y_c.
template <Scalar T>
void invert(const std::vector<typename Qr<T>::Step>& steps, const Partition& partition,
            BlockList<T>& lower, BlockList<T>& upper, std::vector<Array<T, 2>>& diagonal) {
  const index_t blocks = partition.blocks();
  for (auto* list : {&lower, &upper}) {
    for (auto* kind : {&list->p, &list->a, &list->q}) kind->resize(blocks);
  }
  diagonal.resize(blocks);
  Array<T, 2> g({0, 0});
  for (index_t k = blocks; k-- > 0;) {
    const auto& step = steps[k];
    const index_t size = partition.size(k), w = step.entering, rows = step.unitary.extent(0),
                  gone = w + size, w_next = rows - gone, v = step.v_of_v.extent(0),
                  v_next = step.v_of_v.extent(1), u_next = w_next + v_next, u = w + v;
    const View<const T, 2> unitary = step.unitary.view();
    // Columns: of u_{k+1}, of c_k, of b_k.
    Array<T, 2> x({gone, u_next + w + size}, uninitialized);
    for (index_t i = 0; i < gone; ++i) {
      for (index_t j = 0; j < u_next; ++j) x(i, j) = -step.kept(i, j);
    }
    copy(part(unitary, 0, gone, 0, w), part(x.view(), 0, gone, u_next, u_next + w));
    copy(part(unitary, 0, gone, rows - size, rows),
         part(x.view(), 0, gone, u_next + w, x.extent(1)));
    dense::triangular_solve<T>(dense::Triangle::upper, Op::none, step.triangle, x);
    const View<const T, 2> of_x = std::as_const(x).view().slice(0, w, gone);
    Array<T, 2> y({u, x.extent(1)});
    copy(std::as_const(x).view().slice(0, 0, w), y.view().slice(0, 0, w));
    dense::gemm<T>(Op::none, Op::none, T{1}, step.v_of_x, of_x, T{0}, y.view().slice(0, w, u));
    for (index_t i = 0; i < v; ++i) {
      for (index_t j = 0; j < v_next; ++j) y(w + i, w_next + j) += step.v_of_v(i, j);
    }
    const View<const T, 2> of_u = y.view();
    const auto u_part = [&](const View<const T, 2>& m) { return m.slice(1, 0, u_next); };
    const auto c_part = [&](const View<const T, 2>& m) { return m.slice(1, u_next, u_next + w); };
    const auto b_part = [&](const View<const T, 2>& m) {
      return m.slice(1, u_next + w, m.extent(1));
    };

    const View<const T, 2> alpha = part(unitary, gone, rows, 0, w),
                           beta = part(unitary, gone, rows, rows - size, rows);
    const Array<T, 2> g_alpha = product<T>(Op::none, g, Op::none, alpha),
                      g_beta = product<T>(Op::none, g, Op::none, beta);
    lower.a[k] = to_array(alpha);
    lower.q[k] = to_array(beta.transposed());
    lower.p[k] = to_array(c_part(of_x));
    add_product<T>(Op::none, u_part(of_x), Op::none, g_alpha, lower.p[k]);
    diagonal[k] = to_array(b_part(of_x));
    add_product<T>(Op::none, u_part(of_x), Op::none, g_beta, diagonal[k]);
    upper.q[k] = to_array(u_part(of_x));
    upper.a[k] = to_array(u_part(of_u).transposed());
    Array<T, 2> in = to_array(b_part(of_u));
    add_product<T>(Op::none, u_part(of_u), Op::none, g_beta, in);
    upper.p[k] = to_array(in.view().transposed());
    Array<T, 2> g_before = to_array(c_part(of_u));
    add_product<T>(Op::none, u_part(of_u), Op::none, g_alpha, g_before);
    g = std::move(g_before);
  }
  recurrence::make_rows_isometric(upper);
  upper = recurrence::reversed(std::move(upper));
  // Read from the other end, the state in front of block k is that behind block blocks - 1 - k.
  recurrence::truncate_rows<T>(upper, [&](index_t k) {
    return recurrence::BlockTruncation{0, steps[blocks - 1 - k].v_of_v.extent(1)};
  });
  upper = recurrence::reversed(std::move(upper));
}

}  // namespace

template <Scalar T>
Quasiseparable<T, transition::Block> inverse(const Qr<T>& f) {
  if (!f.status().usable()) {
    throw DomainError("quasiseparable::inverse: " + describe(f.status()));
  }
  Quasiseparable<T, transition::Block> result;
  result.partition = f.partition();
  result.diagonal = BlockDiagonal<T>(result.partition, f.batch());
  std::vector<BlockList<T>> lower(f.batch()), upper(f.batch());
  for (index_t b = 0; b < f.batch(); ++b) {
    std::vector<Array<T, 2>> diagonal;
    invert<T>(f.entry(b).steps, result.partition, lower[b], upper[b], diagonal);
    for (index_t k = 0; k < result.partition.blocks(); ++k) {
      copy(std::as_const(diagonal[k]).view(), result.diagonal.block(b, k));
    }
  }
  result.lower = recurrence::assemble(result.partition, lower);
  result.upper_transposed = recurrence::assemble(result.partition, upper);
  return result;
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Block> inverse<T>(const Qr<T>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
