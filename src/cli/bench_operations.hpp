/// \file
/// What bench times of quasiseparable matrices beside products with vectors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "structmat/quasiseparable/quasiseparable.hpp"

namespace structmat::cli {

inline const std::vector<std::string> quasiseparable_operations{"solve",   "cholesky", "multiply",
                                                                "inverse", "compress", "vjp"};

/// One operation on one random matrix and k vectors.
struct TimedOperation {
  double numbers = 0;  ///< that are read and written once each
  std::function<void()> structured{};
  std::function<void()> dense{};    ///< the same on all entries; empty: there is none
  std::function<double()> error{};  ///< relative difference of the two results, Frobenius norm
};

/// solve: factors and solution of a Hermitian positive definite matrix; cholesky: its factors;
/// multiply: M M; inverse: by QR factors; compress: to the least order; vjp: the reverse mode of y = M x.
/// with_dense: is the dense operation wanted? Throws Unsupported for an operation without a form on a
/// device.
template <Scalar T, transition::Uniform K>
TimedOperation quasiseparable_operation(const std::string& name, index_t n, index_t order,
                                        index_t k, bool on_device, bool with_dense);

}  // namespace structmat::cli
