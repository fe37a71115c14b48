#include "quasiseparable/kernel_state_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "quasiseparable/kernel_terms.hpp"

namespace structmat::quasiseparable {
namespace {

using Kind = Kernel::Kind;
using Matrix3 = std::array<std::array<double, 3>, 3>;

/// Matern: on the scale s = rate t / scale the drift F has the one eigenvalue -1, hence Phi =
/// exp(-s) (I + s N + s^2 N^2 / 2) with N = F + I nilpotent.
struct Matern {
  Matrix3 nilpotent, half_squared;
  std::array<double, 3> covariance;  ///< P e_1 for variance 1
};

const Matern& matern(Kind kind) {
  static const Matern exponential{{}, {}, {1}};
  static const Matern matern32{{{{1, 1}, {-1, -1}}}, {}, {1, 0}};
  static const Matern matern52{{{{1, 1, 0}, {0, 1, 1}, {-1, -3, -2}}},
                               {{{0.5, 1, 0.5}, {-0.5, -1, -0.5}, {0.5, 1, 0.5}}},
                               {1, 0, -1.0 / 3}};
  return kind == Kind::exponential ? exponential : kind == Kind::matern32 ? matern32 : matern52;
}

bool is_matern(Kind kind) {
  return kind == Kind::exponential || kind == Kind::matern32 || kind == Kind::matern52;
}

/// <bar, F phi> for F = N - I.
double drift_product(const Matrix3& nilpotent, const View<const double, 2>& bar,
                     const View<const double, 2>& phi) {
  const index_t r = phi.extent(0);
  double sum = 0;
  for (index_t i = 0; i < r; ++i) {
    for (index_t j = 0; j < r; ++j) {
      double entry = -phi(i, j);
      for (index_t k = 0; k < r; ++k) entry += nilpotent[i][k] * phi(k, j);
      sum += bar(i, j) * entry;
    }
  }
  return sum;
}

/// Rotation of the 2 x 2 block that starts at `at`.
void set_rotation(const View<double, 2>& phi, index_t at, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  phi(at, at) = phi(at + 1, at + 1) = c;
  phi(at, at + 1) = -s;
  phi(at + 1, at) = s;
}

/// <bar, d rotation / d angle>
double rotation_gradient(const View<const double, 2>& bar, const View<const double, 2>& phi,
                         index_t at) {
  const double c = phi(at, at), s = phi(at + 1, at);
  return -s * (bar(at, at) + bar(at + 1, at + 1)) + c * (bar(at + 1, at) - bar(at, at + 1));
}

/// Stacked for a sum, Kronecker product for a product.
void combine(bool product, const View<const double, 1>& a, const View<const double, 1>& b,
             const View<double, 1>& to) {
  for (index_t i = 0; i < a.extent(0); ++i) {
    if (!product) to(i) = a(i);
    for (index_t j = 0; product && j < b.extent(0); ++j) to(i * b.extent(0) + j) = a(i) * b(j);
  }
  for (index_t j = 0; !product && j < b.extent(0); ++j) to(a.extent(0) + j) = b(j);
}

}  // namespace

KernelStateSpace::KernelStateSpace(Kernel kernel)
    : kernel_(std::move(kernel)),
      order_(kernel_.order()),
      parameter_count_(static_cast<index_t>(parameters(kernel_).size())),
      output_({order_}),
      covariance_({order_}),
      phi_({order_, order_}) {
  const std::vector<double>& value = kernel_.term_parameters();
  const Kind kind = kernel_.kind();
  if (kind == Kind::sum || kind == Kind::product) {
    for (const Kernel& operand : kernel_.operands()) operands_.emplace_back(operand);
    combine(is_product(), operands_[0].output(), operands_[1].output(), output_);
    combine(is_product(), operands_[0].covariance(), operands_[1].covariance(), covariance_);
    const index_t most = std::max(operands_[0].order(), operands_[1].order());
    operand_bar_ = Array<double, 2>({most, most});
  } else if (kind == Kind::periodic) {
    const std::vector<double> c = scaled_bessel(value[1], kernel_.harmonics() + 1);
    output_(0) = 1;
    covariance_(0) = value[2] * c[0];
    for (index_t j = 1; j <= kernel_.harmonics(); ++j) {
      output_(2 * j - 1) = 1;
      covariance_(2 * j - 1) = 2 * value[2] * c[j];
    }
  } else {
    output_(0) = 1;
    covariance_(0) = value.back();
    for (index_t k = 1; is_matern(kind) && k < order_; ++k) {
      covariance_(k) = value.back() * matern(kind).covariance[k];
    }
  }
}

View<const double, 2> KernelStateSpace::transition(double gap) {
  if (operands_.empty()) {
    set_term_transition(gap);
    return std::as_const(phi_).view();
  }
  const View<const double, 2> a = operands_[0].transition(gap), b = operands_[1].transition(gap);
  const index_t ra = a.extent(0), rb = b.extent(0);
  if (!is_product()) {
    copy(a, phi_.view().slice(0, 0, ra).slice(1, 0, ra));
    copy(b, phi_.view().slice(0, ra, order_).slice(1, ra, order_));
    return std::as_const(phi_).view();
  }
  for (index_t i = 0; i < ra; ++i) {
    for (index_t j = 0; j < ra; ++j) {
      for (index_t k = 0; k < rb; ++k) {
        for (index_t l = 0; l < rb; ++l) phi_(i * rb + k, j * rb + l) = a(i, j) * b(k, l);
      }
    }
  }
  return std::as_const(phi_).view();
}

void KernelStateSpace::set_term_transition(double gap) {
  const std::vector<double>& value = kernel_.term_parameters();
  const Kind kind = kernel_.kind();
  const View<double, 2> phi = phi_.view();
  if (is_matern(kind)) {
    const Matern& m = matern(kind);
    const double s = matern_argument(kernel_, gap), decay = std::exp(-s);
    for (index_t i = 0; i < order_; ++i) {
      for (index_t j = 0; j < order_; ++j) {
        phi(i, j) = decay * ((i == j ? 1 : 0) + s * (m.nilpotent[i][j] + s * m.half_squared[i][j]));
      }
    }
  } else if (kind == Kind::sho) {
    const Oscillator o(value[0], value[1], gap);
    phi(0, 0) = o.even + o.damping * o.odd;
    phi(0, 1) = o.odd;
    phi(1, 0) = -o.odd;
    phi(1, 1) = o.even - o.damping * o.odd;
  } else if (kind == Kind::cosine) {
    set_rotation(phi, 0, phase(gap, value[0]));
  } else {
    phi(0, 0) = 1;
    for (index_t j = 1; j <= kernel_.harmonics(); ++j) {
      set_rotation(phi, 2 * j - 1, phase(gap, value[0], j));
    }
  }
}

void KernelStateSpace::add_transition_gradient(double gap, View<const double, 2> phi_bar,
                                               View<double, 1> gradient) {
  if (operands_.empty()) return add_term_gradient(gap, phi_bar, gradient);
  KernelStateSpace &a = operands_[0], &b = operands_[1];
  const index_t ra = a.order_, rb = b.order_, own = a.parameter_count_;
  const auto of_a = gradient.slice(0, 0, own), of_b = gradient.slice(0, own, parameter_count_);
  if (!is_product()) {
    a.add_transition_gradient(gap, phi_bar.slice(0, 0, ra).slice(1, 0, ra), of_a);
    b.add_transition_gradient(gap, phi_bar.slice(0, ra, order_).slice(1, ra, order_), of_b);
    return;
  }
  // The cotangent of one factor is the contraction of phi_bar with the other.
  const auto contract = [&](index_t size, index_t other, const auto& entry) {
    const View<double, 2> bar = operand_bar_.view().slice(0, 0, size).slice(1, 0, size);
    for (index_t i = 0; i < size; ++i) {
      for (index_t j = 0; j < size; ++j) {
        double sum = 0;
        for (index_t k = 0; k < other; ++k) {
          for (index_t l = 0; l < other; ++l) sum += entry(i, j, k, l);
        }
        bar(i, j) = sum;
      }
    }
    return View<const double, 2>(bar);
  };
  a.add_transition_gradient(gap,
                            contract(ra, rb,
                                     [&](index_t i, index_t j, index_t k, index_t l) {
                                       return phi_bar(i * rb + k, j * rb + l) * b.phi_(k, l);
                                     }),
                            of_a);
  b.add_transition_gradient(gap,
                            contract(rb, ra,
                                     [&](index_t i, index_t j, index_t k, index_t l) {
                                       return phi_bar(k * rb + i, l * rb + j) * a.phi_(k, l);
                                     }),
                            of_b);
}

void KernelStateSpace::add_term_gradient(double gap, const View<const double, 2>& phi_bar,
                                         const View<double, 1>& gradient) const {
  const std::vector<double>& value = kernel_.term_parameters();
  const Kind kind = kernel_.kind();
  const View<const double, 2> phi = phi_.view();
  if (is_matern(kind)) {
    const double s = matern_argument(kernel_, gap);
    gradient(0) -= s / value[0] * drift_product(matern(kind).nilpotent, phi_bar, phi);
  } else if (kind == Kind::sho) {
    const Oscillator o(value[0], value[1], gap);
    const double b = o.damping, x = o.x;
    const double trace = phi_bar(0, 0) + phi_bar(1, 1), skew = phi_bar(0, 1) - phi_bar(1, 0);
    const double split = phi_bar(0, 0) - phi_bar(1, 1);
    const double along = phi_bar(0, 0) * phi(0, 0) + phi_bar(0, 1) * phi(0, 1) +
                         phi_bar(1, 0) * phi(1, 0) + phi_bar(1, 1) * phi(1, 1);
    // d Phi / d x = G Phi with G = [[0, 1], [-1, -2 b]].
    const double by_x = phi_bar(0, 0) * phi(1, 0) + phi_bar(0, 1) * phi(1, 1) -
                        phi_bar(1, 0) * (phi(0, 0) + 2 * b * phi(1, 0)) -
                        phi_bar(1, 1) * (phi(0, 1) + 2 * b * phi(1, 1));
    const double by_m = 0.5 * x * o.odd * trace + o.odd_derivative() * (b * split + skew);
    const double by_b = -x * along + 2 * b * by_m + o.odd * split;
    gradient(0) += by_x * (x / value[0]);
    gradient(1) -= by_b * (b / value[1]);
  } else if (kind == Kind::cosine) {
    const double angle = 2 * std::numbers::pi * (gap / value[0]);
    gradient(0) -= angle / value[0] * rotation_gradient(phi_bar, phi, 0);
  } else {
    const double angle = 2 * std::numbers::pi * (gap / value[0]);
    for (index_t j = 1; j <= kernel_.harmonics(); ++j) {
      gradient(0) -=
          static_cast<double>(j) * (angle / value[0]) * rotation_gradient(phi_bar, phi, 2 * j - 1);
    }
  }
}

void KernelStateSpace::add_covariance_gradient(View<const double, 1> bar,
                                               View<double, 1> gradient) const {
  const std::vector<double>& value = kernel_.term_parameters();
  if (!operands_.empty()) {
    const KernelStateSpace &a = operands_[0], &b = operands_[1];
    const index_t ra = a.order_, rb = b.order_, own = a.parameter_count_;
    Array<double, 1> bar_a({ra}), bar_b({rb});
    if (is_product()) {
      for (index_t i = 0; i < ra; ++i) {
        for (index_t j = 0; j < rb; ++j) {
          bar_a(i) += bar(i * rb + j) * b.covariance_(j);
          bar_b(j) += bar(i * rb + j) * a.covariance_(i);
        }
      }
    } else {
      copy(bar.slice(0, 0, ra), bar_a.view());
      copy(bar.slice(0, ra, order_), bar_b.view());
    }
    a.add_covariance_gradient(bar_a, gradient.slice(0, 0, own));
    b.add_covariance_gradient(bar_b, gradient.slice(0, own, parameter_count_));
    return;
  }
  double along = 0;  // covariances are proportional to the variance, the last parameter
  for (index_t k = 0; k < order_; ++k) along += bar(k) * covariance_(k);
  gradient(parameter_count_ - 1) += along / value.back();
  if (kernel_.kind() != Kind::periodic) return;
  // d exp(-z) I_j / dz = exp(-z) ((I_{j-1} + I_{j+1}) / 2 - I_j), dz / d scale = -2 / scale^3.
  const std::vector<double> c = scaled_bessel(value[1], kernel_.harmonics() + 2);
  double by_z = bar(0) * (c[1] - c[0]);
  for (index_t j = 1; j <= kernel_.harmonics(); ++j) {
    by_z += bar(2 * j - 1) * (c[j - 1] + c[j + 1] - 2 * c[j]);
  }
  gradient(1) -= value[2] * by_z * 2 / (value[1] * value[1] * value[1]);
}

}  // namespace structmat::quasiseparable
