/// \file
/// From square roots of Gramians to generators: every block boundary is cut for itself, every block gets
/// its new generators for itself.
///
/// At a boundary Y N = U S V^H with N = X^T holds the singular values of the block of the matrix there.
/// In coordinates of states in which the columns in front are isometric, U is the basis of what is kept:
/// the projections U U^H commute with the Gramians of the rows, so what is dropped adds up to at most
/// the sum of squares of all singular values that are. New generators are [Q'; ..] = the orthonormal
/// factor of [Q; Y A^T] N V, which is that of the next boundary times its U: no small singular value is
/// divided by that would not be made good again by orthogonalisation.
#pragma once

#include "core/safe_norm.cuh"
#include "dense/qr.cuh"
#include "quasiseparable/gramian_roots.cuh"

namespace structmat::quasiseparable::device {

/// What is known about the boundaries of both triangles: arrays (batch, 2, blocks + 1).
template <class D>
struct Boundaries {
  int width;        ///< columns of basis and lift
  D *basis, *lift;  ///< U and N V S^-1 2^-lift_exponent, (.., width, states), zeros beyond `kept`
  int* lift_exponents;
  double* roots;  ///< (.., width): sqrt(sigma)
  int* kept;
  double *dropped, *rounding;  ///< norm of what is dropped, bound of what rounding adds
};

/// Norms of block rows: those of P Y^T, both triangles, and of D.
template <class D>
struct RowNorms {
  BlockMatrix<D> m;
  const D* roots;
  const int* root_exponents;
  double* norms;  ///< (batch, blocks)
};
inline constexpr int norm_threads = 128;
template <class D>
__global__ void __launch_bounds__(norm_threads)
    row_norms_kernel(const __grid_constant__ RowNorms<D> p) {
  __shared__ double scratch[32];
  const int s = p.m.states;
  for (index_t unit = blockIdx.x; unit < p.m.batch * p.m.blocks; unit += gridDim.x) {
    const index_t b = unit / p.m.blocks, k = unit - b * p.m.blocks;
    const int rows = p.m.rows(k);
    gpu::SafeNorm norm;
    const D* const d = p.m.diagonal + b * p.m.diagonal_batch + p.m.table[2 * k + 1];
    for (int at = static_cast<int>(threadIdx.x); at < rows * rows; at += norm_threads) {
      norm.add(d[at]);
    }
    for (int side = 0; side < 2; ++side) {
      const int front = static_cast<int>(p.m.side[side].state(k));
      const D* const q = p.m.side[side].p_of(b, k);
      const index_t root = (b * 4 + 2 * side) * (p.m.blocks + 1) + k;
      const D* const y = p.roots + root * s * s;
      for (int at = static_cast<int>(threadIdx.x); at < rows * front; at += norm_threads) {
        const int i = at / front, j = at - i * front;
        D sum = D(0);
        for (int l = j; l < front; ++l) {
          sum = gpu::multiply_add(q[i * front + l], y[j + index_t{l} * s], sum);
        }
        norm.add(sum, p.root_exponents[root]);
      }
    }
    const double value = norm.block_value(scratch);
    if (threadIdx.x == 0) p.norms[unit] = value;
    __syncthreads();
  }
}

/// norms[b] := the norm of `count` numbers of entry b; one block an entry.
struct NormOfNorms {
  const double* from;
  index_t count, batch;
  double* to;
};
inline constexpr int reduce_threads = 256;
static __global__ void __launch_bounds__(reduce_threads)
    norm_of_norms_kernel(const __grid_constant__ NormOfNorms p) {
  __shared__ double scratch[32];
  for (index_t b = blockIdx.x; b < p.batch; b += gridDim.x) {
    gpu::SafeNorm norm;
    for (index_t i = threadIdx.x; i < p.count; i += reduce_threads) {
      norm.add(p.from[b * p.count + i]);
    }
    const double value = norm.block_value(scratch);
    if (threadIdx.x == 0) p.to[b] = value;
    __syncthreads();
  }
}

template <class D>
struct Cut {
  BlockMatrix<D> m;
  const D* roots;
  const int* root_exponents;
  const index_t* states[2];  ///< wanted: states[side][5 k]; null: no more than
  index_t most[2];           ///< that many, not above to.width
  /// The norm of what may be dropped of entry b: absolute, and relative to norms[b].
  double absolute, relative;
  const double* norms;
  index_t n;
  Boundaries<D> to;
  D* scratch;  ///< scratch_stride numbers a block, or null: in shared memory
  index_t scratch_stride;
};
inline constexpr int cut_threads = 512;

/// Numbers of two matrices of states x states, one below the other; an odd distance between columns
/// keeps those of different pairs on different banks.
inline index_t cut_size(index_t states) {
  return (2 * states | 1) * states;
}
/// Behind it, always in shared memory: norms, in order and not, and places.
template <class D>
__host__ __device__ constexpr index_t cut_bytes(index_t states) {
  // In whole numbers of any type.
  return (states * index_t{2 * sizeof(double) + sizeof(gpu::real_of_t<D>) + sizeof(int)} + 15) /
         16 * 16;
}

template <int Lanes, class D>
__global__ void __launch_bounds__(cut_threads) cut_kernel(const __grid_constant__ Cut<D> p) {
  using R = gpu::real_of_t<D>;
  __shared__ R scratch[32];
  __shared__ int kept_here;
  const int s = p.m.states, ld = 2 * s | 1, threads = static_cast<int>(blockDim.x),
            thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  double* const sigma = gpu::dynamic_shared<double>();
  double* const noise = sigma + s;
  R* const norms = reinterpret_cast<R*>(noise + s);
  int* const places = reinterpret_cast<int*>(norms + s);
  D* const memory = reinterpret_cast<D*>(gpu::dynamic_shared<unsigned char>() + cut_bytes<D>(s));
  D* const a = p.scratch == nullptr ? memory : p.scratch + blockIdx.x * p.scratch_stride;
  const index_t inner = p.m.blocks - 1, square = index_t{s} * s;
  for (index_t unit = blockIdx.x; unit < p.m.batch * 2 * inner; unit += gridDim.x) {
    const index_t line = unit / inner, k = unit - line * inner + 1, b = line / 2;
    const int side = static_cast<int>(line % 2);
    const index_t at = line * (p.m.blocks + 1) + k;
    const index_t below = (b * 4 + 2 * side) * (p.m.blocks + 1) + k, above = below + p.m.blocks + 1;
    const D* const y = p.roots + below * square;
    const D* const x = p.roots + above * square;
    R most = 0;
    for (int e = thread; e < s * s; e += threads) {
      const int j = e / s, i = e - j * s;
      D sum = D(0);
      for (int l = max(i, j); l < s; ++l) {
        sum = gpu::multiply_add(y[i + l * s], x[j + l * s], sum);
      }
      a[i + j * ld] = sum;
      a[s + i + j * ld] = x[j + i * s];
      most = max(most, gpu::taxicab(sum));
    }
    for (int l = warp; l < s; l += threads / 32) {
      R in = 0, out = 0;
      for (int i = lane; i <= l; i += 32)
        in += gpu::square(y[i + l * s]), out += gpu::square(x[i + l * s]);
      in = gpu::warp_sum(in), out = gpu::warp_sum(out);
      if (lane == 0) noise[l] = sqrt(static_cast<double>(in)) * sqrt(static_cast<double>(out));
    }
    most = gpu::warp_max(most);
    if (lane == 0) scratch[warp] = most;
    __syncthreads();
    for (int w = 0; w < threads / 32; ++w) most = max(most, scratch[w]);
    const int lift_exponent = most > 0 ? ilogb(most) : 0;
    for (int e = thread; e < s * s; e += threads) {
      const int j = e / s;
      D& entry = a[e - j * s + j * ld];
      entry = scaled(entry, -lift_exponent);
    }
    __syncthreads();
    gpu::block_jacobi<Lanes>(a, ld, s, s, s);
    gpu::block_sort(a, ld, s, s, norms, places);
    for (int c = thread; c < s; c += threads) sigma[places[c]] = static_cast<double>(norms[c]);
    __syncthreads();

    const int exponent = p.root_exponents[below] + p.root_exponents[above];
    if (thread == 0) {
      double products = 0;
      for (int l = 0; l < s; ++l) products += noise[l];
      constexpr double unit_roundoff = std::numeric_limits<R>::epsilon();
      const double terms = sqrt(static_cast<double>(p.m.rows(k - 1) + 2 * s));
      // Below this, singular values are rounding.
      const double floor = 2 * unit_roundoff * terms * products,
                   share =
                       sqrt(0.5 * static_cast<double>(p.m.rows(k - 1)) / static_cast<double>(p.n)),
                   allowed = share * (p.absolute + p.relative * p.norms[b]);
      index_t most_kept = p.most[side];
      if (p.states[side] != nullptr) most_kept = min(most_kept, p.states[side][5 * k]);
      int kept = s;
      double squares = 0;
      while (kept > 0) {
        const double last = sigma[kept - 1], next = squares + last * last;
        if (kept <= most_kept && ldexp(last, lift_exponent) > floor &&
            ldexp(sqrt(next), lift_exponent + exponent) > allowed) {
          break;
        }
        squares = next;
        --kept;
      }
      kept_here = kept;
      p.to.kept[at] = kept;
      p.to.lift_exponents[at] = lift_exponent;
      p.to.dropped[at] = ldexp(sqrt(squares), lift_exponent + exponent);
      // 32: in single precision, over 350 blocks of two rows, an error was 2.4 times what 4 gives.
      p.to.rounding[at] = ldexp(32 * unit_roundoff * terms * products, exponent);
    }
    __syncthreads();
    const int kept = kept_here;
    for (int c = warp; c < s; c += threads / 32) {
      const int place = places[c];
      if (place >= p.to.width) continue;
      const R factor = place < kept ? 1 / norms[c] : R(0);
      D* const basis = p.to.basis + (at * p.to.width + place) * s;
      D* const lift = p.to.lift + (at * p.to.width + place) * s;
      for (int i = lane; i < s; i += 32) {
        basis[i] = a[i + c * ld] * factor;
        lift[i] = a[s + i + c * ld] * factor;
      }
      if (lane == 0) {
        // An even power of two below the root.
        const int all = lift_exponent + exponent, odd = all & 1;
        p.to.roots[at * p.to.width + place] =
            ldexp(sqrt(ldexp(static_cast<double>(norms[c]), odd)), (all - odd) / 2);
      }
    }
    __syncthreads();
  }
}

template <class D>
struct NewGenerators {
  BlockMatrix<D> m;
  const D* roots;
  const int* root_exponents;
  Boundaries<D> from;
  const int* broken;
  bool balanced;
  struct Side {
    D *p, *q, *a;
    index_t p_batch, q_batch, a_batch;
    const index_t* table;
  };
  Side to[2];
  D* scratch;  ///< scratch_stride numbers a block, or null: in shared memory
  index_t scratch_stride;
};
inline constexpr int generator_threads = 256;
/// Numbers of a unit: columns [Q'; ..] and a product of states with them.
__host__ __device__ inline index_t generator_size(index_t states, index_t rows, index_t width) {
  return (2 * states + (rows > width ? rows : width) + 1) * width;
}

template <class D>
__global__ void __launch_bounds__(generator_threads)
    new_generators_kernel(const __grid_constant__ NewGenerators<D> p) {
  using R = gpu::real_of_t<D>;
  const int s = p.m.states, threads = static_cast<int>(blockDim.x),
            thread = static_cast<int>(threadIdx.x), width = p.from.width;
  D* const memory =
      p.scratch == nullptr ? gpu::dynamic_shared<D>() : p.scratch + blockIdx.x * p.scratch_stride;
  D* const diagonal = memory;
  D* const product = diagonal + width;
  D* const z = product + index_t{s} * width;
  const index_t blocks = p.m.blocks, square = index_t{s} * s;
  for (index_t unit = blockIdx.x; unit < p.m.batch * 2 * blocks; unit += gridDim.x) {
    const index_t line = unit / blocks, k = unit - line * blocks, b = line / 2;
    const int side = static_cast<int>(line % 2), m = p.m.rows(k);
    const BlockGenerators<D>& g = p.m.side[side];
    const auto& to = p.to[side];
    const int front = static_cast<int>(g.state(k)), behind = static_cast<int>(g.state(k + 1)),
              front_kept = static_cast<int>(to.table[5 * k]),
              behind_kept = static_cast<int>(to.table[5 * k + 5]);
    const index_t at = line * (blocks + 1) + k, root = (b * 4 + 2 * side) * (blocks + 1) + k;
    const D* const y = p.roots + root * square;
    const D* const basis = p.from.basis + at * width * s;
    const D* const lift = p.from.lift + (at + 1) * width * s;
    const double* const roots_front = p.from.roots + at * width;
    const double* const roots_behind = roots_front + width;
    const D spoilt = p.broken[b] != 0 ? D(static_cast<R>(NAN)) : D(1);
    const bool first = k == 0, last = k + 1 == blocks;
    // 1 in front of the first block, where there is no state.
    const int y_exponent = first ? 0 : p.root_exponents[root];

    if (!last && behind_kept > 0) {
      const D* const a = g.a_of(b, k);
      const D* const q = g.q_of(b, k);
      const int shift = -p.from.lift_exponents[at + 1] - p.root_exponents[root + 1];
      for (int e = thread; e < front * behind_kept; e += threads) {
        const int c = e / front, i = e - c * front;
        D sum = D(0);
        for (int l = 0; l < behind; ++l) {
          sum = gpu::multiply_add(a[l * front + i], lift[c * s + l], sum);
        }
        product[c * s + i] = sum;
      }
      __syncthreads();
      const int rows = max(m + front, behind_kept);
      for (int e = thread; e < rows * behind_kept; e += threads) {
        const int c = e / rows, i = e - c * rows;
        D sum = D(0);
        if (i < m) {
          for (int l = 0; l < behind; ++l) {
            sum = gpu::multiply_add(q[i * behind + l], lift[c * s + l], sum);
          }
        } else if (i < m + front) {
          for (int l = i - m; l < front; ++l) {
            sum = gpu::multiply_add(y[i - m + l * s], product[c * s + l], sum);
          }
        }
        z[e] = scaled(sum, i < m ? shift : shift + y_exponent);
      }
      __syncthreads();
      gpu::block_qr(z, rows, rows, behind_kept, behind_kept, diagonal);
      gpu::block_form_q(z, rows, rows, behind_kept);
      __syncthreads();
      const int kept = p.from.kept[at + 1];
      // Columns as those of z were, and zeros where nothing is kept.
      for (int e = thread; e < rows * behind_kept; e += threads) {
        const int c = e / rows;
        const D phase = gpu::unit(diagonal[c], gpu::square(diagonal[c]));
        z[e] = c < kept ? z[e] * phase : D(0);
      }
      __syncthreads();
      D* const new_q = to.q + b * to.q_batch + to.table[5 * k + 2];
      for (int e = thread; e < m * behind_kept; e += threads) {
        const int i = e / behind_kept, c = e - i * behind_kept;
        const R factor = p.balanced && c < kept ? static_cast<R>(roots_behind[c]) : R(1);
        new_q[e] = z[c * rows + i] * factor * spoilt;
      }
      D* const new_a = to.a + b * to.a_batch + to.table[5 * k + 3];
      const int front_true = p.from.kept[at];
      for (int e = thread; e < behind_kept * front_kept; e += threads) {
        const int c = e / front_kept, j = e - c * front_kept;
        D sum = D(0);
        for (int l = 0; l < front; ++l) {
          sum = gpu::multiply_add(gpu::conjugate(basis[j * s + l]), z[c * rows + m + l], sum);
        }
        if (p.balanced && c < kept && j < front_true) {
          sum = sum * static_cast<R>(roots_behind[c] / roots_front[j]);
        }
        new_a[e] = sum * spoilt;
      }
      __syncthreads();
    }
    if (!first && front_kept > 0) {
      const D* const old_p = g.p_of(b, k);
      for (int e = thread; e < front * front_kept; e += threads) {
        const int j = e / front, l = e - j * front;
        D sum = D(0);
        for (int i = 0; i <= l; ++i) {
          sum = gpu::multiply_add(y[i + l * s], gpu::conjugate(basis[j * s + i]), sum);
        }
        product[j * s + l] = scaled(sum, y_exponent);
      }
      __syncthreads();
      D* const new_p = to.p + b * to.p_batch + to.table[5 * k + 1];
      const int kept = p.from.kept[at];
      for (int e = thread; e < m * front_kept; e += threads) {
        const int i = e / front_kept, j = e - i * front_kept;
        D sum = D(0);
        for (int l = 0; l < front; ++l) {
          sum = gpu::multiply_add(old_p[i * front + l], product[j * s + l], sum);
        }
        if (p.balanced && j < kept) sum = sum * static_cast<R>(1 / roots_front[j]);
        new_p[e] = sum * spoilt;
      }
      __syncthreads();
    }
  }
}

/// One block an entry.
template <class Report>
struct Reports {
  const double *dropped, *rounding, *norms;
  const int* broken;
  index_t count, batch;  ///< boundaries of both triangles
  gpu::Strided<Report, 1> to;
};
template <class Report>
__global__ void __launch_bounds__(reduce_threads)
    report_kernel(const __grid_constant__ Reports<Report> p) {
  __shared__ double scratch[32];
  for (index_t b = blockIdx.x; b < p.batch; b += gridDim.x) {
    gpu::SafeNorm dropped;
    double rounding = 0;
    for (index_t i = threadIdx.x; i < p.count; i += reduce_threads) {
      dropped.add(p.dropped[b * p.count + i]);
      rounding += p.rounding[b * p.count + i];
    }
    rounding = gpu::block_sum(rounding, scratch);
    __syncthreads();
    const double error = dropped.block_value(scratch);
    if (threadIdx.x == 0) {
      const bool finite = p.broken[b] == 0 && p.norms[b] <= std::numeric_limits<double>::max();
      const double nan = static_cast<double>(NAN);
      p.to(b) = finite ? Report{error, rounding, p.norms[b]} : Report{nan, nan, nan};
    }
    __syncthreads();
  }
}

}  // namespace structmat::quasiseparable::device
