/// \file
/// Execution objects: the first argument of every free function says where and how it runs.
#pragma once

#include <cstddef>

#include "structmat/core/view.hpp"

namespace structmat::exec {

/// On the CPU. threads = 0 takes what OpenMP would take (OMP_NUM_THREADS); the library never
/// changes the global setting, and BLAS keeps its own (OPENBLAS_NUM_THREADS or OMP_NUM_THREADS).
///
/// chunks: ranges of rows of one long sequence that may be worked on at the same time, where an
/// operation says that it has the two phases for it: local sweeps from zero states, which also tell
/// what a range does to the state in front of it, then sweeps from the right states. chunks - 1
/// threads are busy in both. It is more arithmetic in all, and other roundings: the bits depend on
/// chunks, and not on threads. 1: one sweep.
struct cpu {
  int threads = 0;
  int chunks = 1;
};

/// On the current CUDA device, in the order of `stream` (a cudaStream_t; null is the default
/// stream). `workspace` must hold what `workspace_bytes(operation, ...)` asks for; operations of
/// fixed shape neither allocate nor synchronise.
struct cuda {
  void* stream = nullptr;
  View<std::byte, 1, space::cuda> workspace{};
};

}  // namespace structmat::exec
