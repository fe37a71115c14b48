/// \file
/// Calls of SSD as walks over states.
#pragma once

#include "nn/ssd_operands.hpp"
#include "nn/state_walk.cuh"

namespace structmat::gpu::nn {

/// Arrays of walks over the same tokens, in chunks of 64.
template <class T>
struct WalkScratch {
  index_t* table;
  float* segments;
  T* states[4];
};
template <class T>
WalkScratch<T> take_walks(Workspace& workspace, const structmat::nn::SsdShape& s, bool packed,
                          int walks) {
  constexpr int size = 64;
  Tokens tokens{s.batch, s.length, s.sequences, size};
  tokens.slots = slots_of(s.batch, s.length, s.sequences, packed, size);
  WalkScratch<T> scratch{};
  scratch.table = workspace.take<index_t>(table_size(s.sequences, packed));
  scratch.segments =
      workspace.take<float>(walks * segment_numbers(tokens, s.heads, s.channels, s.states));
  for (int w = 0; w < walks; ++w) {
    scratch.states[w] = workspace.take<T>(tokens.slots * s.heads * padded_extent(s.channels) *
                                          padded_extent(s.states));
  }
  return scratch;
}

/// The states of a call.
template <class T>
StateWalk<T> walk_of(const structmat::nn::SsdView<T, space::cuda>& m,
                     const structmat::nn::SsdInput<T, space::cuda>& in) {
  StateWalk<T> walk{};
  walk.u = in.x, walk.v = m.b, walk.dt = m.dt, walk.a = m.a, walk.dt_bias = m.dt_bias;
  walk.rule = {m.softplus, m.dt_min, m.dt_max};
  walk.initial = in.initial_state;
  return walk;
}

}  // namespace structmat::gpu::nn
