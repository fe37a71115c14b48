/// \file
/// Products with long square Toeplitz blocks in three passes over memory.
#pragma once

#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"
#include "structmat/toeplitz/toeplitz.hpp"
#include "toeplitz/four_step.hpp"
#include "toeplitz/magnitude.hpp"
#include "toeplitz/workspaces.hpp"

namespace structmat::toeplitz {

/// The symbols of one row or one column of L x L blocks as FourStep leaves them, and products with
/// them: columns of x, rows with the product of spectra between a transform and its inverse, columns of y.
/// Threads take panels and rows.
template <Scalar T>
class LongBlocks {
 public:
  using R = real_t<T>;
  using C = std::complex<R>;
  static constexpr int sheets = is_complex_v<T> ? 2 : 1;

  /// row_blocks or col_blocks is 1.
  LongBlocks(index_t length, index_t batch, index_t row_blocks, index_t col_blocks);

  index_t length() const { return transform_.length(); }

  /// The symbol of lags times 2^-exponent, with zeros for what is not finite; place `zero` holds lag 0.
  /// Returns the bits of the largest modulus.
  Bits<R> transform_lags(const exec::cpu& e, index_t batch, const View<const T, 1>& lags,
                         index_t zero, int exponent);

  /// y := op(T) x times 2^unscale of x times 2^-exponent, but for what is not finite. Returns the bits
  /// of the largest modulus of x.
  Bits<R> apply(const exec::cpu& e, Op op, index_t batch, const View<const T, 1>& x, int exponent,
                int unscale, const View<T, 1>& y) const;

 private:
  /// Workspace of a panel: its weighted numbers for each sheet, its columns, and two panels of real
  /// numbers or one of complex ones.
  struct Panel {
    C *weighted, *columns;
    T* packed;
  };
  Panel split(C* work) const {
    C* const columns = work + sheets * transform_.panel_size();
    return {work, columns, reinterpret_cast<T*>(columns + transform_.panel_size())};
  }
  index_t work_size() const;
  index_t differences() const { return row_blocks_ + col_blocks_ - 1; }
  C* symbol(index_t batch, index_t difference, int sheet) {
    return symbols_.data() +
           ((batch * differences() + difference) * sheets + sheet) * transform_.size();
  }
  const C* symbol(index_t batch, index_t difference, int sheet) const {
    return const_cast<LongBlocks*>(this)->symbol(batch, difference, sheet);
  }

  Bits<R> fold_panel(index_t panel, const View<const T, 1>& lags, index_t diagonal, int exponent,
                     index_t batch, index_t difference);
  Bits<R> load_panel(index_t panel, const View<const T, 1>& x, bool conjugated, int exponent,
                     C* z) const;
  void multiply_row(index_t row, Op op, index_t batch, index_t in_blocks, index_t out_blocks,
                    int sheet, C* z) const;
  void store_panel(index_t panel, const C* z, bool conjugated, int unscale,
                   const View<T, 1>& y) const;

  FourStep<R> transform_;
  index_t row_blocks_, col_blocks_;
  Array<C, 1> symbols_;  // (batch, differences, sheets, rows of a spectrum)
  mutable Workspaces<C> spectra_, panels_;
};

}  // namespace structmat::toeplitz
