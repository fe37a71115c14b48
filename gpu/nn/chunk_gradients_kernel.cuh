/// \file
/// The kernel of chunk_gradients.cuh: a block has a chunk and a group, and walks over its heads (and tiles of
/// their channels). Four warps have 16 rows each of E^T, U^T and xbar, four others have 32 x W/2 of Bbar and of
/// Cbar, whose sums over heads stay in registers. Of E and U a triangle counts: the warps with little of it have
/// what there is one number a token of, too: one prepares the next head and ends the last one.
#pragma once

#include "core/reduce.cuh"
#include "core/shared.cuh"
#include "nn/chunk_gradients.cuh"
#include "nn/decays.cuh"
#include "nn/fragments.cuh"

namespace structmat::gpu::nn {

template <class T>
struct GradientParameters {
  Tokens tokens;
  index_t heads, groups;
  int heads_of_group, channels, states;  ///< states: of this piece
  Strided<const T, 4> x, y_bar, b, c;
  Strided<const T, 3> dt;
  Strided<const float, 1> a, dt_bias;
  Strided<const float, 2> d;
  bool x_vectors, y_vectors, b_vectors, c_vectors, out_vectors;
  StepRule rule;
  bool backward, shifted;
  const T *front, *back;          ///< states and their cotangents, of the first state of the piece
  index_t state_row, state_size;  ///< elements of a row, and of a head
  Strided<T, 4> x_bar, b_bar, c_bar;
  Strided<T, 3> dt_bar;
  bool accumulate, accumulate_dt, accumulate_x, accumulate_parts;
  GradientParts parts;  ///< d null: not wanted
};

constexpr int gradient_threads = 256;
constexpr int channel_tile = 64;

/// Numbers of the tokens of one chunk and head, made before its products.
struct alignas(16) TokenSteps {
  float delta[gradient_chunk], log[gradient_chunk], log_low[gradient_chunk];
  float front[gradient_chunk];   ///< 2^(l_i)
  float behind[gradient_chunk];  ///< 2^(l_Q - l_j)
  float total;                   ///< 2^(l_Q)
};
/// And made by them.
struct alignas(16) TokenSums {
  float pairs[gradient_chunk];         ///< sum_i U_ij
  float of_state_bar[gradient_chunk];  ///< x_j^T D B_j
  float of_state[2][gradient_chunk];   ///< 2^(l_i) ybar_i^T S C_i in two parts
  float rectangle[gradient_chunk];     ///< sum over i >= t > j, j in the 16 tokens of t
  float columns[4][gradient_chunk];  ///< sum over 16 tokens j each of U_ij Delta_j, i behind these
  float inner[4];                    ///< <S, D> in four parts
};

template <class T, int Width>
struct GradientShared {
  static constexpr int stages = std::is_same_v<T, bf16> ? 3 : 2;
  static constexpr int stride = tile_stride<T>(channel_tile), wide = tile_stride<T>(Width);

  struct Stage {
    alignas(16) T x[gradient_chunk * stride];
    alignas(16) T y_bar[gradient_chunk * stride];
    alignas(16) T front[channel_tile * wide];
    alignas(16) T back[channel_tile * wide];
  };
  alignas(16) T b[gradient_chunk * wide];
  alignas(16) T c[gradient_chunk * wide];
  alignas(16) T x_bar[gradient_chunk * stride];
  Stage stage[stages];
  TokenSteps steps[2];
  TokenSums sums[2];
};

template <class T, int Width>
class GradientBlock {
  using Shared = GradientShared<T, Width>;
  using Stage = typename Shared::Stage;
  static constexpr int stride = Shared::stride, wide = Shared::wide, stages = Shared::stages;
  static constexpr bool two_parts = std::is_same_v<T, float>;  // of sums of logarithms
  static constexpr unsigned all_lanes = 0xffffffffu;

 public:
  __device__ GradientBlock(const GradientParameters<T>& p, Shared& shared)
      : p_(p),
        s_(shared),
        slot_(blockIdx.x / p.groups),
        group_(blockIdx.x % p.groups),
        chunk_(chunk_of(p.tokens, slot_)),
        tiles_((p.channels + channel_tile - 1) / channel_tile),
        steps_(p.heads_of_group * tiles_),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32),
        g_(lane_ / 4),
        t_(lane_ % 4) {}

  __device__ void run() {
    if (chunk_.count == 0) return no_tokens();
    const int thread = static_cast<int>(threadIdx.x);
    load_tile(s_.b, gradient_chunk, Width, rows(p_.b, p_.b_vectors, group_, 0, 0), chunk_.count,
              p_.states, thread, gradient_threads);
    load_tile(s_.c, gradient_chunk, Width, rows(p_.c, p_.c_vectors, group_, 0, 0), chunk_.count,
              p_.states, thread, gradient_threads);
    commit_copies();
    for (int step = 0; step < stages - 1; ++step) load(step);
    if (warp_ == numbers_warp) prepare(0);
    await_copies<stages - 1>();
    __syncthreads();
    if (warp_ < 4) {
      pairs_of_tokens();
    } else {
      sums_over_heads();
    }
  }

 private:
  __device__ index_t head_of(int step) const { return group_ * p_.heads_of_group + step / tiles_; }
  __device__ int first_channel(int step) const { return step % tiles_ * channel_tile; }
  __device__ int channels_of(int step) const {
    return min(channel_tile, p_.channels - first_channel(step));
  }
  /// Of the row in the order of the recurrence.
  __device__ index_t token_of(int row) const {
    return chunk_.first + (p_.backward ? chunk_.count - 1 - row : row);
  }

  template <class U>
  __device__ Rows<T> rows(const Strided<U, 4>& v, bool vectors, index_t part, index_t column,
                          int row) const {
    return {&v(chunk_.sequence.entry, token_of(row), part, column),
            p_.backward ? -v.stride[1] : v.stride[1], v.stride[3], vectors};
  }

  /// Begins to load the tiles of a step; one group of copies in any case.
  __device__ void load(int step) {
    if (step < steps_) {
      const int thread = static_cast<int>(threadIdx.x);
      Stage& to = s_.stage[step % stages];
      const index_t h = head_of(step);
      const int first = first_channel(step), used = channels_of(step);
      load_tile(to.x, gradient_chunk, channel_tile, rows(p_.x, p_.x_vectors, h, first, 0),
                chunk_.count, used, thread, gradient_threads);
      // What is shifted ends with the sequence.
      const bool last = chunk_.number == (p_.backward ? 0 : chunk_.sequence.chunks - 1);
      load_tile(to.y_bar, gradient_chunk, channel_tile,
                rows(p_.y_bar, p_.y_vectors, h, first, p_.shifted ? 1 : 0),
                chunk_.count - (p_.shifted && last ? 1 : 0), used, thread, gradient_threads);
      const index_t at = (slot_ * p_.heads + h) * p_.state_size + first * p_.state_row;
      // Rows of states are whole vectors; what pads them is zero.
      constexpr int each = 16 / static_cast<int>(sizeof(T));
      const int whole = (p_.states + each - 1) / each * each;
      load_tile(to.front, channel_tile, Width, Rows<T>{p_.front + at, p_.state_row, 1, true}, used,
                whole, thread, gradient_threads);
      load_tile(to.back, channel_tile, Width, Rows<T>{p_.back + at, p_.state_row, 1, true}, used,
                whole, thread, gradient_threads);
    }
    commit_copies();
  }

  /// The tiles of a step are there, and those of the last one are free.
  __device__ const Stage& begin_step(int step) {
    await_copies<stages - 2>();
    __syncthreads();
    load(step + stages - 1);
    return s_.stage[step % stages];
  }

  // ---- Warps 0 to 3: rows j, j + 8 of the transposed matrices of pairs of tokens, and xbar.

  __device__ void pairs_of_tokens() {
    const int first_row = 16 * warp_;
    float products[8][4] = {}, products_bar[8][4] = {};  // G^T and its cotangent
    for (int k = 0; k < Width; k += 16) {
      const Left<T> left = load_left(s_.b, wide, first_row, k);
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        if (block < warp_) continue;
        multiply_two(products[2 * block], products[2 * block + 1], left,
                     [&](auto& right) { load_right(right, s_.c, wide, 16 * block, k); });
      }
    }
    Ending ending{};
    for (int step = 0; step < steps_; ++step) {
      const Stage& stage = begin_step(step);
      const TokenSteps& steps = s_.steps[step % 2];
      TokenSums& sums = s_.sums[step % 2];
      if (warp_ == numbers_warp) {
        if (step > 0) end(step - 1, ending);
        if (step + 1 < steps_) prepare(step + 1);
      }
      if (warp_ == skip_warp && p_.parts.d != nullptr) skip_bar(step);
      Left<T> mask[4];
      weigh_pairs(stage, steps, products, products_bar, mask, sums);

      float x_bar[8][4] = {};
      for (int k = 0; k < Width; k += 16) {
        const Left<T> left = load_left(s_.b, wide, first_row, k);
#pragma unroll
        for (int block = 0; block < 4; ++block) {
          multiply_two(x_bar[2 * block], x_bar[2 * block + 1], left,
                       [&](auto& right) { load_right(right, stage.back, wide, 16 * block, k); });
        }
      }
      add_state_bar(stage, steps, sums, x_bar);
#pragma unroll
      for (int of_i = 0; of_i < 4; ++of_i) {
        if (of_i < warp_) continue;
#pragma unroll
        for (int block = 0; block < 4; ++block) {
          multiply_two(x_bar[2 * block], x_bar[2 * block + 1], mask[of_i], [&](auto& right) {
            load_right_of_rows(right, stage.y_bar, stride, 16 * of_i, 16 * block);
          });
        }
      }
      store_x_bar(step, stage, x_bar);
    }
    __syncthreads();  // Stages are free, and the last sums are there.
    store_products_bar(products_bar);
    if (warp_ == numbers_warp) end(steps_ - 1, ending);
    __syncthreads();
  }

  template <class Load>
  __device__ void multiply_two(float (&first)[4], float (&second)[4], const Left<T>& left,
                               const Load& load) {
    Right<T> right[2];
    load(right);
    multiply_add(first, left, right[0]);
    multiply_add(second, left, right[1]);
  }

  /// mask := (G o L Delta_j)^T, products_bar += (E o L Delta_j)^T, and the sums of U.
  __device__ void weigh_pairs(const Stage& stage, const TokenSteps& steps,
                              const float (&products)[8][4], float (&products_bar)[8][4],
                              Left<T> (&mask)[4], TokenSums& sums) {
    const int first_row = 16 * warp_;
    float e[8][4] = {};
#pragma unroll
    for (int k = 0; k < channel_tile; k += 16) {
      const Left<T> left = load_left(stage.x, stride, first_row, k);
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        if (block < warp_) continue;
        multiply_two(e[2 * block], e[2 * block + 1], left,
                     [&](auto& right) { load_right(right, stage.y_bar, stride, 16 * block, k); });
      }
    }
    float log_j[2], low_j[2], delta_j[2], pairs[2] = {}, behind_block[2] = {};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int j = first_row + g_ + 8 * r;
      log_j[r] = steps.log[j], low_j[r] = steps.log_low[j], delta_j[r] = steps.delta[j];
    }
    float columns[16] = {}, diagonal[2][4] = {};
#pragma unroll
    for (int block = 0; block < 4; ++block) {
      if (block < warp_) continue;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int n = 2 * block + half, first_i = 8 * n + 2 * t_;
        const float2 log_i = load_pair(steps.log + first_i),
                     low_i = load_pair(steps.log_low + first_i);
        float masked[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          const int r = v / 2;
          const bool valid = first_i + v % 2 >= first_row + g_ + 8 * r;
          float exponent = (v % 2 == 0 ? log_i.x : log_i.y) - log_j[r];
          if constexpr (std::is_same_v<T, float>) {
            exponent += (v % 2 == 0 ? low_i.x : low_i.y) - low_j[r];
          }
          const float decay = valid ? exp2_fast(exponent) : 0.0f;
          const float weighed = products[n][v] * decay;
          masked[v] = weighed * delta_j[r];
          const float u = e[n][v] * weighed, scaled = e[n][v] * masked[v];
          pairs[r] += u;
          products_bar[n][v] += e[n][v] * (decay * delta_j[r]);
          if (block == warp_) {
            diagonal[half][v] = scaled;
          } else {
            columns[2 * n + v % 2] += scaled;
            behind_block[r] += scaled;
          }
        }
        set_half(mask[block], half, masked);
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      pairs[r] = quad_sum(pairs[r]);
      behind_block[r] = quad_sum(behind_block[r]);
      if (t_ == 0) sums.pairs[first_row + g_ + 8 * r] = pairs[r];
    }
    scatter_sums<8, 4>(all_lanes, g_, columns);
    store_pair(sums.columns[warp_] + 8 * g_ + 2 * t_, columns[0], columns[1]);
    store_rectangle(diagonal, behind_block, sums);
  }

  /// Sums over j < t <= i, j and t among the warp's tokens.
  __device__ void store_rectangle(const float (&diagonal)[2][4], const float (&behind_block)[2],
                                  TokenSums& sums) {
    float columns[4] = {};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      // Sums of a row from a column on.
      float behind[2], total = 0;
#pragma unroll
      for (int half = 1; half >= 0; --half) {
        float own = diagonal[half][2 * r] + diagonal[half][2 * r + 1];
#pragma unroll
        for (int distance = 1; distance < 4; distance *= 2) {
          const float next = __shfl_down_sync(all_lanes, own, distance, 4);
          if (t_ + distance < 4) own += next;
        }
        const float next = __shfl_down_sync(all_lanes, own, 1, 4);
        behind[half] = (t_ < 3 ? next : 0.0f) + (half == 0 ? total : behind_block[r]);
        if (half == 1) total = __shfl_sync(all_lanes, own, 0, 4) + behind_block[r];
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float second = behind[half] + diagonal[half][2 * r + 1];
        const float first = second + diagonal[half][2 * r];
        const int column = 8 * half + 2 * t_, row = g_ + 8 * r;
        if (row < column) columns[2 * half] += first;
        if (row < column + 1) columns[2 * half + 1] += second;
      }
    }
    scatter_sums<8, 4>(all_lanes, g_, columns);
    // Two lanes have each of the four.
    if (g_ % 2 == 0) {
      const int column = g_ / 2;
      sums.rectangle[16 * warp_ + column / 2 * 8 + 2 * t_ + column % 2] = columns[0];
    }
  }

  static __device__ float quad_sum(float v) {
    v += __shfl_xor_sync(all_lanes, v, 1);
    return v + __shfl_xor_sync(all_lanes, v, 2);
  }

  /// x_bar, D B_j on entry, is weighed by w_j.
  __device__ void add_state_bar(const Stage& stage, const TokenSteps& steps, TokenSums& sums,
                                float (&x_bar)[8][4]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int j = 16 * warp_ + g_ + 8 * r;
      float inner = 0;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        const float2 x = load_pair(stage.x + j * stride + 8 * n + 2 * t_);
        inner += x_bar[n][2 * r] * x.x + x_bar[n][2 * r + 1] * x.y;
      }
      inner = quad_sum(inner);
      if (t_ == 0) sums.of_state_bar[j] = inner;
      const float weight = steps.delta[j] * steps.behind[j];
#pragma unroll
      for (int n = 0; n < 8; ++n) x_bar[n][2 * r] *= weight, x_bar[n][2 * r + 1] *= weight;
    }
  }

  __device__ void store_x_bar(int step, const Stage& stage, float (&x_bar)[8][4]) {
    if (p_.x_bar.data == nullptr) return;
    const index_t h = head_of(step);
    const int first = first_channel(step), used = channels_of(step);
    T* const tile = s_.x_bar + 16 * warp_ * stride;
    __syncwarp();  // The last tile has been read.
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const int column = 8 * n + 2 * t_;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float2 v{x_bar[n][2 * r], x_bar[n][2 * r + 1]};
        if (p_.d.data != nullptr) {
          const float2 y = load_pair(stage.y_bar + (16 * warp_ + g_ + 8 * r) * stride + column);
          if (column < used) v.x += p_.d(h, first + column) * y.x;
          if (column + 1 < used) v.y += p_.d(h, first + column + 1) * y.y;
        }
        store_pair(tile + (g_ + 8 * r) * stride + column, v.x, v.y);
      }
    }
    __syncwarp();
    constexpr int each = 16 / static_cast<int>(sizeof(T)), pieces = channel_tile / each;
#pragma unroll 4
    for (int i = lane_; i < 16 * pieces; i += 32) {
      const int row = i / pieces, column = i % pieces * each;
      if (16 * warp_ + row >= chunk_.count || column >= used) continue;
      T* const to = &p_.x_bar(chunk_.sequence.entry, token_of(16 * warp_ + row), h, first + column);
      const T* const from = tile + row * stride + column;
      if (p_.out_vectors) {
        alignas(16) T piece[each];
        *reinterpret_cast<uint4*>(piece) = *reinterpret_cast<const uint4*>(from);
        if (p_.accumulate_x) {
          alignas(16) T old[each];
          *reinterpret_cast<uint4*>(old) = *reinterpret_cast<const uint4*>(to);
#pragma unroll
          for (int v = 0; v < each; v += 2) {
            const float2 a = load_pair(piece + v), b = load_pair(old + v);
            store_pair(piece + v, a.x + b.x, a.y + b.y);
          }
        }
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(piece);
      } else {
        for (int v = 0; v < each && column + v < used; ++v) {
          put(to[v * p_.x_bar.stride[3]], static_cast<float>(from[v]), p_.accumulate_x);
        }
      }
    }
  }

  static __device__ void put(T& to, float v, bool accumulate) {
    to = static_cast<T>(accumulate ? static_cast<float>(to) + v : v);
  }

  /// The cotangent of G, both ways around, where the first stage was.
  __device__ void store_products_bar(const float (&products_bar)[8][4]) {
    T* const transposed = s_.stage[0].x;
    T* const plain = s_.stage[0].y_bar;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const int i = 8 * n + 2 * t_;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int j = 16 * warp_ + g_ + 8 * r;
        store_pair(transposed + j * stride + i, products_bar[n][2 * r], products_bar[n][2 * r + 1]);
        plain[i * stride + j] = static_cast<T>(products_bar[n][2 * r]);
        plain[(i + 1) * stride + j] = static_cast<T>(products_bar[n][2 * r + 1]);
      }
    }
  }

  // ---- Warps 4 to 7: 32 tokens and half of the states of Bbar and Cbar.

  static constexpr int own_states = Width / 2, blocks = own_states / 16;
  using Sums = float[2][2 * blocks][4];

  __device__ void sums_over_heads() {
    const int first_row = warp_ % 2 * 32, part = (warp_ - 4) / 2, first_state = part * own_states;
    Sums b_bar = {}, c_bar = {};
    for (int step = 0; step < steps_; ++step) {
      const Stage& stage = begin_step(step);
      const TokenSteps& steps = s_.steps[step % 2];
      TokenSums& sums = s_.sums[step % 2];
      float weight[2][2], inner[2][2] = {};
      const auto row_of = [&](int m, int r) { return first_row + 16 * m + g_ + 8 * r; };
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int r = 0; r < 2; ++r) weight[m][r] = steps.front[row_of(m, r)];
      }
      multiply_states(
          stage.y_bar, stage.front, first_row, first_state,
          [&](int m, int n, const float(&product)[4]) {
#pragma unroll
            for (int r = 0; r < 2; ++r) {
              const float2 c = load_pair(s_.c + row_of(m, r) * wide + first_state + 8 * n + 2 * t_);
              const float u = weight[m][r] * product[2 * r], v = weight[m][r] * product[2 * r + 1];
              inner[m][r] += u * c.x + v * c.y;
              c_bar[m][n][2 * r] += u;
              c_bar[m][n][2 * r + 1] += v;
            }
          });
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const int row = row_of(m, r);
          const float sum = quad_sum(inner[m][r]);
          if (t_ == 0) sums.of_state[part][row] = sum;
          weight[m][r] = steps.delta[row] * steps.behind[row];
        }
      }
      multiply_states(stage.x, stage.back, first_row, first_state,
                      [&](int m, int n, const float(&product)[4]) {
#pragma unroll
                        for (int v = 0; v < 4; ++v) b_bar[m][n][v] += weight[m][v / 2] * product[v];
                      });
      store_inner_product(stage, sums);
    }
    __syncthreads();
    __syncthreads();  // The cotangent of G is there.
    multiply_pairs(s_.stage[0].x, s_.c, first_row, first_state, b_bar);
    multiply_pairs(s_.stage[0].y_bar, s_.b, first_row, first_state, c_bar);
    store_sums(p_.b_bar, first_row, first_state, b_bar);
    store_sums(p_.c_bar, first_row, first_state, c_bar);
  }

  /// visit(m, n, sums of 16 x 8) of rows times state.
  template <class Visit>
  __device__ void multiply_states(const T* rows, const T* state, int first_row, int first_state,
                                  const Visit& visit) {
    Left<T> left[2][channel_tile / 16];
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int k = 0; k < channel_tile / 16; ++k) {
        left[m][k] = load_left(rows, stride, first_row + 16 * m, 16 * k);
      }
    }
#pragma unroll
    for (int block = 0; block < blocks; ++block) {
      float product[2][2][4] = {};
#pragma unroll
      for (int k = 0; k < channel_tile / 16; ++k) {
        Right<T> right[2];
        load_right_of_rows(right, state, wide, 16 * k, first_state + 16 * block);
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          multiply_add(product[m][0], left[m][k], right[0]);
          multiply_add(product[m][1], left[m][k], right[1]);
        }
      }
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        visit(m, 2 * block, product[m][0]);
        visit(m, 2 * block + 1, product[m][1]);
      }
    }
  }

  __device__ void store_inner_product(const Stage& stage, TokenSums& sums) {
    constexpr int each = 16 / static_cast<int>(sizeof(T)), pieces = Width / each;
    float sum = 0;
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x) - 128; i < channel_tile * pieces; i += 128) {
      const int at = i / pieces * wide + i % pieces * each;
      alignas(16) T s[each], d[each];
      *reinterpret_cast<uint4*>(s) = *reinterpret_cast<const uint4*>(stage.front + at);
      *reinterpret_cast<uint4*>(d) = *reinterpret_cast<const uint4*>(stage.back + at);
#pragma unroll
      for (int v = 0; v < each; v += 2) {
        const float2 first = load_pair(s + v), second = load_pair(d + v);
        sum += first.x * second.x + first.y * second.y;
      }
    }
    sum = warp_sum(sum);
    if (lane_ == 0) sums.inner[warp_ - 4] = sum;
  }

  __device__ void multiply_pairs(const T* pairs, const T* rows, int first_row, int first_state,
                                 Sums& sums) {
#pragma unroll
    for (int k = 0; k < gradient_chunk; k += 16) {
      Left<T> left[2];
#pragma unroll
      for (int m = 0; m < 2; ++m) left[m] = load_left(pairs, stride, first_row + 16 * m, k);
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        Right<T> right[2];
        load_right_of_rows(right, rows, wide, k, first_state + 16 * block);
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          multiply_add(sums[m][2 * block], left[m], right[0]);
          multiply_add(sums[m][2 * block + 1], left[m], right[1]);
        }
      }
    }
  }

  __device__ void store_sums(const Strided<T, 4>& to, int first_row, int first_state,
                             const Sums& sums) {
    if (to.data == nullptr) return;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = first_row + 16 * m + g_ + 8 * r;
        if (row >= chunk_.count) continue;
        T* const at = &to(chunk_.sequence.entry, token_of(row), group_, 0);
#pragma unroll
        for (int n = 0; n < 2 * blocks; ++n) {
#pragma unroll
          for (int v = 0; v < 2; ++v) {
            const int state = first_state + 8 * n + 2 * t_ + v;
            if (state < p_.states) {
              put(at[state * to.stride[3]], sums[m][n][2 * r + v], p_.accumulate);
            }
          }
        }
      }
    }
  }

  // ---- Numbers of tokens.

  static constexpr int numbers_warp = 3, skip_warp = 2;

  __device__ HeadSteps<T> head_steps(index_t h) const {
    const index_t stride_of_dt = p_.dt.stride[1];
    return {&p_.dt(chunk_.sequence.entry, token_of(0), h),
            p_.backward ? -stride_of_dt : stride_of_dt, p_.a(h),
            p_.dt_bias.data != nullptr ? p_.dt_bias(h) : 0.0f, p_.rule};
  }

  __device__ void prepare(int step) {
    TokenSteps& to = s_.steps[step % 2];
    __syncwarp();  // The step before the last has been ended.
    sum_decays(head_steps(head_of(step)), chunk_.count, to.delta, to.log, to.log_low);
    __syncwarp();
    constexpr float log_2 = 0.6931471805599453f;
    const float last = to.log[gradient_chunk - 1],
                last_low = two_parts ? to.log_low[gradient_chunk - 1] : 0.0f;
    for (int t = lane_; t < gradient_chunk; t += 32) {
      const float low = two_parts ? to.log_low[t] : 0.0f;
      to.front[t] = exp2_fast(to.log[t]) * (1 + low * log_2);
      to.behind[t] = exp2_fast(last - to.log[t] + (last_low - low));
    }
    if (lane_ == 0) to.total = exp2_fast(last) * (1 + last_low * log_2);
  }

  /// Cotangents of the two tokens of a lane, over the channels of a head.
  struct Ending {
    float step[2], exponent[2];
  };

  /// Sums from tokens lane and lane + 32 on.
  __device__ float2 sums_behind(float2 v) const {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const float x = __shfl_down_sync(all_lanes, v.x, distance);
      const float y = __shfl_down_sync(all_lanes, v.y, distance);
      if (lane_ + distance < 32) v.x += x, v.y += y;
    }
    v.x += __shfl_sync(all_lanes, v.y, 0);
    return v;
  }
  /// Sums in front of them.
  __device__ float2 sums_in_front(float2 v) const {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const float x = __shfl_up_sync(all_lanes, v.x, distance);
      const float y = __shfl_up_sync(all_lanes, v.y, distance);
      if (lane_ >= distance) v.x += x, v.y += y;
    }
    const float half = __shfl_sync(all_lanes, v.x, 31);
    const float x = __shfl_up_sync(all_lanes, v.x, 1), y = __shfl_up_sync(all_lanes, v.y, 1);
    return {lane_ == 0 ? 0.0f : x, (lane_ == 0 ? 0.0f : y) + half};
  }

  __device__ void end(int step, Ending& ending) {
    const TokenSteps& steps = s_.steps[step % 2];
    const TokenSums& sums = s_.sums[step % 2];
    const auto both = [&](const auto& of) { return float2{of(lane_), of(lane_ + 32)}; };
    // Pairs whose j is in the 16 tokens of t are summed up already; sums over earlier j still depend on i.
    const float2 of_state = both([&](int t) { return sums.of_state[0][t] + sums.of_state[1][t]; });
    float2 columns = of_state, rectangle = sums_behind(columns);
    float exponent[2] = {rectangle.x, rectangle.y};
#pragma unroll
    for (int block = 1; block < 4; ++block) {
      const float2 more = both([&](int t) { return sums.columns[block - 1][t]; });
      columns.x += more.x, columns.y += more.y;
      rectangle = sums_behind(columns);
      if (lane_ / 16 == block % 2) {
        if (block == 1)
          exponent[0] = rectangle.x;
        else
          exponent[1] = rectangle.y;
      }
    }
    const float2 in_front = sums_in_front(
        both([&](int t) { return steps.delta[t] * steps.behind[t] * sums.of_state_bar[t]; }));
    const float inner =
        steps.total * (sums.inner[0] + sums.inner[1] + (sums.inner[2] + sums.inner[3]));
    const bool first = step % tiles_ == 0;
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const int t = lane_ + 32 * v;
      exponent[v] += sums.rectangle[t] + (v == 0 ? in_front.x : in_front.y) + inner;
      const float direct = sums.pairs[t] + steps.behind[t] * sums.of_state_bar[t];
      ending.exponent[v] = (first ? 0.0f : ending.exponent[v]) + exponent[v];
      ending.step[v] = (first ? 0.0f : ending.step[v]) + direct;
    }
    if ((step + 1) % tiles_ == 0) store_ending(step, ending);
  }

  __device__ void store_ending(int step, const Ending& ending) {
    const TokenSteps& steps = s_.steps[step % 2];
    const index_t h = head_of(step);
    const HeadSteps<T> head = head_steps(h);
    float a_bar = 0, bias_bar = 0;
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const int t = lane_ + 32 * v;
      if (t >= chunk_.count) continue;
      const float raw = static_cast<float>(head.raw[t * head.stride]) + head.bias;
      const float raw_bar = (ending.step[v] + head.a * ending.exponent[v]) * head.rule.slope(raw);
      a_bar += steps.delta[t] * ending.exponent[v];
      bias_bar += raw_bar;
      if (p_.dt_bar.data != nullptr) {
        put(p_.dt_bar(chunk_.sequence.entry, token_of(t), h), raw_bar, p_.accumulate_dt);
      }
    }
    a_bar = warp_sum(a_bar), bias_bar = warp_sum(bias_bar);
    if (lane_ == 0) {
      const index_t at = h * p_.tokens.slots + slot_;
      p_.parts.a[at] = (p_.accumulate_parts ? p_.parts.a[at] : 0.0f) + a_bar;
      p_.parts.dt_bias[at] = (p_.accumulate_parts ? p_.parts.dt_bias[at] : 0.0f) + bias_bar;
    }
  }

  /// sum over tokens of ybar x.
  __device__ void skip_bar(int step) {
    const Stage& stage = s_.stage[step % stages];
    const int column = 2 * lane_, used = channels_of(step);
    float2 sum{0, 0};
#pragma unroll 8
    for (int t = 0; t < gradient_chunk; ++t) {
      const float2 x = load_pair(stage.x + t * stride + column),
                   y = load_pair(stage.y_bar + t * stride + column);
      sum.x += x.x * y.x, sum.y += x.y * y.y;
    }
    float* const to = d_part(head_of(step)) + first_channel(step);
    if (column < used) to[column] = sum.x;
    if (column + 1 < used) to[column + 1] = sum.y;
  }
  __device__ float* d_part(index_t h) const {
    return p_.parts.d + (h * p_.tokens.slots + slot_) * p_.channels;
  }

  /// Of a slot without tokens.
  __device__ void no_tokens() const {
    for (int head = static_cast<int>(threadIdx.x); head < p_.heads_of_group;
         head += gradient_threads) {
      const index_t h = group_ * p_.heads_of_group + head;
      p_.parts.a[h * p_.tokens.slots + slot_] = 0;
      p_.parts.dt_bias[h * p_.tokens.slots + slot_] = 0;
      if (p_.parts.d == nullptr) continue;
      for (int i = 0; i < p_.channels; ++i) d_part(h)[i] = 0;
    }
  }

  const GradientParameters<T>& p_;
  Shared& s_;
  const index_t slot_, group_;
  const Chunk chunk_;
  const int tiles_, steps_, warp_, lane_, g_, t_;
};

template <class T, int Width>
__global__ void __launch_bounds__(gradient_threads, 1)
    gradient_kernel(const __grid_constant__ GradientParameters<T> p) {
  GradientBlock<T, Width>(p, *dynamic_shared<GradientShared<T, Width>>()).run();
}

}  // namespace structmat::gpu::nn
