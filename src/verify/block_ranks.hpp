/// \file
/// Ranks of many small scaled matrices, counted in lanes, with the margins of a report.
#pragma once

#include <map>
#include <memory>

#include "verify/half.hpp"
#include "verify/lane_bidiagonal.hpp"
#include "verify/power_of_two.hpp"
#include "verify/square_root.hpp"

namespace structmat::verify {

template <Scalar T>
class BlockRanks {
 public:
  /// norm: of the whole matrix. Block number t of `entries` is M(k:n, 0:t+1) with k = t + 1 -
  /// extra.
  BlockRanks(Part part, index_t n, index_t entries, index_t extra, const SumOfSquares& norm,
             double tolerance, Relative relative, std::optional<index_t> asked,
             std::vector<index_t> wanted);

  /// x 2^exponent has the singular values of block t.
  void put(index_t t, const View<const T, 2>& x, index_t exponent);
  /// Counts what is waiting for its lanes to fill.
  void flush();
  bool exceeded() const { return asked_ && half_.order > *asked_; }

  /// The first `entries` ranks and all margins; after flush.
  Half finish(index_t entries);

 private:
  using Lane = LaneBidiagonal<T>;
  using Reals = typename Lane::Reals;
  using Counts = typename Lane::Counts;

  /// Matrices of one shape.
  struct Pool {
    Pool(index_t rows, index_t columns)
        : lanes(rows, columns), x({Lane::lanes, rows, columns}, uninitialized) {}
    Lane lanes;
    Array<T, 3> x;
    int filled = 0;
    index_t entry[Lane::lanes] = {}, exponent[Lane::lanes] = {};
  };

  void count(Pool& pool);
  void record(index_t t, index_t rank, double beyond, const View<const T, 2>& x, index_t exponent);
  void add_values(const Scaled<T>& x, Block& block) const;
  double relative(double value, index_t exponent, double reference) const;

  index_t n_, extra_;
  double norm_;
  index_t norm_exponent_;
  double tolerance_;
  Relative relative_to_;
  std::optional<index_t> asked_;
  std::vector<index_t> wanted_;  ///< k of the blocks to be listed
  Half half_;
  std::map<std::pair<index_t, index_t>, std::unique_ptr<Pool>> pools_;
  Scaled<T> worst_;  ///< stands for the worst block
};

}  // namespace structmat::verify
