#include "structmat/semiseparable/discretise.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "core/instantiate.hpp"
#include "structmat/dense/exponential.hpp"
#include "structmat/dense/solve.hpp"

namespace structmat::semiseparable {
namespace {

constexpr auto operation = "semiseparable::discretise";

[[noreturn]] void refuse_singular(index_t batch, index_t step) {
  throw DomainError(std::string(operation) + ": I - dt/2 A is singular in batch entry " +
                    std::to_string(batch) + " at step " + std::to_string(step));
}

template <std::floating_point R>
void require_steps(const View<const R, 2>& dt) {
  for (index_t b = 0; b < dt.extent(0); ++b) {
    for (index_t i = 0; i < dt.extent(1); ++i) {
      if (std::isfinite(dt(b, i)) && dt(b, i) >= 0) continue;
      throw DomainError(std::string(operation) + ": step " + std::to_string(i) +
                        " of batch entry " + std::to_string(b) + " is " + std::to_string(dt(b, i)) +
                        ", it must be finite and at least 0");
    }
  }
}

/// exp(z) - 1 without cancellation near 0.
template <Scalar T>
T exponential_minus_one(const T& z) {
  if constexpr (is_complex_v<T>) {
    // exp(x) (cos y + i sin y) - 1 with cos y = 1 - 2 sin^2(y / 2).
    const real_t<T> x = z.real(), y = z.imag(), half = std::sin(y / 2), growth = std::exp(x);
    return {std::expm1(x) * std::cos(y) - 2 * half * half, growth * std::sin(y)};
  } else {
    return std::expm1(z);
  }
}

template <Scalar T>
struct Pair {
  T transition, gain;  ///< of B
};

/// One eigenvalue.
template <Scalar T>
Pair<T> discrete(Discretisation rule, const T& a, real_t<T> dt, index_t batch, index_t step) {
  const T z = a * dt;
  switch (rule) {
    case Discretisation::zero_order_hold:
      return {std::exp(z), z == T{} ? T(dt) : exponential_minus_one(z) / z * dt};
    case Discretisation::bilinear: {
      const T half = z / real_t<T>(2), denominator = real_t<T>(1) - half;
      if (denominator == T{}) refuse_singular(batch, step);
      return {(real_t<T>(1) + half) / denominator, T(dt) / denominator};
    }
    case Discretisation::euler:
      return {real_t<T>(1) + z, T(dt)};
    case Discretisation::exponential:
      return {std::exp(z), T(dt)};
  }
  throw DomainError(std::string(operation) + ": no such rule");
}

/// A dense A: a_out and b_out from a and b.
template <Scalar T>
class DenseStep {
 public:
  using R = real_t<T>;
  DenseStep(Discretisation rule, index_t r)
      : rule_(rule), r_(r), augmented_({r + 1, r + 1}), result_({r + 1, r + 1}) {}

  void operator()(const View<const T, 2>& a, const View<const T, 1>& b, R dt, index_t batch,
                  index_t step, const View<T, 2>& a_out, const View<T, 1>& b_out) {
    const bool bilinear = rule_ == Discretisation::bilinear;
    if (rule_ == Discretisation::zero_order_hold) return hold(a, b, dt, a_out, b_out);
    if (rule_ == Discretisation::exponential) {
      const View<T, 2> scaled = augmented_.view().slice(0, 0, r_).slice(1, 0, r_);
      for (index_t i = 0; i < r_; ++i) {
        for (index_t j = 0; j < r_; ++j) scaled(i, j) = a(i, j) * dt;
      }
      dense::exponential<T>(scaled, a_out);
      for (index_t i = 0; i < r_; ++i) b_out(i) = b(i) * dt;
      return;
    }
    const R share = bilinear ? dt / 2 : dt;
    for (index_t i = 0; i < r_; ++i) {
      for (index_t j = 0; j < r_; ++j) {
        const T z = a(i, j) * share, one = i == j ? T{1} : T{};
        augmented_(i, j) = one - z;
        result_(i, j) = one + z;
      }
      result_(i, r_) = b(i) * dt;
    }
    const View<T, 2> solution = result_.view().slice(0, 0, r_);
    if (bilinear) {
      const View<const T, 2> denominator =
          std::as_const(augmented_).view().slice(0, 0, r_).slice(1, 0, r_);
      if (!dense::solve<T>(denominator, solution).ok()) refuse_singular(batch, step);
    }
    read(solution, R{1}, a_out, b_out);
  }

 private:
  /// exp of dt [[A, B / beta], [0, 0]] is [[exp(dt A), the integral / beta], [0, 1]].
  void hold(const View<const T, 2>& a, const View<const T, 1>& b, R dt, const View<T, 2>& a_out,
            const View<T, 1>& b_out) {
    R beta = 0;
    for (index_t i = 0; i < r_; ++i) beta = std::max(beta, std::abs(b(i)));
    if (!(beta > 0)) beta = 1;
    // dt beside A, and 1 beside B: a column of norm up to r, whatever dt is.
    for (index_t i = 0; i < r_; ++i) {
      for (index_t j = 0; j < r_; ++j) augmented_(i, j) = a(i, j) * dt;
      augmented_(i, r_) = b(i) / beta;
    }
    dense::exponential<T>(augmented_, result_);
    read(result_.view().slice(0, 0, r_), beta * dt, a_out, b_out);
  }

  void read(const View<T, 2>& from, R factor, const View<T, 2>& a_out,
            const View<T, 1>& b_out) const {
    for (index_t i = 0; i < r_; ++i) {
      for (index_t j = 0; j < r_; ++j) a_out(i, j) = from(i, j);
      b_out(i) = from(i, r_) * factor;
    }
  }

  Discretisation rule_;
  index_t r_;
  Array<T, 2> augmented_, result_;
};

}  // namespace

template <Scalar T, transition::Uniform K>
StateSpace<T, K> discretise(const StateSpaceView<T, K>& model, View<const real_t<T>, 2> dt,
                            Discretisation rule) {
  const auto m = checked(model, operation, dt.extent(0), dt.extent(1));
  const index_t batch = m.d.extent(0), steps = m.d.extent(1), r = m.order();
  require_steps(dt);
  const auto step_of = dt.broadcast(0, batch).broadcast(1, steps);

  StateSpace<T, K> result(steps, r, batch);
  copy(m.c, result.c.view());
  copy(m.d, result.d.view());
  [[maybe_unused]] DenseStep<T> dense_step(rule, r);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < steps; ++i) {
      const real_t<T> h = step_of(b, i);
      if constexpr (K::rank == 4) {
        dense_step(m.a.select(0, b).select(0, i), m.b.select(0, b).select(0, i), h, b, i,
                   result.a.view().select(0, b).select(0, i),
                   result.b.view().select(0, b).select(0, i));
      } else if constexpr (K::rank == 3) {
        for (index_t l = 0; l < r; ++l) {
          const Pair<T> pair = discrete<T>(rule, m.a(b, i, l), h, b, i);
          result.a(b, i, l) = pair.transition;
          result.b(b, i, l) = pair.gain * m.b(b, i, l);
        }
      } else {
        const Pair<T> pair = discrete<T>(rule, m.a(b, i), h, b, i);
        result.a(b, i) = pair.transition;
        for (index_t l = 0; l < r; ++l) result.b(b, i, l) = pair.gain * m.b(b, i, l);
      }
    }
  }
  return result;
}

#define STRUCTMAT_INSTANTIATE(T, K)                                                    \
  template STRUCTMAT_EXPORT StateSpace<T, transition::K> discretise<T, transition::K>( \
      const StateSpaceView<T, transition::K>&, View<const real_t<T>, 2>, Discretisation);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::semiseparable
