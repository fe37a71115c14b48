/// \file
/// Chunks of the LDL^H recursion (ldl.hpp), and what they do to the state in front of them.
///
/// The state is the Hermitian r x r matrix f. A chunk that ends in c from f = 0, with the transitions
/// a_i - w_i p_i^T of its own factor multiplied up to Phi and
///   G = sum_i conj(t_i) t_i^T / d_i,  t_i^T = p_i^T (Phi before row i),
/// ends in
///   c + Phi (1 - f G)^{-1} f Phi^H                                            (Woodbury)
/// from any f. Two chunks with (c, Phi, G) and (c', Phi', G') are, with X = (1 - c G')^{-1},
///   (c' + Phi' X c Phi'^H,  Phi' X Phi,  G + Phi^H G' X Phi).
#pragma once

#include <limits>

#include "core/strided.cuh"
#include "quasiseparable/lane_columns.cuh"
#include "structmat/core/status.hpp"

namespace structmat::quasiseparable::device {

template <class T>
struct FactorProblem {
  using Real = gpu::real_of_t<T>;

  gpu::Strided<const T, 3> p, q;
  gpu::Strided<const T, 4> a;  ///< the last stride is 0 unless transitions are dense
  gpu::Strided<const T, 2> m;
  gpu::Strided<T, 3> w;
  gpu::Strided<Real, 2> d;
  index_t n, batch, order, length, chunks;
  bool definite;
  T* elements;          ///< (batch, chunks, 3, r, r) by columns: c, Phi, G
  PivotStatus* status;  ///< (batch, chunks)
};

/// Rows that a group reads at once, ahead of their use where registers hold them.
template <bool Dense, int R>
inline constexpr int rows_at_once = R == 0  ? 1
                                    : Dense ? 2
                                            : 4;

/// What a lane reads of consecutive rows: its element of p and q, and its column of a. Numbers that no
/// entry of the matrix contains are replaced by zero unread.
template <class T, bool Dense, int R>
struct LaneRows {
  using Real = gpu::real_of_t<T>;
  static constexpr int rows = rows_at_once<Dense, R>;
  static constexpr int column = Dense ? R : 1;

  T p[rows], q[rows], a[rows][column > 0 ? column : 1];
  Real m[rows];

  __device__ void load(const FactorProblem<T>& problem, index_t b, index_t i, index_t end) {
    const int lane = Group<R>::lane();
#pragma unroll
    for (int u = 0; u < rows; ++u) {
      const index_t row = i + u;
      const bool real = row < end && lane < problem.order;
      const bool first = row == 0, last = row == problem.n - 1;
      p[u] = real && !first ? problem.p(b, row, lane) : T(0);
      q[u] = real && !last ? problem.q(b, row, lane) : T(0);
      if constexpr (column > 0) {
#pragma unroll
        for (int k = 0; k < column; ++k) {
          const bool wanted = real && !first && !last && (!Dense || k < problem.order);
          a[u][k] =
              wanted ? (Dense ? problem.a(b, row, k, lane) : problem.a(b, row, lane, 0)) : T(0);
        }
      }
      m[u] = row < end ? diagonal(problem.m(b, row)) : Real(0);
    }
  }

  /// p: (rows, r), a: (rows, r) or (rows, r, r).
  __device__ void share(const FactorProblem<T>& problem, index_t b, index_t i, T* p_to,
                        T* a_to) const {
    const int lane = Group<R>::lane(), size = padded_order<R>(problem.order);
    if (lane >= size) return;
#pragma unroll
    for (int u = 0; u < rows; ++u) {
      p_to[u * size + lane] = p[u];
      if constexpr (!Dense) {
        a_to[u * size + lane] = a[u][0];
      } else if constexpr (R > 0) {
#pragma unroll
        for (int k = 0; k < R; ++k) a_to[(u * R + k) * R + lane] = a[u][k];
      } else {
        const bool wanted = i > 0 && i < problem.n - 1;
        for (int k = 0; k < size; ++k) {
          a_to[k * size + lane] = wanted ? problem.a(b, i, k, lane) : T(0);
        }
      }
    }
  }

 private:
  /// A Hermitian matrix has a real one: NaN for anything else.
  static __device__ Real diagonal(T m) {
    if constexpr (gpu::is_complex<T>)
      return m.im == 0 ? m.re : std::numeric_limits<Real>::quiet_NaN();
    else
      return m;
  }
};

/// Shared memory of a group of factor_chunks.
template <class T, bool Dense, int R, bool Summary>
__host__ __device__ constexpr index_t factor_elements(index_t order) {
  const index_t r = padded_order<R>(order), rows = rows_at_once<Dense, R>;
  const index_t vectors = 4 * r, generators = rows * (r + (Dense ? r * r : r));
  const index_t tile = Dense ? r * (r + 1) : 0;
  const index_t columns = 1 + (Summary ? 2 + Dense : 0);
  return group_stride<T>(generators + vectors + tile + columns * Column<T, R>::elements(order));
}

/// The recursion over the chunks. Summary: from f = 0, of all chunks but the last one, with their
/// elements as results. Otherwise from the f that the tree has left in the elements; results are w, d
/// and the status of the chunk.
template <class T, bool Dense, int R, bool Summary>
class FactorChunk {
 public:
  using Real = gpu::real_of_t<T>;
  using Lanes = Group<R>;

  __device__ FactorChunk(const FactorProblem<T>& problem, T* shared)
      : problem_(problem),
        size_(padded_order<R>(problem.order)),
        lane_(Lanes::lane()),
        p_(shared),
        a_(p_ + rows * size_),
        w_(a_ + rows * (Dense ? size_ * size_ : size_)),
        t_(w_ + 2 * size_),
        tile_(t_ + 2 * size_),
        columns_(tile_ + (Dense ? size_ * (size_ + 1) : 0)),
        f_(columns_, problem.order),
        phi_(columns_, Summary ? problem.order : 0),
        gram_(columns_, Summary ? problem.order : 0),
        next_(columns_, Summary && Dense ? problem.order : 0) {}

  __device__ __forceinline__ void run(index_t b, index_t chunk) {
    T* const element = problem_.elements + (b * problem_.chunks + chunk) * 3 * square();
    const bool known = !Summary && chunk > 0;
#pragma unroll
    for (int k = 0; k < padded(); ++k) {
      f_[k] = known && real(k) ? element[lane_ * problem_.order + k] : T(0);
      if constexpr (Summary) {
        phi_[k] = T(k == lane_);
        gram_[k] = T(0);
      }
    }
    const index_t begin = chunk * problem_.length;
    const index_t end = min(begin + problem_.length, problem_.n);
    LaneRows<T, Dense, R> ahead;
    ahead.load(problem_, b, begin, end);
    PivotStatus::Kind kind = PivotStatus::Kind::ok;
    index_t bad = end;
    Real pivot = 0;
    for (index_t i = begin; i < end && bad == end; i += rows) {
      Lanes::sync();
      ahead.share(problem_, b, i, p_, a_);
      const LaneRows<T, Dense, R> now = ahead;
      if (i + rows < end) ahead.load(problem_, b, i + rows, end);
      Lanes::sync();
#pragma unroll
      for (int u = 0; u < rows; ++u) {
        if (i + u >= end || bad < end) break;
        pivot = row(b, i + u, u, now.q[u], now.m[u]);
        if (!good(pivot)) bad = i + u;
      }
    }
    if constexpr (Summary) {
      if (lane_ >= problem_.order) return;
#pragma unroll
      for (int k = 0; k < padded(); ++k) {
        if (!real(k)) continue;
        T* const at = element + lane_ * problem_.order + k;
        at[0] = f_[k];
        at[square()] = phi_[k];
        at[2 * square()] = gram_[k];
      }
    } else {
      if (bad < end) {
        kind = !isfinite(pivot)    ? PivotStatus::Kind::not_finite
               : problem_.definite ? PivotStatus::Kind::not_positive
                                   : PivotStatus::Kind::zero;
        // A q or an a that is not finite shows in the pivot of the next row.
        if (kind == PivotStatus::Kind::not_finite && bad > 0 && !finite_row(b, bad - 1)) --bad;
      }
      if (lane_ == 0) {
        PivotStatus& status = problem_.status[b * problem_.chunks + chunk];
        status.kind = kind;
        status.batch = bad < end ? b : 0;
        status.index = bad < end ? bad : 0;
        status.pivot = bad < end ? static_cast<double>(pivot) : 0;
      }
    }
  }

 private:
  static constexpr int rows = rows_at_once<Dense, R>;

  __device__ int padded() const {
    return padded_order<R>(size_);
  }
  __device__ index_t square() const {
    return problem_.order * problem_.order;
  }
  __device__ bool real(int k) const {
    return k < problem_.order && lane_ < problem_.order;
  }

  __device__ bool good(Real pivot) const {
    const Real size = problem_.definite ? pivot : fabs(pivot);
    return size > 0 && size <= std::numeric_limits<Real>::max();
  }

  /// Row i, the u-th of those in shared memory. Returns its pivot, and goes on only with a good one.
  __device__ __forceinline__ Real row(index_t b, index_t i, int u, T q, Real m) {
    const T* const a = a_ + u * (Dense ? size_ * size_ : size_);
    const Broadcast<T, R> p(p_ + u * size_);
    const bool own = lane_ < size_;
    T uu = 0, t = 0;
#pragma unroll
    for (int k = 0; k < padded(); ++k) {
      uu = gpu::multiply_add(p[k], f_[k], uu);
      if constexpr (Summary) t = gpu::multiply_add(p[k], phi_[k], t);
    }
    // f is Hermitian: its row l times conj(p) is the conjugate of its column times p.
    uu = gpu::conjugate(uu);
    // Only the real part of p^T f conj(p) is not rounding error.
    const T own_p = own ? p_[u * size_ + lane_] : T(0);
    const Real explained = Lanes::sum(gpu::real_part(own_p * uu));
    const Real pivot = m - explained;
    if (!Summary && lane_ == 0) problem_.d(b, i) = pivot;
    if (!good(pivot)) return pivot;

    const Real inverse = 1 / pivot;
    T moved = 0;
    if constexpr (Dense) {
      multiply_dense(a);
      Lanes::sync();
      if (own) moved = gpu::conjugate(dot<R, T>(size_, p, adjoint()));
    } else {
      moved = own ? a[lane_] * uu : T(0);
    }
    const T v = q - moved, w = v * inverse;
    T *const w_to = w_ + (u % 2) * size_, *const t_to = t_ + (u % 2) * size_;
    if (own) {
      w_to[lane_] = w;
      if constexpr (Summary) t_to[lane_] = t;
    }
    Lanes::sync();
    if (!Summary && lane_ < problem_.order) problem_.w(b, i, lane_) = w;
    advance(a, Broadcast<T, R>(w_to), Broadcast<T, R>(t_to), gpu::conjugate(v), t, inverse);
    if constexpr (Dense) Lanes::sync();
    return pivot;
  }

  /// tile := conj(a f) by rows, next := a Phi.
  __device__ __forceinline__ void multiply_dense(const T* a) {
#pragma unroll
    for (int k = 0; k < padded(); ++k) {
      const Broadcast<T, R> a_row(a + k * size_);
      const T sum = dot<R, T>(size_, a_row, f_);
      if (lane_ < size_) tile_[k * (size_ + 1) + lane_] = gpu::conjugate(sum);
      if constexpr (Summary) next_[k] = dot<R, T>(size_, a_row, phi_);
    }
  }

  /// f := a f a^H + w v^H, G += conj(t) t^T / d, Phi := a Phi - w t^T.
  __device__ __forceinline__ void advance(const T* a, const Broadcast<T, R>& w,
                                          const Broadcast<T, R>& t, T v_conjugate, T own_t,
                                          Real inverse) {
    if constexpr (Dense) {
      if (lane_ >= size_) return;
#pragma unroll
      for (int k = 0; k < padded(); ++k) {
        const T moved = dot<R, T>(size_, Broadcast<T, R>(a + k * size_), adjoint());
        f_[k] = gpu::multiply_add(w[k], v_conjugate, moved);
      }
    } else {
      const T a_conjugate = lane_ < size_ ? gpu::conjugate(a[lane_]) : T(0);
      const Broadcast<T, R> a_row(a);
#pragma unroll
      for (int k = 0; k < padded(); ++k) {
        f_[k] = gpu::multiply_add(w[k], v_conjugate, a_row[k] * (a_conjugate * f_[k]));
        if constexpr (Summary) next(k) = a_row[k] * phi_[k];
      }
    }
    if constexpr (Summary) {
      const T scaled = own_t * inverse;
#pragma unroll
      for (int k = 0; k < padded(); ++k) {
        gram_[k] = gpu::multiply_add(gpu::conjugate(t[k]), scaled, gram_[k]);
        phi_[k] = gpu::multiply_add(-w[k], own_t, next(k));
      }
    }
  }

  /// The column of f a^H = (a f)^H, from the tile.
  __device__ Broadcast<T, 0> adjoint() const {
    return Broadcast<T, 0>(tile_ + lane_ * (size_ + 1));
  }

  __device__ T& next(int k) {
    if constexpr (Dense) return next_[k];
    return phi_[k];
  }

  __device__ bool finite_row(index_t b, index_t i) const {
    bool finite = true;
    if (lane_ < problem_.order) {
      finite = isfinite(gpu::taxicab(problem_.q(b, i, lane_)));
      if (i > 0) {
        finite = finite && isfinite(gpu::taxicab(problem_.p(b, i, lane_)));
        for (int k = 0; k < (Dense ? problem_.order : 1); ++k) {
          finite = finite && isfinite(gpu::taxicab(problem_.a(b, i, lane_, k)));
        }
      }
    }
    return !Lanes::any(!finite);
  }

  const FactorProblem<T>& problem_;
  int size_, lane_;
  T *p_, *a_, *w_, *t_, *tile_, *columns_;
  Column<T, R> f_, phi_, gram_, next_;
};

template <class T, bool Dense, int R, bool Summary>
__global__ void __launch_bounds__(Group<R>::block)
    factor_chunks(const __grid_constant__ FactorProblem<T> problem) {
  T* const shared = gpu::dynamic_shared<T>() +
                    Group<R>::number() * factor_elements<T, Dense, R, Summary>(problem.order);
  const index_t chunks = problem.chunks - Summary;
  for (index_t unit = Group<R>::first(); unit < problem.batch * chunks; unit += Group<R>::step()) {
    const index_t b = unit / chunks;
    FactorChunk<T, Dense, R, Summary>(problem, shared).run(b, unit - b * chunks);
    Group<R>::sync();
  }
}

/// The first bad pivot of each batch entry.
template <class T>
__global__ void __launch_bounds__(256)
    first_bad_pivots(const __grid_constant__ FactorProblem<T> problem, PivotStatus* result,
                     index_t stride) {
  __shared__ long long first[256];
  for (index_t b = blockIdx.x; b < problem.batch; b += gridDim.x) {
    const PivotStatus* const chunks = problem.status + b * problem.chunks;
    long long own = problem.chunks;
    for (index_t c = threadIdx.x; c < problem.chunks; c += 256) {
      if (chunks[c].kind != PivotStatus::Kind::ok && c < own) own = c;
    }
    first[threadIdx.x] = own;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        first[threadIdx.x] = min(first[threadIdx.x], first[threadIdx.x + half]);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      PivotStatus& status = result[b * stride];
      if (first[0] < problem.chunks) {
        status = chunks[first[0]];
      } else {
        status.kind = PivotStatus::Kind::ok;
        status.batch = status.index = 0;
        status.pivot = 0;
      }
    }
    __syncthreads();
  }
}

}  // namespace structmat::quasiseparable::device
