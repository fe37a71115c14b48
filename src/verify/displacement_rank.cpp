#include "structmat/verify/displacement_rank.hpp"

#include "core/instantiate.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::verify {

template <Scalar T>
RankReport displacement_rank(View<const T, 2> x, const displacement::Displacement<T>& d,
                             const RankOptions& options) {
  dense::require_finite("verify::displacement_rank", x);
  displacement::Terms<T> both = displacement::terms(d, x);
  RankOptions with_reference = options;
  if (!options.reference) {
    with_reference.reference =
        dense::frobenius_norm<T>(both.first.view()) + dense::frobenius_norm<T>(both.second.view());
  }
  RankReport report = low_rank(difference(std::move(both)), with_reference);
  report.property = "displacement rank";
  return report;
}

#define STRUCTMAT_INSTANTIATE(T)                             \
  template STRUCTMAT_EXPORT RankReport displacement_rank<T>( \
      View<const T, 2>, const displacement::Displacement<T>&, const RankOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
