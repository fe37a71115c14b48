/// \file
/// What both modes of selective scans do on the host.
#pragma once

#include <limits>
#include <numeric>

#include "nn/selective_scan_operands.cuh"
#include "nn/selective_scan_operands.hpp"

namespace structmat::gpu::nn {

using structmat::nn::ScanShape;
using structmat::nn::SelectiveScanInput;
using structmat::nn::SelectiveScanView;
using structmat::nn::Storage;

/// Can four neighbours of the last dimension be read at a time?
template <class T, int Rank, class Space>
bool whole_quads(const View<T, Rank, Space>& v) {
  if (v.data() == nullptr) return true;
  if (reinterpret_cast<std::uintptr_t>(v.data()) % (4 * sizeof(T)) != 0) return false;
  if (v.extent(Rank - 1) % 4 != 0 || v.stride(Rank - 1) != 1) return false;
  for (int d = 0; d + 1 < Rank; ++d) {
    if (v.extent(d) > 1 && v.stride(d) % 4 != 0) return false;
  }
  return true;
}

/// A checked call.
template <Storage T, class S>
struct ScanCall {
  using Cuda = space::cuda;
  using D = device_scalar_t<S>;
  static constexpr index_t most_states = 256;

  ScanCall(const char* operation_, const SelectiveScanView<T, S, Cuda>& m_,
           const SelectiveScanInput<T, S, Cuda>& in_)
      : operation(operation_), m(m_), in(in_), shape(check_operands(operation, m, in)) {
    if (shape.states > most_states) {
      throw Unsupported(std::string(operation) + ": " + std::to_string(shape.states) +
                        " states, at most " + std::to_string(most_states) + " on a device");
    }
    packed = m.starts.extent(0) > 0;
    if (packed && shape.sequences == 0 && shape.length > 0) {
      throw DomainError(std::string(operation) + ": no sequences in " +
                        std::to_string(shape.length) + " tokens");
    }
    members_b = shape.channels / std::max<index_t>(shape.groups_b, 1);
    members_c = shape.channels / std::max<index_t>(shape.groups_c, 1);
    part = std::gcd(members_b, members_c);
    parts = part == 0 ? 0 : shape.channels / part;
  }

  bool empty() const { return shape.sequences == 0 || shape.channels == 0; }
  /// Hold::euler with b and c of the data?
  bool plain() const {
    return m.hold == structmat::nn::Hold::euler && m.b.varying.data() != nullptr &&
           m.c.varying.data() != nullptr;
  }
  index_t* take_table(Workspace& w) const {
    return w.take<index_t>(table_size(shape.sequences, packed));
  }
  index_t tiles(int width) const { return (part + width - 1) / width; }

  /// Enqueues the making of the table. `vectors`: of other operands like u.
  ScanOperands<T, D> operands(cudaStream_t stream, int chunk, index_t* table, bool vectors) const {
    ScanOperands<T, D> o;
    o.tokens = make_tokens(operation, stream, shape.batch, shape.length, m.starts, chunk, table);
    o.u = strided(in.u), o.z = strided(in.z), o.delta = strided(m.delta);
    o.a = strided(m.a), o.b = strided(m.b.constant), o.c = strided(m.c.constant);
    o.b_varying = strided(m.b.varying), o.c_varying = strided(m.c.varying);
    o.d = strided(m.d), o.bias = strided(m.delta_bias), o.initial = strided(in.initial_state);
    o.rule = {m.softplus, m.delta_min, m.delta_max};
    o.clamps =
        !m.softplus || m.delta_min > 0 || m.delta_max < std::numeric_limits<float>::infinity();
    o.hold = m.hold;
    o.channels = shape.channels, o.states = shape.states;
    o.part = part, o.members_b = members_b, o.members_c = members_c;
    o.vectors =
        vectors && part % 4 == 0 && whole_quads(in.u) && whole_quads(in.z) && whole_quads(m.delta);
    o.all_vectors = o.vectors && whole_quads(m.b.varying) && whole_quads(m.c.varying);
    o.selected_vectors = whole_quads(m.b.varying) && whole_quads(m.c.varying);
    return o;
  }
  unsigned blocks(index_t tiles_of_part) const {
    index_t count = 0;
    if (__builtin_mul_overflow(shape.sequences * parts, tiles_of_part, &count) ||
        count > std::numeric_limits<int>::max()) {
      throw Unsupported(std::string(operation) + ": more than 2^31 blocks in a grid");
    }
    return static_cast<unsigned>(count);
  }

  const char* operation;
  SelectiveScanView<T, S, Cuda> m;
  SelectiveScanInput<T, S, Cuda> in;
  ScanShape shape;
  bool packed;
  index_t members_b, members_c, part, parts;
};

/// call(layout) for the states; `Threads` of a block.
template <int Threads, class Call>
void with_scan_layout(index_t states, const Call& call) {
  if (states <= 16)
    call(ScanLayout<Threads, 4, 4>{});
  else if (states <= 64)
    call(ScanLayout<Threads, 32, 2>{});
  else
    call(ScanLayout<Threads, 32, 8>{});
}

/// M(storage, scalar of states) on a device.
#define STRUCTMAT_FOR_DEVICE_SCANS(M) \
  M(float, float)                     \
  M(float, std::complex<float>)       \
  M(bf16, float)                      \
  M(bf16, std::complex<float>)

}  // namespace structmat::gpu::nn
