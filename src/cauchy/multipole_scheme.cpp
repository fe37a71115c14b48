#include "cauchy/multipole_scheme.hpp"

#include <algorithm>

namespace structmat::cauchy::multipole {

Scheme::Scheme(double tolerance) {
  // The two tails, and what is in both of them and taken off twice: at most (1 + a) / (1 - a) tails
  // where the radii are a of the distance; a <= 3/4.
  constexpr double widest_ratio = 0.6;
  const double tail = std::max(tolerance, 2 * epsilon<double>) / 9;
  // Discs around neighbours but one of a square grid: r / (2 - r) with r = sqrt(1/2) is 0.547.
  constexpr double usual_ratio = 0.55;
  const double wanted = std::log(tail) / std::log(usual_ratio) / lanes;
  terms_ = lanes * std::clamp(static_cast<int>(std::lround(wanted)), 1, most_terms / lanes);
  ratio_ = std::min(std::pow(tail, 1.0 / terms_), widest_ratio);
  steps_a_unit_ = steps / ratio_;
  for (int i = 1; i <= steps + 1; ++i) {
    const double exact = std::log(tail) / std::log(std::min(i, steps) / steps_a_unit_);
    orders_[i] = std::clamp(static_cast<int>(std::ceil(exact)), 1, terms_);
  }
  orders_[0] = 1;

  factorials_[0] = inverse_factorials_[0] = 1;
  for (int l = 1; l < most_terms; ++l) {
    constexpr double balance = 20;
    factorials_[l] = factorials_[l - 1] * l / balance;
    inverse_factorials_[l] = 1 / factorials_[l];
  }
  binomials_ = Array<double, 1>({index_t{terms_} * terms_}, uninitialized);
  double* b = binomials_.data();
  for (int k = 0; k < terms_; ++k) {
    b[k] = b[k * terms_] = std::ldexp(1.0, -k);
  }
  for (int k = 1; k < terms_; ++k) {
    for (int l = 1; l < terms_; ++l) {
      b[k * terms_ + l] = (b[(k - 1) * terms_ + l] + b[k * terms_ + l - 1]) / 2;
    }
  }
}

}  // namespace structmat::cauchy::multipole
