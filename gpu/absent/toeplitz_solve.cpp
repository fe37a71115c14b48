#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/toeplitz/circulant_solve.hpp"
#include "structmat/toeplitz/iterative.hpp"

namespace structmat {

template <Scalar T>
CirculantSolver<T>::CirculantSolver(const exec::cuda&, const CirculantView<T, space::cuda>&,
                                    index_t) {
  absent("circulant::solver");
}
template <Scalar T>
CirculantSolver<T>::CirculantSolver(const exec::cuda&, const SkewCirculantView<T, space::cuda>&,
                                    index_t) {
  absent("circulant::solver");
}
template <Scalar T>
index_t CirculantSolver<T>::batch() const {
  absent("circulant::solver");
}
template <Scalar T>
index_t CirculantSolver<T>::size() const {
  absent("circulant::solver");
}
template <Scalar T>
const PivotStatus& CirculantSolver<T>::status() const {
  absent("circulant::solver");
}
template <Scalar T>
index_t solve_workspace_bytes(const CirculantSolver<T>&) {
  absent("circulant::solve_workspace_bytes");
}
template <Scalar T>
circulant::SolveReport solve(const exec::cuda&, const CirculantSolver<T>&, Op,
                             View<const T, 3, space::cuda>, View<T, 3, space::cuda>) {
  absent("circulant::solve");
}

namespace toeplitz {
template <Scalar T>
IterativeReport conjugate_gradients(const exec::cuda&, const ToeplitzView<T, space::cuda>&,
                                    View<const T, 3, space::cuda>, View<T, 3, space::cuda>,
                                    const IterativeOptions&) {
  absent("toeplitz::conjugate_gradients");
}
}  // namespace toeplitz

#define STRUCTMAT_INSTANTIATE(T)                                                             \
  template class CirculantSolver<T>;                                                         \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes(const CirculantSolver<T>&);        \
  template STRUCTMAT_EXPORT circulant::SolveReport solve(                                    \
      const exec::cuda&, const CirculantSolver<T>&, Op, View<const T, 3, space::cuda>,       \
      View<T, 3, space::cuda>);                                                              \
  template STRUCTMAT_EXPORT toeplitz::IterativeReport toeplitz::conjugate_gradients(         \
      const exec::cuda&, const ToeplitzView<T, space::cuda>&, View<const T, 3, space::cuda>, \
      View<T, 3, space::cuda>, const toeplitz::IterativeOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat
