#include "structmat/toeplitz/from_state_space.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "core/threads.hpp"
#include "dense/product.hpp"
#include "structmat/core/shape.hpp"
#include "structmat/dense/solve.hpp"
#include "structmat/fft/plan.hpp"
#include "structmat/vandermonde/exponential_sum.hpp"

namespace structmat::toeplitz {
namespace {

void require_length(const char* operation, index_t length) {
  if (length >= 0) return;
  throw DomainError(std::string(operation) + ": the length is " + std::to_string(length));
}

/// dt broadcast to the batch, each step finite and >= 0, or > 0.
template <class R>
View<const R, 1> checked_steps(const char* operation, const View<const R, 1>& dt, index_t batch,
                               bool positive) {
  const View<const R, 1> steps = dt.broadcast(0, batch);
  if (steps.extent(0) != batch) {
    throw ShapeError(std::string(operation) + ": dt has " + std::to_string(dt.extent(0)) +
                     " steps, the model has batch " + std::to_string(batch));
  }
  for (index_t b = 0; b < batch; ++b) {
    if (std::isfinite(steps(b)) && (positive ? steps(b) > 0 : steps(b) >= 0)) continue;
    throw DomainError(std::string(operation) + ": step " + std::to_string(b) + " is " +
                      std::to_string(steps(b)) + ", it must be finite and " +
                      (positive ? "positive" : "not negative"));
  }
  return steps;
}

/// (e^z - 1) / z without cancellation: e^{z/2} sinh(z/2) / (z/2), and sinh(u) = sinh(re) cos(im) + i
/// cosh(re) sin(im) is accurate for small u.
template <class R>
std::complex<R> relative_exponential(std::complex<R> z) {
  if (z == std::complex<R>{}) return 1;
  const std::complex<R> half = z / R(2);
  return std::exp(half) * std::sinh(half) / half;
}

template <ComplexScalar T>
DiagonalPlusRankOneModel<T> checked(const char* operation, DiagonalPlusRankOneModel<T> m) {
  detail::Shape shape(operation, m.dt.extent(0));
  const index_t r = m.lambda.extent(1);
  shape.require("lambda", m.lambda, {r});
  shape.require("p", m.p, {r});
  shape.require("q", m.q, {r});
  shape.require("b", m.b, {r});
  shape.require("c", m.c, {r});
  for (auto* part : {&m.lambda, &m.p, &m.q, &m.b, &m.c}) *part = part->broadcast(0, shape.batch());
  m.dt = checked_steps<real_t<T>>(operation, m.dt, shape.batch(), true);
  return m;
}

/// The transform of one kernel at exp(-2 pi i k / L).
template <ComplexScalar T>
T symbol(const DiagonalPlusRankOneModel<T>& m, index_t batch, index_t k, index_t length) {
  using R = real_t<T>;
  const index_t r = m.lambda.extent(1);
  const R dt = m.dt(batch);
  T cb{}, cp{}, qb{}, qp{};
  if (2 * k == length) {
    for (index_t n = 0; n < r; ++n) cb += product(m.c(batch, n), m.b(batch, n));
    return cb * (dt / 2);
  }
  const auto tangent = static_cast<R>(std::tan(std::numbers::pi * double(k) / double(length)));
  const T z(0, 2 * tangent / dt);
  for (index_t n = 0; n < r; ++n) {
    const T difference = z - m.lambda(batch, n);
    if (difference == T{}) {
      throw DomainError("toeplitz::s4_kernel: pole " + std::to_string(n) + " of model " +
                        std::to_string(batch) + " is the node z of frequency " + std::to_string(k) +
                        ", where the model does not decay");
    }
    const T reciprocal = T{1} / difference, b = product(m.b(batch, n), reciprocal),
            p = product(m.p(batch, n), reciprocal);
    cb += product(m.c(batch, n), b);
    cp += product(m.c(batch, n), p);
    qb += conjugate_product(m.q(batch, n), b);
    qp += conjugate_product(m.q(batch, n), p);
  }
  // 2 / (1 + w) = 1 + i tan(pi k / L)
  return T(1, tangent) * (cb - cp * qb / (T{1} + qp));
}

}  // namespace

template <ComplexScalar T>
Array<real_t<T>, 2> s4d_kernel(const exec::cpu& e, const DiagonalModel<T>& m, index_t length) {
  constexpr auto operation = "toeplitz::s4d_kernel";
  using R = real_t<T>;
  require_length(operation, length);
  detail::Shape shape(operation, m.dt.extent(0));
  const index_t r = m.a.extent(1);
  shape.require("a", m.a, {r});
  shape.require("w", m.w, {r});
  const index_t batch = shape.batch();
  const auto a = m.a.broadcast(0, batch), w = m.w.broadcast(0, batch);
  const auto dt = checked_steps<R>(operation, m.dt, batch, false);
  LogVandermonde<T> exponentials(length, r, batch);
  Array<T, 3> weights({batch, r, 1});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t n = 0; n < r; ++n) {
      const T z = a(b, n) * dt(b);
      exponentials.a(b, n) = z;
      weights(b, n, 0) = product(w(b, n), relative_exponential(z)) * dt(b);
    }
  }
  Array<R, 3> kernel({batch, length, 1});
  real_exponential_sum(e, exponentials, weights, kernel);
  Array<R, 2> result({batch, length}, uninitialized);
  std::copy(kernel.begin(), kernel.end(), result.begin());
  return result;
}

template <ComplexScalar T>
Array<T, 2> s4_kernel(const exec::cpu& e, const DiagonalPlusRankOneModel<T>& given,
                      index_t length) {
  constexpr auto operation = "toeplitz::s4_kernel";
  require_length(operation, length);
  const auto m = checked(operation, given);
  const index_t batch = m.lambda.extent(0), r = m.lambda.extent(1);
  Array<T, 2> values({batch, length}), kernel({batch, length});
  parallel_for(team_for(e.threads, batch * length * r * 8), batch * length, [&](index_t task) {
    values.data()[task] = symbol(m, task / length, task % length, length);
  });
  if (values.empty()) return kernel;
  fft::Plan<T>(length, {.batch = batch}).backward(values.view(), kernel.view());
  for (T& v : kernel) v /= real_t<T>(length);
  return kernel;
}

template <ComplexScalar T>
Array<T, 2> s4_output(const DiagonalPlusRankOneModel<T>& given, index_t length) {
  constexpr auto operation = "toeplitz::s4_output";
  require_length(operation, length);
  const auto m = checked(operation, given);
  const index_t batch = m.lambda.extent(0), r = m.lambda.extent(1);
  Array<T, 2> output({batch, r});
  for (index_t b = 0; b < batch; ++b) {
    const real_t<T> half = m.dt(b) / 2;
    Array<T, 2> minus({r, r}), square({r, r});  // I - dt/2 A, and Abar
    for (index_t i = 0; i < r; ++i) {
      for (index_t j = 0; j < r; ++j) {
        const T a = (i == j ? m.lambda(b, i) : T{}) - conjugate_product(m.q(b, j), m.p(b, i));
        const T one(i == j ? 1 : 0);
        minus(i, j) = one - half * a;
        square(i, j) = one + half * a;
      }
    }
    if (!dense::solve<T>(minus, square).ok()) {
      throw DomainError(std::string(operation) + ": I - dt/2 A is singular for model " +
                        std::to_string(b));
    }
    Array<T, 2> power({r, 1});  // (Abar^T)^L c
    copy(m.c.select(0, b), power.view().select(1, 0));
    for (index_t left = length; left > 0; left /= 2) {
      if (left % 2 == 1) power = dense::product<T>(Op::transpose, square, Op::none, power);
      if (left > 1) square = dense::product<T>(Op::none, square, Op::none, square);
    }
    for (index_t n = 0; n < r; ++n) output(b, n) = m.c(b, n) - power(n, 0);
  }
  return output;
}

template <Scalar T>
Toeplitz<T> from_kernel(View<const T, 2> kernel) {
  const index_t batch = kernel.extent(0), n = kernel.extent(1);
  Toeplitz<T> t(n, n, batch);
  if (n > 0) copy(kernel, t.lags.view().slice(1, n - 1, 2 * n - 1));
  return t;
}

#define STRUCTMAT_INSTANTIATE(T) \
  template STRUCTMAT_EXPORT Toeplitz<T> from_kernel<T>(View<const T, 2>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
#undef STRUCTMAT_INSTANTIATE

#define STRUCTMAT_INSTANTIATE(T)                                                                   \
  template STRUCTMAT_EXPORT Array<real_t<T>, 2> s4d_kernel<T>(const exec::cpu&,                    \
                                                              const DiagonalModel<T>&, index_t);   \
  template STRUCTMAT_EXPORT Array<T, 2> s4_kernel<T>(const exec::cpu&,                             \
                                                     const DiagonalPlusRankOneModel<T>&, index_t); \
  template STRUCTMAT_EXPORT Array<T, 2> s4_output<T>(const DiagonalPlusRankOneModel<T>&, index_t);
STRUCTMAT_INSTANTIATE(std::complex<float>)
STRUCTMAT_INSTANTIATE(std::complex<double>)

}  // namespace structmat::toeplitz
