#include "structmat/toeplitz/from_dense.hpp"

#include "core/instantiate.hpp"

namespace structmat {
namespace {

template <class Family, class Found>
verify::Nearest<Family> nearest(const Found& found, Family matrix) {
  return {static_cast<const verify::Deviation&>(found), std::move(matrix)};
}

}  // namespace

template <Scalar T>
verify::Nearest<Toeplitz<T>> toeplitz::from_dense(View<const T, 2> a,
                                                  const verify::EntrywiseOptions& options) {
  const auto found = verify::toeplitz(a, options);
  if (a.empty()) return nearest(found, Toeplitz<T>(a.extent(0), a.extent(1)));
  return nearest(found, Toeplitz<T>(View<const T, 1>(found.column), View<const T, 1>(found.row)));
}

template <Scalar T>
verify::Nearest<Hankel<T>> hankel::from_dense(View<const T, 2> a,
                                              const verify::EntrywiseOptions& options) {
  const auto found = verify::hankel(a, options);
  if (a.empty()) return nearest(found, Hankel<T>(a.extent(0), a.extent(1)));
  return nearest(found, Hankel<T>(View<const T, 1>(found.column), View<const T, 1>(found.row)));
}

template <Scalar T>
verify::Nearest<Circulant<T>> circulant::from_dense(View<const T, 2> a,
                                                    const verify::EntrywiseOptions& options) {
  const auto found = verify::circulant(a, options);
  return nearest(found, Circulant<T>(View<const T, 1>(found.column)));
}

#define STRUCTMAT_INSTANTIATE(T)                                                    \
  template STRUCTMAT_EXPORT verify::Nearest<Toeplitz<T>> toeplitz::from_dense<T>(   \
      View<const T, 2>, const verify::EntrywiseOptions&);                           \
  template STRUCTMAT_EXPORT verify::Nearest<Hankel<T>> hankel::from_dense<T>(       \
      View<const T, 2>, const verify::EntrywiseOptions&);                           \
  template STRUCTMAT_EXPORT verify::Nearest<Circulant<T>> circulant::from_dense<T>( \
      View<const T, 2>, const verify::EntrywiseOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
