#include "structmat/verify/displacement_rank.hpp"

#include "core/instantiate.hpp"
#include "structmat/dense/norm.hpp"

namespace structmat::verify {

template <Scalar T>
RankReport displacement_rank(View<const T, 2> x, const displacement::Displacement<T>& d,
                             const RankOptions& options) {
  dense::require_finite("verify::displacement_rank", x);
  const Array<T, 2> difference = displacement::displace(d, x);
  RankOptions with_reference = options;
  if (!options.reference) {
    const auto norm = [](const Array<T, 2>& a) { return dense::frobenius_norm<T>(a.view()); };
    const Array<T, 2> left = displacement::apply_left(d.left, x);
    const bool sylvester = d.kind == displacement::Kind::sylvester;
    with_reference.reference =
        sylvester ? norm(left) + norm(displacement::apply_right(x, d.right))
                  : dense::frobenius_norm<T>(x) +
                        norm(displacement::apply_right(View<const T, 2>(left.view()), d.right));
  }
  RankReport report = low_rank(difference, with_reference);
  report.property = "displacement rank";
  return report;
}

#define STRUCTMAT_INSTANTIATE(T)                             \
  template STRUCTMAT_EXPORT RankReport displacement_rank<T>( \
      View<const T, 2>, const displacement::Displacement<T>&, const RankOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::verify
