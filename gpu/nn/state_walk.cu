#include "nn/state_walk.cuh"

#include "core/shared.cuh"
#include "nn/decays.cuh"
#include "nn/fragments.cuh"

namespace structmat::gpu::nn {
namespace {

/// Four warps multiply, one prepares weights.
constexpr int multipliers = 128, threads = multipliers + 32;
constexpr int channel_tile = 64, chunk_size = 64, most_walks = 4;
/// Chunks on their way or in use.
template <class T>
constexpr int stages = sizeof(T) == 2 ? 3 : 2;
/// Chunks whose raw steps or weights are kept.
constexpr int step_slots = 4;

/// A walk, as the kernel takes it.
template <class T>
struct Walk {
  Strided<const T, 4> u, v;
  Strided<const T, 3> dt;
  const float *a, *dt_bias;
  index_t a_stride, bias_stride;
  StepRule rule;
  bool backward, cotangent, shifted, accumulate, u_vectors, v_vectors;
  Strided<const float, 4> initial;
  Strided<float, 4> last;
  T* states;
};

template <class T>
struct WalkParameters {
  Tokens tokens;
  Walk<T> walks[most_walks];
  int count;
  index_t heads, groups, channels, states;
  index_t channel_tiles, state_tiles, segments;  ///< segments: slots of them
  float *decays, *ends;  ///< of segments: (walks, segments, H), (walks, segments, H, P', N')
};

struct Segment {
  Sequence sequence;
  index_t slot;           ///< of segments
  index_t number, count;  ///< in its sequence
};

/// Segments of one sequence: at least one, so that an empty one hands its state on.
__host__ __device__ inline index_t segments_of(index_t chunks) {
  const index_t n = (chunks + segment_chunks - 1) / segment_chunks;
  return n > 0 ? n : 1;
}
__device__ inline index_t first_segment(const Sequence& s) {
  return s.slot / segment_chunks + s.number;
}
__device__ inline Segment segment_of(const Tokens& tokens, index_t slot) {
  index_t low = 0, high = tokens.sequences;
  while (high - low > 1) {
    const index_t middle = (low + high) / 2;
    (first_segment(sequence_of(tokens, middle)) <= slot ? low : high) = middle;
  }
  const Sequence s = sequence_of(tokens, low);
  return {s, slot, slot - first_segment(s), segments_of(s.chunks)};
}
index_t segment_slots(const Tokens& tokens) {
  return tokens.slots / segment_chunks + tokens.sequences;
}
bool may_cut(const Tokens& tokens) {
  return chunks_of(tokens.length, tokens.size) > segment_chunks;
}

/// One block's part of a walk: a segment of a head, 64 channels, 8 Tiles states.
template <class T, int Tiles>
class SegmentWalk {
 public:
  static constexpr int width = 8 * Tiles;
  static constexpr int u_stride = tile_stride<T>(channel_tile), v_stride = tile_stride<T>(width);
  struct Shared {
    T u[stages<T>][chunk_size * u_stride];
    T v[stages<T>][chunk_size * v_stride];
    T raw[step_slots][chunk_size];
    float delta[chunk_size], log[chunk_size], low[chunk_size];
    float weight[step_slots][chunk_size];
    float factor[step_slots], total[step_slots];
  };

  __device__ SegmentWalk(const WalkParameters<T>& p, Shared& shared, index_t work)
      : p_(p), s_(shared) {
    // Neighbours read the same rows of v.
    const index_t head_tiles = p.channel_tiles * p.state_tiles;
    const index_t tile = work % head_tiles;
    work /= head_tiles;
    head_ = work % p.heads;
    work /= p.heads;
    walk_ = &p.walks[work % p.count];
    walk_number_ = work % p.count;
    segment_ = segment_of(p.tokens, work / p.count);
    channel_ = tile % p.channel_tiles * channel_tile;
    state_ = tile / p.channel_tiles * width;
    // Against the recurrence, chunks come in the opposite order.
    ascending_ = walk_->backward == walk_->cotangent;
    const index_t first = segment_.number * segment_chunks;
    const index_t left = segment_.sequence.chunks - first;
    chunks_ = left < segment_chunks ? (left > 0 ? left : 0) : segment_chunks;
    first_ = first;
  }

  __device__ bool used() const { return segment_.number < segment_.count; }
  /// The last one of its sequence in the order of the walk.
  __device__ bool at_end() const { return segment_.number + 1 == segment_.count; }
  __device__ bool alone() const { return segment_.count == 1; }

  __device__ void clear() {
    each([](float& sum, index_t, index_t) { sum = 0; });
  }
  __device__ void load_initial() {
    const auto& from = walk_->initial;
    each([&](float& sum, index_t p, index_t n) {
      sum = from.data != nullptr && p < p_.channels && n < p_.states
                ? from(segment_.sequence.number, head_, p, n)
                : 0.0f;
    });
  }
  __device__ void load_end() {
    each_of_ends([](float& sum, float& end) { sum = end; });
  }
  __device__ void store_end(float total) {
    each_of_ends([](float& sum, float& end) { end = sum; });
    if (threadIdx.x == 0 && channel_ == 0 && state_ == 0) p_.decays[segment_index()] = total;
  }
  __device__ void store_last() {
    const auto& to = walk_->last;
    if (to.data == nullptr) return;
    each([&](float& sum, index_t p, index_t n) {
      if (p >= p_.channels || n >= p_.states) return;
      float& at = to(segment_.sequence.number, head_, p, n);
      at = walk_->accumulate ? at + sum : sum;
    });
  }

  /// Returns the sum of logarithms of decays.
  template <bool Store>
  __device__ float run() {
    T raw[2];
    const auto read_raw = [&](index_t i) {
      raw[0] = raw[1] = T(0.0f);
      if (i >= chunks_) return;
      const Chunk c = chunk(i);
      const index_t step = walk_->backward ? -walk_->dt.stride[1] : walk_->dt.stride[1];
      const T* const at = &walk_->dt(c.sequence.entry, first_token(c), head_);
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const int t = lane() + 32 * v;
        if (t < c.count) raw[v] = at[t * step];
      }
    };
    const auto keep_raw = [&](index_t i) {
#pragma unroll
      for (int v = 0; v < 2; ++v) s_.raw[i % step_slots][lane() + 32 * v] = raw[v];
      __syncwarp();
    };
    if (multiplies()) {
      for (int i = 0; i < stages<T> - 1; ++i) load(i);
    } else {
      read_raw(0), keep_raw(0);
      read_raw(1), keep_raw(1);
      read_raw(2);
      weigh(0);
    }
    float total = 0;
    for (index_t i = 0; i < chunks_; ++i) {
      await_copies<stages<T> - 2>();
      __syncthreads();
      if (multiplies()) {
        load(i + stages<T> - 1);
        if (Store && walk_->states != nullptr) store_states(i);
        add(i);
      } else {
        keep_raw(i + 2), read_raw(i + 3);
        weigh(i + 1);
      }
      total += s_.total[i % step_slots];
    }
    await_copies<0>();
    __syncthreads();
    return total;
  }

 private:
  __device__ static int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  __device__ static bool multiplies() {
    return threadIdx.x < multipliers;
  }
  __device__ Chunk chunk(index_t i) const {
    const Sequence& s = segment_.sequence;
    const index_t number = first_ + i;
    return chunk_of(s, ascending_ ? number : s.chunks - 1 - number, chunk_size);
  }
  /// Tokens of a chunk in the order of the recurrence begin here.
  __device__ index_t first_token(const Chunk& c) const {
    return walk_->backward ? c.first + c.count - 1 : c.first;
  }
  __device__ index_t segment_index() const {
    return (walk_number_ * p_.segments + segment_.slot) * p_.heads + head_;
  }

  /// Starts copying the rows of a chunk; one group, empty behind the last one.
  __device__ void load(index_t i) {
    if (i < chunks_) {
      const Chunk c = chunk(i);
      const int stage = static_cast<int>(i % stages<T>), thread = static_cast<int>(threadIdx.x);
      const index_t step = walk_->backward ? -1 : 1, first = first_token(c);
      const bool last = walk_->backward ? c.number == 0 : c.number == c.sequence.chunks - 1;
      const int rows = c.count - (walk_->shifted && last);
      const index_t u_first = first + (walk_->shifted ? step : 0);
      const index_t group = head_ / (p_.heads / p_.groups);
      const auto &u = walk_->u, &v = walk_->v;
      // No address is made of a token that is not there.
      const T* const u_rows = rows > 0 ? &u(c.sequence.entry, u_first, head_, channel_) : nullptr;
      load_tile(s_.u[stage], chunk_size, channel_tile,
                Rows<T>{u_rows, step * u.stride[1], u.stride[3], walk_->u_vectors}, rows,
                static_cast<int>(min(p_.channels - channel_, index_t(channel_tile))), thread,
                multipliers);
      load_tile(s_.v[stage], chunk_size, width,
                Rows<T>{&v(c.sequence.entry, first, group, state_), step * v.stride[1], v.stride[3],
                        walk_->v_vectors},
                c.count, static_cast<int>(min(p_.states - state_, index_t(width))), thread,
                multipliers);
    }
    commit_copies();
  }

  /// Weights of a chunk's tokens, by one warp.
  __device__ void weigh(index_t i) {
    if (i >= chunks_) return;
    const int slot = static_cast<int>(i % step_slots);
    const HeadSteps<T> steps{
        s_.raw[slot], 1, walk_->a[head_ * walk_->a_stride],
        walk_->dt_bias != nullptr ? walk_->dt_bias[head_ * walk_->bias_stride] : 0, walk_->rule};
    sum_decays(steps, chunk(i).count, s_.delta, s_.log, s_.low);
    __syncwarp();
    const float high = s_.log[chunk_size - 1], low = s_.low[chunk_size - 1];
    for (int t = lane(); t < chunk_size; t += 32) {
      s_.weight[slot][t] = walk_->cotangent
                               ? power(s_.log[t], s_.low[t])
                               : s_.delta[t] * power(high - s_.log[t], low - s_.low[t]);
    }
    if (lane() == 0) s_.factor[slot] = power(high, low), s_.total[slot] = high;
    __syncwarp();
  }
  /// 2^(high + low), |low| below an ulp of high.
  __device__ static float power(float high, float low) {
    constexpr float log_2 = 0.69314718f;
    const float y = exp2_fast(high);
    if constexpr (sizeof(T) == 2) return y;
    return y + y * (low * log_2);
  }

  /// S := 2^(l_Q) S + sum of weighted products.
  __device__ void add(index_t i) {
    const int stage = static_cast<int>(i % stages<T>), slot = static_cast<int>(i % step_slots);
    const int row = static_cast<int>(threadIdx.x) / 32 * 16;
    const float factor = s_.factor[slot];
#pragma unroll
    for (int n = 0; n < Tiles; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sum_[n][c] *= factor;
    }
    if (channel_ + row >= p_.channels) return;
#pragma unroll
    for (int k = 0; k < chunk_size; k += 16) {
      const Left<T> left =
          load_weighted_left_of_rows(s_.u[stage], u_stride, k, row, s_.weight[slot] + k);
#pragma unroll
      for (int n = 0; n < Tiles; n += 2) {
        Right<T> right[2];
        load_right_of_rows(right, s_.v[stage], v_stride, k, 8 * n);
        multiply_add(sum_[n], left, right[0]);
        multiply_add(sum_[n + 1], left, right[1]);
      }
    }
  }

  __device__ void store_states(index_t i) {
    const Chunk c = chunk(i);
    const auto [g, t] = lane_of_warp();
    const index_t rows = padded_extent(p_.channels), columns = padded_extent(p_.states);
    const index_t row = channel_ + threadIdx.x / 32 * 16;
    if (row >= rows) return;
    T* const to = walk_->states +
                  (((c.sequence.slot + c.number) * p_.heads + head_) * rows + row) * columns +
                  state_;
#pragma unroll
    for (int n = 0; n < Tiles; n += 2) {
      if (state_ + 8 * n >= columns) continue;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        T* const at = to + (g + 8 * half) * columns + 8 * n;
        store_row(at, t, true,
                  {sum_[n][2 * half], sum_[n][2 * half + 1], sum_[n + 1][2 * half],
                   sum_[n + 1][2 * half + 1]});
      }
    }
  }
  /// use(sum, channel, state)
  template <class Use>
  __device__ void each(const Use& use) {
    if (!multiplies()) return;
    const auto [g, t] = lane_of_warp();
    const index_t row = channel_ + threadIdx.x / 32 * 16;
#pragma unroll
    for (int n = 0; n < Tiles; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        use(sum_[n][c], row + g + c / 2 * 8, state_ + 8 * n + 2 * t + c % 2);
      }
    }
  }
  template <class Use>
  __device__ void each_of_ends(const Use& use) {
    const index_t rows = padded_extent(p_.channels), columns = padded_extent(p_.states);
    float* const ends = p_.ends + segment_index() * rows * columns;
    each([&](float& sum, index_t p, index_t n) {
      if (p < rows && n < columns) use(sum, ends[p * columns + n]);
    });
  }

  const WalkParameters<T>& p_;
  Shared& s_;
  const Walk<T>* walk_;
  index_t walk_number_, head_, channel_, state_, first_, chunks_;
  Segment segment_;
  bool ascending_;
  float sum_[Tiles][4];
};

/// Affine maps of all segments but the last ones.
template <class T, int Tiles>
__global__ void __launch_bounds__(threads, 2)
    summarise(const __grid_constant__ WalkParameters<T> p) {
  auto& shared = *dynamic_shared<typename SegmentWalk<T, Tiles>::Shared>();
  const index_t work = p.segments * p.count * p.heads * p.channel_tiles * p.state_tiles;
  for (index_t w = blockIdx.x; w < work; w += gridDim.x) {
    SegmentWalk<T, Tiles> walk(p, shared, w);
    if (!walk.used() || walk.at_end()) continue;
    walk.clear();
    const float total = walk.template run<false>();
    walk.store_end(total);
  }
}

/// The state in front of each segment, in place of the end of the segment's map.
template <class T>
__global__ void __launch_bounds__(threads) combine(const __grid_constant__ WalkParameters<T> p) {
  const index_t rows = padded_extent(p.channels), columns = padded_extent(p.states);
  const index_t size = rows * columns, work = p.count * p.tokens.sequences * p.heads * size;
  for (index_t w = blockIdx.x * index_t(threads) + threadIdx.x; w < work;
       w += gridDim.x * index_t(threads)) {
    const index_t element = w % size, row = element / columns, column = element % columns;
    const index_t head = w / size % p.heads, number = w / size / p.heads % p.tokens.sequences,
                  of_walk = w / size / p.heads / p.tokens.sequences;
    const Sequence s = sequence_of(p.tokens, number);
    const index_t segments = segments_of(s.chunks);
    if (segments == 1) continue;
    const auto& initial = p.walks[of_walk].initial;
    float state = initial.data != nullptr && row < p.channels && column < p.states
                      ? initial(number, head, row, column)
                      : 0.0f;
    for (index_t k = 0; k < segments; ++k) {
      const index_t at = (of_walk * p.segments + first_segment(s) + k) * p.heads + head;
      float& end = p.ends[at * size + element];
      const float in_front = state;
      if (k + 1 < segments) state = exp2_fast(p.decays[at]) * state + end;
      end = in_front;
    }
  }
}

template <class T, int Tiles>
__global__ void __launch_bounds__(threads, 2) walk(const __grid_constant__ WalkParameters<T> p) {
  auto& shared = *dynamic_shared<typename SegmentWalk<T, Tiles>::Shared>();
  const index_t work = p.segments * p.count * p.heads * p.channel_tiles * p.state_tiles;
  for (index_t w = blockIdx.x; w < work; w += gridDim.x) {
    SegmentWalk<T, Tiles> walk(p, shared, w);
    if (!walk.used()) continue;
    // Combined maps begin with the initial state, in whose place the last one may be written.
    if (walk.alone()) {
      walk.load_initial();
    } else {
      walk.load_end();
    }
    walk.template run<true>();
    if (walk.at_end()) walk.store_last();
  }
}

template <class T, int Tiles>
void enqueue(const char* operation, cudaStream_t stream, WalkParameters<T>& p, bool cut) {
  constexpr index_t width = 8 * Tiles;
  p.channel_tiles = (p.channels + channel_tile - 1) / channel_tile;
  p.state_tiles = (padded_extent(p.states) + width - 1) / width;
  const index_t work = p.segments * p.count * p.heads * p.channel_tiles * p.state_tiles;
  if (work == 0) return;
  const int processors = multiprocessors(operation);
  const Grid grid{persistent_blocks(work, 1, processors), threads,
                  sizeof(typename SegmentWalk<T, Tiles>::Shared)};
  if (cut) {
    launch(operation, summarise<T, Tiles>, grid, stream, p);
    const index_t numbers = p.count * p.tokens.sequences * p.heads * padded_extent(p.channels) *
                            padded_extent(p.states);
    launch(operation, combine<T>, persistent_blocks(numbers, threads, processors), threads, stream,
           p);
  }
  launch(operation, walk<T, Tiles>, grid, stream, p);
}

}  // namespace

index_t segment_numbers(const Tokens& tokens, index_t heads, index_t channels, index_t states) {
  if (!may_cut(tokens)) return 0;
  return segment_slots(tokens) * heads * (1 + padded_extent(channels) * padded_extent(states));
}

template <class T>
void walk_states(const char* operation, cudaStream_t stream, const Tokens& tokens,
                 std::span<const StateWalk<T>> walks, float* segments) {
  WalkParameters<T> p{};
  p.tokens = tokens;
  p.count = static_cast<int>(walks.size());
  const StateWalk<T>& first = walks[0];
  p.heads = first.u.extent(2), p.channels = first.u.extent(3);
  p.groups = first.v.extent(2), p.states = first.v.extent(3);
  const bool cut = may_cut(tokens);
  p.segments = segment_slots(tokens);
  p.decays = segments;
  p.ends = segments + p.count * p.segments * p.heads;
  for (int w = 0; w < p.count; ++w) {
    const StateWalk<T>& from = walks[w];
    Walk<T>& to = p.walks[w];
    to.u = strided(from.u), to.v = strided(from.v), to.dt = strided(from.dt);
    to.a = from.a.data(), to.a_stride = from.a.stride(0);
    to.dt_bias = from.dt_bias.data();
    to.bias_stride = from.dt_bias.data() != nullptr ? from.dt_bias.stride(0) : 0;
    to.rule = from.rule;
    to.backward = from.backward, to.cotangent = from.cotangent, to.shifted = from.shifted;
    to.accumulate = from.accumulate;
    to.u_vectors = whole_vectors(from.u), to.v_vectors = whole_vectors(from.v);
    to.initial = strided(from.initial), to.last = strided(from.last);
    to.states = from.states;
  }
  const index_t columns = padded_extent(p.states);
  if (columns <= 16) {
    enqueue<T, 2>(operation, stream, p, cut);
  } else if (columns <= 64) {
    enqueue<T, 8>(operation, stream, p, cut);
  } else {
    enqueue<T, 16>(operation, stream, p, cut);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                         \
  template void walk_states<T>(const char*, cudaStream_t, const Tokens&, \
                               std::span<const StateWalk<T>>, float*);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(bf16)

}  // namespace structmat::gpu::nn
