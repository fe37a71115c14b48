#include "structmat/cauchy/roots_of_unity.hpp"

#include <cmath>
#include <numbers>

#include "cauchy/mapped_roots.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"

namespace structmat::cauchy {
namespace {

using Wide = std::complex<double>;

/// exp(i p) and i sin p - u cos p at p = pi k / L.
struct Node {
  double c, s;

  Node(index_t k, index_t length) {
    const double p = std::numbers::pi * double(k) / double(length);
    c = std::cos(p), s = std::sin(p);
  }
  Wide direction() const { return {c, s}; }
  Wide gap(const Wide& u) const { return {-u.real() * c, s - u.imag() * c}; }
};

template <ComplexScalar T>
Wide half_step(const MappedRootsView<T>& m, index_t b, index_t n) {
  return Wide(m.poles(b, n)) * (double(m.dt(b)) / 2);
}

/// Steps are positive and finite, and no pole is a node.
template <ComplexScalar T>
void require_domain(const char* operation, const MappedRootsView<T>& m) {
  for (index_t b = 0; b < m.dt.extent(0); ++b) {
    if (!(m.dt(b) > 0) || !std::isfinite(m.dt(b))) {
      throw DomainError(std::string(operation) + ": step " + std::to_string(b) + " is " +
                        std::to_string(m.dt(b)) + ", it must be finite and positive");
    }
    for (index_t n = 0; n < m.poles.extent(1); ++n) {
      const Wide u = half_step(m, b, n);
      if (u.real() != 0 || m.length == 0) continue;
      // The node next to tan p = Im u.
      const double turn = std::atan(u.imag()) / std::numbers::pi * double(m.length);
      const index_t k = (static_cast<index_t>(std::nearbyint(turn)) + m.length) % m.length;
      if (Node(k, m.length).gap(u) != 0.0) continue;
      throw DomainError(std::string(operation) + ": pole " + std::to_string(n) +
                        " of batch entry " + std::to_string(b) + " is node " + std::to_string(k));
    }
  }
}

}  // namespace

template <ComplexScalar T>
void sums_on_roots_of_unity(const exec::cpu& e, const MappedRootsView<T>& matrix,
                            View<const T, 3> x, View<T, 3> y) {
  constexpr auto operation = "cauchy::sums_on_roots_of_unity";
  const RootSums<T, space::host> o(operation, matrix, x, y);
  require_domain(operation, o.m);
  const index_t poles = o.m.poles.extent(1), k = y.extent(2), length = o.m.length;
  parallel_for(team_for(e.threads, y.size() * poles), o.batch * length, [&](index_t task) {
    const index_t b = task / length, node = task % length;
    const Node at(node, length);
    for (index_t c = 0; c < k; ++c) {
      Wide sum{};
      for (index_t n = 0; n < poles; ++n) sum += Wide(o.v(b, n, c)) / at.gap(half_step(o.m, b, n));
      y(b, node, c) = T(product(sum, at.direction()) * (double(o.m.dt(b)) / 2));
    }
  });
}

template <ComplexScalar T>
void sums_on_roots_of_unity_vjp(const exec::cpu& e, const MappedRootsView<T>& matrix,
                                View<const T, 3> v, View<const T, 3> y_bar, View<T, 2> poles_bar,
                                View<T, 3> v_bar) {
  constexpr auto operation = "cauchy::sums_on_roots_of_unity_vjp";
  const auto o = checked_vjp(operation, matrix, v, y_bar, poles_bar, v_bar);
  require_domain(operation, o.m);
  const index_t poles = o.m.poles.extent(1), k = v.extent(2), length = o.m.length;
  // Cotangents may be shared by the batch: one thread a pole.
  parallel_for(team_for(e.threads, y_bar.size() * poles), poles, [&](index_t n) {
    for (index_t b = 0; b < o.batch; ++b) {
      const Wide u = half_step(o.m, b, n);
      const double half = double(o.m.dt(b)) / 2;
      for (index_t c = 0; c < k; ++c) {
        Wide sum{}, slope{};  // of d y / d v, and of d y / d u for v = 1
        for (index_t node = 0; node < length; ++node) {
          const Node at(node, length);
          const Wide r = std::conj(1.0 / at.gap(u));
          const Wide w = product(std::conj(at.direction()), Wide(y_bar(b, node, c))) * half;
          sum += product(r, w);
          slope += product(r, product(r, w)) * at.c;
        }
        if (v_bar.data() != nullptr) v_bar(v_bar.extent(0) == 1 ? 0 : b, n, c) += T(sum);
        if (poles_bar.data() != nullptr) {
          poles_bar(poles_bar.extent(0) == 1 ? 0 : b, n) +=
              T(product(std::conj(Wide(o.v(b, n, c))), slope) * half);
        }
      }
    }
  });
}

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT void sums_on_roots_of_unity(                                           \
      const exec::cpu&, const MappedRootsView<T>&, View<const T, 3>, View<T, 3>);                  \
  template STRUCTMAT_EXPORT void sums_on_roots_of_unity_vjp(                                       \
      const exec::cpu&, const MappedRootsView<T>&, View<const T, 3>, View<const T, 3>, View<T, 2>, \
      View<T, 3>);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::cauchy
