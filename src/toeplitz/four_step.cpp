#include "toeplitz/four_step.hpp"

#include <cmath>
#include <numbers>

namespace structmat::toeplitz {
namespace {

/// exp(-2 pi i m / order) from two tables of about sqrt(order) numbers.
class Roots {
 public:
  explicit Roots(index_t order) : order_(order) {
    while (chunk_ * chunk_ < order) chunk_ *= 2;
    const auto root = [&](index_t m) {
      return std::polar(
          1.0, -2 * std::numbers::pi * static_cast<double>(m) / static_cast<double>(order));
    };
    for (index_t m = 0; m < chunk_; ++m) fine_.push_back(root(m));
    for (index_t m = 0; m < order; m += chunk_) coarse_.push_back(root(m));
  }

  template <RealScalar R>
  std::complex<R> get(index_t m) const {
    m = (m % order_ + order_) % order_;
    const std::complex<double> a = coarse_[m / chunk_], b = fine_[m % chunk_];
    return {static_cast<R>(a.real() * b.real() - a.imag() * b.imag()),
            static_cast<R>(a.real() * b.imag() + a.imag() * b.real())};
  }

 private:
  index_t order_, chunk_ = 1;
  std::vector<std::complex<double>> fine_, coarse_;
};

/// n1, the largest power of two up to about sqrt(length) / 2 that divides it: short columns leave more
/// of a panel in cache and fewer pages in it.
index_t choose_rows(index_t length, bool must_divide) {
  index_t rows = 8;
  while (8 * rows * rows <= length && (!must_divide || length % (2 * rows) == 0)) rows *= 2;
  return rows;
}

static_assert(panel_width == pad, "the last panel ends where a row of a spectrum does");

/// Not a multiple of a page, so that rows do not compete for the same cache lines.
index_t choose_stride(index_t cols) {
  const index_t stride = padded(cols);
  return stride % 64 == 0 ? stride + pad : stride;
}

}  // namespace

index_t four_step_length(index_t n) {
  const index_t rows = choose_rows(n, false);
  return rows * fft::good_length((n + rows - 1) / rows);
}

template <RealScalar R>
FourStep<R>::FourStep(index_t length, int sheets)
    : rows_(choose_rows(length, true)),
      cols_(length / rows_),
      stride_(choose_stride(cols_)),
      starts_({sheets, panels(), rows_}, uninitialized),
      fine_({sheets, rows_, panel_width}, uninitialized),
      column_fft_(rows_, {.batch = panel_width, .layout = fft::Layout::transposed}),
      row_fft_(cols_) {
  const Roots roots(4 * length);
  for (index_t r = 0; r < rows_; ++r) weights_.push_back(roots.get<R>(-r * cols_));
  for (int sheet = 0; sheet < sheets; ++sheet) {
    // theta^j exp(-2 pi i j r / L) as a power of exp(-2 pi i / 4L).
    const auto power = [&](index_t r) { return 4 * r + (sheet == 0 ? -1 : 1); };
    for (index_t r = 0; r < rows_; ++r) {
      for (index_t b = 0; b < panel_width; ++b) fine_(sheet, r, b) = roots.get<R>(power(r) * b);
    }
    for (index_t p = 0; p < panels(); ++p) {
      for (index_t r = 0; r < rows_; ++r)
        starts_(sheet, p, r) = roots.get<R>(power(r) * p * panel_width);
    }
  }
}

template <RealScalar R>
void FourStep<R>::columns_forward(int sheet, index_t panel, const C* weighted, C* columns,
                                  C* z) const {
  column_fft_.forward(View<const C, 2>(weighted, {rows_, panel_width}),
                      View<C, 2>(columns, {panel_width, rows_}));
  kernels::store_twiddled(columns, &starts_(sheet, panel, 0), &fine_(sheet, 0, 0), rows_,
                          z + panel * panel_width, stride_);
}

template <RealScalar R>
void FourStep<R>::columns_backward(int sheet, index_t panel, const C* z, C* work,
                                   C* columns) const {
  // The forward transform of conjugates: transposed the other way round it would take twice as long.
  kernels::load_untwiddled(z + panel * panel_width, stride_, &starts_(sheet, panel, 0),
                           &fine_(sheet, 0, 0), rows_, work);
  column_fft_.forward(View<const C, 2>(work, {rows_, panel_width}),
                      View<C, 2>(columns, {panel_width, rows_}));
}

template <RealScalar R>
void FourStep<R>::row_forward(const C* row, C* spectrum) const {
  row_fft_.forward(View<const C, 2>(row, {1, cols_}), View<C, 2>(spectrum, {1, cols_}));
  std::fill(spectrum + cols_, spectrum + padded(cols_), C{});
}

template <RealScalar R>
void FourStep<R>::row_backward(const C* spectrum, C* row) const {
  row_fft_.backward(View<const C, 2>(spectrum, {1, cols_}), View<C, 2>(row, {1, cols_}));
  std::fill(row + cols_, row + padded(cols_), C{});
}

template class FourStep<float>;
template class FourStep<double>;

}  // namespace structmat::toeplitz
