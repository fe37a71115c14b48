/// \file
/// Execution objects: the first argument of every free function says where and how it runs.
#pragma once

#include <cstddef>

#include "structmat/core/view.hpp"

namespace structmat::exec {

/// On the CPU. threads = 0 takes what OpenMP would take (OMP_NUM_THREADS); the library never
/// changes the global setting, and BLAS keeps its own (OPENBLAS_NUM_THREADS or OMP_NUM_THREADS).
struct cpu {
  int threads = 0;
};

/// On the current CUDA device, in the order of `stream` (a cudaStream_t; null is the default
/// stream). `workspace` must hold what `workspace_bytes(operation, ...)` asks for; operations of
/// fixed shape neither allocate nor synchronise.
struct cuda {
  void* stream = nullptr;
  View<std::byte, 1, space::cuda> workspace{};
};

}  // namespace structmat::exec
