#include "structmat/cauchy/solve_vjp.hpp"

#include <string>

#include "cauchy/coincidence.hpp"
#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/solve_cotangent.hpp"
#include "structmat/cauchy/inverse.hpp"

namespace structmat {
namespace {

template <class V, Scalar T, class Cotangent>
void pull_back(const exec::cpu& e, const V& m, const cauchy::Lu<T>& f, Op op,
               const View<const T, 3>& x, const View<const T, 3>& x_bar, const Cotangent& m_bar,
               const View<T, 3>& b_bar) {
  const Array<T, 3> y_bar =
      solve_cotangent<T>("cauchy::solve_vjp", op, x, x_bar, b_bar,
                         [&](Op inverse, const View<const T, 3>& b, const View<T, 3>& y) {
                           cauchy::solve(e, f, inverse, b, y);
                         });
  apply_vjp<T>(e, m, op, x, y_bar.view(), m_bar, {});
}

/// The batch entry of a cotangent that a batch entry of the matrix adds to.
template <class V>
index_t entry_of(const V& cotangent, index_t b) {
  return cotangent.extent(0) == 1 ? 0 : b;
}

template <Scalar T, int Rank>
void require_shape(const char* operation, const View<T, Rank>& cotangent,
                   std::array<index_t, std::size_t(Rank)> extents) {
  if (cotangent.data() == nullptr) return;
  if (cotangent.extent(0) == 1) extents[0] = 1;
  detail::require_extents<T, Rank, space::host>(operation, cotangent, extents);
}

template <class V, class Bar>
void require_weights(const char* operation, const V& m, const Bar& bar) {
  if (m.rows() != m.cols()) {
    throw ShapeError(std::string(operation) + ": the matrix is " + std::to_string(m.rows()) +
                     " x " + std::to_string(m.cols()) + ", it must be square");
  }
  if (bar.extent(0) != m.batch()) {
    throw ShapeError(std::string(operation) + ": bar has " + std::to_string(bar.extent(0)) +
                     " numbers, the matrix has batch " + std::to_string(m.batch()));
  }
}

/// sum_{k != i} 1 / (x_i - x_k) - sum_k 1 / (x_i - y_k)
template <Scalar T>
T log_derivative(const View<const T, 1>& x, const View<const T, 1>& y, index_t i) {
  T sum{};
  for (index_t k = 0; k < x.extent(0); ++k) {
    if (k != i) sum += T{1} / (x(i) - x(k));
    sum -= T{1} / (x(i) - y(k));
  }
  return sum;
}

}  // namespace

template <Scalar T>
void solve_vjp(const exec::cpu& e, const CauchyView<T>& m, const cauchy::Lu<T>& f, Op op,
               View<const T, 3> x, View<const T, 3> x_bar, const CauchyCotangent<T>& m_bar,
               View<T, 3> b_bar) {
  pull_back(e, m, f, op, x, x_bar, m_bar, b_bar);
}
template <Scalar T>
void solve_vjp(const exec::cpu& e, const CauchyLikeView<T>& m, const cauchy::Lu<T>& f, Op op,
               View<const T, 3> x, View<const T, 3> x_bar, const CauchyLikeCotangent<T>& m_bar,
               View<T, 3> b_bar) {
  pull_back(e, m, f, op, x, x_bar, m_bar, b_bar);
}

template <Scalar T>
void log_determinant_vjp(const exec::cpu& e, const CauchyView<T>& given,
                         View<const real_t<T>, 1> bar, const CauchyCotangent<T>& m_bar) {
  constexpr const char* operation = "cauchy::log_determinant_vjp";
  const CauchyView<T> m = cauchy::checked(given, operation);
  require_weights(operation, m, bar);
  const index_t n = m.rows();
  require_shape<T, 2>(operation, m_bar.s, {m.batch(), n});
  require_shape<T, 2>(operation, m_bar.t, {m.batch(), n});
  for (index_t b = 0; b < m.batch(); ++b) {
    if (log_determinant(e, m, b).sign == T{}) {
      throw DomainError(std::string(operation) + ": batch entry " + std::to_string(b) +
                        " is singular");
    }
  }
  for (index_t b = 0; b < m.batch(); ++b) {
    const View<const T, 1> s = m.s.select(0, b), t = m.t.select(0, b);
    for (index_t i = 0; i < n; ++i) {
      if (m_bar.s.data() != nullptr) {
        m_bar.s(entry_of(m_bar.s, b), i) += bar(b) * conjugate(log_derivative<T>(s, t, i));
      }
      if (m_bar.t.data() != nullptr) {
        m_bar.t(entry_of(m_bar.t, b), i) += bar(b) * conjugate(log_derivative<T>(t, s, i));
      }
    }
  }
}

template <Scalar T>
void log_determinant_vjp(const exec::cpu& e, const CauchyLikeView<T>& given,
                         View<const real_t<T>, 1> bar, const CauchyLikeCotangent<T>& m_bar) {
  constexpr const char* operation = "cauchy::log_determinant_vjp";
  const CauchyLikeView<T> m = cauchy::checked(given, operation);
  require_weights(operation, m, bar);
  const index_t n = m.rows(), r = m.order();
  require_shape<T, 2>(operation, m_bar.s, {m.batch(), n});
  require_shape<T, 2>(operation, m_bar.t, {m.batch(), n});
  require_shape<T, 3>(operation, m_bar.g, {m.batch(), n, r});
  require_shape<T, 3>(operation, m_bar.h, {m.batch(), n, r});
  const CauchyLike<T> inverse = cauchy::inverse(e, m);
  for (index_t b = 0; b < m.batch(); ++b) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n; ++j) {
        // d log det = sum (C^-1)_ji dC_ij, C_ij = (g_i . h_j) / (s_i - t_j)
        const T gap = T{1} / (m.s(b, i) - m.t(b, j));
        T entry{}, of_inverse{};
        for (index_t l = 0; l < r; ++l) {
          entry += product(m.g(b, i, l), m.h(b, j, l));
          of_inverse += product(inverse.g(b, j, l), inverse.h(b, i, l));
        }
        const T weight = -bar(b) * product(of_inverse, product(gap, gap));
        const T of_node = conjugate(product(weight, product(entry, gap)));
        if (m_bar.s.data() != nullptr) m_bar.s(entry_of(m_bar.s, b), i) -= of_node;
        if (m_bar.t.data() != nullptr) m_bar.t(entry_of(m_bar.t, b), j) += of_node;
        for (index_t l = 0; l < r; ++l) {
          if (m_bar.g.data() != nullptr) {
            m_bar.g(entry_of(m_bar.g, b), i, l) += conjugate(product(weight, m.h(b, j, l)));
          }
          if (m_bar.h.data() != nullptr) {
            m_bar.h(entry_of(m_bar.h, b), j, l) += conjugate(product(weight, m.g(b, i, l)));
          }
        }
      }
    }
  }
}

#define STRUCTMAT_INSTANTIATE_VIEW(V, Cotangent, T)                                                \
  template STRUCTMAT_EXPORT void solve_vjp<T>(const exec::cpu&, const V<T>&, const cauchy::Lu<T>&, \
                                              Op, View<const T, 3>, View<const T, 3>,              \
                                              const Cotangent<T>&, View<T, 3>);                    \
  template STRUCTMAT_EXPORT void log_determinant_vjp<T>(                                           \
      const exec::cpu&, const V<T>&, View<const real_t<T>, 1>, const Cotangent<T>&);
#define STRUCTMAT_INSTANTIATE(T)                             \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyView, CauchyCotangent, T) \
  STRUCTMAT_INSTANTIATE_VIEW(CauchyLikeView, CauchyLikeCotangent, T)
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
