/// \file
/// The half of a product X Y that one carried matrix enters: f, from the lower triangle of X and
/// the upper one of Y, or, with all indices in the opposite order, z from the other two.
#pragma once

#include "recurrence/transition_product.hpp"
#include "structmat/quasiseparable/cotangent.hpp"

namespace structmat::quasiseparable {

/// Generators (or cotangents) of one triangle of one batch entry, in the order of the sweep.
template <class T, int Rank>
struct Side {
  View<T, 2> out{}, in{};
  View<T, Rank> transition{};

  index_t order() const { return out.extent(1); }
};

/// A matrix as the half that carries f sees it: `ahead` is the triangle whose sweep runs in the
/// direction of f. With reversed = true all that is below the diagonal is above it.
template <class T, int Rank>
struct Sides {
  Side<T, Rank> ahead{}, back{};
  View<T, 1> d{};
};

template <class T, int Rank, class M>
Sides<T, Rank> sides(const M& m, index_t batch, bool reversed) {
  const auto side = [&](const auto& out, const auto& in, const auto& transition) {
    const auto turn = [&](const auto& v) {
      const auto one = v.select(0, batch);
      return reversed ? one.reversed(0) : one;
    };
    return Side<T, Rank>{turn(out), turn(in), turn(transition)};
  };
  const Side<T, Rank> lower = side(m.p, m.q, m.a), upper = side(m.g, m.h, m.b);
  const View<T, 1> d = m.d.select(0, batch);
  if (reversed) return {upper, lower, d.reversed(0)};
  return {lower, upper, d};
}

}  // namespace structmat::quasiseparable
