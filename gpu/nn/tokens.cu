#include "nn/tokens.cuh"

#include "core/strided.cuh"

namespace structmat::gpu::nn {
namespace {

constexpr unsigned threads = 1024;

/// Inclusive over the threads of the block.
template <class Combine>
__device__ index_t scan(index_t value, Combine combine) {
  __shared__ index_t last[threads / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const index_t before = __shfl_up_sync(~0u, value, distance);
    if (lane >= distance) value = combine(before, value);
  }
  __syncthreads();  // The last scan's numbers have been read.
  if (lane == 31) last[warp] = value;
  __syncthreads();
  if (warp > 0) {
    index_t before = last[0];
    for (unsigned w = 1; w < warp; ++w) before = combine(before, last[w]);
    value = combine(before, value);
  }
  return value;
}

struct TableParameters {
  Strided<const index_t, 1> starts;
  index_t sequences, length;
  int size;
  index_t *begins, *first_slots;
};

__global__ void __launch_bounds__(threads) make_table(const __grid_constant__ TableParameters p) {
  __shared__ index_t carried;
  const auto in_tiles = [&](index_t first, auto&& value_of, auto&& combine, index_t* to) {
    if (threadIdx.x == 0) carried = first;
    for (index_t at = 0; at <= p.sequences; at += threads) {
      const index_t s = at + threadIdx.x;
      const index_t own = s <= p.sequences ? value_of(s) : 0;
      const index_t scanned = scan(own, combine);  // A barrier: what is carried has been written.
      const index_t value = combine(scanned, carried);
      if (s <= p.sequences) to[s] = value;
      __syncthreads();  // All have read what is carried.
      if (threadIdx.x == threads - 1) carried = value;
      __syncthreads();
    }
  };
  // Packed tokens begin with 0 and end with the last one, whatever is given.
  in_tiles(
      0,
      [&](index_t s) {
        return s == 0             ? 0
               : s == p.sequences ? p.length
                                  : min(max(p.starts(s), index_t(0)), p.length);
      },
      [](index_t a, index_t b) { return max(a, b); }, p.begins);
  in_tiles(
      0, [&](index_t s) { return s == 0 ? 0 : chunks_of(p.begins[s] - p.begins[s - 1], p.size); },
      [](index_t a, index_t b) { return a + b; }, p.first_slots);
}

}  // namespace

Tokens make_tokens(const char* operation, cudaStream_t stream, index_t batch, index_t length,
                   const structmat::nn::Starts<space::cuda>& starts, int size, index_t* table) {
  Tokens t{batch, length, batch, size};
  const bool packed = starts.extent(0) > 0;
  if (packed) {
    t.sequences = starts.extent(0) - 1;
    t.begins = table, t.first_slots = table + t.sequences + 1;
    launch(operation, make_table, 1, threads, stream,
           TableParameters{strided(starts), t.sequences, length, size, table,
                           table + t.sequences + 1});
  }
  t.slots = slots_of(batch, length, t.sequences, packed, size);
  return t;
}

}  // namespace structmat::gpu::nn
