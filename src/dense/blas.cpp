#include "structmat/dense/blas.hpp"

#include <cblas.h>

#include <climits>

#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

// OpenBLAS's own questions; another BLAS does not have them.
extern "C" {
char* openblas_get_corename(void) __attribute__((weak));
int openblas_get_num_threads(void) __attribute__((weak));
int openblas_get_parallel(void) __attribute__((weak));
}

namespace structmat::dense {
namespace {

/// A matrix as BLAS wants it: row-major with a leading dimension, transposed if need be.
struct Layout {
  bool transposed;
  int leading;
};

int narrow(index_t n, const char* what) {
  if (n > INT_MAX) {
    throw Unsupported("dense: " + std::string(what) + " " + std::to_string(n) +
                      " exceeds the 32-bit integers of this BLAS");
  }
  return static_cast<int>(n);
}

template <class T>
Layout layout(const View<T, 2>& a, const char* operation, const char* name) {
  const auto leads = [&](int d) {  // is dimension 1 - d contiguous?
    return (a.stride(1 - d) == 1 || a.extent(1 - d) <= 1) &&
           (a.extent(d) <= 1 || a.stride(d) >= std::max<index_t>(1, a.extent(1 - d)));
  };
  for (const int d : {0, 1}) {
    if (!leads(d)) continue;
    const index_t least = std::max<index_t>(1, a.extent(1 - d));
    return {d == 1, narrow(a.extent(d) <= 1 ? least : a.stride(d), "leading dimension")};
  }
  throw Unsupported(std::string(operation) + ": " + name + " has strides (" +
                    std::to_string(a.stride(0)) + ", " + std::to_string(a.stride(1)) +
                    "), BLAS needs 1 in one dimension");
}

CBLAS_TRANSPOSE blas_op(Op op, bool transposed, const char* operation) {
  if (op == Op::adjoint) {
    if (transposed) {  // conj without transpose, which BLAS lacks
      throw Unsupported(std::string(operation) + ": adjoint of a column-major matrix");
    }
    return CblasConjTrans;
  }
  return (op == Op::transpose) != transposed ? CblasTrans : CblasNoTrans;
}

std::string shape(index_t m, index_t n) {
  return std::to_string(m) + " x " + std::to_string(n);
}

// The arguments are types and name parts, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define STRUCTMAT_REAL(T, P)                                                                       \
  void call_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, T alpha, const T* a, \
                 int lda, const T* b, int ldb, T beta, T* c, int ldc) {                            \
    cblas_##P##gemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);          \
  }                                                                                                \
  void call_gemv(CBLAS_TRANSPOSE t, int m, int n, T alpha, const T* a, int lda, const T* x,        \
                 int incx, T beta, T* y, int incy) {                                               \
    cblas_##P##gemv(CblasRowMajor, t, m, n, alpha, a, lda, x, incx, beta, y, incy);                \
  }                                                                                                \
  void call_trsm(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const T* a, int lda, T* b,         \
                 int ldb) {                                                                        \
    cblas_##P##trsm(CblasRowMajor, CblasLeft, u, t, CblasNonUnit, n, k, T{1}, a, lda, b, ldb);     \
  }
#define STRUCTMAT_COMPLEX(T, P)                                                                    \
  void call_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, T alpha, const T* a, \
                 int lda, const T* b, int ldb, T beta, T* c, int ldc) {                            \
    cblas_##P##gemm(CblasRowMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);        \
  }                                                                                                \
  void call_gemv(CBLAS_TRANSPOSE t, int m, int n, T alpha, const T* a, int lda, const T* x,        \
                 int incx, T beta, T* y, int incy) {                                               \
    cblas_##P##gemv(CblasRowMajor, t, m, n, &alpha, a, lda, x, incx, &beta, y, incy);              \
  }                                                                                                \
  void call_trsm(CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, const T* a, int lda, T* b,         \
                 int ldb) {                                                                        \
    const T one{1};                                                                                \
    cblas_##P##trsm(CblasRowMajor, CblasLeft, u, t, CblasNonUnit, n, k, &one, a, lda, b, ldb);     \
  }
// NOLINTEND(bugprone-macro-parentheses)
STRUCTMAT_REAL(float, s)
STRUCTMAT_REAL(double, d)
STRUCTMAT_COMPLEX(std::complex<float>, c)
STRUCTMAT_COMPLEX(std::complex<double>, z)

/// beta y for an empty sum.
template <class T>
void scale(T beta, const View<T, 2>& c) {
  for (index_t i = 0; i < c.extent(0); ++i) {
    for (index_t j = 0; j < c.extent(1); ++j) c(i, j) = beta == T{} ? T{} : beta * c(i, j);
  }
}

}  // namespace

template <Scalar T>
void gemm(Op op_a, Op op_b, T alpha, View<const T, 2> a, View<const T, 2> b, T beta, View<T, 2> c) {
  const index_t m = c.extent(0), n = c.extent(1);
  const index_t rows = a.extent(op_a == Op::none ? 0 : 1), k = a.extent(op_a == Op::none ? 1 : 0);
  const index_t inner = b.extent(op_b == Op::none ? 0 : 1),
                cols = b.extent(op_b == Op::none ? 1 : 0);
  if (rows != m || cols != n || inner != k) {
    throw ShapeError("dense::gemm: op(A) is " + shape(rows, k) + ", op(B) is " +
                     shape(inner, cols) + ", C is " + shape(m, n));
  }
  if (m == 0 || n == 0) return;
  if (k == 0) return scale(beta, c);
  const Layout la = layout(a, "dense::gemm", "A"), lb = layout(b, "dense::gemm", "B"),
               lc = layout(c, "dense::gemm", "C");
  if (lc.transposed) throw Unsupported("dense::gemm: C is column-major, it must be row-major");
  call_gemm(blas_op(op_a, la.transposed, "dense::gemm"),
            blas_op(op_b, lb.transposed, "dense::gemm"), narrow(m, "extent"), narrow(n, "extent"),
            narrow(k, "extent"), alpha, a.data(), la.leading, b.data(), lb.leading, beta, c.data(),
            lc.leading);
}

template <Scalar T>
void gemv(Op op, T alpha, View<const T, 2> a, View<const T, 1> x, T beta, View<T, 1> y) {
  const index_t m = a.extent(op == Op::none ? 0 : 1), n = a.extent(op == Op::none ? 1 : 0);
  if (x.extent(0) != n || y.extent(0) != m) {
    throw ShapeError("dense::gemv: op(A) is " + shape(m, n) + ", x has " +
                     std::to_string(x.extent(0)) + " rows, y has " + std::to_string(y.extent(0)));
  }
  if (m == 0) return;
  if (n == 0) return scale(beta, View<T, 2>(y.data(), {m, 1}, {y.stride(0), 1}));
  const Layout la = layout(a, "dense::gemv", "A");
  const auto first = [](const auto& v) {  // BLAS counts from the lowest address
    return v.stride(0) < 0 ? v.data() + (v.extent(0) - 1) * v.stride(0) : v.data();
  };
  const index_t stored_rows = a.extent(la.transposed ? 1 : 0),
                stored_cols = a.extent(la.transposed ? 0 : 1);
  call_gemv(blas_op(op, la.transposed, "dense::gemv"), narrow(stored_rows, "extent"),
            narrow(stored_cols, "extent"), alpha, a.data(), la.leading, first(x),
            narrow(n == 1 ? 1 : x.stride(0), "stride"), beta, first(y),
            narrow(m == 1 ? 1 : y.stride(0), "stride"));
}

template <Scalar T>
void triangular_solve(Triangle triangle, Op op, View<const T, 2> a, View<T, 2> b) {
  constexpr auto operation = "dense::triangular_solve";
  const index_t n = a.extent(0), k = b.extent(1);
  if (a.extent(1) != n || b.extent(0) != n) {
    throw ShapeError(std::string(operation) + ": A is " + shape(n, a.extent(1)) + ", B is " +
                     shape(b.extent(0), k));
  }
  if (n == 0 || k == 0) return;
  const Layout la = layout(a, operation, "A"), lb = layout(b, operation, "B");
  if (la.transposed || lb.transposed) {
    throw Unsupported(std::string(operation) + ": a column-major operand, both must be row-major");
  }
  call_trsm(triangle == Triangle::lower ? CblasLower : CblasUpper, blas_op(op, false, operation),
            narrow(n, "extent"), narrow(k, "extent"), a.data(), la.leading, b.data(), lb.leading);
}

std::string blas_core() {
  return openblas_get_corename != nullptr ? openblas_get_corename() : "";
}
int blas_threads() {
#ifdef _OPENMP
  // The OpenMP flavour (2) asks OpenMP at every call; its own answer is that of an earlier call.
  if (openblas_get_parallel != nullptr && openblas_get_parallel() == 2)
    return omp_get_max_threads();
#endif
  return openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 0;
}

#define STRUCTMAT_INSTANTIATE(T)                                                           \
  template STRUCTMAT_EXPORT void gemm<T>(Op, Op, T, View<const T, 2>, View<const T, 2>, T, \
                                         View<T, 2>);                                      \
  template STRUCTMAT_EXPORT void gemv<T>(Op, T, View<const T, 2>, View<const T, 1>, T,     \
                                         View<T, 1>);                                      \
  template STRUCTMAT_EXPORT void triangular_solve<T>(Triangle, Op, View<const T, 2>, View<T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
