#include "vandermonde/exponential_table.hpp"

#include <algorithm>
#include <cmath>

#include "core/product.hpp"
#include "vandermonde/exponential.hpp"

namespace structmat::vandermonde {

template <class W>
void exponential_table(const W& a, index_t step, index_t count, std::vector<W>& table) {
  table.resize(static_cast<std::size_t>(count));
  const auto fine = static_cast<index_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  for (index_t l = 0; l < std::min(fine, count); ++l) table[l] = exponential(a, l * step);
  for (index_t first = fine; first < count; first += fine) {
    const W coarse = exponential(a, first * step);
    for (index_t l = first; l < std::min(first + fine, count); ++l) {
      table[l] = product(coarse, table[l - first]);
    }
  }
}

template void exponential_table(const double&, index_t, index_t, std::vector<double>&);
template void exponential_table(const std::complex<double>&, index_t, index_t,
                                std::vector<std::complex<double>>&);

}  // namespace structmat::vandermonde
