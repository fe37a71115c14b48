// The functions of cuBLAS that gpu/ calls, by their definitions.
#include <complex>

#include "cublas_v2.h"

namespace {

template <class T>
T entry(cublasOperation_t op, const T* a, std::int64_t lda, std::int64_t i, std::int64_t j) {
  const T value = op == CUBLAS_OP_N ? a[i + j * lda] : a[j + i * lda];
  if constexpr (!std::is_floating_point_v<T>) {
    if (op == CUBLAS_OP_C) return std::conj(value);
  }
  return value;
}

template <class T>
cublasStatus_t gemm(cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m, std::int64_t n,
                    std::int64_t k, T alpha, const T* a, std::int64_t lda, long long stride_a,
                    const T* b, std::int64_t ldb, long long stride_b, T beta, T* c,
                    std::int64_t ldc, long long stride_c, std::int64_t batch) {
  const std::int64_t rows_a = op_a == CUBLAS_OP_N ? m : k, rows_b = op_b == CUBLAS_OP_N ? k : n;
  const auto least = [](std::int64_t rows) { return std::max<std::int64_t>(1, rows); };
  if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < least(rows_a) || ldb < least(rows_b) ||
      ldc < least(m)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (std::int64_t e = 0; e < batch; ++e) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        T sum{};
        for (std::int64_t l = 0; l < k; ++l) {
          sum +=
              entry(op_a, a + e * stride_a, lda, i, l) * entry(op_b, b + e * stride_b, ldb, l, j);
        }
        T& out = c[e * stride_c + i + j * ldc];
        // beta = 0 does not read: the output may hold NaN.
        out = beta == T{} ? alpha * sum : alpha * sum + beta * out;
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
const T& number(const T* p) {
  return *p;
}

}  // namespace

#define STRUCTMAT_BLAS(letter, Cuda, T)                                                          \
  cublasStatus_t cublas##letter##gemmStridedBatched_64(                                          \
      cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,            \
      std::int64_t n, std::int64_t k, const Cuda* alpha, const Cuda* a, std::int64_t lda,        \
      long long stride_a, const Cuda* b, std::int64_t ldb, long long stride_b, const Cuda* beta, \
      Cuda* c, std::int64_t ldc, long long stride_c, std::int64_t batch) {                       \
    return gemm<T>(op_a, op_b, m, n, k, number(reinterpret_cast<const T*>(alpha)),               \
                   reinterpret_cast<const T*>(a), lda, stride_a, reinterpret_cast<const T*>(b),  \
                   ldb, stride_b, number(reinterpret_cast<const T*>(beta)),                      \
                   reinterpret_cast<T*>(c), ldc, stride_c, batch);                               \
  }
STRUCTMAT_BLAS(S, float, float)
STRUCTMAT_BLAS(D, double, double)
STRUCTMAT_BLAS(C, cuComplex, std::complex<float>)
STRUCTMAT_BLAS(Z, cuDoubleComplex, std::complex<double>)
