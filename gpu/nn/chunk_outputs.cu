#include "nn/chunk_outputs.cuh"

#include "core/shared.cuh"
#include "nn/fragments.cuh"
#include "nn/state_walk.cuh"

namespace structmat::gpu::nn {
namespace {

constexpr int threads = 128, channel_tile = 64, chunk_size = output_chunk, most_heads = 8;

template <class T>
struct Direction {
  Strided<const T, 4> b, c;
  Strided<const T, 3> dt;
  const T* states;
  bool b_vectors, c_vectors;
};

template <class T>
struct OutputParameters {
  Tokens tokens;
  Direction<T> directions[2];
  Strided<const T, 4> x, z, y_bar;
  Strided<T, 4> y, z_bar;
  Strided<const float, 1> a, dt_bias;
  Strided<const float, 2> d;
  Strided<const T, 3> delta;
  StepRule rule;
  bool shift, accumulate, x_vectors,
      y_rows;  ///< y_rows: neighbours of y lie in whole words of 8 bytes
  index_t heads, groups, channels, states;
  index_t channel_tiles, part_heads, parts;  ///< heads of a block; blocks of a group
};

/// Sums of one head and direction, in the order of the tokens.
struct HeadDecays {
  float delta[chunk_size], log[chunk_size], low[chunk_size];
};

/// Shared memory of a block, in elements of T but for the decays, which come first.
template <class T, bool Mixer>
struct Layout {
  static constexpr int directions = Mixer ? 2 : 1;
  static constexpr int x_elements = chunk_size * tile_stride<T>(channel_tile);

  __host__ __device__ explicit Layout(int width)
      : tile(chunk_size * tile_stride<T>(width)),
        x(2 * directions * tile),  // behind C, and behind B, whose place states take
        bytes(sizeof(HeadDecays) * directions * most_heads + sizeof(T) * (x + 2 * x_elements)) {}
  int tile, x;
  std::size_t bytes;
};

template <class T, bool Mixer>
class ChunkOfHeads {
 public:
  static constexpr int directions = Mixer ? 2 : 1, x_stride = tile_stride<T>(channel_tile);

  __device__ ChunkOfHeads(const OutputParameters<T>& p, index_t work)
      : p_(p),
        width_(static_cast<int>(padded_extent(p.states))),
        stride_(tile_stride<T>(width_)),
        layout_(width_) {
    decays_ = dynamic_shared<HeadDecays>();
    tiles_ = reinterpret_cast<T*>(decays_ + directions * most_heads);
    channel_ = work % p.channel_tiles * channel_tile;
    work /= p.channel_tiles;
    const index_t part = work % p.parts;
    work /= p.parts;
    group_ = work % p.groups;
    chunk_ = chunk_of(p.tokens, work / p.groups);
    const index_t of_group = p.heads / p.groups, first = part * p.part_heads;
    head_ = group_ * of_group + first;
    const index_t left = of_group - first;
    heads_ = static_cast<int>(left < p.part_heads ? left : p.part_heads);
    const index_t columns = p.channels - channel_;
    columns_ = static_cast<int>(columns < channel_tile ? columns : channel_tile);
    row_ = static_cast<int>(threadIdx.x) / 32 * 16;
  }

  __device__ void run() {
    if (chunk_.count == 0) return;
    for (int of = 0; of < directions; ++of) load_group(of);
    load_x(0);
    commit_copies();
    sum_all_decays();
    await_copies<0>();
    __syncthreads();
    multiply_group();
    __syncthreads();
    load_states(0);
    commit_copies();
    for (int h = 0; h < heads_; ++h) {
      await_copies<0>();
      __syncthreads();
      float sum[8][4];
      multiply_states(h, sum);
      __syncthreads();
      if (h + 1 < heads_) load_states(h + 1), load_x(h + 1);
      commit_copies();
      multiply_chunk(h, sum);
      store(h, sum);
    }
    __syncthreads();
  }

 private:
  __device__ T* c_tile(int of) const { return tiles_ + of * layout_.tile; }
  __device__ T* state_tile(int of) const { return tiles_ + (directions + of) * layout_.tile; }
  __device__ T* x_tile(int h) const {
    return tiles_ + layout_.x + h % 2 * Layout<T, Mixer>::x_elements;
  }
  __device__ HeadDecays& decays(int of, int h) const { return decays_[of * most_heads + h]; }

  /// B, and C of the tokens that the rows ask for.
  __device__ void load_group(int of) {
    const Direction<T>& d = p_.directions[of];
    const int thread = static_cast<int>(threadIdx.x), states = static_cast<int>(p_.states);
    const index_t entry = chunk_.sequence.entry;
    load_tile(
        state_tile(of), chunk_size, width_,
        Rows<T>{&d.b(entry, chunk_.first, group_, 0), d.b.stride[1], d.b.stride[3], d.b_vectors},
        chunk_.count, states, thread, threads);
    // Rows at the ends of the sequence ask for nothing.
    const bool shift = Mixer && p_.shift;
    const int above = shift && of == 0 && chunk_.number == 0;
    const int below = shift && of == 1 && chunk_.number + 1 == chunk_.sequence.chunks;
    const index_t first = chunk_.first + above + (shift ? 2 * of - 1 : 0);
    const int rows = chunk_.count - above - below;
    T* const tile = c_tile(of);
    load_tile(tile + above * stride_, chunk_size - above, width_,
              Rows<T>{rows > 0 ? &d.c(entry, first, group_, 0) : nullptr, d.c.stride[1],
                      d.c.stride[3], d.c_vectors},
              rows, states, thread, threads);
    for (int n = thread; above > 0 && n < width_; n += threads) tile[n] = T(0.0f);
  }
  __device__ void load_x(int h) {
    load_tile(x_tile(h), chunk_size, channel_tile,
              Rows<T>{&p_.x(chunk_.sequence.entry, chunk_.first, head_ + h, channel_),
                      p_.x.stride[1], p_.x.stride[3], p_.x_vectors},
              chunk_.count, columns_, static_cast<int>(threadIdx.x), threads);
  }
  __device__ void load_states(int h) {
    const index_t rows = padded_extent(p_.channels), slot = chunk_.sequence.slot + chunk_.number;
    const index_t left = rows - channel_;
    for (int of = 0; of < directions; ++of) {
      const T* const from =
          p_.directions[of].states + ((slot * p_.heads + head_ + h) * rows + channel_) * width_;
      load_tile(state_tile(of), channel_tile, width_, Rows<T>{from, width_, 1, true},
                static_cast<int>(left < channel_tile ? left : channel_tile), width_,
                static_cast<int>(threadIdx.x), threads);
    }
  }

  __device__ void sum_all_decays() {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    for (int i = warp; i < directions * heads_; i += threads / 32) {
      const int of = i / heads_, h = i % heads_, count = chunk_.count;
      HeadDecays& to = decays(of, h);
      const auto& dt = p_.directions[of].dt;
      const index_t first = of == 0 ? chunk_.first : chunk_.first + count - 1;
      const HeadSteps<T> steps{&dt(chunk_.sequence.entry, first, head_ + h),
                               of == 0 ? dt.stride[1] : -dt.stride[1], p_.a(head_ + h),
                               p_.dt_bias.data != nullptr ? p_.dt_bias(head_ + h) : 0.0f, p_.rule};
      sum_decays(steps, count, chunk_size, to.delta, to.log, to.low);
      if (of == 0) continue;
      __syncwarp();
      float kept[2][3];
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const int t = lane + 32 * v;
        kept[v][0] = to.delta[t], kept[v][1] = to.log[t], kept[v][2] = to.low[t];
      }
      __syncwarp();
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const int t = lane + 32 * v;
        if (t < count) {
          const int to_token = count - 1 - t;
          to.delta[to_token] = kept[v][0], to.log[to_token] = kept[v][1],
          to.low[to_token] = kept[v][2];
        } else {
          to.log[t] = to.low[t] = 0;  // A NaN of the sum is none of these tokens'.
        }
      }
    }
  }

  /// C_i . B_j of this warp's 16 rows: those of the forward direction up to the diagonal, of the backward one behind.
  __device__ void multiply_group() {
    const int own = row_ / 16;
    float backward[2][4] = {};
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) product_[n][c] = 0;
    }
    for (int k = 0; k < width_; k += 16) {
      const Left<T> forward = load_left(c_tile(0), stride_, row_, k);
      Left<T> against = forward;
      if (Mixer) against = load_left(c_tile(directions - 1), stride_, row_, k);
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        Right<T> right[2];
        if (block <= own) {
          load_right(right, state_tile(0), stride_, 16 * block, k);
          multiply_add(product_[2 * block], forward, right[0]);
          multiply_add(product_[2 * block + 1], forward, right[1]);
        }
        if (Mixer && block >= own) {
          load_right(right, state_tile(directions - 1), stride_, 16 * block, k);
          if (block == own) {
            multiply_add(backward[0], against, right[0]);
            multiply_add(backward[1], against, right[1]);
          } else {
            multiply_add(product_[2 * block], against, right[0]);
            multiply_add(product_[2 * block + 1], against, right[1]);
          }
        }
      }
    }
    if (!Mixer) return;
    const auto [g, t] = lane_of_warp();
    diagonal_[0] = diagonal_[1] = 0;
#pragma unroll
    for (int block = 0; block < 4; ++block) {
      if (block != own) continue;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int i = g + c / 2 * 8, j = 8 * half + 2 * t + c % 2;
          if (j > i) product_[2 * block + half][c] = backward[half][c];
          if (j == i) diagonal_[c / 2] = backward[half][c];
        }
      }
    }
  }

  /// 2^(l of the row), and the logarithm itself in two parts.
  struct RowLog {
    float high, low;
  };
  __device__ RowLog row_log(int of, int h, int i) const {
    const HeadDecays& d = decays(of, h);
    const int at = i + (Mixer && p_.shift ? 2 * of - 1 : 0);
    if (at < 0 || at >= chunk_.count) return {0, 0};
    return {d.log[at], d.low[at]};
  }
  /// 2^(row - l_j)
  __device__ static float decay(const RowLog& row, float log, float low) {
    if constexpr (sizeof(T) == 2) return exp2_fast(row.high - log);
    return exp2_fast((row.high - log) + (row.low - low));
  }

  __device__ void multiply_states(int h, float (&sum)[8][4]) {
    const int g = lane_of_warp().g;
#pragma unroll
    for (int of = 0; of < directions; ++of) {
      float part[8][4] = {};
      for (int k = 0; k < width_; k += 16) {
        const Left<T> left = load_left(c_tile(of), stride_, row_, k);
#pragma unroll
        for (int n = 0; n < 8; n += 2) {
          if (8 * n >= columns_) continue;
          Right<T> right[2];
          load_right(right, state_tile(of), stride_, 8 * n, k);
          multiply_add(part[n], left, right[0]);
          multiply_add(part[n + 1], left, right[1]);
        }
      }
      float scale[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const RowLog log = row_log(of, h, row_ + g + 8 * half);
        scale[half] = decay(log, 0, 0);
      }
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const float v = scale[c / 2] * part[n][c];
          sum[n][c] = of == 0 ? v : sum[n][c] + v;
        }
      }
    }
  }

  __device__ void multiply_chunk(int h, float (&sum)[8][4]) {
    const auto [g, t] = lane_of_warp();
    const int own = row_ / 16;
    const HeadDecays &forward = decays(0, h), &backward = decays(directions - 1, h);
    RowLog rows[directions][2];
#pragma unroll
    for (int of = 0; of < directions; ++of) {
#pragma unroll
      for (int half = 0; half < 2; ++half) rows[of][half] = row_log(of, h, row_ + g + 8 * half);
    }
    const bool with_diagonal = !(Mixer && p_.shift);
#pragma unroll
    for (int block = 0; block < 4; ++block) {
      if (!Mixer && block > own) continue;
      Left<T> left{};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float entry[4];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int i = row_ + g + c / 2 * 8, j = 16 * block + 8 * half + 2 * t + c % 2;
          const float product = product_[2 * block + half][c];
          float v = 0;
          if (j < i || (j == i && with_diagonal)) {
            v = product * forward.delta[j] * decay(rows[0][c / 2], forward.log[j], forward.low[j]);
          }
          if (Mixer) {
            if (j > i) {
              v = product * backward.delta[j] *
                  decay(rows[directions - 1][c / 2], backward.log[j], backward.low[j]);
            }
            // The row's own step has no decay.
            if (j == i && with_diagonal) v += diagonal_[c / 2] * backward.delta[j];
          }
          entry[c] = v;
        }
        set_half(left, half, entry);
      }
#pragma unroll
      for (int n = 0; n < 8; n += 2) {
        if (8 * n >= columns_) continue;
        Right<T> right[2];
        load_right_of_rows(right, x_tile(h), x_stride, 16 * block, 8 * n);
        multiply_add(sum[n], left, right[0]);
        multiply_add(sum[n + 1], left, right[1]);
      }
    }
  }

  __device__ void store(int h, float (&sum)[8][4]) {
    const auto [g, t] = lane_of_warp();
    const index_t entry = chunk_.sequence.entry, head = head_ + h;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = row_ + g + 8 * half;
      const bool there = i < chunk_.count;
      const index_t token = chunk_.first + i;
      float diagonal = 0;
      if (there && p_.delta.data != nullptr)
        diagonal = static_cast<float>(p_.delta(entry, token, head));
#pragma unroll
      for (int n = 0; n < 8; n += 2) {
        if (8 * n >= columns_) continue;
        float result[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          const int column = 8 * n + v / 2 * 8 + 2 * t + v % 2;
          const index_t channel = channel_ + column;
          float y = sum[n + v / 2][2 * half + v % 2];
          if (there && column < columns_) {
            float skip = diagonal;
            if (p_.d.data != nullptr) skip += p_.d(head, channel);
            if (p_.d.data != nullptr || p_.delta.data != nullptr) {
              y += skip * static_cast<float>(x_tile(h)[i * x_stride + column]);
            }
            if (p_.z.data != nullptr) y = gated(y, token, head, channel);
          }
          result[v] = y;
        }
        T* const to = &p_.y(entry, there ? token : chunk_.first, head, channel_ + 8 * n);
        if (p_.y_rows && 8 * n + 16 <= columns_) {
          store_row(to, t, there, result);
          continue;
        }
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          const int column = v / 2 * 8 + 2 * t + v % 2;
          if (there && 8 * n + column < columns_) to[column * p_.y.stride[3]] = T(result[v]);
        }
      }
    }
  }
  __device__ float gated(float y, index_t token, index_t head, index_t channel) const {
    const index_t entry = chunk_.sequence.entry;
    const float z = static_cast<float>(p_.z(entry, token, head, channel));
    if (p_.y_bar.data == nullptr) return y * silu(z);
    const float bar = static_cast<float>(p_.y_bar(entry, token, head, channel));
    if (p_.z_bar.data != nullptr) {
      T& to = p_.z_bar(entry, token, head, channel);
      to = T((p_.accumulate ? static_cast<float>(to) : 0.0f) + bar * y * silu_slope(z));
    }
    return bar * silu(z);
  }
  /// Neighbours of two tiles of a row, as whole sectors. All lanes take part.
  __device__ static void store_row(float* at, int t, bool there, const float (&v)[4]) {
    if (!there) return;
    store_pair(at + 2 * t, v[0], v[1]);
    store_pair(at + 8 + 2 * t, v[2], v[3]);
  }
  __device__ static void store_row(bf16* at, int t, bool there, const float (&v)[4]) {
    const unsigned first = bf16_pair(v[0], v[1]), second = bf16_pair(v[2], v[3]);
    const bool odd = t % 2 != 0;
    const unsigned other = __shfl_xor_sync(~0u, odd ? first : second, 1);
    if (!there) return;
    *reinterpret_cast<uint2*>(at + (odd ? 8 + 2 * (t - 1) : 2 * t)) =
        odd ? uint2{other, second} : uint2{first, other};
  }

  const OutputParameters<T>& p_;
  int width_, stride_;
  Layout<T, Mixer> layout_;
  HeadDecays* decays_;
  T* tiles_;
  index_t channel_, group_, head_;
  int heads_, columns_, row_;
  Chunk chunk_;
  float product_[8][4], diagonal_[2];
};

template <class T, bool Mixer>
__global__ void __launch_bounds__(threads)
    write_outputs(const __grid_constant__ OutputParameters<T> p) {
  const index_t work = p.tokens.slots * p.groups * p.parts * p.channel_tiles;
  for (index_t w = blockIdx.x; w < work; w += gridDim.x) ChunkOfHeads<T, Mixer>(p, w).run();
}

/// What a block may have.
constexpr std::size_t most_shared_bytes = 227 * 1024;

template <class T, bool Mixer>
void enqueue(const char* operation, cudaStream_t stream, OutputParameters<T>& p) {
  const int processors = multiprocessors(operation);
  p.channel_tiles = (p.channels + channel_tile - 1) / channel_tile;
  // As many heads as share a product of B and C and leave enough blocks.
  const index_t of_group = p.heads / p.groups, chunks = p.tokens.slots * p.groups * p.channel_tiles;
  p.part_heads = std::min<index_t>(of_group, most_heads);
  while (p.part_heads > 1 &&
         chunks * ((of_group + p.part_heads - 1) / p.part_heads) < 8 * processors) {
    p.part_heads = (p.part_heads + 1) / 2;
  }
  p.parts = (of_group + p.part_heads - 1) / p.part_heads;
  const index_t work = chunks * p.parts;
  if (work == 0) return;
  const Layout<T, Mixer> layout(static_cast<int>(padded_extent(p.states)));
  launch(operation, write_outputs<T, Mixer>,
         Grid{persistent_blocks(work, 1, processors), threads, layout.bytes}, stream, p);
}

}  // namespace

template <class T>
void check_outputs(const char* operation, index_t states, bool mixer) {
  constexpr index_t most = 256;
  const int width = static_cast<int>(std::min(padded_extent(states), most + 16));
  const std::size_t bytes = mixer ? Layout<T, true>(width).bytes : Layout<T, false>(width).bytes;
  if (states <= most && bytes <= most_shared_bytes) return;
  throw Unsupported(std::string(operation) + ": " + std::to_string(states) +
                    " states, tiles of them do not fit into shared memory");
}

template <class T>
void chunk_outputs(const char* operation, cudaStream_t stream, const Tokens& tokens,
                   const ChunkOutputs<T>& o) {
  OutputParameters<T> p{};
  p.tokens = tokens;
  const auto direction = [](const OutputDirection<T>& from) {
    return Direction<T>{strided(from.b), strided(from.c),       strided(from.dt),
                        from.states,     whole_vectors(from.b), whole_vectors(from.c)};
  };
  p.directions[0] = direction(o.forward);
  if (o.mixer) p.directions[1] = direction(o.backward);
  p.x = strided(o.x), p.z = strided(o.z), p.y_bar = strided(o.y_bar);
  p.y = strided(o.y), p.z_bar = strided(o.z_bar);
  p.a = strided(o.a), p.dt_bias = strided(o.dt_bias);
  p.d = strided(o.d), p.delta = strided(o.delta);
  p.rule = o.rule, p.shift = o.shift, p.accumulate = o.accumulate;
  p.x_vectors = whole_vectors(o.x), p.y_rows = whole_vectors(o.y);
  p.heads = o.x.extent(2), p.channels = o.x.extent(3);
  p.groups = o.forward.b.extent(2), p.states = o.forward.b.extent(3);
  if (p.heads == 0 || p.channels == 0) return;
  if (o.mixer) {
    enqueue<T, true>(operation, stream, p);
  } else {
    enqueue<T, false>(operation, stream, p);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                              \
  template void check_outputs<T>(const char*, index_t, bool); \
  template void chunk_outputs<T>(const char*, cudaStream_t, const Tokens&, const ChunkOutputs<T>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::gpu::nn
