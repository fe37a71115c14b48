#include "cauchy/coincidence.cuh"

#include <limits>
#include <string>

#include "core/sort.cuh"

namespace structmat::gpu {
namespace {

constexpr int threads = 256;

__device__ inline std::uint64_t bits_of(double x) {
  return static_cast<std::uint64_t>(__double_as_longlong(x + 0.0));  // -0 becomes 0
}
__device__ inline std::uint64_t parts_hash(double re, double im) {
  // Multiplicative hashing with an odd number near 2^64 / golden ratio.
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  const std::uint64_t first = bits_of(re) * factor;
  const std::uint64_t both = ((first << 32 | first >> 32) ^ bits_of(im)) * factor;
  return (both ^ (both >> 29)) * factor;
}
template <class T>
__device__ std::uint64_t hash(T x) {
  if constexpr (is_complex<T>)
    return parts_hash(x.re, x.im);
  else
    return parts_hash(x, 0.0);
}

template <class T>
struct Comparison {
  Strided<const T, 2> s, t;
  index_t entry, m, n;
  std::uint64_t* hashes;
  index_t* numbers;  // of t, in the order of the hashes
  long long* first;  // the least i
  long long* partner;
};

template <class T>
__global__ void hash_nodes(const __grid_constant__ Comparison<T> p) {
  for (index_t j = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; j < p.n;
       j += static_cast<index_t>(gridDim.x) * blockDim.x) {
    p.hashes[j] = hash(p.t(p.entry, j));
    p.numbers[j] = j;
  }
}

/// The least j with t_j = node, or n.
template <class T>
__device__ index_t partner_of(const Comparison<T>& p, T node) {
  const std::uint64_t wanted = hash(node);
  index_t begin = 0, end = p.n;
  while (begin < end) {
    const index_t middle = begin + (end - begin) / 2;
    if (p.hashes[middle] < wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  for (; begin < p.n && p.hashes[begin] == wanted; ++begin) {
    if (p.t(p.entry, p.numbers[begin]) == node) return p.numbers[begin];
  }
  return p.n;
}

template <class T>
__global__ void find_first(const __grid_constant__ Comparison<T> p) {
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.m;
       i += static_cast<index_t>(gridDim.x) * blockDim.x) {
    const T node = p.s(p.entry, i);
    if (node == node && partner_of(p, node) < p.n) atomicMin(p.first, static_cast<long long>(i));
  }
}

/// One thread.
template <class T>
__global__ void find_partner(const __grid_constant__ Comparison<T> p) {
  if (*p.first < p.m) *p.partner = partner_of(p, p.s(p.entry, *p.first));
}

}  // namespace

void throw_coincidence(const char* operation, index_t i, index_t j, index_t batch) {
  throw DomainError(std::string(operation) + ": s_" + std::to_string(i) + " equals t_" +
                    std::to_string(j) + " in batch entry " + std::to_string(batch));
}

template <class T>
void require_distinct(const char* operation, const Strided<const T, 2>& s,
                      const Strided<const T, 2>& t, index_t batch, index_t m, index_t n,
                      cudaStream_t stream) {
  if (batch == 0 || m == 0 || n == 0) return;
  const int processors = multiprocessors(operation);
  Array<std::uint64_t, 1, space::cuda> hashes({n}, uninitialized), sorted({n}, uninitialized);
  Array<index_t, 1, space::cuda> numbers({n}, uninitialized), sorted_numbers({n}, uninitialized);
  Array<long long, 2> nothing({batch, 2}, uninitialized);
  for (long long& v : nothing) v = std::numeric_limits<long long>::max();
  auto found = to_device(nothing);
  Scratch scratch;
  for (index_t b = 0; b < batch; ++b) {
    long long* const own = found.data() + 2 * b;
    Comparison<T> p{s, t, b, m, n, hashes.data(), numbers.data(), own, own + 1};
    launch(operation, hash_nodes<T>, persistent_blocks(n, threads, processors), threads, stream, p);
    sort_by_key(operation, hashes.data(), sorted.data(), numbers.data(), sorted_numbers.data(), n,
                scratch, stream);
    p.hashes = sorted.data();
    p.numbers = sorted_numbers.data();
    launch(operation, find_first<T>, persistent_blocks(m, threads, processors), threads, stream, p);
    launch(operation, find_partner<T>, 1, 1, stream, p);
  }
  check(cudaStreamSynchronize(stream), operation);
  const auto pairs = to_host(found);
  for (index_t b = 0; b < batch; ++b) {
    if (pairs(b, 0) < m) throw_coincidence(operation, pairs(b, 0), pairs(b, 1), b);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template void require_distinct<T>(const char*, const Strided<const T, 2>&,               \
                                    const Strided<const T, 2>&, index_t, index_t, index_t, \
                                    cudaStream_t);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(Complex<float>)
STRUCTMAT_INSTANTIATE(Complex<double>)
#undef STRUCTMAT_INSTANTIATE

}  // namespace structmat::gpu
