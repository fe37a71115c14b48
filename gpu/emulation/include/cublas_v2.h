/// \file
/// Stands in for cuBLAS in the emulation (see cuda_runtime.h): textbook loops.
#pragma once

#include <cstdint>

#include "cuda_runtime.h"

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
using cublasHandle_t = struct EmulatedBlas*;

using cuComplex = float2;
using cuDoubleComplex = double2;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  return *handle = nullptr, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusString(cublasStatus_t) {
  return "status of the emulation";
}

#define STRUCTMAT_GEMM(letter, T)                                                                \
  cublasStatus_t cublas##letter##gemmStridedBatched_64(                                          \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,     \
      std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda,              \
      long long stride_a, const T* b, std::int64_t ldb, long long stride_b, const T* beta, T* c, \
      std::int64_t ldc, long long stride_c, std::int64_t batch);
STRUCTMAT_GEMM(S, float)
STRUCTMAT_GEMM(D, double)
STRUCTMAT_GEMM(C, cuComplex)
STRUCTMAT_GEMM(Z, cuDoubleComplex)
#undef STRUCTMAT_GEMM
