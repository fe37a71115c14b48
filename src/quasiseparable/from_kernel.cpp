#include "structmat/quasiseparable/from_kernel.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "quasiseparable/kernel_state_space.hpp"
#include "quasiseparable/kernel_terms.hpp"

namespace structmat::quasiseparable {
namespace {

constexpr const char* from_operation = "quasiseparable::from_kernel";
constexpr const char* vjp_operation = "quasiseparable::from_kernel_vjp";

void require_times(const char* operation, const View<const double, 1>& times) {
  for (index_t i = 0; i < times.extent(0); ++i) {
    const auto refuse = [&](const std::string& reason) {
      throw DomainError(std::string(operation) + ": time " + std::to_string(i) + " is " +
                        number(times(i)) + ", " + reason);
    };
    if (!std::isfinite(times(i))) refuse("it must be finite");
    if (i == 0) continue;
    const auto refuse_after = [&](const char* reason) {
      refuse("time " + std::to_string(i - 1) + " is " + number(times(i - 1)) + "; " + reason);
    };
    if (!(times(i) > times(i - 1))) refuse_after("times must increase strictly");
    if (!std::isfinite(times(i) - times(i - 1))) refuse_after("the gap must be finite");
  }
}

void require_noise(const View<const double, 1>& noise, index_t n) {
  if (noise.extent(0) != 1 && noise.extent(0) != n) {
    throw ShapeError(std::string(from_operation) + ": " + std::to_string(noise.extent(0)) +
                     " noise variances, there are " + std::to_string(n) + " times");
  }
  for (index_t i = 0; i < noise.extent(0); ++i) {
    if (std::isfinite(noise(i)) && noise(i) >= 0) continue;
    const std::string place = noise.extent(0) == 1 ? "" : " " + std::to_string(i);
    throw DomainError(std::string(from_operation) + ": the noise" + place + " is " +
                      number(noise(i)) + ", it must be a variance: finite, at least 0");
  }
}

double gap_before(const View<const double, 1>& times, index_t i) {
  return i > 0 ? times(i) - times(i - 1) : 0;
}

/// k(0)
double dot(const View<const double, 1>& a, const View<const double, 1>& b) {
  double sum = 0;
  for (index_t k = 0; k < a.extent(0); ++k) sum += a(k) * b(k);
  return sum;
}

}  // namespace

Quasiseparable<double, transition::Dense> from_kernel(View<const double, 1> times,
                                                      const Kernel& kernel, double noise) {
  return from_kernel(times, kernel, View<const double, 1>(&noise, {1}));
}

Quasiseparable<double, transition::Dense> from_kernel(View<const double, 1> times,
                                                      const Kernel& kernel,
                                                      View<const double, 1> noise) {
  const index_t n = times.extent(0);
  require_noise(noise, n);
  require_times(from_operation, times);

  KernelStateSpace space(kernel);
  const index_t r = space.order();
  const View<const double, 1> output = space.output(), covariance = space.covariance();
  const double variance = dot(output, covariance);
  const View<const double, 1> variances = noise.broadcast(0, n);
  Quasiseparable<double, transition::Dense> m(n, {r, r});
  for (index_t i = 0; i < n; ++i) {
    const View<const double, 2> phi = space.transition(gap_before(times, i));
    m.d(0, i) = variance + variances(i);
    for (index_t k = 0; k < r; ++k) {
      m.q(0, i, k) = m.g(0, i, k) = covariance(k);
      for (index_t l = 0; l < r; ++l) {
        m.a(0, i, k, l) = m.b(0, i, l, k) = phi(k, l);
        m.p(0, i, l) += output(k) * phi(k, l);
      }
    }
    copy(m.p.view().select(0, 0).select(0, i), m.h.view().select(0, 0).select(0, i));
  }
  return m;
}

void from_kernel_vjp(View<const double, 1> times, const Kernel& kernel,
                     const QuasiseparableCotangent<double, transition::Dense>& m_bar,
                     View<double, 1> parameters_bar, View<double, 1> noise_bar) {
  const index_t n = times.extent(0);
  KernelStateSpace space(kernel);
  const index_t r = space.order();
  const auto require = [](const char* name, const auto& view, const auto& expected) {
    if (view.data() != nullptr && view.extents() != expected) {
      throw ShapeError(std::string(vjp_operation) + ": the cotangent of " + name +
                       " does not have the extents of " + name);
    }
  };
  for (const auto& [name, view] : {std::pair("p", m_bar.p), std::pair("q", m_bar.q),
                                   std::pair("g", m_bar.g), std::pair("h", m_bar.h)}) {
    require(name, view, std::array<index_t, 3>{1, n, r});
  }
  require("a", m_bar.a, std::array<index_t, 4>{1, n, r, r});
  require("b", m_bar.b, std::array<index_t, 4>{1, n, r, r});
  require("d", m_bar.d, std::array<index_t, 2>{1, n});
  if (parameters_bar.extent(0) != space.parameter_count()) {
    throw ShapeError(std::string(vjp_operation) + ": parameters_bar has " +
                     std::to_string(parameters_bar.extent(0)) + " entries, the kernel has " +
                     std::to_string(space.parameter_count()) + " parameters");
  }
  if (!noise_bar.empty() && noise_bar.extent(0) != 1 && noise_bar.extent(0) != n) {
    throw ShapeError(std::string(vjp_operation) + ": noise_bar has " +
                     std::to_string(noise_bar.extent(0)) + " entries, there are " +
                     std::to_string(n) + " times");
  }
  require_times(vjp_operation, times);

  const View<const double, 1> output = space.output();
  Array<double, 2> phi_bar({r, r}, uninitialized);
  Array<double, 1> covariance_bar({r});
  for (index_t i = 0; i < n; ++i) {
    if (m_bar.d.data() != nullptr) {
      const double bar = m_bar.d(0, i);
      for (index_t k = 0; k < r; ++k) covariance_bar(k) += output(k) * bar;
      if (!noise_bar.empty()) noise_bar(noise_bar.extent(0) == 1 ? 0 : i) += bar;
    }
    for (const auto& bar : {m_bar.q, m_bar.g}) {
      for (index_t k = 0; bar.data() != nullptr && k < r; ++k) covariance_bar(k) += bar(0, i, k);
    }
    // Generators of index 0 do not depend on the parameters: its gap is 0.
    if (i == 0) continue;
    for (index_t l = 0; l < r; ++l) {
      const double row = (m_bar.p.data() != nullptr ? m_bar.p(0, i, l) : 0) +
                         (m_bar.h.data() != nullptr ? m_bar.h(0, i, l) : 0);
      for (index_t k = 0; k < r; ++k) {
        phi_bar(k, l) = output(k) * row + (m_bar.a.data() != nullptr ? m_bar.a(0, i, k, l) : 0) +
                        (m_bar.b.data() != nullptr ? m_bar.b(0, i, l, k) : 0);
      }
    }
    const double gap = gap_before(times, i);
    space.transition(gap);
    space.add_transition_gradient(gap, phi_bar, parameters_bar);
  }
  space.add_covariance_gradient(covariance_bar, parameters_bar);
}

}  // namespace structmat::quasiseparable
