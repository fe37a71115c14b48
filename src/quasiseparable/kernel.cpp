#include "structmat/quasiseparable/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "quasiseparable/kernel_terms.hpp"
#include "structmat/core/error.hpp"

namespace structmat::quasiseparable {
namespace {

void require_positive(std::string_view term, std::string_view name, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw DomainError("quasiseparable::Kernel: the " + std::string(name) + " of " +
                    std::string(term) + " is " + number(value) +
                    ", it must be positive and finite");
}

void require_harmonics(const char* operation, index_t harmonics) {
  constexpr index_t most = 4000;
  if (harmonics >= 1 && harmonics <= most) return;
  throw DomainError(std::string(operation) + ": " + std::to_string(harmonics) +
                    " harmonics, there must be 1 to " + std::to_string(most));
}

/// The number of coefficients that matter is about 9 / scale.
void require_periodic_scale(const char* operation, double scale) {
  constexpr double least = 1e-4;
  if (std::isfinite(scale) && scale >= least) return;
  throw DomainError(std::string(operation) + ": the scale of periodic is " + number(scale) +
                    ", it must be at least " + number(least) + " and finite");
}

constexpr index_t largest_order = 10000;

index_t term_order(Kernel::Kind kind, index_t harmonics) {
  switch (kind) {
    case Kernel::Kind::exponential:
      return 1;
    case Kernel::Kind::matern52:
      return 3;
    case Kernel::Kind::periodic:
      return 1 + 2 * harmonics;
    default:
      return 2;
  }
}

bool is_term(const Kernel& kernel) {
  return kernel.operands().empty();
}

/// f(term) for all terms from left to right.
template <class F>
void for_each_term(const Kernel& kernel, const F& f) {
  if (is_term(kernel)) return f(kernel);
  for (const Kernel& operand : kernel.operands()) for_each_term(operand, f);
}

double value_at(const Kernel& kernel, double lag) {
  const std::vector<double>& value = kernel.term_parameters();
  switch (kernel.kind()) {
    case Kernel::Kind::exponential:
      return value[1] * std::exp(-matern_argument(kernel, lag));
    case Kernel::Kind::matern32: {
      const double s = matern_argument(kernel, lag);
      return value[1] * ((1 + s) * std::exp(-s));
    }
    case Kernel::Kind::matern52: {
      const double s = matern_argument(kernel, lag);
      return value[1] * ((1 + s + s * s / 3) * std::exp(-s));
    }
    case Kernel::Kind::sho: {
      const Oscillator o(value[0], value[1], lag);
      return value[2] * (o.even + o.damping * o.odd);
    }
    case Kernel::Kind::cosine:
      return value[1] * std::cos(phase(lag, value[0]));
    case Kernel::Kind::periodic: {
      const std::vector<double> c = scaled_bessel(value[1], kernel.harmonics() + 1);
      double sum = 0;
      for (index_t j = kernel.harmonics(); j >= 1; --j) {
        sum += 2 * c[j] * std::cos(phase(lag, value[0], j));
      }
      return value[2] * (sum + c[0]);
    }
    case Kernel::Kind::sum:
      return value_at(kernel.operands()[0], lag) + value_at(kernel.operands()[1], lag);
    case Kernel::Kind::product:
      return value_at(kernel.operands()[0], lag) * value_at(kernel.operands()[1], lag);
  }
  return 0;
}

}  // namespace

Kernel::Kernel(Kind kind, std::vector<double> parameters, index_t harmonics)
    : kind_(kind), parameters_(std::move(parameters)), harmonics_(harmonics) {
  const Term& term = term_of(kind);
  if (kind == Kind::periodic) {
    require_harmonics("quasiseparable::Kernel", harmonics);
    require_periodic_scale("quasiseparable::Kernel", parameters_[1]);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    require_positive(term.name, term.parameters[i], parameters_[i]);
  }
  order_ = term_order(kind, harmonics);
}

Kernel::Kernel(Kind kind, Kernel a, Kernel b)
    : kind_(kind), order_(kind == Kind::product ? a.order() * b.order() : a.order() + b.order()) {
  if (order_ > largest_order) {
    throw DomainError("quasiseparable::Kernel: operands of order " + std::to_string(a.order()) +
                      " and " + std::to_string(b.order()) + ", the result may have " +
                      std::to_string(largest_order) + " at most");
  }
  operands_.reserve(2);
  operands_.push_back(std::move(a));
  operands_.push_back(std::move(b));
}

Kernel Kernel::exponential(double scale, double variance) {
  return {Kind::exponential, {scale, variance}};
}
Kernel Kernel::matern32(double scale, double variance) {
  return {Kind::matern32, {scale, variance}};
}
Kernel Kernel::matern52(double scale, double variance) {
  return {Kind::matern52, {scale, variance}};
}
Kernel Kernel::sho(double w0, double quality, double variance) {
  return {Kind::sho, {w0, quality, variance}};
}
Kernel Kernel::cosine(double period, double variance) {
  return {Kind::cosine, {period, variance}};
}
Kernel Kernel::periodic(double period, double scale, double variance, index_t harmonics) {
  return {Kind::periodic, {period, scale, variance}, harmonics};
}

Kernel operator+(Kernel a, Kernel b) {
  return {Kernel::Kind::sum, std::move(a), std::move(b)};
}
Kernel operator*(Kernel a, Kernel b) {
  return {Kernel::Kind::product, std::move(a), std::move(b)};
}

std::vector<double> parameters(const Kernel& kernel) {
  std::vector<double> all;
  for_each_term(kernel, [&](const Kernel& term) {
    all.insert(all.end(), term.term_parameters().begin(), term.term_parameters().end());
  });
  return all;
}

std::vector<std::string> parameter_names(const Kernel& kernel) {
  std::vector<std::string> all;
  for_each_term(kernel, [&](const Kernel& term) {
    const Term& known = term_of(term.kind());
    for (const std::string_view name : known.parameters) {
      all.push_back(std::string(known.name) + "." + std::string(name));
    }
  });
  return all;
}

Kernel with_parameters(const Kernel& kernel, View<const double, 1> values) {
  const auto count = static_cast<index_t>(parameters(kernel).size());
  if (values.extent(0) != count) {
    throw ShapeError("quasiseparable::with_parameters: " + std::to_string(values.extent(0)) +
                     " values, the kernel has " + std::to_string(count) + " parameters");
  }
  if (is_term(kernel)) {
    std::vector<double> own(count);
    for (index_t i = 0; i < count; ++i) own[i] = values(i);
    return {kernel.kind(), std::move(own), kernel.harmonics()};
  }
  const Kernel &a = kernel.operands()[0], &b = kernel.operands()[1];
  const auto first = static_cast<index_t>(parameters(a).size());
  return {kernel.kind(), with_parameters(a, values.slice(0, 0, first)),
          with_parameters(b, values.slice(0, first, count))};
}

double evaluate(const Kernel& kernel, double lag) {
  if (!std::isfinite(lag)) {
    throw DomainError("quasiseparable::evaluate: the lag is " + number(lag) +
                      ", it must be finite");
  }
  return value_at(kernel, std::abs(lag));
}

double periodic_truncation(double scale, index_t harmonics) {
  constexpr const char* operation = "quasiseparable::periodic_truncation";
  require_harmonics(operation, harmonics);
  require_periodic_scale(operation, scale);
  // Summed from the small end, so that a tiny tail keeps its digits.
  const double z = 1 / (scale * scale);
  const auto last = harmonics + 40 + static_cast<index_t>(10 * std::sqrt(z));
  const std::vector<double> c = scaled_bessel(scale, last);
  double sum = 0;
  for (index_t j = last - 1; j > harmonics; --j) sum += 2 * c[j];
  return sum;
}

}  // namespace structmat::quasiseparable
