/// \file
/// A kernel as the first output of a linear stochastic differential equation: h, Phi(t) and P h with
/// k(t) = h^T Phi(t) P h and Phi(t + u) = Phi(t) Phi(u), and how they depend on the parameters.
///
/// Sums stack states, products take Kronecker products of all three.
#pragma once

#include "structmat/core/array.hpp"
#include "structmat/quasiseparable/kernel.hpp"

namespace structmat::quasiseparable {

class KernelStateSpace {
 public:
  explicit KernelStateSpace(Kernel kernel);

  index_t order() const { return order_; }
  /// Of the expression, as parameters() counts them.
  index_t parameter_count() const { return parameter_count_; }
  View<const double, 1> output() const { return output_.view(); }          ///< h
  View<const double, 1> covariance() const { return covariance_.view(); }  ///< P h

  /// Phi(gap); valid until the next call. gap >= 0, finite.
  View<const double, 2> transition(double gap);

  /// gradient += the gradient of <phi_bar, Phi(gap)>, for the gap of the last transition.
  void add_transition_gradient(double gap, View<const double, 2> phi_bar, View<double, 1> gradient);

  /// gradient += the gradient of <bar, P h>.
  void add_covariance_gradient(View<const double, 1> bar, View<double, 1> gradient) const;

 private:
  void set_term_transition(double gap);
  void add_term_gradient(double gap, const View<const double, 2>& phi_bar,
                         const View<double, 1>& gradient) const;
  bool is_product() const { return kernel_.kind() == Kernel::Kind::product; }

  Kernel kernel_;
  std::vector<KernelStateSpace> operands_;
  index_t order_, parameter_count_;
  Array<double, 1> output_, covariance_;
  Array<double, 2> phi_, operand_bar_;
};

}  // namespace structmat::quasiseparable
