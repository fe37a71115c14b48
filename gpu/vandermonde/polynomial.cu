// Horner's rule, a few nodes a thread, with the coefficients in shared memory.
//
// Where there are few nodes, coefficients are divided into segments of B: p(z) = sum_s z^(s B) p_s(z), and
// the values of the segments are combined by Horner's rule in z^B. That power is kept as mantissa and
// exponent: beyond the range of T it does no harm where what it multiplies is zero, or small.
#include "vandermonde/polynomial.cuh"

#include "vandermonde/geometric.cuh"

namespace structmat::gpu {
namespace {

constexpr int threads = 128, nodes_each = 4, piece = 128;

/// Segments depend on the extents of the matrix alone.
__host__ __device__ index_t segments(index_t count, index_t degree_bound) {
  constexpr index_t enough_nodes = 65536, least_coefficients = 512;
  if (count == 0 || count >= enough_nodes) return 1;
  const index_t most = degree_bound / least_coefficients, wanted = enough_nodes / count;
  return most < 1 ? 1 : most < wanted ? most : wanted;
}
template <class T>
__host__ __device__ index_t segments(const Polynomials<T>& m) {
  return segments(m.count, m.degree_bound);
}
template <class T>
__host__ __device__ index_t segment_length(const Polynomials<T>& m) {
  return (m.degree_bound + segments(m) - 1) / segments(m);
}
template <class T>
__host__ __device__ index_t node_tiles(const Polynomials<T>& m) {
  return (m.count + threads * nodes_each - 1) / (threads * nodes_each);
}

template <class T>
__device__ T node(const Polynomials<T>& m, index_t b, index_t i) {
  return conjugate_if(m.conjugated_nodes, m.nodes(b, i));
}

template <class T>
__global__ void __launch_bounds__(threads)
    horner(const __grid_constant__ Polynomials<T> m, T* partial) {
  __shared__ T coefficients[piece];
  const int own = static_cast<int>(threadIdx.x);
  const index_t parts = segments(m), length = segment_length(m), tiles = node_tiles(m);
  const index_t work = m.batch * m.columns * tiles * parts;
  for (index_t unit = blockIdx.x; unit < work; unit += gridDim.x) {
    const index_t part = unit % parts, first = unit / parts % tiles * (threads * nodes_each) + own;
    const index_t entry = unit / parts / tiles, column = entry % m.columns, b = entry / m.columns;
    const index_t begin = part * length;
    const index_t end = begin + length < m.degree_bound ? begin + length : m.degree_bound;
    T z[nodes_each], sum[nodes_each] = {};
#pragma unroll
    for (int v = 0; v < nodes_each; ++v) {
      const index_t i = first + v * threads;
      z[v] = i < m.count ? node(m, b, i) : T(0);
    }
    for (index_t high = end; high > begin; high -= piece) {
      const index_t low = high - piece > begin ? high - piece : begin;
      const int count = static_cast<int>(high - low);
      __syncthreads();
      if (own < count) {
        const index_t j = high - 1 - own;
        T c = conjugate_if(m.conjugated_x, m.x(b, m.derivative ? j + 1 : j, column));
        if (m.derivative) c = static_cast<real_of_t<T>>(j + 1) * c;
        coefficients[own] = c;
      }
      __syncthreads();
#pragma unroll 4
      for (int j = 0; j < count; ++j) {
        const T c = coefficients[j];
#pragma unroll
        for (int v = 0; v < nodes_each; ++v) sum[v] = multiply_add(sum[v], z[v], c);
      }
    }
#pragma unroll
    for (int v = 0; v < nodes_each; ++v) {
      const index_t i = first + v * threads;
      if (i >= m.count) continue;
      if (parts == 1)
        m.y(b, i, column) = sum[v];
      else
        partial[(entry * parts + part) * m.count + i] = sum[v];
    }
    __syncthreads();
  }
}

/// mantissa 2^exponent
template <class W>
struct Scaled {
  W mantissa;
  int exponent;
};

template <class W>
__device__ Scaled<W> normalised(Scaled<W> a) {
  const double size = taxicab(a.mantissa);
  if (!(size > 0) || !isfinite(size)) return {a.mantissa, 0};
  const int shift = ilogb(size);
  const double scale = ldexp(1.0, -shift);
  return {scale * a.mantissa, a.exponent + shift};
}

/// z^l for l > 0.
template <class W>
__device__ Scaled<W> scaled_power(W z, index_t l) {
  const Scaled<W> base = normalised(Scaled<W>{z, 0});
  Scaled<W> result = base;
  for (int bit = 62 - __clzll(l); bit >= 0; --bit) {
    result = normalised(Scaled<W>{result.mantissa * result.mantissa, 2 * result.exponent});
    if (l >> bit & 1) {
      result =
          normalised(Scaled<W>{result.mantissa * base.mantissa, result.exponent + base.exponent});
    }
    // Far beyond what any number can bring back, and far from overflow of int.
    constexpr int limit = 1 << 20;
    result.exponent = min(max(result.exponent, -limit), limit);
  }
  return result;
}

template <class W>
__device__ W scaled(W a, int exponent) {
  if constexpr (is_complex<W>)
    return {ldexp(a.re, exponent), ldexp(a.im, exponent)};
  else
    return ldexp(a, exponent);
}

template <class T>
__global__ void __launch_bounds__(threads)
    combine(const __grid_constant__ Polynomials<T> m, const T* partial) {
  const index_t parts = segments(m), work = m.batch * m.columns * m.count;
  for (index_t unit = blockIdx.x * index_t{blockDim.x} + threadIdx.x; unit < work;
       unit += index_t{gridDim.x} * blockDim.x) {
    const index_t i = unit % m.count, entry = unit / m.count;
    const index_t column = entry % m.columns, b = entry / m.columns;
    const auto power = scaled_power(widened(node(m, b, i)), segment_length(m));
    const T* const value = partial + entry * parts * m.count + i;
    wide_t<T> sum = widened(value[(parts - 1) * m.count]);
    for (index_t part = parts - 2; part >= 0; --part) {
      sum = scaled(sum * power.mantissa, power.exponent) + widened(value[part * m.count]);
    }
    m.y(b, i, column) = narrowed<T>(sum);
  }
}

}  // namespace

index_t partial_values(index_t count, index_t degree_bound) {
  const index_t parts = segments(count, degree_bound);
  return parts > 1 ? parts * count : 0;
}

template <class T>
void evaluate(const char* operation, int processors, cudaStream_t stream, const Polynomials<T>& m,
              T* partial) {
  const index_t results = m.batch * m.columns * m.count;
  if (results == 0) return;
  const index_t parts = segments(m), work = m.batch * m.columns * node_tiles(m) * parts;
  launch(operation, horner<T>, persistent_blocks(work, 1, processors), threads, stream, m, partial);
  if (parts == 1) return;
  launch(operation, combine<T>, persistent_blocks(results, threads, processors), threads, stream, m,
         partial);
}

#define STRUCTMAT_INSTANTIATE(T) \
  template void evaluate(const char*, int, cudaStream_t, const Polynomials<T>&, T*);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(Complex<float>)
STRUCTMAT_INSTANTIATE(Complex<double>)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu
