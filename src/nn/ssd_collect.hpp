/// \file
/// Adding the cotangents of heads, one after the other, to those of a call. data() null: not wanted.
#pragma once

#include <optional>
#include <vector>

#include "core/threads.hpp"
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

/// collect(at, make(at)) in the order of 0 <= at < count, where `team` of make run at the same time.
template <class Made, class Make, class Collect>
void in_waves(int team, index_t count, const Make& make, const Collect& collect) {
  for (index_t first = 0; first < count; first += team) {
    const index_t wave = std::min<index_t>(team, count - first);
    std::vector<std::optional<Made>> made(wave);
    parallel_for(team, wave, [&](index_t i) { made[i].emplace(make(first + i)); });
    for (index_t i = 0; i < wave; ++i) collect(first + i, *made[i]);
  }
}

/// Checks cotangents, which may be absent, and broadcasts their batches.
template <class RequireApart>
class CotangentCheck {
 public:
  CotangentCheck(const char* operation, const RequireApart& require_apart)
      : operation_(operation), require_apart_(require_apart) {}

  template <class T, int Rank, class Space, class Extents>
  void operator()(const char* name, View<T, Rank, Space>& bar, const Extents& extents,
                  index_t batch) {
    if (!bar.data()) return;
    bar = bar.broadcast(0, batch);
    detail::require_extents(operation_, name, bar, extents);
    shared_ = shared_ || (batch > 1 && bar.stride(0) == 0);
    require_apart_(View<const T, Rank, Space>(bar), name);
  }
  /// Do entries of a batch add to the same numbers?
  bool shared() const { return shared_; }

 private:
  const char* operation_;
  RequireApart require_apart_;
  bool shared_ = false;
};

}  // namespace structmat::nn
