/// \file
/// The kernel of chunk_outputs(): a block takes some heads of one group and one chunk, 64 tokens by 64 channels, and a
/// warp 16 of the tokens.
#pragma once

#include "core/shared.cuh"
#include "nn/chunk_outputs.cuh"
#include "nn/decays.cuh"
#include "nn/fragments.cuh"
#include "nn/state_walk.cuh"

namespace structmat::gpu::nn::outputs {

constexpr int threads = 128, channel_tile = 64, chunk_size = output_chunk, most_heads = 8;
constexpr int block_size = 16, blocks = chunk_size / block_size;  // of tokens

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
  int stages;                                ///< tiles of states of a direction in shared memory
};

/// Sums of one head and direction, in the order of the tokens.
template <class T>
struct HeadDecays {
  static constexpr bool in_two_parts = sizeof(T) > 2;  ///< the logarithms

  __device__ float* delta() { return numbers[0]; }
  __device__ float* log() { return numbers[1]; }
  /// Delta_j 2^(l_e - l_j), e the last token, in the order of the direction, of j's block: 2^(l_i - l_e) times that
  /// is the decay of a row behind the block, and none of the two can overflow.
  __device__ float* weight() { return numbers[2]; }
  __device__ float* low() { return in_two_parts ? numbers[3] : nullptr; }
  __device__ const float* delta() const { return numbers[0]; }
  __device__ const float* log() const { return numbers[1]; }
  __device__ const float* weight() const { return numbers[2]; }
  __device__ const float* low() const { return in_two_parts ? numbers[3] : nullptr; }

  alignas(16) float numbers[in_two_parts ? 4 : 3][chunk_size];
};

/// Shared memory of a block, in elements of T but for the decays, which come first.
template <class T, bool Mixer>
struct Layout {
  static constexpr int directions = Mixer ? 2 : 1;
  static constexpr int x_elements = chunk_size * tile_stride<T>(channel_tile);

  __host__ __device__ Layout(int width, int stages)
      : tile(chunk_size * tile_stride<T>(width)),
        x((1 + stages) * directions *
          tile),  // behind C, and behind states, whose last place B takes
        bytes(sizeof(HeadDecays<T>) * directions * most_heads + sizeof(T) * (x + 2 * x_elements)) {}
  int tile, x;
  std::size_t bytes;
};

/// A tile of whole rows that lie in device memory as whole_vectors() says, by `threads` threads.
template <int Width, class T>
__device__ void load_whole_tile(T* tile, const T* from, index_t row_stride) {
  constexpr int each = 16 / static_cast<int>(sizeof(T)), pieces = Width / each;
  constexpr int rows = threads / pieces, stride = tile_stride<T>(Width);
  static_assert(threads % pieces == 0 && chunk_size % rows == 0);
  const int row = static_cast<int>(threadIdx.x) / pieces,
            column = static_cast<int>(threadIdx.x) % pieces * each;
  from += row * row_stride + column;
  tile += row * stride + column;
#pragma unroll
  for (int i = 0; i < chunk_size / rows; ++i) {
    copy_async(reinterpret_cast<uint4*>(tile + i * rows * stride),
               reinterpret_cast<const uint4*>(from));
    from += rows * row_stride;
  }
}

/// Width: of states, rounded up to 16; 0: known to the parameters only.
template <class T, bool Mixer, int Width>
class ChunkOfHeads {
 public:
  static constexpr int directions = Mixer ? 2 : 1, x_stride = tile_stride<T>(channel_tile);

  __device__ ChunkOfHeads(const OutputParameters<T>& p, index_t work)
      : p_(p),
        width_(Width > 0 ? Width : static_cast<int>(padded_extent(p.states))),
        stride_(tile_stride<T>(width_)),
        layout_(width_, p.stages) {
    decays_ = dynamic_shared<HeadDecays<T>>();
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
    row_ = static_cast<int>(threadIdx.x) / 32 * block_size;
  }

  __device__ void run() {
    if (chunk_.count == 0) return;
    for (int of = 0; of < directions; ++of) load_group(of);
    load_x(0);
    if (p_.stages > 1) load_states(0);
    commit_copies();
    sum_all_decays();
    await_copies<0>();
    __syncthreads();
    multiply_group();
    if (p_.stages == 1) {
      __syncthreads();
      load_states(0);
      commit_copies();
    }
    for (int h = 0; h < heads_; ++h) {
      await_copies<0>();
      __syncthreads();
      if (p_.stages > 1) load_next(h);
      float sum[8][4];
      multiply_states(h, sum);
      if (p_.stages == 1) {
        __syncthreads();
        load_next(h);
      }
      multiply_chunk(h, sum);
      skip(h, sum);
      if (p_.z.data != nullptr) gate(h, sum);
      store(h, sum);
    }
    __syncthreads();
  }

 private:
  __device__ T* c_tile(int of) const { return tiles_ + of * layout_.tile; }
  __device__ T* state_tile(int of, int stage) const {
    return tiles_ + (directions * (1 + stage) + of) * layout_.tile;
  }
  __device__ T* b_tile(int of) const { return state_tile(of, p_.stages - 1); }
  __device__ T* x_tile(int h) const {
    return tiles_ + layout_.x + h % 2 * Layout<T, Mixer>::x_elements;
  }
  __device__ HeadDecays<T>& decays(int of, int h) const { return decays_[of * most_heads + h]; }

  /// B, and C of the tokens that the rows ask for.
  __device__ void load_group(int of) {
    const Direction<T>& d = p_.directions[of];
    const int thread = static_cast<int>(threadIdx.x), states = static_cast<int>(p_.states);
    const index_t entry = chunk_.sequence.entry;
    load_tile(
        b_tile(of), chunk_size, width_,
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
    const T* const from = &p_.x(chunk_.sequence.entry, chunk_.first, head_ + h, channel_);
    if (p_.x_vectors && chunk_.count == chunk_size && columns_ == channel_tile) {
      load_whole_tile<channel_tile>(x_tile(h), from, p_.x.stride[1]);
    } else {
      load_tile(x_tile(h), chunk_size, channel_tile,
                Rows<T>{from, p_.x.stride[1], p_.x.stride[3], p_.x_vectors}, chunk_.count, columns_,
                static_cast<int>(threadIdx.x), threads);
    }
  }
  __device__ void load_states(int h) {
    const index_t rows = padded_extent(p_.channels), slot = chunk_.sequence.slot + chunk_.number;
    const index_t left = rows - channel_;
#pragma unroll
    for (int of = 0; of < directions; ++of) {
      const T* const from =
          p_.directions[of].states + ((slot * p_.heads + head_ + h) * rows + channel_) * width_;
      T* const to = state_tile(of, p_.stages > 1 ? h % 2 : 0);
      if constexpr (Width > 0) {
        if (left >= channel_tile) {
          load_whole_tile<Width>(to, from, Width);
          continue;
        }
      }
      load_tile(to, channel_tile, width_, Rows<T>{from, width_, 1, true},
                static_cast<int>(left < channel_tile ? left : channel_tile), width_,
                static_cast<int>(threadIdx.x), threads);
    }
  }
  __device__ void load_next(int h) {
    if (h + 1 < heads_) load_states(h + 1), load_x(h + 1);
    commit_copies();
  }

  __device__ void sum_all_decays() {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int count = chunk_.count;
    load_steps();
    __syncthreads();
    for (int i = warp; i < directions * heads_; i += threads / 32) {
      const int of = i / heads_, h = i % heads_;
      HeadDecays<T>& to = decays(of, h);
      const HeadSteps<T> steps{raw_steps(of, h), 1, p_.a(head_ + h),
                               p_.dt_bias.data != nullptr ? p_.dt_bias(head_ + h) : 0.0f, p_.rule};
      sum_decays(steps, count, to.delta(), to.log(), to.low());
      __syncwarp();
      if (of == 1) turn_around(to, count, lane);
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const int j = lane + 32 * v, block = j / block_size * block_size;
        const int end = of == 0 ? block + block_size - 1 : block;
        to.weight()[j] = j < count ? to.delta()[j] * decay(row_log(to, end), to, j) : 0.0f;
      }
    }
  }
  /// All raw steps at once, in the order of the recurrence, to where weights will be.
  __device__ void load_steps() {
    const index_t entry = chunk_.sequence.entry;
#pragma unroll
    for (int i = 0; i < directions * most_heads * chunk_size / threads; ++i) {
      const int number = i * threads + static_cast<int>(threadIdx.x);
      const int h = number % most_heads, t = number / most_heads % chunk_size;
      const int of = number / (most_heads * chunk_size);
      if (h >= heads_ || t >= chunk_.count) continue;
      raw_steps(of, h)[of == 0 ? t : chunk_.count - 1 - t] =
          p_.directions[of].dt(entry, chunk_.first + t, head_ + h);
    }
  }
  __device__ T* raw_steps(int of, int h) const {
    return reinterpret_cast<T*>(decays(of, h).weight());
  }
  /// From the order of the backward recurrence to that of the tokens.
  __device__ static void turn_around(HeadDecays<T>& to, int count, int lane) {
    float kept[2][3];
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const int t = lane + 32 * v;
      kept[v][0] = to.delta()[t], kept[v][1] = to.log()[t];
      kept[v][2] = HeadDecays<T>::in_two_parts ? to.low()[t] : 0.0f;
    }
    __syncwarp();
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const int t = lane + 32 * v, token = t < count ? count - 1 - t : t;
      // Beyond the tokens a NaN of the sum is none of theirs.
      to.delta()[token] = kept[v][0];
      to.log()[token] = t < count ? kept[v][1] : 0.0f;
      if (HeadDecays<T>::in_two_parts) to.low()[token] = t < count ? kept[v][2] : 0.0f;
    }
    __syncwarp();
  }

  /// C_i . B_j of this warp's 16 rows: those of the forward direction up to the diagonal, of the backward one behind.
  /// Those of the warp's own block apart from the others.
  __device__ void multiply_group() {
    const int own = row_ / block_size;
    float backward[2][4] = {};
#pragma unroll
    for (int n = 0; n < 2 * blocks; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) product_[n][c] = 0;
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) own_product_[n][c] = 0;
    }
    for (int k = 0; k < width_; k += 16) {
      const Left<T> forward = load_left(c_tile(0), stride_, row_, k);
      Left<T> against = forward;
      if (Mixer) against = load_left(c_tile(directions - 1), stride_, row_, k);
      Right<T> right[2];
      load_right(right, b_tile(0), stride_, row_, k);
      multiply_add(own_product_[0], forward, right[0]);
      multiply_add(own_product_[1], forward, right[1]);
      if (Mixer) {
        load_right(right, b_tile(directions - 1), stride_, row_, k);
        multiply_add(backward[0], against, right[0]);
        multiply_add(backward[1], against, right[1]);
      }
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        if (block < own) {
          load_right(right, b_tile(0), stride_, block_size * block, k);
          multiply_add(product_[2 * block], forward, right[0]);
          multiply_add(product_[2 * block + 1], forward, right[1]);
        } else if (Mixer && block > own) {
          load_right(right, b_tile(directions - 1), stride_, block_size * block, k);
          multiply_add(product_[2 * block], against, right[0]);
          multiply_add(product_[2 * block + 1], against, right[1]);
        }
      }
    }
    if (!Mixer) return;
    const auto [g, t] = lane_of_warp();
    diagonal_[0] = diagonal_[1] = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int i = g + c / 2 * 8, j = 8 * half + 2 * t + c % 2;
        if (j > i) own_product_[half][c] = backward[half][c];
        if (j == i) diagonal_[c / 2] = backward[half][c];
      }
    }
  }

  /// 2^(l of the row), and the logarithm itself in two parts.
  struct RowLog {
    float high, low;
  };
  __device__ static RowLog row_log(const HeadDecays<T>& d, int i) {
    return {d.log()[i], HeadDecays<T>::in_two_parts ? d.low()[i] : 0.0f};
  }
  /// Of the token that row i asks.
  __device__ RowLog row_log(int of, int h, int i) const {
    const int at = i + (Mixer && p_.shift ? 2 * of - 1 : 0);
    if (at < 0 || at >= chunk_.count) return {0, 0};
    return row_log(decays(of, h), at);
  }
  /// 2^(row - l_j)
  __device__ static float decay(const RowLog& row, const HeadDecays<T>& d, int j) {
    if constexpr (!HeadDecays<T>::in_two_parts) return exp2_fast(row.high - d.log()[j]);
    return exp2_fast((row.high - d.log()[j]) + (row.low - d.low()[j]));
  }

  __device__ void multiply_states(int h, float (&sum)[8][4]) {
    const int g = lane_of_warp().g;
#pragma unroll
    for (int of = 0; of < directions; ++of) {
      const T* const tile = state_tile(of, p_.stages > 1 ? h % 2 : 0);
      float part[8][4] = {};
#pragma unroll(Width > 0 ? Width / 16 : 1)
      for (int k = 0; k < width_; k += 16) {
        const Left<T> left = load_left(c_tile(of), stride_, row_, k);
#pragma unroll
        for (int n = 0; n < 8; n += 2) {
          Right<T> right[2];
          load_right(right, tile, stride_, 8 * n, k);
          multiply_add(part[n], left, right[0]);
          multiply_add(part[n + 1], left, right[1]);
        }
      }
      float scale[2];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        scale[half] = exp2_fast(row_log(of, h, row_ + g + 8 * half).high);
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
    const int own = row_ / block_size;
    RowLog rows[directions][2];
#pragma unroll
    for (int of = 0; of < directions; ++of) {
#pragma unroll
      for (int half = 0; half < 2; ++half) rows[of][half] = row_log(of, h, row_ + g + 8 * half);
    }
#pragma unroll
    for (int block = 0; block < (Mixer ? blocks : blocks - 1); ++block) {
      const int of = Mixer && block > own ? 1 : 0;
      if (block == own || (!Mixer && block > own)) continue;
      const HeadDecays<T>& d = decays(of, h);
      const int end = block_size * block + (of == 0 ? block_size - 1 : 0);
      float row[2];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        row[half] = decay(of == 0 ? rows[0][half] : rows[directions - 1][half], d, end);
      Left<T> left{};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float2 weight =
            *reinterpret_cast<const float2*>(d.weight() + block_size * block + 8 * half + 2 * t);
        const float(&product)[4] = product_[2 * block + half];
        const float entry[4] = {product[0] * (row[0] * weight.x), product[1] * (row[0] * weight.y),
                                product[2] * (row[1] * weight.x), product[3] * (row[1] * weight.y)};
        set_half(left, half, entry);
      }
      multiply_x(h, block_size * block, left, sum);
    }
    const HeadDecays<T>&forward = decays(0, h), &backward = decays(directions - 1, h);
    const bool with_diagonal = !(Mixer && p_.shift);
    Left<T> left{};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float entry[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int i = row_ + g + c / 2 * 8, j = row_ + 8 * half + 2 * t + c % 2;
        const float product = own_product_[half][c];
        float v = 0;
        if (j < i || (j == i && with_diagonal))
          v = product * forward.delta()[j] * decay(rows[0][c / 2], forward, j);
        if (Mixer) {
          if (j > i)
            v = product * backward.delta()[j] * decay(rows[directions - 1][c / 2], backward, j);
          // The row's own step has no decay.
          if (j == i && with_diagonal) v += diagonal_[c / 2] * backward.delta()[j];
        }
        entry[c] = v;
      }
      set_half(left, half, entry);
    }
    multiply_x(h, row_, left, sum);
  }
  /// Columns j ... j + 15 of the matrix times x.
  __device__ void multiply_x(int h, int j, const Left<T>& left, float (&sum)[8][4]) {
#pragma unroll
    for (int n = 0; n < 8; n += 2) {
      Right<T> right[2];
      load_right_of_rows(right, x_tile(h), x_stride, j, 8 * n);
      multiply_add(sum[n], left, right[0]);
      multiply_add(sum[n + 1], left, right[1]);
    }
  }

  /// (D + delta) x
  __device__ void skip(int h, float (&sum)[8][4]) {
    if (p_.d.data == nullptr && p_.delta.data == nullptr) return;
    const auto [g, t] = lane_of_warp();
    const bool same = p_.d.data == nullptr || p_.d.stride[1] == 0;
    const float of_head = p_.d.data != nullptr && same ? p_.d(head_ + h, 0) : 0.0f;
    float row[2] = {of_head, of_head};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = row_ + g + 8 * half;
      if (p_.delta.data != nullptr && i < chunk_.count)
        row[half] +=
            static_cast<float>(p_.delta(chunk_.sequence.entry, chunk_.first + i, head_ + h));
    }
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const int column = 8 * n + 2 * t;
      float own[2] = {0, 0};
      if (!same) {
#pragma unroll
        for (int v = 0; v < 2; ++v)
          if (column + v < columns_) own[v] = p_.d(head_ + h, channel_ + column + v);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float2 x = load_pair(x_tile(h) + (row_ + g + 8 * half) * x_stride + column);
        sum[n][2 * half] += (row[half] + own[0]) * x.x;
        sum[n][2 * half + 1] += (row[half] + own[1]) * x.y;
      }
    }
  }

  __device__ void gate(int h, float (&sum)[8][4]) const {
    const auto [g, t] = lane_of_warp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = row_ + g + 8 * half;
      if (i >= chunk_.count) continue;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int v = 0; v < 2; ++v) {
          const int column = 8 * n + 2 * t + v;
          float& y = sum[n][2 * half + v];
          if (column < columns_) y = gated(y, chunk_.first + i, head_ + h, channel_ + column);
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

  __device__ void store(int h, const float (&sum)[8][4]) const {
    const auto [g, t] = lane_of_warp();
    const bool whole = p_.y_rows && columns_ == channel_tile;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = row_ + g + 8 * half;
      const bool there = i < chunk_.count;
      T* const to =
          &p_.y(chunk_.sequence.entry, chunk_.first + (there ? i : 0), head_ + h, channel_);
#pragma unroll
      for (int n = 0; n < 8; n += 2) {
        const float result[4] = {sum[n][2 * half], sum[n][2 * half + 1], sum[n + 1][2 * half],
                                 sum[n + 1][2 * half + 1]};
        if (whole) {
          store_row(to + 8 * n, t, there, result);
          continue;
        }
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          const int column = 8 * n + v / 2 * 8 + 2 * t + v % 2;
          if (there && column < columns_) to[column * p_.y.stride[3]] = T(result[v]);
        }
      }
    }
  }
  const OutputParameters<T>& p_;
  int width_, stride_;
  Layout<T, Mixer> layout_;
  HeadDecays<T>* decays_;
  T* tiles_;
  index_t channel_, group_, head_;
  int heads_, columns_, row_;
  Chunk chunk_;
  float product_[2 * blocks][4], own_product_[2][4], diagonal_[2];
};

/// Blocks at a time on a multiprocessor, of those that shared memory has room for.
template <class T, bool Mixer>
constexpr int least_blocks = sizeof(T) == 2 && !Mixer ? 3 : 2;

template <class T, bool Mixer, int Width>
__global__ void __launch_bounds__(threads, least_blocks<T, Mixer>)
    write_outputs(const __grid_constant__ OutputParameters<T> p) {
  const index_t work = p.tokens.slots * p.groups * p.parts * p.channel_tiles;
  for (index_t w = blockIdx.x; w < work; w += gridDim.x) ChunkOfHeads<T, Mixer, Width>(p, w).run();
}

}  // namespace structmat::gpu::nn::outputs
