#include "nn/parameter_sums.cuh"

#include "core/launch.cuh"

namespace structmat::gpu::nn {
namespace {

/// Columns of a block, and its threads that share the parts of one.
constexpr int columns = 32, shares = 32;

struct SumParameters {
  const float* sums;
  index_t parts, channels;
  Parameters first, second;
  bool accumulate;
};

__global__ void __launch_bounds__(columns* shares)
    sum_parts(const __grid_constant__ SumParameters p) {
  __shared__ double shared[shares][columns];
  const int lane = static_cast<int>(threadIdx.x) % columns,
            share = static_cast<int>(threadIdx.x) / columns;
  const index_t column = static_cast<index_t>(blockIdx.x) * columns + lane,
                width = (p.first.rows + p.second.rows) * p.channels;
  double sum = 0;
  if (column < width) {
#pragma unroll 4
    for (index_t part = share; part < p.parts; part += shares) {
      sum += static_cast<double>(p.sums[part * width + column]);
    }
  }
  shared[share][lane] = sum;
  __syncthreads();
  if (share > 0 || column >= width) return;
  for (int i = 1; i < shares; ++i) sum += shared[i][lane];
  const index_t row = column / p.channels, channel = column % p.channels;
  const bool in_first = row < p.first.rows;
  const Strided<float, 2>& to = in_first ? p.first.to : p.second.to;
  if (to.data == nullptr) return;
  float& value = to(in_first ? row : row - p.first.rows, channel);
  value = p.accumulate ? value + static_cast<float>(sum) : static_cast<float>(sum);
}

}  // namespace

void sum_parameters(const char* operation, cudaStream_t stream, const float* sums, index_t parts,
                    index_t channels, const Parameters& first, const Parameters& second,
                    bool accumulate) {
  const index_t width = (first.rows + second.rows) * channels;
  if (width == 0) return;
  launch(operation, sum_parts, static_cast<unsigned>((width + columns - 1) / columns),
         columns * shares, stream, SumParameters{sums, parts, channels, first, second, accumulate});
}

}  // namespace structmat::gpu::nn
