/// \file
/// The entries of a matrix as cells of grey, for pictures.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "structmat/core/view.hpp"
#include "svg.hpp"

namespace structmat::io::detail {

/// Matrices are drawn in at most this many cells a side.
inline constexpr index_t max_cells = 128;

/// "#rrggbb" of three numbers between 0 and 255.
std::string rgb_colour(const std::array<double, 3>& rgb);

/// |entries| of a square matrix: the largest in each cell of a grid, and the greys that stand for
/// them.
class HeatMap {
 public:
  /// m: (n, n) in, any strides, finite. Cost: one pass.
  template <Scalar T>
  explicit HeatMap(const View<const T, 2>& m)
      : cells_(std::min(m.extent(0), max_cells)), largest_(cells_ * cells_) {
    const index_t n = m.extent(0);
    for (index_t i = 0; i < n; ++i) {
      double* row = largest_.data() + i * cells_ / n * cells_;
      for (index_t j = 0; j < n; ++j) {
        double& cell = row[j * cells_ / n];
        // In double: |x| of a complex<float> may exceed the range of float.
        if constexpr (is_complex_v<T>) {
          cell = std::max(cell, std::abs(std::complex<double>(m(i, j))));
        } else {
          cell = std::max(cell, static_cast<double>(std::abs(m(i, j))));
        }
      }
    }
    set_scale();
  }

  /// The square of the given side with its upper left corner at (x, y).
  void draw(Svg& svg, double x, double y, double side) const;
  /// A bar with the smallest and the largest value that greys stand for.
  void draw_legend(Svg& svg, double x, double y, double width) const;

 private:
  void set_scale();
  int level(double value) const;

  index_t cells_;
  std::vector<double> largest_;
  double low_ = 0, high_ = 0;  ///< decimal logarithms
  bool all_zero_ = true, cut_ = false;
};

}  // namespace structmat::io::detail
