// Entries of block generators: the blocks on the diagonal are copied, and the others are products.
#include "recurrence/to_dense.cuh"
#include "recurrence/to_dense_kernel.cuh"

namespace structmat::gpu::recurrence {
namespace {

template <class T>
struct DiagonalProblem {
  BlocksOnDiagonal<const T> diagonal;
  Strided<T, 3> dense;
  index_t batch, blocks;
};

template <class T>
__global__ void __launch_bounds__(to_dense_threads)
    write_diagonal(const __grid_constant__ DiagonalProblem<T> p) {
  for (index_t unit = blockIdx.x; unit < p.batch * p.blocks; unit += gridDim.x) {
    const index_t b = unit / p.blocks, i = unit % p.blocks;
    const index_t begin = p.diagonal.first_row(i), rows = p.diagonal.rows(i);
    const T* const block = p.diagonal.block(b, i);
    for (index_t e = threadIdx.x; e < rows * rows; e += to_dense_threads) {
      const index_t r = e / rows, c = e % rows;
      const bool zero = p.diagonal.lower_triangular && c > r;
      p.dense(b, begin + r, begin + c) = zero ? T(0) : block[e];
    }
  }
}

}  // namespace

template <class T>
void to_dense(const char* operation, const exec::cuda& e, const BlockSteps<T>& steps,
              const Strided<T, 3>& dense) {
  const index_t work = steps.m.batch * steps.blocks;
  enqueue_triangles<T>(operation, e, steps, steps.blocks, dense);
  launch(operation, write_diagonal<T>, persistent_blocks(work, 1, multiprocessors(operation)),
         to_dense_threads, stream_of(e),
         DiagonalProblem<T>{steps.diagonal, dense, steps.m.batch, steps.blocks});
}

#define STRUCTMAT_INSTANTIATE(T)                                                  \
  template void to_dense<T>(const char*, const exec::cuda&, const BlockSteps<T>&, \
                            const Strided<T, 3>&);
STRUCTMAT_INSTANTIATE(float)
STRUCTMAT_INSTANTIATE(double)
STRUCTMAT_INSTANTIATE(Complex<float>)
STRUCTMAT_INSTANTIATE(Complex<double>)

}  // namespace structmat::gpu::recurrence
