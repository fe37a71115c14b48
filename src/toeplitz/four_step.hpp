/// \file
/// Long transforms of weighted sequences in two passes over memory, each through the cache.
#pragma once

#include <vector>

#include "structmat/core/array.hpp"
#include "structmat/fft/plan.hpp"
#include "toeplitz/panel_kernels.hpp"

namespace structmat::toeplitz {

/// Transforms z_k = sum_j theta^j x_j exp(-2 pi i j k / L), theta = exp(i pi / 2L), on a second sheet
/// with conj(theta). L = n1 n2, j = j1 n2 + j2, k = k1 + n1 k2:
///
///   columns: u_{k1 j2} = theta^j2 exp(-2 pi i j2 k1 / L) sum_j1 theta^(n2 j1) x_j exp(-2 pi i j1 k1 / n1)
///   rows:    z_{k1 k2} = sum_j2 u_{k1 j2} exp(-2 pi i j2 k2 / n2)
///
/// The spectrum stays as it comes, n1 rows of stride() numbers: products of spectra need no order.
/// Columns go through panels of n1 x panel_width. Backward is the adjoint of each step. The factors
/// theta^(n2 j1), which are the same for a row, are the caller's: it has real numbers to weight.
///
/// Source: D. H. Bailey, "FFTs in external or hierarchical memory", J. Supercomputing 4 (1990).
template <RealScalar R>
class FourStep {
 public:
  using C = std::complex<R>;

  /// length: from four_step_length.
  FourStep(index_t length, int sheets);

  index_t length() const { return rows_ * cols_; }
  index_t rows() const { return rows_; }
  index_t cols() const { return cols_; }
  index_t stride() const { return stride_; }
  /// Numbers of a spectrum.
  index_t size() const { return rows_ * stride_; }
  index_t panels() const { return (cols_ + panel_width - 1) / panel_width; }
  index_t panel_size() const { return rows_ * panel_width; }
  /// theta^(n2 j1)
  const C* weights() const { return weights_.data(); }

  /// The columns of a weighted panel into z; columns: panel_size() numbers of workspace.
  void columns_forward(int sheet, index_t panel, const C* weighted, C* columns, C* z) const;
  /// columns := the conjugates of the weighted columns in a panel of z, (panel_width, n1).
  void columns_backward(int sheet, index_t panel, const C* z, C* work, C* columns) const;

  /// spectrum := the transform of a row, with zeros up to a multiple of `pad`.
  void row_forward(const C* row, C* spectrum) const;
  /// The opposite.
  void row_backward(const C* spectrum, C* row) const;

 private:
  index_t rows_, cols_, stride_;
  std::vector<C> weights_;
  // Factors of column first + b in row k1: those of the first column of each panel, (sheet, panel, k1),
  // times those of b, (sheet, k1, b).
  Array<C, 3> starts_, fine_;
  fft::Plan<C> column_fft_, row_fft_;
};

/// A length >= n for these transforms: n1 a power of two, n2 without prime factors above 7.
index_t four_step_length(index_t n);

}  // namespace structmat::toeplitz
