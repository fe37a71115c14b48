/// \file
/// cuBLAS for the operations of gpu/: handles, checked calls, one name for the four scalar types.
/// Matrices are stored by columns, as cuBLAS has them.
#pragma once

#include <cublas_v2.h>

#include "core/complex.cuh"

namespace structmat::gpu {

/// Throws BackendError, on behalf of `operation`, unless the status is success.
inline void check(cublasStatus_t status, const char* operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw BackendError(operation, "cuBLAS", static_cast<int>(status), cublasGetStatusString(status));
}

/// Products on a stream.
///
/// A thread keeps one handle for each device that it uses. Making it allocates: an operation does so
/// where its workspace is asked for or its plan is made, so that calls can be captured. `workspace`,
/// of workspace_bytes, belongs to the caller: cuBLAS then allocates nothing.
class Blas {
 public:
  static constexpr index_t workspace_bytes = index_t{4} << 20;

  /// Makes the handle of this thread.
  static void prepare(const char* operation) { handle(operation); }

  Blas(const char* operation, cudaStream_t stream, void* workspace)
      : operation_(operation), handle_(handle(operation)) {
    check(cublasSetStream(handle_, stream), operation);
    check(cublasSetWorkspace(handle_, workspace, workspace_bytes), operation);
  }

  /// C_e := alpha op(A_e) op(B_e) + beta C_e for e < batch; op(A): m x k, op(B): k x n.
  template <class T>
  void gemm(cublasOperation_t op_a, cublasOperation_t op_b, index_t m, index_t n, index_t k,
            T alpha, const T* a, index_t lda, index_t stride_a, const T* b, index_t ldb,
            index_t stride_b, T beta, T* c, index_t ldc, index_t stride_c,
            index_t batch = 1) const {
    if (m == 0 || n == 0 || batch == 0) return;
    const auto call = [&](auto function, auto scalar) {
      using S = decltype(scalar);
      check(function(handle_, op_a, op_b, m, n, k, reinterpret_cast<const S*>(&alpha),
                     reinterpret_cast<const S*>(a), lda, stride_a, reinterpret_cast<const S*>(b),
                     ldb, stride_b, reinterpret_cast<const S*>(&beta), reinterpret_cast<S*>(c), ldc,
                     stride_c, batch),
            operation_);
    };
    if constexpr (std::is_same_v<T, float>)
      call(cublasSgemmStridedBatched_64, float{});
    else if constexpr (std::is_same_v<T, double>)
      call(cublasDgemmStridedBatched_64, double{});
    else if constexpr (std::is_same_v<T, Complex<float>>)
      call(cublasCgemmStridedBatched_64, cuComplex{});
    else
      call(cublasZgemmStridedBatched_64, cuDoubleComplex{});
  }

  cublasHandle_t handle() const { return handle_; }

 private:
  static cublasHandle_t handle(const char* operation) {
    struct Handle {
      cublasHandle_t handle = nullptr;
      bool made = false;
      ~Handle() {
        if (made) cublasDestroy(handle);
      }
    };
    constexpr int most_devices = 64;
    thread_local Handle handles[most_devices];
    require_device(operation);
    int device = 0;
    check(cudaGetDevice(&device), operation);
    Handle& own = handles[device % most_devices];
    if (!own.made) {
      check(cublasCreate(&own.handle), operation);
      own.made = true;
    }
    return own.handle;
  }

  const char* operation_;
  cublasHandle_t handle_;
};

}  // namespace structmat::gpu
