#include "toeplitz/apply_nonfinite.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "toeplitz/magnitude.hpp"

namespace structmat::toeplitz {
template <Scalar T>
std::vector<index_t> nonfinite_places(const View<const T, 1>& x) {
  std::vector<index_t> places;
  for (index_t i = 0; i < x.extent(0); ++i) {
    if (!is_finite(x(i))) places.push_back(i);
  }
  return places;
}

template <Scalar T>
void add_nonfinite(const View<const T, 1>& lags, bool conjugated,
                   const std::vector<index_t>& bad_lags, const View<const T, 1>& x,
                   const std::vector<index_t>& bad_x, const View<T, 1>& y) {
  const index_t m = y.extent(0), n = x.extent(0);
  const auto lag = [&](index_t place) { return conjugated ? conjugate(lags(place)) : lags(place); };
  for (const index_t j : bad_x) {
    const bool nan = has_nan(x(j));
    for (index_t i = 0; i < m; ++i)
      y(i) = nan ? not_a_number<T>() : y(i) + product(lag(i - j + n - 1), x(j));
    if (nan) return;
  }
  index_t nan_until = 0;
  for (const index_t place : bad_lags) {
    const index_t l = place - (n - 1);
    const T c = lag(place);
    const bool nan = has_nan(c);
    const index_t first = std::max<index_t>(0, l), last = std::min(m, n + l);
    // The ranges of rows go down with l: what a NaN has filled need not be filled again.
    for (index_t i = nan ? std::max(first, nan_until) : first; i < last; ++i) {
      if (nan) {
        y(i) = not_a_number<T>();
      } else if (is_finite(x(i - l))) {
        y(i) += product(c, x(i - l));
      }
    }
    if (nan) nan_until = std::max(nan_until, last);
  }
}

#define STRUCTMAT_INSTANTIATE(T)                                                          \
  template std::vector<index_t> nonfinite_places(const View<const T, 1>&);                \
  template void add_nonfinite(const View<const T, 1>&, bool, const std::vector<index_t>&, \
                              const View<const T, 1>&, const std::vector<index_t>&,       \
                              const View<T, 1>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::toeplitz
