/// \file
/// Norm and inspection of a dense matrix on the device. These synchronise.
#pragma once

#include <cmath>
#include <sstream>
#include <vector>

#include "core/reduce.cuh"
#include "core/strided.cuh"
#include "structmat/core/array.hpp"

namespace structmat::gpu {

/// What one block saw of a matrix.
struct Inspected {
  double largest;    ///< |re| or |im|
  double squares;    ///< sum of |scale a|^2
  long long broken;  ///< the least i * columns + j of an entry that is not finite, or no_entry
};
inline constexpr long long no_entry = INT64_MAX;

template <class T>
struct Inspect {
  Strided<const T, 2> a;  ///< the second index changes fastest in memory
  index_t rows, columns;
  double scale;
  bool transposed;  ///< entry (i, j) here is (j, i) of the caller
  Inspected* out;   ///< one a block
};

inline constexpr int inspect_threads = 256;

template <class T>
__global__ void inspect_kernel(const __grid_constant__ Inspect<T> p) {
  __shared__ double scratch[32];
  __shared__ long long broken_of[32];
  const index_t piece = 1024, pieces = (p.columns + piece - 1) / piece;
  double largest = 0, squares = 0;
  long long broken = no_entry;
  for (index_t item = blockIdx.x; item < p.rows * pieces; item += gridDim.x) {
    const index_t i = item / pieces, begin = item % pieces * piece;
    const index_t end = begin + piece < p.columns ? begin + piece : p.columns;
    for (index_t j = begin + threadIdx.x; j < end; j += inspect_threads) {
      const T v = p.a(i, j);
      double part[2] = {0, 0};
      if constexpr (is_complex<T>) {
        part[0] = v.re, part[1] = v.im;
      } else {
        part[0] = v;
      }
      for (const double x : part) {
        const double size = fabs(x), scaled = size * p.scale;
        if (!(size <= std::numeric_limits<double>::max())) {
          const long long at = p.transposed ? j * p.rows + i : i * p.columns + j;
          broken = at < broken ? at : broken;
        } else {
          largest = size > largest ? size : largest;
          squares += scaled * scaled;
        }
      }
    }
  }
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  squares = block_sum(squares, scratch);
  __syncthreads();
  for (int offset = 16; offset > 0; offset /= 2) {
    const long long other = __shfl_xor_sync(0xffffffffu, broken, offset);
    broken = other < broken ? other : broken;
  }
  largest = warp_max(largest);
  if (lane == 0) scratch[warp] = largest, broken_of[warp] = broken;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < inspect_threads / 32; ++w) {
    largest = scratch[w] > largest ? scratch[w] : largest;
    broken = broken_of[w] < broken ? broken_of[w] : broken;
  }
  p.out[blockIdx.x] = {largest, squares, broken};
}

/// ||a||_F in double, without over- or underflow: one pass over a, two where its entries are so large or
/// small that their squares would leave the range. Throws DomainError "operation:
/// entry (i, j) is nan" for the first entry that is not finite. Synchronises and allocates.
template <Scalar T>
double finite_norm(const char* operation, const View<const T, 2, space::cuda>& a, int processors,
                   cudaStream_t stream) {
  using D = device_scalar_t<T>;
  if (a.empty()) return 0;
  const bool transposed = std::abs(a.stride(0)) < std::abs(a.stride(1));
  const auto rows_first = transposed ? a.transposed() : a;
  const index_t rows = rows_first.extent(0), columns = rows_first.extent(1);
  const unsigned blocks = persistent_blocks(rows * ((columns + 1023) / 1024), 1, processors);
  Array<Inspected, 1, space::cuda> out({blocks}, uninitialized);
  std::vector<Inspected> seen(blocks);
  const auto pass = [&](double scale) {
    launch(operation, inspect_kernel<D>, blocks, inspect_threads, stream,
           Inspect<D>{strided(rows_first), rows, columns, scale, transposed, out.data()});
    check(cudaMemcpyAsync(seen.data(), out.data(), blocks * sizeof(Inspected),
                          cudaMemcpyDeviceToHost, stream),
          operation);
    check(cudaStreamSynchronize(stream), operation);
  };
  pass(1);
  double largest = 0;
  long long broken = no_entry;
  for (const Inspected& s : seen) {
    largest = std::max(largest, s.largest);
    broken = std::min(broken, s.broken);
  }
  if (broken != no_entry) {
    const index_t i = broken / a.extent(1), j = broken % a.extent(1);
    T value;
    check(cudaMemcpy(&value, a.data() + a.offset(i, j), sizeof(T), cudaMemcpyDeviceToHost),
          operation);
    std::ostringstream message;
    message << operation << ": entry (" << i << ", " << j << ") is " << value
            << ", only finite input has an answer";
    throw DomainError(message.str());
  }
  if (largest == 0) return 0;
  constexpr double safe = 0x1p400;
  int exponent = 0;
  if (!(largest > 1 / safe && largest < safe)) {
    // A power of two above the largest entry; the least one whose inverse is finite.
    exponent = std::max(std::ilogb(largest) + 1, -1000);
    pass(std::ldexp(1.0, -exponent));
  }
  double squares = 0;
  for (const Inspected& s : seen) squares += s.squares;
  return std::ldexp(std::sqrt(squares), exponent);
}

}  // namespace structmat::gpu
