#include "structmat/dense/lapack.hpp"

#include <climits>

#include <lapack.h>

#include "core/instantiate.hpp"
#include "structmat/core/error.hpp"

namespace structmat::dense {
namespace {

template <class T>
lapack_int leading(const View<T, 2>& a, const char* operation) {
  const index_t least = std::max<index_t>(1, a.extent(0));
  if ((a.extent(0) > 1 && a.stride(0) != 1) || (a.extent(1) > 1 && a.stride(1) < least)) {
    throw Unsupported(std::string(operation) + ": strides (" + std::to_string(a.stride(0)) + ", " +
                      std::to_string(a.stride(1)) + "), LAPACK needs column-major");
  }
  const index_t ld = a.extent(1) > 1 ? a.stride(1) : least;
  if (ld > INT_MAX || a.extent(1) > INT_MAX) {
    throw Unsupported(std::string(operation) +
                      ": extents exceed the 32-bit integers of this LAPACK");
  }
  return static_cast<lapack_int>(ld);
}

/// Where eigenvalues go.
template <Scalar T>
using Spectrum = View<std::complex<real_t<T>>, 1>;

void require(lapack_int info, const char* operation, const char* routine) {
  if (info != 0) {
    throw BackendError(operation, std::string("LAPACK ") + routine, info,
                       info > 0 ? "no convergence" : "illegal argument");
  }
}

#define STRUCTMAT_DISPATCH(T, routine, ...)                                              \
  [&] {                                                                                  \
    if constexpr (std::same_as<T, float>) LAPACK_s##routine(__VA_ARGS__);                \
    if constexpr (std::same_as<T, double>) LAPACK_d##routine(__VA_ARGS__);               \
    if constexpr (std::same_as<T, std::complex<float>>) LAPACK_c##routine(__VA_ARGS__);  \
    if constexpr (std::same_as<T, std::complex<double>>) LAPACK_z##routine(__VA_ARGS__); \
  }()

#define STRUCTMAT_DISPATCH_COMPLEX(T, routine, ...)                                      \
  [&] {                                                                                  \
    if constexpr (std::same_as<T, std::complex<float>>) LAPACK_c##routine(__VA_ARGS__);  \
    if constexpr (std::same_as<T, std::complex<double>>) LAPACK_z##routine(__VA_ARGS__); \
  }()

template <Scalar T>
void gesvd(const char* operation, char job_vh, const View<const T, 2>& a,
           const View<real_t<T>, 1>& s, const View<T, 2>& vh) {
  const auto m = static_cast<lapack_int>(a.extent(0)), n = static_cast<lapack_int>(a.extent(1));
  const lapack_int smaller = std::min(m, n);
  if (s.extent(0) != smaller || (smaller > 1 && s.stride(0) != 1)) {
    throw ShapeError(std::string(operation) + ": s has " + std::to_string(s.extent(0)) +
                     " entries, the matrix " + std::to_string(smaller) + " singular values");
  }
  if (smaller == 0) return;
  if (std::max(a.extent(0), a.extent(1)) > INT_MAX) {
    throw Unsupported(std::string(operation) +
                      ": extents exceed the 32-bit integers of this LAPACK");
  }
  const char job_u = 'N';
  const lapack_int lda = m, ld_u = 1, ld_vh = job_vh == 'N' ? 1 : leading(vh, operation);
  // gesvd overwrites its input. The spare column is for OpenBLAS 0.3.21, whose cgemv for AVX-512 reads an
  // element behind the last column (and does not use it), which may lie on a page that is not there.
  Array<T, 2> columns({a.extent(1) + 1, a.extent(0)});
  copy(a.transposed(), columns.view().slice(0, 0, a.extent(1)));
  lapack_int info = 0, length = -1;
  T ideal{}, no_u{};
  [[maybe_unused]] Array<real_t<T>, 1> real_work({is_complex_v<T> ? 5 * smaller : 0});
  const auto call = [&](T* work) {
    if constexpr (is_complex_v<T>) {
      STRUCTMAT_DISPATCH(T, gesvd, &job_u, &job_vh, &m, &n, columns.data(), &lda, s.data(), &no_u,
                         &ld_u, vh.data(), &ld_vh, work, &length, real_work.data(), &info);
    } else {
      STRUCTMAT_DISPATCH(T, gesvd, &job_u, &job_vh, &m, &n, columns.data(), &lda, s.data(), &no_u,
                         &ld_u, vh.data(), &ld_vh, work, &length, &info);
    }
  };
  call(&ideal);
  require(info, operation, "gesvd");
  length = static_cast<lapack_int>(std::real(ideal));
  Array<T, 1> work({length}, uninitialized);
  call(work.data());
  require(info, operation, "gesvd");
}

}  // namespace

template <Scalar T>
void qr_factor(View<T, 2> a) {
  const auto m = static_cast<lapack_int>(a.extent(0)), n = static_cast<lapack_int>(a.extent(1));
  const lapack_int smaller = std::min(m, n);
  if (smaller == 0) return;
  const lapack_int lda = leading(a, "dense::qr_factor");
  // Panels of 32 columns keep their recursion in the first-level cache.
  const lapack_int panel = std::min<lapack_int>(32, smaller);
  Array<T, 1> t({panel * smaller}, uninitialized), work({panel * n}, uninitialized);
  lapack_int info = 0;
  STRUCTMAT_DISPATCH(T, geqrt, &m, &n, &panel, a.data(), &lda, t.data(), &panel, work.data(),
                     &info);
  require(info, "dense::qr_factor", "geqrt");
}

template <Scalar T>
void qr_factor(View<T, 2> a, View<T, 1> tau) {
  constexpr auto operation = "dense::qr_factor";
  const auto m = static_cast<lapack_int>(a.extent(0)), n = static_cast<lapack_int>(a.extent(1));
  const lapack_int smaller = std::min(m, n);
  if (tau.extent(0) != smaller || (smaller > 1 && tau.stride(0) != 1)) {
    throw ShapeError(std::string(operation) + ": tau has " + std::to_string(tau.extent(0)) +
                     " entries, the matrix " + std::to_string(smaller) + " reflectors");
  }
  if (smaller == 0) return;
  const lapack_int lda = leading(a, operation), length = 32 * n;
  Array<T, 1> work({length}, uninitialized);
  lapack_int info = 0;
  STRUCTMAT_DISPATCH(T, geqrf, &m, &n, a.data(), &lda, tau.data(), work.data(), &length, &info);
  require(info, operation, "geqrf");
}

template <Scalar T>
void form_q(View<T, 2> a, View<const T, 1> tau) {
  constexpr auto operation = "dense::form_q";
  const auto m = static_cast<lapack_int>(a.extent(0)), n = static_cast<lapack_int>(a.extent(1)),
             k = static_cast<lapack_int>(tau.extent(0));
  if (n > m || k > n) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(n) + " columns of " +
                     std::to_string(m) + " rows from " + std::to_string(k) + " reflectors");
  }
  if (n == 0) return;
  const lapack_int lda = leading(a, operation), length = 32 * n;
  Array<T, 1> work({length}, uninitialized);
  lapack_int info = 0;
  if constexpr (std::same_as<T, float>) {
    LAPACK_sorgqr(&m, &n, &k, a.data(), &lda, tau.data(), work.data(), &length, &info);
  } else if constexpr (std::same_as<T, double>) {
    LAPACK_dorgqr(&m, &n, &k, a.data(), &lda, tau.data(), work.data(), &length, &info);
  } else {
    STRUCTMAT_DISPATCH_COMPLEX(T, ungqr, &m, &n, &k, a.data(), &lda, tau.data(), work.data(),
                               &length, &info);
  }
  require(info, operation, "orgqr");
}

template <Scalar T>
void lu_factor(View<T, 2> a, std::vector<int>& pivots) {
  constexpr auto operation = "dense::lu_factor";
  const auto n = static_cast<lapack_int>(a.extent(0));
  if (a.extent(1) != n) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(n) + " x " +
                     std::to_string(a.extent(1)) + ", it must be square");
  }
  static_assert(std::same_as<lapack_int, int>);
  pivots.resize(n);
  if (n == 0) return;
  const lapack_int lda = leading(a, operation);
  lapack_int info = 0;
  STRUCTMAT_DISPATCH(T, getrf, &n, &n, a.data(), &lda, pivots.data(), &info);
  require(std::min(info, 0), operation, "getrf");
}

template <Scalar T>
void lu_solve(Op op, View<const T, 2> a, const std::vector<int>& pivots, View<T, 2> b) {
  constexpr auto operation = "dense::lu_solve";
  const auto n = static_cast<lapack_int>(a.extent(0)), k = static_cast<lapack_int>(b.extent(1));
  if (b.extent(0) != n || static_cast<lapack_int>(pivots.size()) != n) {
    throw ShapeError(std::string(operation) + ": the factors are of size " + std::to_string(n) +
                     ", B has " + std::to_string(b.extent(0)) + " rows");
  }
  if (n == 0 || k == 0) return;
  const char transpose = op == Op::none ? 'N' : op == Op::transpose ? 'T' : 'C';
  const lapack_int lda = leading(a, operation), ldb = leading(b, operation);
  lapack_int info = 0;
  STRUCTMAT_DISPATCH(T, getrs, &transpose, &n, &k, a.data(), &lda, pivots.data(), b.data(), &ldb,
                     &info);
  require(info, operation, "getrs");
}

template <Scalar T>
void svd_right(View<const T, 2> a, View<real_t<T>, 1> s, View<T, 2> vh) {
  gesvd("dense::svd_right", 'S', a, s, vh);
}

template <Scalar T>
void singular_values(View<const T, 2> a, View<real_t<T>, 1> s) {
  gesvd("dense::singular_values", 'N', a, s, View<T, 2>{});
}

template <Scalar T>
void eigenvalues(View<const T, 2> a, View<std::complex<real_t<T>>, 1> w) {
  using R = real_t<T>;
  const index_t size = a.extent(0);
  if (a.extent(1) != size || w.extent(0) != size || (size > 1 && w.stride(0) != 1)) {
    throw ShapeError("dense::eigenvalues: the matrix is " + std::to_string(size) + " x " +
                     std::to_string(a.extent(1)) + ", w has " + std::to_string(w.extent(0)) +
                     " entries");
  }
  if (size == 0) return;
  Array<T, 2> columns = to_array(a.transposed());
  const lapack_int n = leading(columns.view().transposed(), "dense::eigenvalues"), one = 1;
  const char none = 'N';
  lapack_int info = 0, length = -1;
  T ideal{}, no_vectors{};
  Array<R, 1> parts({2 * size});  // real and imaginary parts, or workspace
  const auto call = [&](T* work) {
    if constexpr (is_complex_v<T>) {
      STRUCTMAT_DISPATCH(T, geev, &none, &none, &n, columns.data(), &n, w.data(), &no_vectors, &one,
                         &no_vectors, &one, work, &length, parts.data(), &info);
    } else {
      STRUCTMAT_DISPATCH(T, geev, &none, &none, &n, columns.data(), &n, parts.data(),
                         parts.data() + size, &no_vectors, &one, &no_vectors, &one, work, &length,
                         &info);
    }
  };
  call(&ideal);
  require(info, "dense::eigenvalues", "geev");
  length = static_cast<lapack_int>(std::real(ideal));
  Array<T, 1> work({length}, uninitialized);
  call(work.data());
  require(info, "dense::eigenvalues", "geev");
  if constexpr (!is_complex_v<T>) {
    for (index_t i = 0; i < size; ++i) w(i) = {parts(i), parts(size + i)};
  }
}

template <Scalar T>
bool invert(View<T, 2> a) {
  const index_t size = a.extent(0);
  if (a.extent(1) != size) {
    throw ShapeError("dense::invert: the matrix is " + std::to_string(size) + " x " +
                     std::to_string(a.extent(1)) + ", it must be square");
  }
  if (size == 0) return true;
  const lapack_int lda = leading(a, "dense::invert"), n = static_cast<lapack_int>(size);
  std::vector<lapack_int> pivots(size);
  lapack_int info = 0;
  STRUCTMAT_DISPATCH(T, getrf, &n, &n, a.data(), &lda, pivots.data(), &info);
  if (info > 0) return false;
  require(info, "dense::invert", "getrf");
  lapack_int length = -1;
  T ideal{};
  STRUCTMAT_DISPATCH(T, getri, &n, a.data(), &lda, pivots.data(), &ideal, &length, &info);
  length = static_cast<lapack_int>(std::real(ideal));
  Array<T, 1> work({length}, uninitialized);
  STRUCTMAT_DISPATCH(T, getri, &n, a.data(), &lda, pivots.data(), work.data(), &length, &info);
  require(info, "dense::invert", "getri");
  return true;
}

#define STRUCTMAT_INSTANTIATE(T)                                                                 \
  template STRUCTMAT_EXPORT void qr_factor<T>(View<T, 2>);                                       \
  template STRUCTMAT_EXPORT void qr_factor<T>(View<T, 2>, View<T, 1>);                           \
  template STRUCTMAT_EXPORT void form_q<T>(View<T, 2>, View<const T, 1>);                        \
  template STRUCTMAT_EXPORT void lu_factor<T>(View<T, 2>, std::vector<int>&);                    \
  template STRUCTMAT_EXPORT void lu_solve<T>(Op, View<const T, 2>, const std::vector<int>&,      \
                                             View<T, 2>);                                        \
  template STRUCTMAT_EXPORT void svd_right<T>(View<const T, 2>, View<real_t<T>, 1>, View<T, 2>); \
  template STRUCTMAT_EXPORT void singular_values<T>(View<const T, 2>, View<real_t<T>, 1>);       \
  template STRUCTMAT_EXPORT bool invert<T>(View<T, 2>);                                          \
  template STRUCTMAT_EXPORT void eigenvalues<T>(View<const T, 2>, Spectrum<T>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
