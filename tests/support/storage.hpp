/// \file
/// Comparing results in what activations are stored in.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "structmat/core/array.hpp"
#include "structmat/nn/storage.hpp"

namespace structmat::test {

/// Relative rounding of what is stored.
template <class T>
constexpr double eps = sizeof(T) == 2 ? 0x1p-8 : 0x1p-23;

/// As T stores them.
template <class T, int Rank>
Array<T, Rank> stored(const Array<double, Rank>& from) {
  Array<T, Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(),
                 [](double v) { return static_cast<T>(static_cast<float>(v)); });
  return to;
}
/// What T stores, in double.
template <class T, int Rank>
Array<double, Rank> doubles(const Array<T, Rank>& from) {
  Array<double, Rank> to(from.extents());
  std::transform(from.begin(), from.end(), to.begin(),
                 [](T v) { return static_cast<double>(static_cast<float>(v)); });
  return to;
}
/// The same bits?
inline bool same(const auto& a, const auto& b) {
  if (a.extents() != b.extents()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(),
                                  sizeof(*a.data()) * static_cast<std::size_t>(a.size())) == 0;
}
/// |a - b| <= tolerance (1 + |b|) in all places.
template <class T, int Rank>
void check_close(const Array<T, Rank>& a, const Array<double, Rank>& b, double tolerance) {
  REQUIRE(a.extents() == b.extents());
  double worst = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double v = static_cast<double>(static_cast<float>(a.data()[i])), w = b.data()[i];
    const double error = std::abs(v - w) / (1 + std::abs(w));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  CHECK(worst <= tolerance);
}

}  // namespace structmat::test
