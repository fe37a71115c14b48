// The functions of cuSOLVER that gpu/ calls, on LAPACK. They ask for a workspace that they do not need, so
// that a caller who gives less is found out.
#include "cusolverDn.h"

#include <algorithm>
#include <complex>
#include <vector>

#include <lapack.h>

namespace {

constexpr std::size_t asked_bytes = 1024;

cusolverStatus_t ask(std::size_t* device, std::size_t* host) {
  *device = asked_bytes;
  *host = asked_bytes;
  return CUSOLVER_STATUS_SUCCESS;
}

bool given(const void* buffer, std::size_t bytes, const void* on_host, std::size_t host_bytes) {
  return buffer != nullptr && bytes >= asked_bytes && on_host != nullptr &&
         host_bytes >= asked_bytes;
}

/// call(T{}) for the scalar type that is named.
template <class Call>
void with_type(cudaDataType type, const Call& call) {
  if (type == CUDA_R_32F) call(float{});
  if (type == CUDA_R_64F) call(double{});
  if (type == CUDA_C_32F) call(std::complex<float>{});
  if (type == CUDA_C_64F) call(std::complex<double>{});
}

#define STRUCTMAT_DISPATCH(T, routine, ...)                                                \
  [&] {                                                                                    \
    if constexpr (std::is_same_v<T, float>) LAPACK_s##routine(__VA_ARGS__);                \
    if constexpr (std::is_same_v<T, double>) LAPACK_d##routine(__VA_ARGS__);               \
    if constexpr (std::is_same_v<T, std::complex<float>>) LAPACK_c##routine(__VA_ARGS__);  \
    if constexpr (std::is_same_v<T, std::complex<double>>) LAPACK_z##routine(__VA_ARGS__); \
  }()

}  // namespace

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t,
                                             std::int64_t, cudaDataType, const void*, std::int64_t,
                                             cudaDataType, const void*, cudaDataType,
                                             std::size_t* device, std::size_t* host) {
  return ask(device, host);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m,
                                  std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                                  cudaDataType, void* tau, cudaDataType, void* buffer,
                                  std::size_t bytes, void* on_host, std::size_t host_bytes,
                                  int* info) {
  if (!given(buffer, bytes, on_host, host_bytes)) return CUSOLVER_STATUS_INVALID_VALUE;
  with_type(type, [&](auto scalar) {
    using T = decltype(scalar);
    const lapack_int rows = lapack_int(m), columns = lapack_int(n), ld = lapack_int(lda),
                     size = std::max<lapack_int>(1, 64 * columns);
    std::vector<T> work(size);
    lapack_int status = 0;
    STRUCTMAT_DISPATCH(T, geqrf, &rows, &columns, static_cast<T*>(a), &ld, static_cast<T*>(tau),
                       work.data(), &size, &status);
    *info = status;
  });
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t,
                                             std::int64_t, cudaDataType, const void*, std::int64_t,
                                             cudaDataType, std::size_t* device, std::size_t* host) {
  return ask(device, host);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m,
                                  std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                                  std::int64_t* pivots, cudaDataType, void* buffer,
                                  std::size_t bytes, void* on_host, std::size_t host_bytes,
                                  int* info) {
  if (!given(buffer, bytes, on_host, host_bytes)) return CUSOLVER_STATUS_INVALID_VALUE;
  with_type(type, [&](auto scalar) {
    using T = decltype(scalar);
    const lapack_int rows = lapack_int(m), columns = lapack_int(n), ld = lapack_int(lda);
    std::vector<lapack_int> exchanged(std::min(m, n));
    lapack_int status = 0;
    STRUCTMAT_DISPATCH(T, getrf, &rows, &columns, static_cast<T*>(a), &ld, exchanged.data(),
                       &status);
    std::copy(exchanged.begin(), exchanged.end(), pivots);
    *info = status;
  });
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t, cusolverDnParams_t, cublasOperation_t op,
                                  std::int64_t n, std::int64_t k, cudaDataType type, const void* a,
                                  std::int64_t lda, const std::int64_t* pivots, cudaDataType,
                                  void* b, std::int64_t ldb, int* info) {
  with_type(type, [&](auto scalar) {
    using T = decltype(scalar);
    const lapack_int order = lapack_int(n), columns = lapack_int(k), ld = lapack_int(lda),
                     ld_b = lapack_int(ldb);
    const std::vector<lapack_int> exchanged(pivots, pivots + n);
    const char letter = op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C';
    lapack_int status = 0;
    STRUCTMAT_DISPATCH(T, getrs, &letter, &order, &columns, static_cast<const T*>(a), &ld,
                       exchanged.data(), static_cast<T*>(b), &ld_b, &status);
    *info = status;
  });
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char,
                                             signed char, std::int64_t, std::int64_t, cudaDataType,
                                             const void*, std::int64_t, cudaDataType, const void*,
                                             cudaDataType, const void*, std::int64_t, cudaDataType,
                                             const void*, std::int64_t, cudaDataType,
                                             std::size_t* device, std::size_t* host) {
  return ask(device, host);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t, cusolverDnParams_t, signed char job_u,
                                  signed char job_v, std::int64_t m, std::int64_t n,
                                  cudaDataType type, void* a, std::int64_t lda, cudaDataType,
                                  void* s, cudaDataType, void* u, std::int64_t ldu, cudaDataType,
                                  void*, std::int64_t, cudaDataType, void* buffer,
                                  std::size_t bytes, void* on_host, std::size_t host_bytes,
                                  int* info) {
  if (!given(buffer, bytes, on_host, host_bytes) || (job_u != 'N' && job_u != 'S') ||
      job_v != 'N' || m < n) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  with_type(type, [&](auto scalar) {
    using T = decltype(scalar);
    using R = decltype(std::real(T{}));
    const lapack_int rows = lapack_int(m), columns = lapack_int(n), ld = lapack_int(lda), one = 1,
                     size = lapack_int(64 * (m + n + 1)), ld_u = lapack_int(ldu);
    const char none = 'N', left = job_u;
    std::vector<T> work(size);
    std::vector<R> real_work(5 * n + 1);
    T unused{};
    lapack_int status = 0;
    if constexpr (std::is_same_v<T, R>) {
      STRUCTMAT_DISPATCH(T, gesvd, &left, &none, &rows, &columns, static_cast<T*>(a), &ld,
                         static_cast<R*>(s), static_cast<T*>(u), &ld_u, &unused, &one, work.data(),
                         &size, &status);
    } else {
      STRUCTMAT_DISPATCH(T, gesvd, &left, &none, &rows, &columns, static_cast<T*>(a), &ld,
                         static_cast<R*>(s), static_cast<T*>(u), &ld_u, &unused, &one, work.data(),
                         &size, real_work.data(), &status);
    }
    *info = status;
  });
  return CUSOLVER_STATUS_SUCCESS;
}
