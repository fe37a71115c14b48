/// \file
/// Loops over independent tasks. Without OpenMP everything runs on the calling thread.
#pragma once

#include <exception>

#include "structmat/core/scalar.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace structmat {

/// The number of threads that exec::cpu{requested} may use here: one inside somebody else's
/// parallel region.
inline int thread_count([[maybe_unused]] int requested) {
#ifdef _OPENMP
  if (omp_in_parallel()) return 1;
  return requested > 0 ? requested : omp_get_max_threads();
#else
  return 1;
#endif
}

/// task(i) for 0 <= i < count on `team` threads; returns when all are done and rethrows the first
/// exception.
template <class Task>
void parallel_for([[maybe_unused]] int team, index_t count, const Task& task) {
#ifdef _OPENMP
  if (team > 1 && count > 1) {
    std::exception_ptr failure;
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
    for (index_t i = 0; i < count; ++i) {
      try {
        task(i);
      } catch (...) {
#pragma omp critical(structmat_parallel_for)
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    return;
  }
#endif
  for (index_t i = 0; i < count; ++i) task(i);
}

}  // namespace structmat
