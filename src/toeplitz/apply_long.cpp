#include "toeplitz/apply_long.hpp"

#include "core/threads.hpp"

namespace structmat::toeplitz {
namespace {

/// A panel of a sequence: how many of its rows can be read in place, and the others in a packed copy.
template <Scalar T>
struct Rows {
  index_t in_place, total, cols, first;

  Rows(const FourStep<real_t<T>>& transform, index_t panel, const View<const T, 1>& x)
      : in_place(0), total(transform.rows()), cols(transform.cols()), first(panel * panel_width) {
    if (x.stride(0) != 1 || first + panel_width > cols) return;
    const index_t room = x.extent(0) - first - panel_width;
    // Whole blocks of rows.
    if (room >= 0) in_place = std::min(total, room / cols + 1) / 8 * 8;
  }

  /// Calls each(place in the packed copy, place in x, count) for what is there of the other rows.
  template <class Each>
  void over_packed(index_t extent, index_t offset, const Each& each) const {
    const index_t used = std::min(panel_width, cols - first);
    for (index_t r = in_place; r < total; ++r) {
      const index_t at = offset + r * cols + first;
      const index_t begin = std::clamp<index_t>(-at, 0, used);
      const index_t end = std::clamp<index_t>(extent - at, begin, used);
      if (begin < end) each((r - in_place) * panel_width + begin, at + begin, end - begin);
    }
  }
};

template <Scalar T>
void gather(const View<const T, 1>& x, index_t from, index_t count, T* to) {
  if (x.stride(0) == 1) {
    std::copy_n(&x(from), count, to);
  } else {
    for (index_t i = 0; i < count; ++i) to[i] = x(from + i);
  }
}

template <RealScalar R>
std::array<R, 2> halves(int exponent) {
  const int half = exponent / 2;
  return {std::ldexp(R{1}, half), std::ldexp(R{1}, exponent - half)};
}

}  // namespace

template <Scalar T>
LongBlocks<T>::LongBlocks(index_t length, index_t batch, index_t row_blocks, index_t col_blocks)
    : transform_(length, sheets),
      row_blocks_(row_blocks),
      col_blocks_(col_blocks),
      symbols_({batch * differences() * sheets * transform_.size()}, uninitialized) {}

template <Scalar T>
index_t LongBlocks<T>::work_size() const {
  return std::max((2 * sheets + 1) * transform_.panel_size(), 2 * transform_.stride());
}

template <Scalar T>
Bits<real_t<T>> LongBlocks<T>::fold_panel(index_t panel, const View<const T, 1>& lags,
                                          index_t diagonal, int exponent, index_t batch,
                                          index_t difference) {
  const index_t size = transform_.panel_size();
  typename Workspaces<C>::Loan work(panels_, work_size());
  const Panel p = split(work.data());
  const R scale = std::ldexp(R{1} / (static_cast<R>(length()) * sheets), -exponent);
  T *const below = p.packed, *const above = below + size;
  Rows<T> rows(transform_, panel, lags);
  rows.in_place = 0;
  std::fill(below, above + size, T{});
  rows.over_packed(lags.extent(0), diagonal, [&](index_t to, index_t from, index_t count) {
    gather(lags, from, count, below + to);
  });
  rows.over_packed(
      lags.extent(0), diagonal - length(),
      [&](index_t to, index_t from, index_t count) { gather(lags, from, count, above + to); });
  Bits<R> largest = 0;
  for (int sheet = 0; sheet < sheets; ++sheet) {
    // c_l - i c_{l-L}, on the other sheet c_l + i c_{l-L}.
    const R sign = sheet == 0 ? R{1} : R{-1};
    largest =
        std::max<Bits<R>>(largest, kernels::fold<T>(below, above, sign, scale, size, p.weighted));
    kernels::scale_rows(transform_.weights(), sheet == 1, transform_.rows(), p.weighted);
    transform_.columns_forward(sheet, panel, p.weighted, p.columns,
                               symbol(batch, difference, sheet));
  }
  return largest;
}

template <Scalar T>
Bits<real_t<T>> LongBlocks<T>::transform_lags(const exec::cpu& e, index_t batch,
                                              const View<const T, 1>& lags, index_t zero,
                                              int exponent) {
  const int team = team_for(e.threads, 32 * length());
  std::vector<Bits<R>> largest(transform_.panels(), 0);
  for (index_t d = 0; d < differences(); ++d) {
    const index_t diagonal = (d - (col_blocks_ - 1)) * length() + zero;
    parallel_for(team, transform_.panels(), [&](index_t panel) {
      const Bits<R> bits = fold_panel(panel, lags, diagonal, exponent, batch, d);
      largest[panel] = std::max(largest[panel], bits);
    });
    parallel_for(team, sheets * transform_.rows(), [&](index_t task) {
      typename Workspaces<C>::Loan work(panels_, work_size());
      C* const row = symbol(batch, d, 0) + task * transform_.stride();
      transform_.row_forward(row, work.data());
      std::copy_n(work.data(), padded(transform_.cols()), row);
    });
  }
  return *std::max_element(largest.begin(), largest.end());
}

template <Scalar T>
Bits<real_t<T>> LongBlocks<T>::load_panel(index_t panel, const View<const T, 1>& x, bool conjugated,
                                          int exponent, C* z) const {
  typename Workspaces<C>::Loan work(panels_, work_size());
  const Panel p = split(work.data());
  const Rows<T> rows(transform_, panel, x);
  const index_t packed = rows.total - rows.in_place, skipped = rows.in_place * panel_width;
  const R scale = std::ldexp(R{1}, -exponent);
  C* const second = p.weighted + (sheets - 1) * transform_.panel_size();
  Bits<R> largest = 0;
  if (rows.in_place > 0) {
    largest = kernels::weight_rows<T>(&x(rows.first), rows.cols, rows.in_place, conjugated, scale,
                                      transform_.weights(), p.weighted, second);
  }
  std::fill_n(p.packed, packed * panel_width, T{});
  rows.over_packed(x.extent(0), 0, [&](index_t to, index_t from, index_t count) {
    gather(x, from, count, p.packed + to);
  });
  largest = std::max<Bits<R>>(
      largest, kernels::weight_rows<T>(p.packed, panel_width, packed, conjugated, scale,
                                       transform_.weights() + rows.in_place, p.weighted + skipped,
                                       second + skipped));
  for (int sheet = 0; sheet < sheets; ++sheet) {
    transform_.columns_forward(sheet, panel, p.weighted + sheet * transform_.panel_size(),
                               p.columns, z + sheet * transform_.size());
  }
  return largest;
}

template <Scalar T>
void LongBlocks<T>::multiply_row(index_t row, Op op, index_t batch, index_t in_blocks,
                                 index_t out_blocks, int sheet, C* z) const {
  typename Workspaces<C>::Loan work(panels_, work_size());
  C *const spectrum = work.data(), *const sum = spectrum + transform_.stride();
  const auto place = [&](index_t block) {
    return z + (block * sheets + sheet) * transform_.size() + row * transform_.stride();
  };
  const auto multiply = [&](index_t i, index_t j) {
    const index_t difference = (op == Op::none ? i - j : j - i) + col_blocks_ - 1;
    kernels::multiply(symbol(batch, difference, sheet) + row * transform_.stride(), op != Op::none,
                      spectrum, padded(transform_.cols()), j > 0, sum);
  };
  if (out_blocks == 1) {
    for (index_t j = 0; j < in_blocks; ++j) {
      transform_.row_forward(place(j), spectrum);
      multiply(0, j);
    }
    transform_.row_backward(sum, place(0));
  } else {
    transform_.row_forward(place(0), spectrum);
    for (index_t i = 0; i < out_blocks; ++i) {
      multiply(i, 0);
      transform_.row_backward(sum, place(i));
    }
  }
}

template <Scalar T>
void LongBlocks<T>::store_panel(index_t panel, const C* z, bool conjugated, int unscale,
                                const View<T, 1>& y) const {
  typename Workspaces<C>::Loan work(panels_, work_size());
  const Panel p = split(work.data());
  const Rows<T> rows(transform_, panel, y);
  const auto scale = halves<R>(unscale);
  for (int sheet = 0; sheet < sheets; ++sheet) {
    transform_.columns_backward(sheet, panel, z + sheet * transform_.size(), p.columns,
                                p.weighted + sheet * transform_.panel_size());
  }
  const auto unweight = [&](index_t begin, index_t end, T* to, index_t step) {
    kernels::unweight_columns<T>(p.weighted, p.weighted + (sheets - 1) * transform_.panel_size(),
                                 transform_.weights(), rows.total, begin, end, conjugated, scale,
                                 to, step);
  };
  if (rows.in_place > 0) unweight(0, rows.in_place, &y(rows.first), rows.cols);
  unweight(rows.in_place, rows.total, p.packed, panel_width);
  rows.over_packed(y.extent(0), 0, [&](index_t from, index_t to, index_t count) {
    for (index_t i = 0; i < count; ++i) y(to + i) = p.packed[from + i];
  });
}

template <Scalar T>
Bits<real_t<T>> LongBlocks<T>::apply(const exec::cpu& e, Op op, index_t batch,
                                     const View<const T, 1>& x, int exponent, int unscale,
                                     const View<T, 1>& y) const {
  // op(T) is T^H, its blocks have the conjugate symbols; T^T x = conj(T^H conj(x)).
  const bool conjugated = is_complex_v<T> && op == Op::transpose;
  const index_t in_blocks = op == Op::none ? col_blocks_ : row_blocks_;
  const index_t out_blocks = op == Op::none ? row_blocks_ : col_blocks_;
  const index_t panels = transform_.panels(), size = sheets * transform_.size();
  typename Workspaces<C>::Loan loan(spectra_, std::max(in_blocks, out_blocks) * size);
  C* const z = loan.data();
  const auto block = [&](const auto& v, index_t i) {
    return v.slice(0, i * length(), std::min(v.extent(0), (i + 1) * length()));
  };
  const int team = team_for(e.threads, 32 * std::max(in_blocks, out_blocks) * length());
  std::vector<Bits<R>> largest(in_blocks * panels);
  parallel_for(team, in_blocks * panels, [&](index_t task) {
    const index_t j = task / panels;
    largest[task] = load_panel(task % panels, block(x, j), conjugated, exponent, z + j * size);
  });
  parallel_for(team, sheets * transform_.rows(), [&](index_t task) {
    multiply_row(task / sheets, op, batch, in_blocks, out_blocks, static_cast<int>(task % sheets),
                 z);
  });
  parallel_for(team, out_blocks * panels, [&](index_t task) {
    const index_t i = task / panels;
    store_panel(task % panels, z + i * size, conjugated, unscale, block(y, i));
  });
  return *std::max_element(largest.begin(), largest.end());
}

template class LongBlocks<float>;
template class LongBlocks<double>;
template class LongBlocks<std::complex<float>>;
template class LongBlocks<std::complex<double>>;

}  // namespace structmat::toeplitz
