#include "quasiseparable/kernel_terms.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "structmat/core/error.hpp"

namespace structmat::quasiseparable {

std::span<const Term> known_terms() {
  using Kind = Kernel::Kind;
  static const std::vector<Term> terms{
      {Kind::exponential, "exponential", {"scale", "variance"}},
      {Kind::exponential, "matern12", {"scale", "variance"}},
      {Kind::matern32, "matern32", {"scale", "variance"}},
      {Kind::matern52, "matern52", {"scale", "variance"}},
      {Kind::sho, "sho", {"w0", "Q", "variance"}},
      {Kind::cosine, "cosine", {"period", "variance"}},
      {Kind::periodic, "periodic", {"period", "scale", "variance"}},
  };
  return terms;
}

const Term& term_of(Kernel::Kind kind) {
  const std::span<const Term> terms = known_terms();
  const auto found =
      std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.kind == kind; });
  if (found == terms.end()) {
    throw DomainError("quasiseparable::Kernel: sums and products are no terms");
  }
  return *found;
}

double matern_rate(Kernel::Kind kind) {
  return kind == Kernel::Kind::exponential ? 1
         : kind == Kernel::Kind::matern32  ? std::sqrt(3.0)
                                           : std::sqrt(5.0);
}

double matern_argument(const Kernel& kernel, double lag) {
  const double scale = kernel.term_parameters()[0];
  return std::min(matern_rate(kernel.kind()) * (std::abs(lag) / scale), 1000.0);
}

double phase(double lag, double period, index_t harmonic) {
  // The remainder is exact, whatever the number of periods.
  const double turns = std::fmod(lag, period) / period;
  return 2 * std::numbers::pi * std::fmod(static_cast<double>(harmonic) * turns, 1.0);
}

std::vector<double> scaled_bessel(double scale, index_t count) {
  const double z = 1 / (scale * scale);
  // Ratios I_j / I_{j-1} decay like exp(-j / z) at first, and faster than any power beyond z: from
  // far enough, an error of the first ratio has died out.
  const index_t far = count + 40 + static_cast<index_t>(10 * std::sqrt(z));
  std::vector<double> ratios(far + 1, 0.0);
  for (index_t j = far - 1; j >= 1; --j) {
    ratios[j] = 1 / (2 * static_cast<double>(j) / z + ratios[j + 1]);
  }
  std::vector<double> c(count, 0.0);
  double relative = 1, sum = 1;
  for (index_t j = 0; j < far; ++j) {
    if (j > 0) sum += 2 * (relative *= ratios[j]);
    if (j < count) c[j] = relative;
  }
  for (double& v : c) v /= sum;
  return c;
}

Oscillator::Oscillator(double w0, double quality, double lag)
    : damping(0.5 / quality), x(w0 * std::abs(lag)) {
  const double b = damping;
  constexpr double negligible = 1000;  // exp(-1000) is 0
  if (b > 1) {
    // b - root, which would cancel, is 1 / (b + root); b^2 could overflow.
    const double root = std::sqrt(b - 1) * std::sqrt(b + 1);
    const double slow = x / (b + root);
    if (slow > negligible) {
      x = 0;
      return;
    }
    const double decay = std::exp(-slow);
    even = decay * (0.5 + 0.5 * std::exp(-2 * root * x));
    odd = decay * (-std::expm1(-2 * root * x) / (2 * root));
    return;
  }
  if (b * x > negligible) {
    x = 0;
    return;
  }
  const double decay = std::exp(-b * x);
  const double root = std::sqrt((1 - b) * (1 + b));
  even = decay * std::cos(root * x);
  odd = root > 0 ? decay * (std::sin(root * x) / root) : decay * x;
}

double Oscillator::odd_derivative() const {
  const double m = (damping - 1) * (damping + 1), y = m * x * x;
  if (std::abs(y) >= 1) return (x * even - odd) / (2 * m);
  // The difference cancels; x^3 sum_k k y^(k-1) / (2 k + 1)!
  double sum = 0, power = 1.0 / 6;
  for (int k = 1; k <= 10; ++k) {
    sum += k * power;
    power *= y / ((2 * k + 2) * (2 * k + 3));
  }
  return std::exp(-damping * x) * (x * x * x) * sum;
}

std::string number(double x) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  text << x;
  return text.str();
}

}  // namespace structmat::quasiseparable
