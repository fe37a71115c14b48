#include "nn/mixer_diagonal.cuh"

#include "core/launch.cuh"
#include "nn/pieces.cuh"
#include "nn/tiles.cuh"

namespace structmat::gpu::nn {
namespace {

constexpr int threads = 256;
/// Tokens of a part.
constexpr int part_tokens = 128;

template <class T>
struct DiagonalParameters {
  Strided<const T, 4> x, y_bar;
  Strided<const T, 3> delta;
  Strided<const float, 2> d;
  Strided<T, 4> x_bar;
  Strided<T, 3> delta_bar;
  float* parts;  // (parts, heads, channels), or (parts, heads, 1); null: not wanted
  bool by_head, accumulate;
  index_t work, length, heads, channels;
  int lanes;  // of a row: a power of two
};

/// A block: the tokens of a part, one head. Rows of a tile of channels are read once.
template <class T, bool Vector>
__global__ void __launch_bounds__(threads)
    pull_back(const __grid_constant__ DiagonalParameters<T> p) {
  constexpr int each = 16 / static_cast<int>(sizeof(T));
  __shared__ float sums[threads * each], dots[part_tokens];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % p.lanes, row = thread / p.lanes,
            rows = threads / p.lanes, tile = p.lanes * each;
  const index_t parts_of_entry = (p.length + part_tokens - 1) / part_tokens;
  for (index_t work = blockIdx.x; work < p.work; work += gridDim.x) {
    const index_t head = work % p.heads, part = work / p.heads, entry = part / parts_of_entry,
                  first = part % parts_of_entry * part_tokens, left = p.length - first;
    const int tokens = left < part_tokens ? static_cast<int>(left) : part_tokens;
    for (int t = thread; t < part_tokens; t += threads) dots[t] = 0;
    for (index_t begin = 0; begin < p.channels; begin += tile) {
      __syncthreads();
      const index_t channel = begin + lane * each, count = p.channels - channel;
      float own[each] = {}, skip[each] = {};
      for (int i = 0; i < each; ++i) {
        if (p.d.data != nullptr && i < count) skip[i] = p.d(head, channel + i);
      }
      for (int t0 = 0; t0 < tokens; t0 += rows) {
        const int t = t0 + row;
        float dot = 0;
        if (t < tokens && count > 0) {
          const index_t token = first + t;
          Piece<T, each> piece;
          float x[each], y[each];
          load<Vector>(PieceAt<const T>{&p.x(entry, token, head, channel), p.x.stride[3], count},
                       piece);
          unpack(piece, x);
          load<Vector>(
              PieceAt<const T>{&p.y_bar(entry, token, head, channel), p.y_bar.stride[3], count},
              piece);
          unpack(piece, y);
          const float delta =
              p.delta.data == nullptr ? 0 : static_cast<float>(p.delta(entry, token, head));
          for (int i = 0; i < each; ++i) {
            const float product = x[i] * y[i];
            own[i] += product, dot += product;
            y[i] *= delta + skip[i];
          }
          if (p.x_bar.data != nullptr) {
            put<Vector>(PieceAt<T>{&p.x_bar(entry, token, head, channel), p.x_bar.stride[3], count},
                        y, p.accumulate);
          }
        }
        for (int distance = p.lanes / 2; distance > 0; distance /= 2) {
          dot += __shfl_xor_sync(~0u, dot, distance);
        }
        if (lane == 0 && t < tokens) dots[t] += dot;
      }
      if (p.parts == nullptr || p.by_head) continue;
      for (int i = 0; i < each; ++i) sums[row * tile + lane * each + i] = own[i];
      __syncthreads();
      for (int c = thread; c < tile && begin + c < p.channels; c += threads) {
        float sum = 0;
        for (int r = 0; r < rows; ++r) sum += sums[r * tile + c];
        p.parts[work * p.channels + begin + c] = sum;
      }
    }
    __syncthreads();
    for (int t = thread; p.delta_bar.data != nullptr && t < tokens; t += threads) {
      T& to = p.delta_bar(entry, first + t, head);
      to = T(p.accumulate ? static_cast<float>(to) + dots[t] : dots[t]);
    }
    if (p.parts != nullptr && p.by_head && thread < 32) {
      float sum = 0;
      for (int t = thread; t < tokens; t += 32) sum += dots[t];
      for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(~0u, sum, distance);
      }
      if (thread == 0) p.parts[work] = sum;
    }
    __syncthreads();
  }
}

template <class T>
index_t parts_of(const View<const T, 4, space::cuda>& x) {
  return x.extent(0) * ((x.extent(1) + part_tokens - 1) / part_tokens);
}

}  // namespace

template <class T>
float* take_diagonal_parts(Workspace& workspace, const View<const T, 4, space::cuda>& x) {
  return workspace.take<float>(parts_of(x) * x.extent(2) * x.extent(3));
}

template <class T>
void pull_back_diagonal(const char* operation, cudaStream_t stream, const MixerDiagonal<T>& m,
                        float* parts) {
  constexpr index_t each = 16 / static_cast<index_t>(sizeof(T));
  const index_t heads = m.x.extent(2), channels = m.x.extent(3), count = parts_of(m.x);
  const bool by_head = channels > 1 && m.d_bar.data() && m.d_bar.stride(1) == 0;
  int lanes = 1;
  while (lanes < 32 && lanes * each < channels) lanes *= 2;
  const DiagonalParameters<T> p{strided(m.x),
                                strided(m.y_bar),
                                strided(m.delta),
                                strided(m.d),
                                strided(m.x_bar),
                                strided(m.delta_bar),
                                m.d_bar.data() ? parts : nullptr,
                                by_head,
                                m.accumulate,
                                count * heads,
                                m.x.extent(1),
                                heads,
                                channels,
                                lanes};
  if (p.work > 0) {
    const bool vectors =
        whole_vectors(m.x) && whole_vectors(m.y_bar) && (!m.x_bar.data() || whole_vectors(m.x_bar));
    launch(operation, vectors ? pull_back<T, true> : pull_back<T, false>,
           persistent_blocks(p.work, 1, multiprocessors(operation)), threads, stream, p);
  }
  if (!m.d_bar.data()) return;
  const Strided<float, 2> to = strided(m.d_bar);
  sum_parameters(operation, stream, parts, count, by_head ? 1 : channels, {to, heads}, {},
                 m.accumulate);
}

#define STRUCTMAT_INSTANTIATE(T)                                                            \
  template float* take_diagonal_parts<T>(Workspace&, const View<const T, 4, space::cuda>&); \
  template void pull_back_diagonal<T>(const char*, cudaStream_t, const MixerDiagonal<T>&, float*);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::gpu::nn
