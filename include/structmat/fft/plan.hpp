/// \file
/// Discrete Fourier transforms of many rows, behind one interface.
///
///   forward:   y_k = sum_j x_j exp(-2 pi i j k / n)
///   backward:  x_j = sum_k y_k exp(+2 pi i j k / n)
///
/// Neither is normalised: backward after forward gives n x.
#pragma once

#include <array>
#include <complex>
#include <memory>
#include <string>

#include "structmat/core/export.hpp"
#include "structmat/core/scalar.hpp"
#include "structmat/core/view.hpp"

namespace structmat::fft {

enum class Planning {
  estimate,  ///< cheap, and results repeat bitwise
  measure,   ///< times several algorithms, which takes milliseconds to seconds
};

/// Where the sequences of a batch lie.
enum class Layout {
  rows,        ///< x and y one after the other
  transposed,  ///< those of x side by side, (n, batch), those of y one after the other; not in place
};

struct PlanOptions {
  index_t batch = 1;
  Planning planning = Planning::estimate;
  /// Transforms in place are planned at once, the others on first use. Otherwise the other way round.
  bool in_place = false;
  Layout layout = Layout::rows;
};

/// Transforms of `batch` rows of n elements of T. T is the type on the side of x:
/// - complex: y has n columns;
/// - real: y has n / 2 + 1 columns, the rest being y_{n-k} = conj(y_k). backward() ignores the
/// imaginary parts
///   of y_0 and, for even n, of y_{n/2}.
///
/// Shapes: x is (batch, n) or as the layout says, y is (batch, spectrum_length()), both row-major without gaps. n = 0 and
/// batch = 0 do nothing. Aliasing: none. Alignment: any; 64 bytes (every Array) is fastest. Cost:
/// O(batch n log n) for every n, primes included; fastest where n has only the factors 2, 3, 5, 7
/// (good_length).
/// Accuracy: normwise, ||error||_2 <= c log2(n) eps ||result||_2 with c about 1.
///
/// Const use is safe from several threads at once. Planning is serialised inside; it does not know
/// about other users of the back end's planner in the same program. Short plans are kept for the next
/// ones of the same kind. Movable. Source: M. Frigo, S.
/// G. Johnson, "The Design and Implementation of FFTW3", Proc. IEEE 93(2), 2005.
template <Scalar T>
class STRUCTMAT_EXPORT Plan {
 public:
  using value_type = T;
  using complex_type = std::complex<real_t<T>>;

  /// Throws ShapeError (negative n or batch, sizes over 64 bits), BackendError.
  explicit Plan(index_t n, const PlanOptions& options = {});
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  index_t length() const { return n_; }
  index_t spectrum_length() const { return is_complex_v<T> || n_ == 0 ? n_ : n_ / 2 + 1; }
  index_t batch() const { return batch_; }

  /// y := F x; x is only read. Throws ShapeError, Unsupported (strides), DomainError (x and y
  /// overlap).
  void forward(View<const T, 2> x, View<complex_type, 2> y) const;
  /// x := F^H y (n times the inverse); y is only read. Throws as forward().
  void backward(View<const complex_type, 2> y, View<T, 2> x) const;

  /// x := F x in place, (batch, n) without gaps. Throws ShapeError, Unsupported (strides,
  /// Layout::transposed).
  void forward(View<T, 2> x) const requires ComplexScalar<T>;
  /// x := F^H x in place. Throws as forward().
  void backward(View<T, 2> x) const requires ComplexScalar<T>;

 private:
  struct Back;
  std::array<index_t, 2> x_extents() const;
  std::array<index_t, 2> y_extents() const { return {batch_, spectrum_length()}; }

  index_t n_ = 0;
  index_t batch_ = 0;
  Layout layout_ = Layout::rows;
  std::shared_ptr<const Back> back_;
};

/// The smallest number >= n that has no prime factor above 7; 1 for n = 0. Cost: O(log^3 n).
/// Throws ShapeError: n is negative or above 2^62.
STRUCTMAT_EXPORT index_t good_length(index_t n);

struct Backend {
  std::string name;     ///< "FFTW 3.3.10"
  std::string licence;  ///< "GPL-2.0-or-later"
};

/// The library that computes the transforms, as it was linked.
STRUCTMAT_EXPORT Backend backend();

}  // namespace structmat::fft
