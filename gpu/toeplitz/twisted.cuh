/// \file
/// Twisted transforms of one length, prepared: tables, the library's plan, and the launches.
#pragma once

#include <bit>

#include "core/workspace.cuh"
#include "fft/dft.cuh"
#include "structmat/core/array.hpp"
#include "structmat/fft/plan.hpp"
#include "toeplitz/correlate_kernel.cuh"

namespace structmat::toeplitz {

/// On the device, from the host.
template <class C>
Array<C, 1, space::cuda> uploaded(const std::vector<C>& values) {
  Array<C, 1, space::cuda> a({static_cast<index_t>(values.size())}, uninitialized);
  if (!values.empty())
    detail::copy_host_to_device(a.data(), values.data(), values.size() * sizeof(C));
  return a;
}

/// T: the scalar type of the matrix. Const use is safe from several threads.
template <Scalar T>
class Twisted {
 public:
  using D = gpu::device_scalar_t<T>;
  using R = real_t<T>;
  using C = gpu::Complex<R>;
  static constexpr int sheets = device::sheet_count<D>;
  static constexpr index_t longest_block = device::longest_block<R>;
  static constexpr index_t longest_split = 256 * longest_block;
  /// From this length on there are 256 rows instead of 16, so that rows are many and short.
  static constexpr index_t short_rows_from = index_t{1} << 15;

  /// The length, at least `least`, that is taken for it.
  static index_t length_for(index_t least) {
    const auto power = static_cast<index_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::max<index_t>(least, gpu::points))));
    return power <= longest_split ? power : fft::good_length(least);
  }

  /// Allocates and synchronises.
  Twisted(const char* operation, index_t least)
      : processors_(gpu::multiprocessors(operation)), length_(length_for(least)) {
    if (length_ <= longest_block) {
      rows_ = length_;
      prepare_rows(true);
    } else if (length_ <= longest_split) {
      columns_ = length_ < short_rows_from ? 16 : 256;
      rows_ = length_ / columns_;
      prepare_rows(false);
      prepare_columns();
    } else {
      prepare_library(operation);
    }
  }

  index_t length() const { return length_; }
  bool one_block() const { return columns_ == 1 && rows_ > 0; }
  bool split() const { return columns_ > 1; }

  /// Spectra of all sheets of one column.
  index_t column_numbers() const { return sheets * length_; }
  /// Columns whose spectra lie in the workspace at once: as many as stay in the second-level cache.
  index_t columns_at_once(index_t columns) const {
    if (one_block()) return 0;
    if (!split()) return 1;
    constexpr index_t cached_bytes = index_t{32} << 20;
    const index_t bytes = column_numbers() * static_cast<index_t>(sizeof(C));
    return std::min(columns, std::max<index_t>(1, cached_bytes / bytes));
  }
  index_t library_bytes() const { return library_.workspace_bytes(); }

  /// z: `count` times all sheets, of folded lags in natural order, z(unit, sheet, j); overwritten by
  /// their spectra. scratch: as many numbers, for long transforms; the result lies in the array that
  /// is returned.
  void transform_symbol(const char* operation, cudaStream_t stream, index_t count, C* z,
                        void* library_work) const {
    if (one_block()) return launch_rows(operation, stream, z, count * sheets, sheets);
    if (split()) {
      // In place: a block of columns reads and writes the same numbers.
      const device::Input<C> folded{{z, {column_numbers(), 1, 0}}, length_, false};
      spread_columns<C>(operation, stream, folded, length_, z, 0, count, 1);
      return launch_rows(operation, stream, z, count * sheets * columns_, 0);
    }
    for (index_t unit = 0; unit < count; ++unit) {
      C* const own = z + unit * column_numbers();
      const device::Input<C> folded{{own, {0, 1, 0}}, length_, false};
      for (int sheet = 0; sheet < sheets; ++sheet) {
        C* const row = own + sheet * length_;
        twist<C>(operation, stream, folded, length_, row, 0, 1, sheet);
        library_.forward(operation, stream, library_work, row, row);
      }
    }
  }

  /// The columns begin, ..., of x -> z, twisted and transformed over columns.
  void spread(const char* operation, cudaStream_t stream, const device::Input<D>& x, C* z,
              index_t begin, index_t columns, index_t k) const {
    spread_columns<D>(operation, stream, x, 0, z, begin, columns, k);
  }

  /// y := op(A) x. z: column_numbers() for each of `at_once` columns. y.exponents says the scale.
  void apply(const char* operation, cudaStream_t stream, const C* symbol, index_t symbol_batch,
             bool adjoint, const device::Input<D>& x, const device::Output<D>& y, index_t columns,
             index_t k, C* z, index_t at_once, void* library_work) const {
    if (one_block()) {
      const device::BlockProblem<D> m{
          x, y, row_tables(), symbol, symbol_batch, static_cast<int>(rows_), columns, k, adjoint};
      return gpu::launch(operation, device::apply_block<D>, row_grid(columns), stream, m);
    }
    for (index_t begin = 0; begin < columns; begin += at_once) {
      const index_t count = std::min(at_once, columns - begin);
      if (split()) {
        spread(operation, stream, x, z, begin, count, k);
        const device::MultiplyProblem<R> m{
            z, row_tables(), symbol, symbol_batch, static_cast<int>(rows_), columns_, begin, count,
            k, sheets,       adjoint};
        gpu::launch(operation, device::multiply_rows<R>, row_grid(count * sheets * columns_),
                    stream, m);
        const device::GatherProblem<D> g{column_split(), y, z, begin, count, k};
        gpu::launch(operation, device::gather<D>, column_grid(count), stream, g);
        continue;
      }
      for (int sheet = 0; sheet < sheets; ++sheet) {
        twist<D>(operation, stream, x, 0, z, begin, k, sheet);
        library_.forward(operation, stream, library_work, z, z);
        const C* const own = symbol + (begin / k) * symbol_batch + sheet * length_;
        multiply(operation, stream, own, z, z, adjoint, false);
        library_.backward(operation, stream, library_work, z, z);
        const device::UntwistProblem<D> m{y, z, twist_table(), length_, begin, k, sheet};
        gpu::launch(operation, device::untwist_column<D>, vector_grid(length_), stream, m);
      }
    }
  }

  /// How correlate goes through `count` columns of each of some entries.
  struct Pieces {
    index_t parts;    ///< sums of an entry, one block: added up in order at the end
    index_t entries;  ///< entries at once, longer
    index_t columns;  ///< and columns of each at once
  };
  /// They depend on count alone, for the bits of an entry not to depend on others, but for `entries`.
  Pieces pieces(index_t entries, index_t count) const {
    if (one_block()) return {std::clamp<index_t>((count + 3) / 4, 1, 128), entries, count};
    const index_t at_once = columns_at_once(entries * count);
    const index_t columns = std::min(count, columns_at_once(count));
    return {1, split() ? std::max<index_t>(1, at_once / std::max<index_t>(1, columns)) : 1,
            columns};
  }

  /// Arrays of correlate.
  struct Spectra {
    C *u, *v, *sums;
    void* library;
  };
  auto correlate_layout(index_t entries, index_t count) const {
    return [this, entries, count](gpu::Workspace& w) {
      const Pieces p = pieces(entries, count);
      const index_t size = entries * count == 0 ? 0 : column_numbers();
      const index_t columns = one_block() ? 0 : p.entries * p.columns;
      Spectra s{};
      s.u = w.take<C>(columns * size);
      s.v = w.take<C>(columns * size);
      s.sums = w.take<C>(p.entries * p.parts * size);
      s.library = w.take<std::byte>(size == 0 ? 0 : library_bytes());
      return s;
    };
  }

  /// lags(e, i - j) += sum of u_i conj(v_j) over the columns e count, ..., of u and v, for all entries e.
  /// The pieces are those of the workspace.
  void correlate(const char* operation, cudaStream_t stream, const device::Input<D>& u,
                 const device::Input<D>& v, index_t entries, index_t count, index_t k,
                 gpu::Strided<D, 2> lags, index_t rows, index_t cols, bool conjugated,
                 const Pieces& p, const Spectra& s) const {
    const device::LagOutput<D> out{lags,    rows,       cols,
                                   length_, conjugated, R(1) / static_cast<R>(length_ * sheets)};
    if (one_block()) {
      const int n = static_cast<int>(rows_);
      const device::CorrelateBlockProblem<D> m{u,       v,       row_tables(), s.sums, n,
                                               entries, p.parts, count,        k};
      gpu::launch(operation, device::correlate_block<D>, row_grid(entries * p.parts * sheets),
                  stream, m);
      const device::FinishBlockProblem<D> f{s.sums, row_tables(), out, n, entries, p.parts};
      return gpu::launch(operation, device::finish_block<D>, row_grid(entries), stream, f);
    }
    for (index_t entry = 0; entry < entries; entry += p.entries) {
      const index_t now = std::min(p.entries, entries - entry);
      for (index_t c = 0; c < count; c += p.columns) {
        const index_t columns = std::min(p.columns, count - c), begin = entry * count + c;
        const bool last = c + columns == count;
        if (split()) {
          spread(operation, stream, u, s.u, begin, now * columns, k);
          spread(operation, stream, v, s.v, begin, now * columns, k);
          const device::CorrelateRowsProblem<R> m{
              s.u, s.v,     s.sums, row_tables(), static_cast<int>(rows_), sheets * columns_,
              now, columns, c == 0, last};
          gpu::launch(operation, device::correlate_rows<R>, row_grid(now * sheets * columns_),
                      stream, m);
          continue;
        }
        for (int sheet = 0; sheet < sheets; ++sheet) {
          C* const sums = s.sums + sheet * length_;
          twist<D>(operation, stream, u, 0, s.u, begin, k, sheet);
          library_.forward(operation, stream, s.library, s.u, s.u);
          twist<D>(operation, stream, v, 0, s.v, begin, k, sheet);
          library_.forward(operation, stream, s.library, s.v, s.v);
          multiply(operation, stream, s.v, s.u, sums, true, c > 0);
          if (!last) continue;
          library_.backward(operation, stream, s.library, sums, sums);
          const device::UntwistLagsProblem<D> m{out, sums, twist_table(), entry, sheet};
          gpu::launch(operation, device::untwist_lags<D>, vector_grid(length_), stream, m);
        }
      }
      if (!split()) continue;
      const device::GatherLagsProblem<D> m{column_split(), out, s.sums, entry, now};
      gpu::launch(operation, device::gather_lags<D>, column_grid(now), stream, m);
    }
  }

 private:
  void prepare_rows(bool twisted) {
    using Transform = gpu::BlockTransform<R, gpu::PaddedPlace>;
    std::vector<C> first = Transform::first_table(rows_, twisted ? 1 : 0);
    if (twisted && sheets == 2) {
      const auto second = Transform::first_table(rows_, -1);
      first.insert(first.end(), second.begin(), second.end());
    }
    row_first_ = uploaded(first);
    row_later_ = uploaded(Transform::later_table(rows_));
  }
  void prepare_columns() {
    using Transform = gpu::BlockTransform<R, gpu::ColumnPlace>;
    std::vector<C> first, common, power;
    for (const int sign : {1, -1}) {
      if (sign < 0 && sheets == 1) break;
      const auto own = Transform::first_table(columns_, sign);
      first.insert(first.end(), own.begin(), own.end());
      // Position 16 t + j has the frequency q = q(16 t) + j n1 / 16, for n1 a power of 16.
      for (index_t t = 0; t < columns_ / gpu::points; ++t) {
        const index_t q = Transform::frequency(columns_, t * gpu::points);
        for (index_t j2 = 0; j2 < rows_; ++j2)
          common.push_back(gpu::root_of_unity<R>(j2 * (4 * q - sign), 4 * length_));
      }
    }
    gpu::Factors<R>::append(power, rows_, 0, 4 * gpu::points * rows_);
    column_first_ = uploaded(first);
    column_later_ = uploaded(Transform::later_table(columns_));
    column_common_ = uploaded(common);
    column_power_ = uploaded(power);
  }
  void prepare_library(const char* operation) {
    constexpr index_t fine_count = device::TwistTable<R>::fine_count;
    std::vector<C> fine, coarse;
    for (index_t j = 0; j < fine_count; ++j) fine.push_back(gpu::root_of_unity<R>(-j, 4 * length_));
    for (index_t j = 0; j < length_; j += fine_count)
      coarse.push_back(gpu::root_of_unity<R>(-j, 4 * length_));
    fine_ = uploaded(fine);
    coarse_ = uploaded(coarse);
    library_ = gpu::Dft<C, C>(operation, length_, 1, {1, length_}, {1, length_});
  }

  device::Tables<R> row_tables() const {
    return {row_first_.data(), gpu::Factors<R>::slots * (rows_ / gpu::points), row_later_.data()};
  }
  device::Split<R> column_split() const {
    const index_t width = std::min<index_t>(rows_, 256 / (columns_ / gpu::points));
    return {{column_first_.data(), gpu::Factors<R>::slots * (columns_ / gpu::points),
             column_later_.data()},
            column_common_.data(),
            column_power_.data(),
            static_cast<int>(columns_),
            static_cast<int>(width),
            rows_};
  }
  device::TwistTable<R> twist_table() const { return {fine_.data(), coarse_.data()}; }

  gpu::Grid row_grid(index_t transforms) const {
    const index_t per = rows_ / gpu::points;
    const index_t slots = std::max<index_t>(1, device::least_threads / per);
    const auto bytes = static_cast<std::size_t>(
        slots * gpu::PaddedPlace::extent(static_cast<int>(rows_)) * index_t{sizeof(C)});
    return {gpu::persistent_blocks(transforms, slots, processors_),
            static_cast<unsigned>(slots * per), bytes};
  }
  /// For `sheets_and_columns` arrays of n1 x n2 numbers.
  gpu::Grid column_grid(index_t sheets_and_columns) const {
    const auto s = column_split();
    const index_t bytes = columns_ > gpu::points ? columns_ * s.width * index_t{sizeof(C)} : 0;
    return {gpu::persistent_blocks(sheets_and_columns * (rows_ / s.width), 1, processors_),
            static_cast<unsigned>(s.width * (columns_ / gpu::points)),
            static_cast<std::size_t>(bytes)};
  }
  gpu::Grid vector_grid(index_t n) const {
    constexpr index_t threads = 256;
    return {gpu::persistent_blocks(n, threads, processors_), threads};
  }

  void launch_rows(const char* operation, cudaStream_t stream, C* z, index_t rows,
                   int twisted_sheets) const {
    const device::RowsProblem<R> m{z, row_tables(), static_cast<int>(rows_), rows, twisted_sheets};
    gpu::launch(operation, device::transform_rows<R>, row_grid(rows), stream, m);
  }
  template <class In>
  void spread_columns(const char* operation, cudaStream_t stream, const device::Input<In>& x,
                      index_t x_sheet, C* z, index_t begin, index_t columns, index_t k) const {
    const device::SpreadProblem<In> m{column_split(), x, x_sheet, z, begin, columns, k, sheets};
    gpu::launch(operation, device::spread<In>, column_grid(columns * sheets), stream, m);
  }
  template <class In>
  void twist(const char* operation, cudaStream_t stream, const device::Input<In>& x,
             index_t x_sheet, C* z, index_t unit, index_t k, int sheet) const {
    const device::TwistProblem<In> m{x, x_sheet, z, twist_table(), length_, unit, k, sheet};
    gpu::launch(operation, device::twist_column<In>, vector_grid(length_), stream, m);
  }
  void multiply(const char* operation, cudaStream_t stream, const C* a, const C* x, C* z,
                bool conjugated, bool add) const {
    const device::SpectrumProblem<R> m{a, x, z, length_, conjugated, add};
    gpu::launch(operation, device::multiply_spectrum<R>, vector_grid(length_), stream, m);
  }

  int processors_;
  index_t length_ = 0;
  index_t columns_ = 1, rows_ = 0;  ///< n1 and n2; no rows where the library has all of it
  Array<C, 1, space::cuda> row_first_, row_later_;
  Array<C, 1, space::cuda> column_first_, column_later_, column_common_, column_power_;
  Array<C, 1, space::cuda> fine_, coarse_;
  gpu::Dft<C, C> library_;
};

}  // namespace structmat::toeplitz
