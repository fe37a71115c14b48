/// \file
/// cuSOLVER for the operations of gpu/: handles, checked calls, one name for the four scalar types.
/// Matrices are stored by columns, as cuSOLVER has them.
#pragma once

#include <cusolverDn.h>

#include <algorithm>
#include <vector>

#include "core/complex.cuh"

namespace structmat::gpu {

/// Throws BackendError, on behalf of `operation`, unless the status is success.
inline void check(cusolverStatus_t status, const char* operation) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  throw BackendError(operation, "cuSOLVER", static_cast<int>(status), "see cusolverStatus_t");
}

template <class T>
inline constexpr cudaDataType data_type = CUDA_R_32F;
template <>
inline constexpr cudaDataType data_type<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType data_type<Complex<float>> = CUDA_C_32F;
template <>
inline constexpr cudaDataType data_type<Complex<double>> = CUDA_C_64F;

/// Factorisations on a stream, with 64-bit extents.
///
/// A thread keeps one handle for each device that it uses; making it, and the query of a workspace,
/// allocates: the caller asks before it may be capturing, in the thread that calls. Memory on the device
/// belongs to the caller, as many bytes as the query of the same arguments says; what cuSOLVER wants on
/// the host the thread keeps. `info`, on the device, is the
/// status of LAPACK: 0, or the number of the pivot, minor or superdiagonal that failed.
class Solver {
 public:
  struct Buffer {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  Solver(const char* operation, cudaStream_t stream) : operation_(operation), own_(own(operation)) {
    check(cusolverDnSetStream(own_.handle, stream), operation);
  }

  template <class T>
  std::size_t geqrf_bytes(index_t m, index_t n, const T* a, index_t lda, const T* tau) const {
    return device_bytes([&](std::size_t* device, std::size_t* host) {
      return cusolverDnXgeqrf_bufferSize(own_.handle, own_.parameters, m, n, data_type<T>, a, lda,
                                         data_type<T>, tau, data_type<T>, device, host);
    });
  }
  /// A = Q R; R in the upper triangle, reflectors below it, their factors in tau.
  template <class T>
  void geqrf(index_t m, index_t n, T* a, index_t lda, T* tau, Buffer buffer, int* info) const {
    check(cusolverDnXgeqrf(own_.handle, own_.parameters, m, n, data_type<T>, a, lda, data_type<T>,
                           tau, data_type<T>, buffer.data, buffer.bytes, own_.memory.data(),
                           own_.memory.size(), info),
          operation_);
  }

  template <class T>
  std::size_t getrf_bytes(index_t m, index_t n, const T* a, index_t lda) const {
    return device_bytes([&](std::size_t* device, std::size_t* host) {
      return cusolverDnXgetrf_bufferSize(own_.handle, own_.parameters, m, n, data_type<T>, a, lda,
                                         data_type<T>, device, host);
    });
  }
  /// P A = L U with partial pivoting; pivots: min(m, n), counted from 1.
  template <class T>
  void getrf(index_t m, index_t n, T* a, index_t lda, std::int64_t* pivots, Buffer buffer,
             int* info) const {
    check(cusolverDnXgetrf(own_.handle, own_.parameters, m, n, data_type<T>, a, lda, pivots,
                           data_type<T>, buffer.data, buffer.bytes, own_.memory.data(),
                           own_.memory.size(), info),
          operation_);
  }
  /// B := op(A)^-1 B by the factors of getrf; b: n x k.
  template <class T>
  void getrs(cublasOperation_t op, index_t n, index_t k, const T* a, index_t lda,
             const std::int64_t* pivots, T* b, index_t ldb, int* info) const {
    check(cusolverDnXgetrs(own_.handle, own_.parameters, op, n, k, data_type<T>, a, lda, pivots,
                           data_type<T>, b, ldb, info),
          operation_);
  }

  template <class T>
  std::size_t gesvd_bytes(bool left, index_t m, index_t n, const T* a, index_t lda) const {
    return device_bytes([&](std::size_t* device, std::size_t* host) {
      return cusolverDnXgesvd_bufferSize(own_.handle, own_.parameters, left ? 'S' : 'N', 'N', m, n,
                                         data_type<T>, a, lda, data_type<real_of_t<T>>, nullptr,
                                         data_type<T>, nullptr, m, data_type<T>, nullptr, n,
                                         data_type<T>, device, host);
    });
  }
  /// Singular values of A, descending, and, with u, its left singular vectors; a: m x n, m >= n, is
  /// overwritten; u: m x n, leading dimension m, or null.
  template <class T>
  void gesvd(index_t m, index_t n, T* a, index_t lda, real_of_t<T>* values, T* u, Buffer buffer,
             int* info) const {
    check(cusolverDnXgesvd(own_.handle, own_.parameters, u == nullptr ? 'N' : 'S', 'N', m, n,
                           data_type<T>, a, lda, data_type<real_of_t<T>>, values, data_type<T>, u,
                           m, data_type<T>, nullptr, n, data_type<T>, buffer.data, buffer.bytes,
                           own_.memory.data(), own_.memory.size(), info),
          operation_);
  }

 private:
  struct Own {
    cusolverDnHandle_t handle = nullptr;
    cusolverDnParams_t parameters = nullptr;
    std::vector<std::byte> memory;
    bool made = false;
    ~Own() {
      if (!made) return;
      cusolverDnDestroyParams(parameters);
      cusolverDnDestroy(handle);
    }
  };

  template <class Query>
  std::size_t device_bytes(const Query& query) const {
    std::size_t device = 0, host = 0;
    check(query(&device, &host), operation_);
    // Work of an earlier call may still be reading the old block.
    if (own_.memory.size() < host) {
      check(cudaDeviceSynchronize(), operation_);
      own_.memory.resize(host);
    }
    return device;
  }

  static Own& own(const char* operation) {
    constexpr int most_devices = 64;
    thread_local Own all[most_devices];
    require_device(operation);
    int device = 0;
    check(cudaGetDevice(&device), operation);
    Own& own = all[device % most_devices];
    if (!own.made) {
      check(cusolverDnCreate(&own.handle), operation);
      check(cusolverDnCreateParams(&own.parameters), operation);
      own.made = true;
    }
    return own;
  }

  const char* operation_;
  Own& own_;
};

}  // namespace structmat::gpu
