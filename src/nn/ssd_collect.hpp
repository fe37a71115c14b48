/// \file
/// Adding the cotangents of heads, one after the other, to those of a call. data() null: not wanted.
#pragma once

#include <vector>

#include "nn/collect.hpp"
#include "nn/ssd_task.hpp"

namespace structmat::nn {

/// Where the rows of a head go that its group shares.
template <Storage T>
GroupPlace place_of(const SsdTask<T>& task) {
  return {task.entry, task.begin, task.group, task.h % task.heads_of_group, task.heads_of_group};
}

/// Rows of the tokens of a task to head or group `part`.
template <Storage T>
void add_rows(const SsdTask<T>& task, index_t part, const Array<compute_t<T>, 2>& rows,
              const View<T, 4>& to) {
  if (!to.data()) return;
  const index_t step = to.stride(3);
  for (index_t t = 0; t < rows.extent(0); ++t) {
    T* const out = &to(task.entry, task.begin + t, part, 0);
    const compute_t<T>* const row = rows.data() + t * rows.extent(1);
    if (step == 1) {
      for (index_t i = 0; i < rows.extent(1); ++i) add(out[i], row[i]);
    } else {
      for (index_t i = 0; i < rows.extent(1); ++i) add(out[i * step], row[i]);
    }
  }
}

template <Storage T>
void add_steps(const SsdTask<T>& task, const Array<compute_t<T>, 1>& steps, const View<T, 3>& to) {
  if (!to.data()) return;
  for (index_t t = 0; t < steps.size(); ++t) add(to(task.entry, task.begin + t, task.h), steps(t));
}

template <RealScalar R>
void add_channels(index_t h, const std::vector<double>& v, const View<R, 2>& to) {
  if (!to.data()) return;
  for (index_t p = 0; p < to.extent(1); ++p) to(h, p) += static_cast<R>(v[p]);
}

}  // namespace structmat::nn
