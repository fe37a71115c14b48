#include "nn/chunk_outputs_kernel.cuh"

namespace structmat::gpu::nn {
namespace {

using namespace outputs;

/// Shared memory of a multiprocessor, and what of it goes with each block.
constexpr std::size_t shared_bytes = 228 * 1024, reserved = 1024;

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
  const int width = static_cast<int>(padded_extent(p.states));
  const auto grid = [&](int stages) {
    return Grid{persistent_blocks(work, 1, processors), threads,
                Layout<T, Mixer>(width, stages).bytes};
  };
  // The next head's states are under way during a head where that leaves room for other blocks.
  p.stages = least_blocks<T, Mixer> * (grid(2).shared_bytes + reserved) <= shared_bytes ? 2 : 1;
  const auto kernel = [&] {
    if constexpr (sizeof(T) == 2) {
      if (width == 128) return write_outputs<T, Mixer, 128>;
      if (width == 64) return write_outputs<T, Mixer, 64>;
    }
    return write_outputs<T, Mixer, 0>;
  }();
  launch(operation, kernel, grid(p.stages), stream, p);
}

}  // namespace

template <class T>
void check_outputs(const char* operation, index_t states, bool mixer) {
  constexpr index_t most = 256;
  const int width = static_cast<int>(std::min(padded_extent(states), most + 16));
  const std::size_t bytes =
      mixer ? Layout<T, true>(width, 1).bytes : Layout<T, false>(width, 1).bytes;
  if (states <= most && bytes + reserved <= shared_bytes) return;
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
