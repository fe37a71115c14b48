#include "absent.hpp"
#include "core/instantiate.hpp"
#include "structmat/quasiseparable/compress.hpp"

namespace structmat::quasiseparable {

template <Scalar T>
using Matrix = Quasiseparable<T, transition::Block, space::cuda>;

template <Scalar T, transition::Uniform K>
void to_block(const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&, Matrix<T>&) {
  absent("quasiseparable::to_block");
}

template <Scalar T, transition::Uniform K>
Matrix<T> to_block(const exec::cuda&, const QuasiseparableView<T, K, space::cuda>&, index_t) {
  absent("quasiseparable::to_block");
}

template <Scalar T>
index_t compress_workspace_bytes(const Matrix<T>&, Order) {
  absent("quasiseparable::compress_workspace_bytes");
}

template <Scalar T>
void compress(const exec::cuda&, const Matrix<T>&, CompressOptions::Form, Matrix<T>&,
              View<TruncationReport, 1, space::cuda>) {
  absent("quasiseparable::compress");
}

template <Scalar T>
Compressed<T, space::cuda> compress(const exec::cuda&, const Matrix<T>&, const CompressOptions&) {
  absent("quasiseparable::compress");
}

#define STRUCTMAT_INSTANTIATE_KIND(T, K)                                                        \
  template STRUCTMAT_EXPORT void to_block(                                                      \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, Matrix<T>&); \
  template STRUCTMAT_EXPORT Matrix<T> to_block(                                                 \
      const exec::cuda&, const QuasiseparableView<T, transition::K, space::cuda>&, index_t);
STRUCTMAT_FOR_SCALARS_AND_KINDS(STRUCTMAT_INSTANTIATE_KIND)

#define STRUCTMAT_INSTANTIATE(T)                                                       \
  template STRUCTMAT_EXPORT index_t compress_workspace_bytes(const Matrix<T>&, Order); \
  template STRUCTMAT_EXPORT void compress(const exec::cuda&, const Matrix<T>&,         \
                                          CompressOptions::Form, Matrix<T>&,           \
                                          View<TruncationReport, 1, space::cuda>);     \
  template STRUCTMAT_EXPORT Compressed<T, space::cuda> compress(                       \
      const exec::cuda&, const Matrix<T>&, const CompressOptions&);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::quasiseparable
