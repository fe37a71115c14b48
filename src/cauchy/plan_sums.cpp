#include "cauchy/plan_sums.hpp"

#include "core/instantiate.hpp"
#include "core/threads.hpp"

namespace structmat::cauchy {
namespace {

/// The real or the imaginary parts.
template <Scalar T>
View<const real_t<T>, 1> parts(const View<const T, 1>& nodes, bool imaginary) {
  using R = real_t<T>;
  constexpr index_t reals = sizeof(T) / sizeof(R);
  const R* data = reinterpret_cast<const R*>(nodes.data());
  return {data ? data + (imaginary ? 1 : 0) : data, nodes.extents(), {reals * nodes.stride(0)}};
}

/// A column of complex numbers as two real columns.
template <class T>
auto as_reals(const View<T, 2>& columns, index_t column) {
  using R = std::conditional_t<std::is_const_v<T>, const real_t<std::remove_const_t<T>>, real_t<T>>;
  const auto one = columns.select(1, column);
  return View<R, 2>(reinterpret_cast<R*>(one.data()), {one.extent(0), 2}, {2 * one.stride(0), 1});
}

}  // namespace

template <Scalar T>
Geometry geometry_of(const View<const T, 1>& s, const View<const T, 1>& t) {
  if constexpr (!is_complex_v<T>) {
    return Geometry::horizontal;
  } else {
    const auto all_equal = [&](bool imaginary) {
      const auto a = parts(s, imaginary), b = parts(t, imaginary);
      for (const auto& part : {a, b}) {
        for (index_t i = 0; i < part.extent(0); ++i) {
          if (part(i) != (a.extent(0) > 0 ? a(0) : b(0))) return false;
        }
      }
      return true;
    };
    if (all_equal(true)) return Geometry::horizontal;
    return all_equal(false) ? Geometry::vertical : Geometry::plane;
  }
}

template <Scalar T>
LineSums<T>::LineSums(const exec::cpu& e, const View<const T, 1>& s, const View<const T, 1>& t,
                      Geometry geometry, double tolerance, Coincidence coincidence, index_t batch)
    : line_(e, parts(s, geometry == Geometry::vertical), parts(t, geometry == Geometry::vertical),
            tolerance, coincidence, batch),
      vertical_(geometry == Geometry::vertical) {}

template <Scalar T>
void LineSums<T>::apply(const exec::cpu& e, bool exchanged, const View<const T, 2>& x,
                        const View<T, 2>& y) const {
  const auto sum = [&](const auto& in, const auto& out) {
    exchanged ? line_.apply_exchanged(e, in, out) : line_.apply(e, in, out);
  };
  if constexpr (!is_complex_v<T>) {
    sum(x, y);
  } else {
    for (index_t c = 0; c < x.extent(1); ++c) sum(as_reals(x, c), as_reals(y, c));
    if (!vertical_) return;
    for (index_t i = 0; i < y.extent(0); ++i) {  // 1 / (i (a - b)) = -i / (a - b)
      for (index_t c = 0; c < y.extent(1); ++c) y(i, c) = T(y(i, c).imag(), -y(i, c).real());
    }
  }
}

template <ComplexScalar T>
PlaneSums<T>::PlaneSums(const exec::cpu& e, const View<const T, 1>& s, const View<const T, 1>& t,
                        double tolerance, Coincidence coincidence)
    : s_(s),
      t_(t),
      tolerance_(static_cast<R>(tolerance)),
      coincidence_(coincidence),
      forward_(s, t, tolerance_, coincidence, e) {}

template <ComplexScalar T>
void PlaneSums<T>::apply(const exec::cpu& e, bool exchanged, const View<const T, 2>& x,
                         const View<T, 2>& y) const {
  if (!exchanged) return forward_.apply(e, x, y);
  std::call_once(once_, [&] { exchanged_.emplace(t_, s_, tolerance_, coincidence_, e); });
  exchanged_->apply(e, x, y);
}

#define STRUCTMAT_INSTANTIATE(T)                                                      \
  template Geometry geometry_of<T>(const View<const T, 1>&, const View<const T, 1>&); \
  template class LineSums<T>;
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)
template class PlaneSums<std::complex<float>>;
template class PlaneSums<std::complex<double>>;

}  // namespace structmat::cauchy
