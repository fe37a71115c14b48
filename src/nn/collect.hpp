/// \file
/// Adding cotangents one after the other, whoever computed them. data() null: not wanted.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/threads.hpp"
#include "nn/operands.hpp"
#include "structmat/core/array.hpp"
#include "structmat/nn/storage.hpp"

namespace structmat::nn {

/// to += v, rounded once.
template <class T, class C>
void add(T& to, const C& v) {
  to = static_cast<T>(static_cast<C>(to) + v);
}

/// Number i of a parameter.
template <class R, class D>
void add_parameter(index_t i, const D& v, const View<R, 1>& to) {
  if (to.data()) to(i) += static_cast<R>(v);
}

/// bar := 0, any strides.
template <class T, int Rank>
void clear(const View<T, Rank>& bar) {
  if (!bar.data()) return;
  for (index_t i = 0; i < bar.extent(0); ++i) {
    if constexpr (Rank == 1) {
      bar(i) = T(0.0f);
    } else {
      clear(bar.select(0, i));
    }
  }
}

/// Clears cotangents that are to be set, so that they can be added to. Throws DomainError where that would clear y_bar.
template <class Y, class... Bars>
void clear_cotangents(const std::string& operation, const Y& y_bar, const Bars&... bars) {
  if ((overlaps(y_bar, bars) || ...)) {
    throw DomainError(operation + ": a cotangent that is set overlaps y_bar in memory");
  }
  (clear(bars), ...);
}

/// The cotangent of final states, kept from one of the initial states that is set in its place.
template <class S, int Rank>
struct KeptStates {
  KeptStates(const View<const S, Rank>& final_bar, const View<S, Rank>& initial_bar, bool set) {
    view = final_bar;
    if (set && overlaps(final_bar, initial_bar)) copy = to_array(final_bar), view = copy;
  }
  Array<S, Rank> copy;
  View<const S, Rank> view;
};

/// Tokens from `begin` on of a batch entry; member `place` of `members` of a group.
struct GroupPlace {
  index_t entry, begin, group, place, members;
};

/// What the members of a group add to numbers (batch, L, groups, n), in their order, rounded when the last one has.
template <class T, class C>
class GroupSum {
 public:
  explicit GroupSum(const View<T, 4>& to) : to_(to) {}

  void add(const GroupPlace& p, const Array<C, 2>& rows) {
    if (!to_.data()) return;
    if (p.place == 0) {
      sum_ = rows;
    } else {
      C* const sum = sum_.data();
      const C* const more = rows.data();
      for (index_t i = 0; i < rows.size(); ++i) sum[i] += more[i];
    }
    if (p.place != p.members - 1) return;
    const index_t step = to_.stride(3);
    for (index_t t = 0; t < sum_.extent(0); ++t) {
      T* const to = &to_(p.entry, p.begin + t, p.group, 0);
      const C* const row = sum_.data() + t * sum_.extent(1);
      for (index_t n = 0; n < sum_.extent(1); ++n) nn::add(to[n * step], row[n]);
    }
  }

 private:
  View<T, 4> to_;
  Array<C, 2> sum_;
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
