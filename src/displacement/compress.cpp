#include "structmat/displacement/compress.hpp"

#include <cmath>
#include <string>

#include "core/instantiate.hpp"
#include "dense/product.hpp"
#include "structmat/dense/lapack.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::displacement {
namespace {

void require_options(const char* operation, const CompressOptions& options) {
  if (options.tolerance && !(*options.tolerance >= 0)) {
    throw DomainError(std::string(operation) + ": the tolerance is " +
                      std::to_string(*options.tolerance) + ", it must not be negative");
  }
  if (options.order && *options.order < 0) {
    throw DomainError(std::string(operation) + ": the order is " + std::to_string(*options.order) +
                      ", it must not be negative");
  }
}

/// The right singular vectors to keep.
template <Scalar T>
struct Kept {
  std::vector<double> singular_values;
  index_t rank = 0;
  double error = 0;
  Array<T, 2> v;  ///< conj(V), (min(m, n), n): row k belongs to singular value k
};

template <Scalar T>
Kept<T> leading(View<const T, 2> a, double threshold, const CompressOptions& options) {
  const index_t m = a.extent(0), n = a.extent(1), least = std::min(m, n);
  Kept<T> kept;
  kept.v = Array<T, 2>({least, n});
  if (least == 0) return kept;
  Array<T, 2> vh({n, least}, uninitialized);
  std::vector<real_t<T>> s(least);
  dense::svd_right<T>(a, View<real_t<T>, 1>(s), vh.view().transposed());
  copy(vh.view().transposed(), kept.v.view());
  kept.singular_values.assign(s.begin(), s.end());
  while (kept.rank < least && kept.singular_values[kept.rank] > threshold) ++kept.rank;
  if (options.order) kept.rank = std::min(kept.rank, *options.order);
  for (index_t k = kept.rank; k < least; ++k) {
    kept.error = std::hypot(kept.error, kept.singular_values[k]);
  }
  return kept;
}

/// G = A V, H = Q conj(V), with columns of equal norms.
template <Scalar T>
Compressed<T> from_kept(Displacement<T> d, Kept<T> kept, double reference, View<const T, 2> a,
                        const Array<T, 2>* q) {
  const View<const T, 2> v = View<const T, 2>(kept.v.view()).slice(0, 0, kept.rank);
  Array<T, 2> g = dense::product<T>(Op::none, a, Op::adjoint, v);
  Array<T, 2> h = q ? dense::product<T>(Op::none, *q, Op::transpose, v) : to_array(v.transposed());
  for (index_t k = 0; k < kept.rank; ++k) {
    const auto root = static_cast<real_t<T>>(std::sqrt(kept.singular_values[k]));
    for (index_t i = 0; i < g.extent(0); ++i) g(i, k) /= root;
    for (index_t j = 0; j < h.extent(0); ++j) h(j, k) *= root;
  }
  return {{std::move(d), std::move(g), std::move(h)},
          std::move(kept.singular_values),
          kept.error,
          reference};
}

/// The triangle R of A = Q R, (min(m, n), n), and with `q` the min(m, n) columns of Q.
template <Scalar T>
Array<T, 2> triangle(const Array<T, 2>& a, Array<T, 2>* q) {
  const index_t m = a.extent(0), n = a.extent(1), least = std::min(m, n);
  Array<T, 2> store({n, m}, uninitialized), r({least, n});
  const View<T, 2> columns = store.view().transposed();
  copy(a.view(), View<T, 2>(columns));
  std::vector<T> tau(least);
  dense::qr_factor<T>(columns, View<T, 1>(tau));
  for (index_t i = 0; i < least; ++i) {
    for (index_t j = i; j < n; ++j) r(i, j) = columns(i, j);
  }
  if (q) {
    dense::form_q<T>(columns.slice(1, 0, least), View<const T, 1>(tau));
    *q = to_array(columns.slice(1, 0, least));
  }
  return r;
}

template <Scalar T>
double norm_of_column(const Array<T, 2>& a, index_t k) {
  return dense::frobenius_norm<T>(a.view().slice(1, k, k + 1));
}

}  // namespace

template <Scalar T>
Compressed<T> compress(const Generators<T>& x, const CompressOptions& options) {
  constexpr auto operation = "displacement::compress";
  require_valid(operation, x);
  require_options(operation, options);
  dense::require_finite<T>(operation, x.g);
  dense::require_finite<T>(operation, x.h);
  const index_t r = x.order();
  double reference = 0;
  for (index_t k = 0; k < r; ++k) reference += norm_of_column(x.g, k) * norm_of_column(x.h, k);
  if (r == 0 || x.rows() == 0 || x.cols() == 0) {
    return {{x.displacement, Array<T, 2>({x.rows(), 0}), Array<T, 2>({x.cols(), 0})}, {}, 0, 0};
  }
  // G H^T = Q_g (R_g R_h^T) Q_h^T
  Array<T, 2> q;
  const Array<T, 2> r_g = triangle<T>(x.g, nullptr), r_h = triangle(x.h, &q);
  const Array<T, 2> core = dense::product<T>(Op::none, r_g, Op::transpose, r_h);
  const double tolerance = options.tolerance.value_or(16.0 * double(r) * double(epsilon<T>));
  Kept<T> kept = leading<T>(core, tolerance * reference, options);
  const Array<T, 2> left = dense::product<T>(Op::none, x.g, Op::transpose, r_h);
  return from_kept<T>(x.displacement, std::move(kept), reference, left, &q);
}

template <Scalar T>
Compressed<T> from_dense(View<const T, 2> a, const Displacement<T>& d,
                         const CompressOptions& options) {
  constexpr auto operation = "displacement::from_dense";
  require_options(operation, options);
  dense::require_finite<T>(operation, a);
  Terms<T> both = terms(d, a);
  const double reference =
      dense::frobenius_norm<T>(both.first.view()) + dense::frobenius_norm<T>(both.second.view());
  const Array<T, 2> image = difference(std::move(both));
  const double tolerance =
      options.tolerance.value_or(double(std::max(a.extent(0), a.extent(1))) * double(epsilon<T>));
  Kept<T> kept = leading<T>(image, tolerance * reference, options);
  return from_kept<T>(d, std::move(kept), reference, image, nullptr);
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT Compressed<T> compress<T>(const Generators<T>&,                       \
                                                      const CompressOptions&);                    \
  template STRUCTMAT_EXPORT Compressed<T> from_dense<T>(View<const T, 2>, const Displacement<T>&, \
                                                        const CompressOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::displacement
