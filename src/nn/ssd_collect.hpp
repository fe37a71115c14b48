/// \file
/// Adding the cotangents of heads, one after the other, to those of a call. data() null: not wanted.
#pragma once

#include <vector>

#include "nn/ssd_task.hpp"

namespace structmat::nn {

/// to += v, rounded once.
template <Storage T, RealScalar R>
void add(T& to, R v) {
  to = static_cast<T>(static_cast<R>(to) + v);
}

/// Rows of the tokens of a task to head or group `part`.
template <Storage T>
void add_rows(const SsdTask<T>& task, index_t part, const Array<compute_t<T>, 2>& rows,
              const View<T, 4>& to) {
  if (!to.data()) return;
  for (index_t t = 0; t < rows.extent(0); ++t) {
    for (index_t i = 0; i < rows.extent(1); ++i) {
      add(to(task.entry, task.begin + t, part, i), rows(t, i));
    }
  }
}

template <Storage T>
void add_steps(const SsdTask<T>& task, const Array<compute_t<T>, 1>& steps, const View<T, 3>& to) {
  if (!to.data()) return;
  for (index_t t = 0; t < steps.size(); ++t) add(to(task.entry, task.begin + t, task.h), steps(t));
}

template <RealScalar R>
void add_parameter(index_t h, double v, const View<R, 1>& to) {
  if (to.data()) to(h) += static_cast<R>(v);
}
template <RealScalar R>
void add_channels(index_t h, const std::vector<double>& v, const View<R, 2>& to) {
  if (!to.data()) return;
  for (index_t p = 0; p < to.extent(1); ++p) to(h, p) += static_cast<R>(v[p]);
}

/// What the heads of a group add to B or C, rounded when the last one has.
template <Storage T>
class GroupSum {
 public:
  explicit GroupSum(const View<T, 4>& to) : to_(to) {}

  void add(const SsdTask<T>& task, const Array<compute_t<T>, 2>& rows) {
    const index_t place = task.h % task.heads_of_group;
    if (place == 0) sum_ = Array<compute_t<T>, 2>(rows.extents());
    for (index_t i = 0; i < rows.size(); ++i) sum_.data()[i] += rows.data()[i];
    if (place == task.heads_of_group - 1) add_rows(task, task.group, sum_, to_);
  }

 private:
  View<T, 4> to_;
  Array<compute_t<T>, 2> sum_;
};

}  // namespace structmat::nn
