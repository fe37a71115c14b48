#include "structmat/quasiseparable/ldl_inverse.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"
#include "quasiseparable/state_lanes.hpp"

namespace structmat::quasiseparable {
namespace {

/// std::complex multiplication repairs NaN at a high price; plain arithmetic is what is meant.
template <Scalar T>
T times(const T& x, const T& y) {
  if constexpr (is_complex_v<T>) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else {
    return x * y;
  }
}

/// The backward recursion of one batch entry, from index n-1.
template <Scalar T, transition::Uniform K>
class Backward {
 public:
  using R = real_t<T>;
  static constexpr int dims = transition_dimensions<K>;

  Backward(const LdlView<T, K>& f, index_t batch)
      : p_(f.p.select(0, batch)),
        w_(f.w.select(0, batch)),
        a_(transitions_over_states<K>(f.a.select(0, batch), f.order())),
        d_(f.d.select(0, batch)),
        z_({f.order(), f.order()}),
        spare_({f.order(), f.order()}),
        u_({f.order()}),
        v_({f.order()}),
        out_({f.order()}) {}

  /// Goes over index i, which is one below that of the previous call.
  void step(index_t i) {
    const index_t r = p_.extent(1);
    const bool last = i + 1 == p_.extent(0);
    R square = 0;
    for (index_t l = 0; l < r && !last; ++l) {
      T sum{};
      for (index_t m = 0; m < r; ++m) sum += times(z_(l, m), w_(i, m));
      u_(l) = sum;
      square += std::real(times(conjugate(w_(i, l)), sum));
    }
    diagonal_ = 1 / d_(i) + square;
    if (i == 0) return;
    if (!last) through_transition(i);
    for (index_t l = 0; l < r; ++l) out_(l) = conjugate(v_(l)) - diagonal_ * p_(i, l);
    for (index_t l = 0; l < r; ++l) {
      for (index_t m = 0; m < r; ++m) {
        z_(l, m) -= times(v_(l), p_(i, m)) + times(conjugate(p_(i, l)), out_(m));
      }
    }
  }

  /// The diagonal entry, and the lower generator p at index i.
  R diagonal() const { return diagonal_; }
  const Array<T, 1>& out() const { return out_; }

  /// a_i - w_i p_i^T, entry (l, m).
  T transition(index_t i, index_t l, index_t m) const {
    const T outer = times(w_(i, l), p_(i, m));
    if constexpr (dims == 3) {
      return a_(i, l, m) - outer;
    } else {
      return (l == m ? a_(i, l) : T{}) - outer;
    }
  }

 private:
  /// v := a^H u, Z := a^H Z a
  void through_transition(index_t i) {
    const index_t r = p_.extent(1);
    if constexpr (dims == 2) {
      for (index_t l = 0; l < r; ++l) {
        v_(l) = times(conjugate(a_(i, l)), u_(l));
        for (index_t m = 0; m < r; ++m) {
          z_(l, m) = times(times(conjugate(a_(i, l)), z_(l, m)), a_(i, m));
        }
      }
    } else {
      for (index_t l = 0; l < r; ++l) {
        for (index_t m = 0; m < r; ++m) {
          T sum{};
          for (index_t k = 0; k < r; ++k) sum += times(z_(l, k), a_(i, k, m));
          spare_(l, m) = sum;
        }
      }
      for (index_t l = 0; l < r; ++l) {
        T through{};
        for (index_t k = 0; k < r; ++k) through += times(conjugate(a_(i, k, l)), u_(k));
        v_(l) = through;
        for (index_t m = 0; m < r; ++m) {
          T sum{};
          for (index_t k = 0; k < r; ++k) sum += times(conjugate(a_(i, k, l)), spare_(k, m));
          z_(l, m) = sum;
        }
      }
    }
  }

  View<const T, 2> p_, w_;
  View<const T, dims> a_;
  View<const R, 1> d_;
  Array<T, 2> z_, spare_;
  Array<T, 1> u_, v_, out_;
  R diagonal_ = 0;
};

}  // namespace

template <Scalar T, transition::Uniform K>
Quasiseparable<T, transition::Dense> inverse(const exec::cpu& e, const LdlView<T, K>& factor) {
  const auto f = checked(factor, "quasiseparable::inverse");
  const index_t batch = f.batch(), n = f.size(), r = f.order();
  Quasiseparable<T, transition::Dense> m(n, {r, r}, batch);
  parallel_for(team_for(e.threads, batch * n * r * r), batch, [&](index_t b) {
    Backward<T, K> at(f, b);
    for (index_t i = n - 1; i >= 0; --i) {
      at.step(i);
      m.d(b, i) = at.diagonal();
      for (index_t l = 0; l < r; ++l) {
        if (i > 0) m.p(b, i, l) = at.out()(l);
        if (i < n - 1) m.q(b, i, l) = f.w(b, i, l);
        m.h(b, i, l) = conjugate(m.p(b, i, l));
        m.g(b, i, l) = conjugate(m.q(b, i, l));
        for (index_t k = 0; k < r && i > 0 && i < n - 1; ++k) {
          m.a(b, i, l, k) = at.transition(i, l, k);
          m.b(b, i, k, l) = conjugate(m.a(b, i, l, k));
        }
      }
    }
  });
  return m;
}

template <Scalar T, transition::Uniform K>
void inverse_diagonal(const exec::cpu& e, const LdlView<T, K>& factor,
                      View<real_t<T>, 2> diagonal) {
  constexpr const char* operation = "quasiseparable::inverse_diagonal";
  const auto f = checked(factor, operation);
  const index_t batch = f.batch(), n = f.size(), r = f.order();
  detail::require_extents(operation, diagonal, {batch, n});
  parallel_for(team_for(e.threads, batch * n * r * r), batch, [&](index_t b) {
    Backward<T, K> at(f, b);
    for (index_t i = n - 1; i >= 0; --i) {
      at.step(i);
      diagonal(b, i) = at.diagonal();
    }
  });
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                         \
  template STRUCTMAT_EXPORT Quasiseparable<T, transition::Dense> inverse<T, transition::K>( \
      const exec::cpu&, const LdlView<T, transition::K>&);                                  \
  template STRUCTMAT_EXPORT void inverse_diagonal<T, transition::K>(                        \
      const exec::cpu&, const LdlView<T, transition::K>&, View<real_t<T>, 2>);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
