// Ask what the order of a matrix is, whether it is at most N, and for the block that proves that it
// is not.
#include <cmath>
#include <cstdio>
#include <structmat/structmat.hpp>

using namespace structmat;

int main() {
  // |i - j| below and above the diagonal: rank 2.
  const index_t n = 200;
  Array<double, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) m(i, j) = std::abs(double(i - j));
  }

  const verify::Report measured = verify::quasiseparable(m);
  std::printf("order: lower %lld, upper %lld; smallest kept %.1e, largest dropped %.1e\n",
              static_cast<long long>(measured.order.lower),
              static_cast<long long>(measured.order.upper), measured.smallest_kept,
              measured.largest_dropped);

  const verify::Report two = verify::quasiseparable(m, {.order = Order{2, 2}});
  std::printf("order at most 2: %s\n", two.holds ? "yes" : "no");

  // One changed entry below the diagonal raises the rank of every block that contains it.
  m(150, 50) += 1;
  const verify::Report changed = verify::quasiseparable(m, {.order = Order{2, 2}});
  std::printf("after a change at (150, 50): %s\n", changed.holds ? "yes" : "no");
  if (changed.holds || !changed.worst_block) return 1;

  // The certificate: rows and columns of a block, and its third singular value, relative to |M|_F.
  const verify::Block& block = *changed.worst_block;
  std::printf("because M(%lld:%lld, %lld:%lld) has singular values",
              static_cast<long long>(block.row_begin), static_cast<long long>(block.row_end),
              static_cast<long long>(block.col_begin), static_cast<long long>(block.col_end));
  for (std::size_t i = 0; i < 3; ++i) std::printf(" %.2e", block.singular_values.at(i));
  std::printf(", tolerance %.1e\n", changed.tolerance);

  const bool contains = block.row_begin <= 150 && block.col_begin <= 50 && 50 < block.col_end;
  return measured.order == Order{2, 2} && two.holds && contains &&
                 block.singular_values[2] > changed.tolerance
             ? 0
             : 1;
}
