/// \file
/// Workspaces of partial results, sized by the batch of a matrix: entries of a product with a larger
/// batch take turns in them.
#pragma once

#include <algorithm>

#include "core/workspace.cuh"

namespace structmat::gpu {

/// The workspace of `entries` batch entries with `each` numbers.
template <class T>
T* take_for(Workspace& workspace, index_t entries, index_t each) {
  index_t count = 0;
  if (__builtin_mul_overflow(entries, each, &count)) count = INT64_MAX;
  return workspace.take<T>(count);
}

/// run(first, count, partial) for consecutive ranges of a batch; `own` is the batch that the workspace
/// must be large enough for, `each` the numbers of an entry.
template <class T, class Run>
void in_turns(const char* operation, const exec::cuda& e, index_t own, index_t batch, index_t each,
              const Run& run) {
  T* const partial =
      cut(operation, e.workspace, [&](Workspace& w) { return take_for<T>(w, own, each); });
  const index_t fitting =
      each == 0 ? batch : e.workspace.size() / (each * static_cast<index_t>(sizeof(T)));
  for (index_t first = 0; first < batch; first += fitting) {
    run(first, std::min(fitting, batch - first), partial);
  }
}

}  // namespace structmat::gpu
