/// \file
/// Stands in for cuSOLVER in the emulation (see cuda_runtime.h): LAPACK.
#pragma once

#include "cublas_v2.h"

enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS = 0, CUSOLVER_STATUS_INVALID_VALUE = 3 };
enum cudaDataType { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_C_32F = 4, CUDA_C_64F = 5 };
using cusolverDnHandle_t = struct EmulatedSolver*;
using cusolverDnParams_t = struct EmulatedSolverParameters*;

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  return *handle = nullptr, CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters) {
  return *parameters = nullptr, CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t) {
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m,
                                             std::int64_t n, cudaDataType type, const void* a,
                                             std::int64_t lda, cudaDataType, const void* tau,
                                             cudaDataType, std::size_t* device, std::size_t* host);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m,
                                  std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                                  cudaDataType, void* tau, cudaDataType, void* buffer,
                                  std::size_t bytes, void* on_host, std::size_t host_bytes,
                                  int* info);
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m,
                                             std::int64_t n, cudaDataType type, const void* a,
                                             std::int64_t lda, cudaDataType, std::size_t* device,
                                             std::size_t* host);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m,
                                  std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                                  std::int64_t* pivots, cudaDataType, void* buffer,
                                  std::size_t bytes, void* on_host, std::size_t host_bytes,
                                  int* info);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t, cusolverDnParams_t, cublasOperation_t op,
                                  std::int64_t n, std::int64_t k, cudaDataType type, const void* a,
                                  std::int64_t lda, const std::int64_t* pivots, cudaDataType,
                                  void* b, std::int64_t ldb, int* info);
cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                             signed char job_u, signed char job_v, std::int64_t m,
                                             std::int64_t n, cudaDataType type, const void* a,
                                             std::int64_t lda, cudaDataType, const void* s,
                                             cudaDataType, const void* u, std::int64_t ldu,
                                             cudaDataType, const void* vt, std::int64_t ldvt,
                                             cudaDataType, std::size_t* device, std::size_t* host);
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t, cusolverDnParams_t, signed char job_u,
                                  signed char job_v, std::int64_t m, std::int64_t n,
                                  cudaDataType type, void* a, std::int64_t lda, cudaDataType,
                                  void* s, cudaDataType, void* u, std::int64_t ldu, cudaDataType,
                                  void* vt, std::int64_t ldvt, cudaDataType, void* buffer,
                                  std::size_t bytes, void* on_host, std::size_t host_bytes,
                                  int* info);
