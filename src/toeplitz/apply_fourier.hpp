/// \file
/// Products with Toeplitz matrices of finite lags by transforms of square blocks.
#pragma once

#include <optional>
#include <vector>

#include "structmat/core/exec.hpp"
#include "structmat/core/op.hpp"
#include "structmat/toeplitz/toeplitz.hpp"
#include "toeplitz/apply_long.hpp"
#include "toeplitz/weighted_transform.hpp"

namespace structmat::toeplitz {

/// Blocks from this length on are taken through the cache by LongBlocks. Measured.
inline constexpr index_t long_blocks_from = index_t{1} << 14;

/// The length L of square blocks for an m x n matrix: at least min(m, n), without prime factors above
/// 7 (four_step_length from long_from on), and of the least (block rows + block columns) L log L.
index_t block_length(index_t m, index_t n, index_t long_from = long_blocks_from);

/// The symbol of T in L x L blocks, block (I, J) of lags (I - J) L - L < l < (I - J) L + L, scaled by
/// a power of two to largest modulus about 1.
template <Scalar T>
class BlockSymbol {
 public:
  using R = real_t<T>;
  using C = std::complex<R>;
  /// Real matrices are the real part of an i-circulant one; complex ones the mean of an i-circulant
  /// and a -i-circulant one.
  static constexpr int sheets = WeightedTransform<T>::sheets;

  /// The lags must outlive this. m: rows, cols > 0.
  explicit BlockSymbol(const ToeplitzView<T>& m, const exec::cpu& e = {.threads = 1},
                       index_t long_from = long_blocks_from);

  index_t length() const { return length_; }

  /// y := op(T) x for operands that have been checked and broadcast to the batch of y.
  void apply(const exec::cpu& e, Op op, View<const T, 3> x, View<T, 3> y) const;

 private:
  /// The symbol of lags times 2^-exponent, with zeros for what is not finite. Returns the bits of their
  /// largest modulus.
  Bits<R> transform_lags(const exec::cpu& e, index_t batch, int exponent);
  /// y := op(T) x for a tile of columns, but for what is not finite. Returns for each column the bits
  /// of its largest modulus. With the exponents 0 nothing is scaled.
  std::vector<Bits<R>> apply_columns(const exec::cpu& e, Op op, const View<const T, 2>& x,
                                     const View<T, 2>& y, index_t batch,
                                     const std::vector<int>& exponents) const;
  /// The same for long blocks.
  std::vector<Bits<R>> apply_long_columns(const exec::cpu& e, Op op, const View<const T, 2>& x,
                                          const View<T, 2>& y, index_t batch,
                                          const std::vector<int>& exponents) const;
  void multiply(Op op, index_t batch, index_t difference, index_t columns, const C* x, C* z,
                bool add) const;
  void add_nonfinite_terms(Op op, const View<const T, 1>& x, const View<T, 1>& y,
                           index_t batch) const;

  index_t symbol_place(index_t batch, index_t difference, int sheet) const {
    return ((batch * differences() + difference) * sheets + sheet) * transform_->stride();
  }
  index_t differences() const { return row_blocks_ + col_blocks_ - 1; }

  ToeplitzView<T> matrix_;
  index_t length_, row_blocks_, col_blocks_;
  std::optional<LongBlocks<T>> long_;  // or the next two
  std::optional<WeightedTransform<T>> transform_;
  Array<C, 1> symbols_;  // (batch, differences, sheets, stride)
  std::vector<int> exponents_;
  std::vector<std::vector<index_t>> bad_lags_;  // places that are not finite
  mutable Workspaces<C> workspaces_;
  mutable Workspaces<T> packed_columns_;
};

}  // namespace structmat::toeplitz
