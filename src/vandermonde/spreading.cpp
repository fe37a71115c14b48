#include "vandermonde/spreading.hpp"

#include <cmath>

#include "core/simd.hpp"
#include "core/threads.hpp"
#include "vandermonde/exponential.hpp"

namespace structmat::vandermonde {

namespace {

template <RealScalar R>
constexpr int width = 64 / sizeof(R);

template <RealScalar R, int V>
STRUCTMAT_INLINE void interpolate_points(const R* phi, const index_t* first, const index_t* order,
                                         index_t count, const R* re, const R* im,
                                         std::complex<R>* values) {
  constexpr int w = width<R>;
  using Vector = simd::Vector<R, w>;
  for (index_t s = 0; s < count; ++s) {
    Vector real{}, imaginary{};
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const Vector weight = simd::load<Vector>(phi + (s * V + v) * w);
      real += weight * simd::load<Vector>(re + first[s] + v * w);
      imaginary += weight * simd::load<Vector>(im + first[s] + v * w);
    }
    values[order[s]] = {simd::sum<R, w>(real), simd::sum<R, w>(imaginary)};
  }
}

template <RealScalar R, int V>
STRUCTMAT_INLINE void spread_points(const R* phi, const index_t* first, const index_t* order,
                                    index_t count, const std::complex<R>* values, R* re, R* im) {
  constexpr int w = width<R>;
  using Vector = simd::Vector<R, w>;
  for (index_t s = 0; s < count; ++s) {
    const std::complex<R> value = values[order[s]];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const Vector weight = simd::load<Vector>(phi + (s * V + v) * w);
      R *const r = re + first[s] + v * w, *const i = im + first[s] + v * w;
      simd::store(r, simd::load<Vector>(r) + weight * value.real());
      simd::store(i, simd::load<Vector>(i) + weight * value.imag());
    }
  }
}

template <RealScalar R>
STRUCTMAT_CLONES void interpolate_cloned(int vectors, const R* phi, const index_t* first,
                                         const index_t* order, index_t count, const R* re,
                                         const R* im, std::complex<R>* values) {
  if (vectors == 1) return interpolate_points<R, 1>(phi, first, order, count, re, im, values);
  interpolate_points<R, 2>(phi, first, order, count, re, im, values);
}

template <RealScalar R>
STRUCTMAT_CLONES void spread_cloned(int vectors, const R* phi, const index_t* first,
                                    const index_t* order, index_t count,
                                    const std::complex<R>* values, R* re, R* im) {
  if (vectors == 1) return spread_points<R, 1>(phi, first, order, count, values, re, im);
  spread_points<R, 2>(phi, first, order, count, values, re, im);
}

/// Where a point lies on the grid: the first grid point that it reaches, and its distance from it.
struct Place {
  index_t first;
  double distance;
};

/// The position in grid points is formed in twice the precision, so that the distance does not
/// lose digits on a large grid.
Place place(const TwoDoubles& angle, index_t grid, int w) {
  const TwoDoubles reduced = reduced_phase(angle);
  const TwoDoubles scale = TwoDoubles{static_cast<double>(grid), 0};
  // 1 / (2 pi) in two doubles.
  constexpr TwoDoubles inverse{0.15915494309189535, -9.839338337591243e-18};
  const TwoDoubles position = reduced * (inverse * scale);
  double first = std::ceil(position.high - w / 2.0);
  return {static_cast<index_t>(first), (position.high - first) + position.low};
}

}  // namespace

template <RealScalar R>
Spreading<R>::Spreading(const std::vector<TwoDoubles>& angles, index_t grid, int w, double beta)
    : stride_((w + width<R> - 1) / width<R> * width<R>),
      order_(angles.size()),
      first_(angles.size()),
      phi_({static_cast<index_t>(angles.size()), stride_}) {
  std::vector<Place> places;
  places.reserve(angles.size());
  for (const TwoDoubles& angle : angles) {
    places.push_back(place(angle, grid, w));
    if (places.back().first < -w / 2) places.back().first += grid;
  }
  // Sorted by counting, in bins of some cache lines of the grid.
  constexpr index_t bin = 16;
  const auto bin_of = [&](const Place& p) { return (p.first + margin) / bin; };
  std::vector<index_t> starts((grid + 2 * margin) / bin + 2);
  for (const Place& p : places) ++starts[bin_of(p) + 1];
  for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
  for (index_t i = 0; i < points(); ++i) order_[starts[bin_of(places[i])]++] = i;
  for (index_t s = 0; s < points(); ++s) {
    const Place& p = places[order_[s]];
    first_[s] = p.first + margin;
    for (int l = 0; l < w; ++l) {
      const double z = (p.distance - l) / (w / 2.0), square = 1 - z * z;
      phi_(s, l) = static_cast<R>(square > 0 ? std::exp(beta * (std::sqrt(square) - 1)) : 0);
    }
  }
}

template <RealScalar R>
void Spreading<R>::interpolate(int threads, const R* re, const R* im,
                               std::complex<R>* values) const {
  constexpr index_t range = 8192;
  const index_t count = points();
  parallel_for(team_for(threads, count * stride_), (count + range - 1) / range, [&](index_t task) {
    const index_t from = task * range;
    interpolate_cloned<R>(stride_ / width<R>, phi_.data() + from * stride_, first_.data() + from,
                          order_.data() + from, std::min(range, count - from), re, im, values);
  });
}

template <RealScalar R>
void Spreading<R>::spread(const std::complex<R>* values, R* re, R* im) const {
  spread_cloned<R>(stride_ / width<R>, phi_.data(), first_.data(), order_.data(), points(), values,
                   re, im);
}

template class Spreading<float>;
template class Spreading<double>;

}  // namespace structmat::vandermonde
