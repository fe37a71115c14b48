/// \file
/// Tokens in chunks: each chunk lies in one sequence, and has a slot of its own.
#pragma once

#include "core/workspace.cuh"
#include "structmat/nn/packing.hpp"

namespace structmat::gpu::nn {

/// The tokens of one call, as kernels take them.
struct Tokens {
  index_t batch = 0, length = 0;
  index_t sequences = 0;                 ///< as many as entries, unless packed
  int size = 0;                          ///< of a chunk
  index_t slots = 0;                     ///< of chunks; packed: at most
  const index_t* begins = nullptr;       ///< packed: (sequences + 1) tokens, in order, 0 ... length
  const index_t* first_slots = nullptr;  ///< packed: (sequences + 1)

  bool packed() const { return begins != nullptr; }
};

struct Sequence {
  index_t entry;  ///< of the batch
  index_t begin, length;
  index_t slot;  ///< of the first chunk
  index_t chunks;
  index_t number;
};

struct Chunk {
  Sequence sequence;
  index_t number;  ///< in its sequence
  index_t first;   ///< token
  int count;       ///< of tokens; 0: the slot is not used
};

__host__ __device__ inline index_t chunks_of(index_t length, int size) {
  return (length + size - 1) / size;
}

__device__ inline Sequence sequence_of(const Tokens& tokens, index_t number) {
  if (tokens.begins == nullptr) {
    const index_t chunks = chunks_of(tokens.length, tokens.size);
    return {number, 0, tokens.length, number * chunks, chunks, number};
  }
  const index_t begin = tokens.begins[number], slot = tokens.first_slots[number];
  return {
      0,     begin, tokens.begins[number + 1] - begin, slot, tokens.first_slots[number + 1] - slot,
      number};
}

__device__ inline Chunk chunk_of(const Sequence& s, index_t number, int size) {
  const index_t left = s.length - number * size;
  return {s, number, s.begin + number * size, static_cast<int>(left < size ? left : size)};
}

/// The chunk in a slot.
__device__ inline Chunk chunk_of(const Tokens& tokens, index_t slot) {
  if (tokens.begins == nullptr) {
    const index_t chunks = chunks_of(tokens.length, tokens.size);
    return chunk_of(sequence_of(tokens, slot / chunks), slot % chunks, tokens.size);
  }
  if (slot >= tokens.first_slots[tokens.sequences]) return {};
  // The last sequence that starts at or in front of the slot: empty ones have no slot.
  index_t low = 0, high = tokens.sequences;
  while (high - low > 1) {
    const index_t middle = (low + high) / 2;
    (tokens.first_slots[middle] <= slot ? low : high) = middle;
  }
  const Sequence s = sequence_of(tokens, low);
  return chunk_of(s, slot - s.slot, tokens.size);
}

/// Chunks of `size` tokens: at most this many.
inline index_t slots_of(index_t batch, index_t length, index_t sequences, bool packed, int size) {
  return packed ? length / size + sequences : batch * chunks_of(length, size);
}

/// Numbers of a table of packed sequences: (2, sequences + 1).
inline index_t table_size(index_t sequences, bool packed) {
  return packed ? 2 * (sequences + 1) : 0;
}

/// The tokens of (batch, length) operands in chunks. `starts` not empty: packed; then enqueues the making of
/// `table`, table_size() numbers. What `starts` has out of order or out of range is moved into it.
Tokens make_tokens(const char* operation, cudaStream_t stream, index_t batch, index_t length,
                   const structmat::nn::Starts<space::cuda>& starts, int size, index_t* table);

}  // namespace structmat::gpu::nn
