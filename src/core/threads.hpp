/// \file
/// Loops over independent tasks. Without OpenMP everything runs on the calling thread.
#pragma once

#include <algorithm>
#include <exception>
#include <string>

#include "structmat/core/error.hpp"
#include "structmat/core/exec.hpp"
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

/// The same for work of so many multiplications: starting a thread for few costs more than it saves.
inline int team_for(int requested, index_t multiplications) {
  constexpr index_t worth_a_thread = 20000;
  const index_t most = std::max<index_t>(1, multiplications / worth_a_thread);
  return static_cast<int>(std::min<index_t>(thread_count(requested), most));
}

/// Throws DomainError "operation: 0 chunks, it takes at least 1".
inline void require_chunks(const char* operation, const exec::cpu& e) {
  if (e.chunks < 1) {
    throw DomainError(std::string(operation) + ": " + std::to_string(e.chunks) +
                      " chunks, it takes at least 1");
  }
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
