/// \file
/// Singular values of a batch of matrices inside other operations: bidiagonal forms in a workspace
/// first, then values.
#pragma once

#include "core/strided.cuh"
#include "core/workspace.cuh"

namespace structmat::gpu {

/// Bidiagonal forms as Sturm counts take them.
struct BidiagonalForms {
  /// -d_0^2, -e_0^2, -d_1^2, ... of each matrix, scaled so that their sum is about -1.
  const double* minus_squares;
  /// `length` numbers each; those behind the last belong to values that are 0.
  index_t length;
  /// Values are to be multiplied by 2^exponent, unless it is one of these.
  const int* exponents;
  static constexpr int zero_matrix = -(1 << 24), not_finite = 1 << 24;
};

template <class T>  // of DeviceScalar
class SingularValues {
 public:
  using R = real_of_t<T>;

  /// batch matrices, m x n or n x m. Throws Unsupported for a shorter side above 256.
  SingularValues(const char* operation, index_t batch, index_t m, index_t n);

  void take(Workspace& workspace);

  /// Two launches. sigma and status: as dense::singular_values has them.
  void enqueue(cudaStream_t stream, const Strided<const T, 3>& a, const Strided<R, 2>& sigma,
               const Strided<int, 1>& status) const;

 private:
  const char* operation_;
  index_t batch_, m_, rows_;
  int columns_;

  bool warps_ = false;    ///< a warp takes a matrix, not a block
  bool whole_ = true;     ///< no QR first
  bool outside_ = false;  ///< tiles lie in global memory
  int tile_rows_ = 0, tile_step_ = 0;
  unsigned blocks_ = 0, threads_ = 0;
  std::size_t team_bytes_ = 0;
  int processors_ = 0;

  T* tiles_ = nullptr;
  double* squares_ = nullptr;
  int* exponents_ = nullptr;
};

}  // namespace structmat::gpu
