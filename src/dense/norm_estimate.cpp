#include "structmat/dense/norm_estimate.hpp"

#include <climits>

#include <complex>
#include <vector>

#include <lapack.h>

#include "core/instantiate.hpp"
#include "structmat/core/array.hpp"

namespace structmat::dense {

template <Scalar T>
double one_norm_estimate(index_t n, const std::function<void(View<T, 1>)>& multiply,
                         const std::function<void(View<T, 1>)>& multiply_adjoint) {
  if (n == 0) return 0;
  if (n > INT_MAX) {
    throw Unsupported("dense::one_norm_estimate: " + std::to_string(n) +
                      " rows exceed the 32-bit integers of this LAPACK");
  }
  const auto size = static_cast<lapack_int>(n);
  Array<T, 1> v({n}), x({n});
  std::vector<lapack_int> signs(is_complex_v<T> ? 0 : n);
  real_t<T> estimate = 0;
  lapack_int task = 0, state[3] = {};
  while (true) {
    if constexpr (std::same_as<T, float>) {
      LAPACK_slacn2(&size, v.data(), x.data(), signs.data(), &estimate, &task, state);
    } else if constexpr (std::same_as<T, double>) {
      LAPACK_dlacn2(&size, v.data(), x.data(), signs.data(), &estimate, &task, state);
    } else if constexpr (std::same_as<T, std::complex<float>>) {
      LAPACK_clacn2(&size, v.data(), x.data(), &estimate, &task, state);
    } else {
      LAPACK_zlacn2(&size, v.data(), x.data(), &estimate, &task, state);
    }
    if (task == 0) return double(estimate);
    (task == 1 ? multiply : multiply_adjoint)(x.view());
  }
}

#define STRUCTMAT_INSTANTIATE(T)                         \
  template STRUCTMAT_EXPORT double one_norm_estimate<T>( \
      index_t, const std::function<void(View<T, 1>)>&, const std::function<void(View<T, 1>)>&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
