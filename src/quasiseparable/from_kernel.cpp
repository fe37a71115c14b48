#include "structmat/quasiseparable/from_kernel.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

namespace structmat::quasiseparable {
namespace {

constexpr const char* from_operation = "quasiseparable::from_kernel";
constexpr index_t largest_order = 3;
using Matrix = std::array<std::array<double, largest_order>, largest_order>;

/// A process with unit variance, on the scale s on which the eigenvalue of F is -1.
struct StateSpace {
  index_t order;
  double rate;                                   ///< s = rate t / scale
  Matrix nilpotent;                              ///< N = F + I
  Matrix half_squared;                           ///< N^2 / 2
  std::array<double, largest_order> covariance;  ///< P e_1
};

const StateSpace& state_space(Kernel::Family family) {
  static const StateSpace exponential{1, 1, {}, {}, {1}};
  static const StateSpace matern32{2, std::sqrt(3.0), {{{1, 1}, {-1, -1}}}, {}, {1, 0}};
  static const StateSpace matern52{3,
                                   std::sqrt(5.0),
                                   {{{1, 1, 0}, {0, 1, 1}, {-1, -3, -2}}},
                                   {{{0.5, 1, 0.5}, {-0.5, -1, -0.5}, {0.5, 1, 0.5}}},
                                   {1, 0, -1.0 / 3}};
  switch (family) {
    case Kernel::Family::exponential:
      return exponential;
    case Kernel::Family::matern32:
      return matern32;
    case Kernel::Family::matern52:
      return matern52;
  }
  throw DomainError("quasiseparable::state_space: no such family of kernels");
}

std::string number(double x) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  text << x;
  return text.str();
}

void require_kernel(const char* operation, const Kernel& kernel) {
  const auto require = [&](const char* name, double value) {
    if (std::isfinite(value) && value > 0) return;
    throw DomainError(std::string(operation) + ": the " + name + " of the kernel is " +
                      number(value) + ", it must be positive and finite");
  };
  require("scale", kernel.scale);
  require("variance", kernel.variance);
}

void require_times(View<const double, 1> times) {
  for (index_t i = 0; i < times.extent(0); ++i) {
    const auto refuse = [&](const std::string& reason) {
      throw DomainError(std::string(from_operation) + ": time " + std::to_string(i) + " is " +
                        number(times(i)) + ", " + reason);
    };
    if (!std::isfinite(times(i))) refuse("it must be finite");
    if (i > 0 && !(times(i) > times(i - 1))) {
      refuse("time " + std::to_string(i - 1) + " is " + number(times(i - 1)) +
             "; times must increase strictly");
    }
  }
}

/// The lag on the scale of the state space. exp(-1000) is 0, and a larger s could overflow when
/// squared.
double scaled(const StateSpace& space, const Kernel& kernel, double lag) {
  return std::min(space.rate * (std::abs(lag) / kernel.scale), 1000.0);
}

/// exp(-s) (I + s N + s^2 N^2 / 2)
Matrix transition_over(const StateSpace& space, double s) {
  const double decay = std::exp(-s);
  Matrix phi{};
  for (index_t i = 0; i < space.order; ++i) {
    for (index_t j = 0; j < space.order; ++j) {
      const double polynomial =
          (i == j ? 1 : 0) + s * (space.nilpotent[i][j] + s * space.half_squared[i][j]);
      phi[i][j] = decay * polynomial;
    }
  }
  return phi;
}

constexpr std::pair<std::string_view, Kernel::Family> families[] = {
    {"exponential", Kernel::Family::exponential},
    {"matern12", Kernel::Family::exponential},
    {"matern32", Kernel::Family::matern32},
    {"matern52", Kernel::Family::matern52},
};

[[noreturn]] void refuse_text(std::string_view text, const std::string& reason) {
  throw DomainError("quasiseparable::parse_kernel: \"" + std::string(text) + "\": " + reason);
}

double parse_value(std::string_view text, std::string_view name, std::string_view value) {
  double result = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, code] = std::from_chars(value.data(), end, result);
  if (code != std::errc() || stop != end || !std::isfinite(result) || result <= 0) {
    refuse_text(text, std::string(name) + " is \"" + std::string(value) +
                          "\", it must be a positive number");
  }
  return result;
}

}  // namespace

Kernel parse_kernel(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto* const known = std::find_if(std::begin(families), std::end(families),
                                         [&](auto& f) { return f.first == text.substr(0, colon); });
  if (known == std::end(families)) {
    std::string names;
    for (const auto& [name, family] : families)
      names += (names.empty() ? "" : ", ") + std::string(name);
    refuse_text(text, "the kernel is unknown; known are " + names);
  }
  Kernel kernel{known->second};
  bool scale_given = false, variance_given = false;
  std::string_view rest = text.substr(colon);
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the colon, or a comma
    const std::string_view parameter = rest.substr(0, rest.find(','));
    rest.remove_prefix(parameter.size());
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string_view name = parameter.substr(0, equals);
    const bool is_scale = name == "scale";
    if (equals == parameter.size() || (!is_scale && name != "variance")) {
      refuse_text(text, "the parameter \"" + std::string(parameter) +
                            "\" is unknown; known are scale=NUMBER and variance=NUMBER");
    }
    if (std::exchange(is_scale ? scale_given : variance_given, true)) {
      refuse_text(text, std::string(name) + " is given twice");
    }
    (is_scale ? kernel.scale : kernel.variance) =
        parse_value(text, name, parameter.substr(equals + 1));
  }
  return kernel;
}

double evaluate(const Kernel& kernel, double lag) {
  constexpr const char* operation = "quasiseparable::evaluate";
  require_kernel(operation, kernel);
  if (!std::isfinite(lag)) {
    throw DomainError(std::string(operation) + ": the lag is " + number(lag) +
                      ", it must be finite");
  }
  const StateSpace& space = state_space(kernel.family);
  const double s = scaled(space, kernel, lag);
  const double polynomial = space.order == 1 ? 1 : space.order == 2 ? 1 + s : 1 + s + s * s / 3;
  return kernel.variance * (polynomial * std::exp(-s));
}

Quasiseparable<double, transition::Dense> from_kernel(View<const double, 1> times,
                                                      const Kernel& kernel, double noise) {
  require_kernel(from_operation, kernel);
  if (!std::isfinite(noise) || noise < 0) {
    throw DomainError(std::string(from_operation) + ": the noise is " + number(noise) +
                      ", it must be a variance: finite, at least 0");
  }
  require_times(times);

  const StateSpace& space = state_space(kernel.family);
  const index_t n = times.extent(0), r = space.order;
  Quasiseparable<double, transition::Dense> m(n, {r, r});
  for (index_t i = 0; i < n; ++i) {
    const double gap = i > 0 ? times(i) - times(i - 1) : 0;
    const Matrix phi = transition_over(space, scaled(space, kernel, gap));
    m.d(0, i) = kernel.variance + noise;
    for (index_t k = 0; k < r; ++k) {
      m.p(0, i, k) = m.h(0, i, k) = phi[0][k];
      m.q(0, i, k) = m.g(0, i, k) = kernel.variance * space.covariance[k];
      for (index_t l = 0; l < r; ++l) m.a(0, i, k, l) = m.b(0, i, l, k) = phi[k][l];
    }
  }
  return m;
}

}  // namespace structmat::quasiseparable
