/// \file
/// Products of a dense matrix with probes, a panel of rows at a time.
#pragma once

#include <algorithm>
#include <functional>

#include "structmat/core/array.hpp"
#include "structmat/core/op.hpp"
#include "verify/compressions.hpp"

namespace structmat::verify {

/// Row panels of a dense matrix with unit stride along the rows: in place where the matrix has that,
/// otherwise copied.
template <Scalar T>
class RowPanels {
 public:
  static constexpr index_t height = 256;
  static_assert(height % Compressions<T>::segment == 0);

  explicit RowPanels(View<const T, 2> m) : m_(m), in_place_(fits(m)) {
    if (!in_place_) buffer_ = Array<T, 2>({std::min(height, m.extent(0)), m.extent(1)});
  }

  static bool fits(const View<const T, 2>& m) {
    return m.stride(1) == 1 && m.stride(0) >= m.extent(1);
  }

  index_t size() const { return m_.extent(0); }
  index_t count() const { return (size() + height - 1) / height; }
  index_t begin(index_t i) const { return std::min(size(), i * height); }

  /// Panel i, valid until the next call.
  View<const T, 2> operator()(index_t i) {
    const auto rows = m_.slice(0, begin(i), begin(i + 1));
    if (in_place_) return rows;
    copy(rows, buffer_.view().slice(0, 0, rows.extent(0)));
    return View<const T, 2>(buffer_.view()).slice(0, 0, rows.extent(0));
  }

 private:
  View<const T, 2> m_;
  bool in_place_;
  Array<T, 2> buffer_;
};

/// x1, x2 and all starts of `lower` from the strictly lower part L of scale * m (x1 = L G1, x2 = L^H
/// G2) and of `upper` from the adjoint of its strictly upper part. Both come in as zeros.
template <Scalar T>
void multiply_probes(RowPanels<T>& m, T scale, Compressions<T>& lower, Compressions<T>& upper,
                     const std::function<void(double)>& progress);

/// op(m(rows, cols)) x, where `rows` and `cols` are [begin, end); x in, the result row-major.
template <Scalar T>
Array<T, 2> multiply_block(RowPanels<T>& m, std::array<index_t, 2> rows,
                           std::array<index_t, 2> cols, Op op, View<const T, 2> x);

}  // namespace structmat::verify
