/// \file
/// Gaussian elimination of small Cauchy-like matrices on their generators, a block for each matrix, and
/// substitution with the factors.
///
/// Step k takes the column q_k with the largest generators |h_j|, in it the row p_k with the largest entry,
/// and leaves a Schur complement of the same kind:
///   l_i = (g_i . h_q) w_iq,  u_j = (g_p . h_j) w_pj,  g_i -= (l_i / l_p) g_p,  h_j -= (u_j / l_p) h_q,
/// w_ij = 1 / (s_i - t_j). Every 16 steps G is made orthonormal, which keeps the generators of the size of
/// the Schur complement. For a Cauchy matrix the updates are products of differences of nodes,
///   g_i *= (s_i - s_p) / (s_i - t_q),  h_j *= (t_j - t_q) / (t_j - s_p),
/// without cancellation.
#pragma once

#include "core/strided.cuh"
#include "core/workspace.cuh"
#include "structmat/core/status.hpp"

namespace structmat::cauchy::device {

enum class Weights {
  nodes,     ///< 1 / (s_i - t_j)
  products,  ///< the same, of a Cauchy matrix: generators 1
  /// s_i = exp(2 pi i i / n), t_j = exp(i pi (2j + 1) / n): 1 / (s_i - t_j) is conj(root(2i))
  /// (-i conj(root(2j + 1))) / (2 sin((2 (i - j) - 1) pi / 2n)) with root(m) = exp(i pi m / 2n); sines come
  /// from a table of i - j, with all their digits also where nodes are close
  circle
};

template <class T>
struct EliminationInput {
  index_t batch = 0, n = 0, order = 1;
  Weights weights = Weights::nodes;
  gpu::Strided<const T, 2> s{}, t{};
  gpu::Strided<const T, 3> g{}, h{};  // (batch, n, order)

  /// The entries first, first + 1, ... of the batch.
  EliminationInput from(index_t first, index_t count) const {
    EliminationInput part = *this;
    part.batch = count;
    part.s.data += first * s.stride[0];
    part.t.data += first * t.stride[0];
    part.g.data += first * g.stride[0];
    part.h.data += first * h.stride[0];
    return part;
  }
};

/// A(p_k, q_l) = L U. lower: (batch, n, n), lower(b, k, i) = column k of L at row i of the matrix, zero for
/// the pivots p_0 ... p_k; upper(b, k, j) = row k of U at column j, zero for q_0 ... q_{k-1}; row_order:
/// p_k; col_order: q_k.
template <class T>
struct Factors {
  index_t n = 0;
  T *lower = nullptr, *upper = nullptr;
  index_t *row_order = nullptr, *col_order = nullptr;
  PivotStatus* status = nullptr;
};
template <class T>
auto factors_layout(index_t batch, index_t n) {
  return [=](gpu::Workspace& w) {
    Factors<T> f;
    f.n = n;
    f.lower = w.take<T>(batch * n * n);
    f.upper = w.take<T>(batch * n * n);
    f.row_order = w.take<index_t>(batch * n);
    f.col_order = w.take<index_t>(batch * n);
    return f;
  };
}

/// Bytes of workspace a batch needs: none where generators fit into shared memory.
template <class T>
index_t elimination_bytes(const EliminationInput<T>& input);

/// Enqueues the factorisation. Status k of the batch gets the number first_batch + k.
template <class T>
void eliminate(const char* operation, const EliminationInput<T>& input, std::byte* workspace,
               const Factors<T>& factors, index_t first_batch, int processors, cudaStream_t stream);

/// x := op(A)^-1 b of `batch` systems, with conj(b) and conj(x) where `conjugated`; NaN where the factors
/// are not usable. b and x: (batch, n, columns), may be the same.
template <class T>
struct Substitution {
  Factors<T> factors;
  bool shared_factors = false;  ///< of one matrix, for all systems
  bool transposed = false, conjugated = false;
  index_t batch = 0, columns = 0;
  gpu::Strided<const T, 3> b{};
  gpu::Strided<T, 3> x{};
  T* workspace = nullptr;  ///< substitution_count elements
};
inline index_t substitution_count(index_t batch, index_t n, index_t columns) {
  return 2 * batch * n * ((columns + 3) / 4 * 4);
}
template <class T>
void substitute(const char* operation, const Substitution<T>& s, int processors,
                cudaStream_t stream);

}  // namespace structmat::cauchy::device
