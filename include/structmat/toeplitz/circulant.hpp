/// \file
/// Circulant and skew-circulant matrices, given by their first column.
///
///   Circulant      C_ij = c_{(i - j) mod n}
///   SkewCirculant  S_ij = c_{i-j} for i >= j, -c_{n+i-j} for i < j
///
/// | part   | shape      |
/// |--------|------------|
/// | column | (batch, n) |
///
/// A leading extent 1 is broadcast over the batch. C = F^H diag(F c) F / n with the Fourier matrix
/// F_jk = exp(-2 pi i j k / n); S is the same after the diagonal similarity exp(i pi j / n).
///
/// Source: Davis, "Circulant Matrices", 1979.
#pragma once

#include "structmat/toeplitz/toeplitz.hpp"

namespace structmat {

/// A first column that somebody else owns. Plain data: shapes are checked by the operations.
template <Scalar T, class Space = space::host>
struct CirculantView {
  using value_type = T;

  const CirculantView& view() const { return *this; }

  View<const T, 2, Space> column{};

  index_t batch() const { return column.extent(0); }
  index_t size() const { return column.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
};

template <Scalar T, class Space = space::host>
struct SkewCirculantView {
  using value_type = T;

  const SkewCirculantView& view() const { return *this; }

  View<const T, 2, Space> column{};

  index_t batch() const { return column.extent(0); }
  index_t size() const { return column.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
};

namespace circulant {

/// The same matrix with a batch extent 1 broadcast to `batch`. Throws ShapeError, on behalf of
/// `operation`, for another batch.
template <Scalar T, class Space>
CirculantView<T, Space> checked(CirculantView<T, Space> m, const char* operation,
                                index_t batch = 1);

}  // namespace circulant

namespace skew_circulant {

/// As circulant::checked.
template <Scalar T, class Space>
SkewCirculantView<T, Space> checked(SkewCirculantView<T, Space> m, const char* operation,
                                    index_t batch = 1);

}  // namespace skew_circulant

namespace toeplitz {

/// The same matrix by its lags: c_l = c_{n+l} for l < 0 (skew: -c_{n+l}). Cost: 2 n numbers.
template <Scalar T>
Toeplitz<T> from_circulant(const CirculantView<T>& m);
template <Scalar T>
Toeplitz<T> from_circulant(const SkewCirculantView<T>& m);

}  // namespace toeplitz

/// A circulant matrix that owns its first column.
template <Scalar T, class Space = space::host>
class Circulant : public OperatorMembers<Circulant<T, Space>, T> {
 public:
  using value_type = T;

  Circulant() = default;

  /// Zero. n, batch >= 0; throws ShapeError.
  explicit Circulant(index_t n, index_t batch = 1) : column({batch, n}) {}

  /// One matrix with a copy of this column.
  explicit Circulant(View<const T, 1> first) requires std::same_as<Space, space::host>
      : Circulant(first.extent(0)) {
    copy(first, column.view().select(0, 0));
  }

  Array<T, 2, Space> column;

  index_t batch() const { return column.extent(0); }
  index_t size() const { return column.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  index_t stored() const { return column.size(); }

  CirculantView<T, Space> view() const { return {column.view()}; }
};

/// A skew-circulant matrix that owns its first column.
template <Scalar T, class Space = space::host>
class SkewCirculant : public OperatorMembers<SkewCirculant<T, Space>, T> {
 public:
  using value_type = T;

  SkewCirculant() = default;

  /// Zero. n, batch >= 0; throws ShapeError.
  explicit SkewCirculant(index_t n, index_t batch = 1) : column({batch, n}) {}

  /// One matrix with a copy of this column.
  explicit SkewCirculant(View<const T, 1> first) requires std::same_as<Space, space::host>
      : SkewCirculant(first.extent(0)) {
    copy(first, column.view().select(0, 0));
  }

  Array<T, 2, Space> column;

  index_t batch() const { return column.extent(0); }
  index_t size() const { return column.extent(1); }
  index_t rows() const { return size(); }
  index_t cols() const { return size(); }
  index_t stored() const { return column.size(); }

  SkewCirculantView<T, Space> view() const { return {column.view()}; }
};

/// Copies in device memory, and back.
template <Scalar T>
Circulant<T, space::cuda> to_device(const Circulant<T>& m) {
  Circulant<T, space::cuda> there;
  there.column = to_device(m.column);
  return there;
}
template <Scalar T>
Circulant<T> to_host(const Circulant<T, space::cuda>& m) {
  Circulant<T> here;
  here.column = to_host(m.column);
  return here;
}
template <Scalar T>
SkewCirculant<T, space::cuda> to_device(const SkewCirculant<T>& m) {
  SkewCirculant<T, space::cuda> there;
  there.column = to_device(m.column);
  return there;
}
template <Scalar T>
SkewCirculant<T> to_host(const SkewCirculant<T, space::cuda>& m) {
  SkewCirculant<T> here;
  here.column = to_host(m.column);
  return here;
}

/// C_ij of one batch entry. Cost: O(1). Throws ShapeError.
template <Scalar T>
T entry(const CirculantView<T>& m, index_t i, index_t j, index_t batch = 0);
template <Scalar T>
T entry(const SkewCirculantView<T>& m, index_t i, index_t j, index_t batch = 0);

/// dense := C. dense: (batch, n, n) out, any strides. Throws ShapeError.
template <Scalar T>
void to_dense(const CirculantView<T>& m, View<T, 3> dense);
template <Scalar T>
void to_dense(const SkewCirculantView<T>& m, View<T, 3> dense);

/// The same on a device: as to_dense of a Toeplitz matrix.
template <Scalar T>
void to_dense(const exec::cuda& e, const CirculantView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);
template <Scalar T>
void to_dense(const exec::cuda& e, const SkewCirculantView<T, space::cuda>& m,
              View<T, 3, space::cuda> dense);

}  // namespace structmat
