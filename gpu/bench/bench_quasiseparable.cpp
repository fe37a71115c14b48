// y := M x for quasiseparable M, against the dense product of cuBLAS and against the floor of memory.
//
// What to expect, one right-hand side, at 4.2 TB/s; both triangles, order r:
//   dense, n = 1e6, r = 8, double. Floor, everything read once: (2 (r^2 + 2 r) + 3) 8 = 1304 bytes a row,
//     1.30 GB, 0.31 ms; target 2.5 times that. Phase 1 reads A, q and x: 1160 bytes; phase 3 everything,
//     x and y twice: 1328; 2.49 GB together, 0.59 ms.
//   diagonal, n = 524288, r = 8, double. Floor 408 bytes a row, 214 MB, 0.051 ms. Phase 1: 272, phase 3:
//     432, of which 24 stay in L2: 357 MB, 0.085 ms, and a few us for phase 2.
#include "bench/measure.hpp"
#include "bench/random_quasiseparable.hpp"

#include <cublas_v2.h>

#include "core/launch.cuh"
#include "structmat/core/device.hpp"
#include "structmat/quasiseparable/apply.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

class Blas {
 public:
  explicit Blas(cudaStream_t stream) {
    check(cublasCreate(&handle_));
    check(cublasSetStream(handle_, stream));
    // Captured calls allocate nothing if cuBLAS has its workspace beforehand.
    check(cublasSetWorkspace(handle_, workspace_.data(), workspace_.size()));
  }
  ~Blas() { cublasDestroy(handle_); }
  Blas(const Blas&) = delete;

  /// Row-major M is M^T to cuBLAS; x and y are columns one after the other.
  void multiply(const double* m, const double* x, double* y, int n, int k) const {
    const double one = 1, zero = 0;
    check(k == 1 ? cublasDgemv(handle_, CUBLAS_OP_T, n, n, &one, m, n, x, 1, &zero, y, 1)
                 : cublasDgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n, k, n, &one, m, n, x, n, &zero,
                               y, n));
  }
  void multiply(const float* m, const float* x, float* y, int n, int k) const {
    const float one = 1, zero = 0;
    check(k == 1 ? cublasSgemv(handle_, CUBLAS_OP_T, n, n, &one, m, n, x, 1, &zero, y, 1)
                 : cublasSgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n, k, n, &one, m, n, x, n, &zero,
                               y, n));
  }

 private:
  static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) {
      throw BackendError("bench", "cuBLAS", status, cublasGetStatusString(status));
    }
  }

  cublasHandle_t handle_ = nullptr;
  Array<std::byte, 1, space::cuda> workspace_{{index_t{32} << 20}, uninitialized};
};

template <class T>
double time_dense(const Context& context, index_t n, index_t k) {
  const Blas blas(context.stream());
  const int sets = context.sets_for(static_cast<double>(n * n) * sizeof(T));
  const auto m = random<T, 3>({sets, n, n}, 1);
  const auto x = random<T, 2>({n, k}, 2);
  Array<T, 2, space::cuda> y({n, k});
  return context.time_graph(sets, [&](int set) {
    blas.multiply(m.data() + set * n * n, x.data(), y.data(), static_cast<int>(n),
                  static_cast<int>(k));
  });
}

/// The largest difference from the CPU's product in double, relative to the largest entry of y.
template <class T, class K>
double error_of(const Quasiseparable<T, K, space::cuda>& m, const Array<T, 3, space::cuda>& x,
                const Array<T, 3, space::cuda>& y) {
  const Quasiseparable<double, K> wide = in_double(m);
  return largest_error(in_double(y), wide * in_double(x));
}

template <class T, class K>
void add(const Context& context, std::vector<Row>& rows, index_t n, index_t r, index_t k,
         index_t batch, bool dense, double target_of_floor = 0) {
  using Matrix = Quasiseparable<T, K, space::cuda>;
  std::vector<Matrix> matrices;
  matrices.push_back(random_matrix<T, K>(n, r, batch, 1));
  const auto x = random<T, 3>({batch, n, k}, 50);
  const double bytes =
      static_cast<double>(matrices[0].stored() + 2 * x.size()) * static_cast<double>(sizeof(T));
  const int sets = context.sets_for(bytes);
  for (int set = 1; set < sets; ++set) {
    matrices.push_back(random_matrix<T, K>(n, r, batch, 10 * static_cast<unsigned>(set)));
  }
  Array<T, 3, space::cuda> y({batch, n, k});
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(matrices[0].view(), k)},
                                             uninitialized);
  const auto product = [&](int set) {
    apply(exec::cuda{context.stream(), workspace}, matrices[static_cast<std::size_t>(set)].view(),
          Op::none, x.view(), y.view());
  };
  Row row;
  row.name = std::string(dtype_name<T>()) + " " + K::name + " n=" + std::to_string(n) +
             " r=" + std::to_string(r) + " k=" + std::to_string(k) +
             " batch=" + std::to_string(batch);
  row.ours_ms = context.time_graph(sets, product);
  row.floor_ms = bytes / context.copy_rate();
  if (target_of_floor > 0) row.target_ms = target_of_floor * *row.floor_ms;
  product(0);
  device_synchronize();
  row.error = error_of(matrices[0], x, y);
  if (dense) {
    row.peer = k > 1 ? "cuBLAS gemm" : "cuBLAS gemv";
    row.peer_ms = time_dense<T>(context, n, k);
  }
  rows.push_back(row);
}

template <class T>
void add_all(const Context& context, std::vector<Row>& rows) {
  using transition::Dense, transition::Diagonal, transition::Scalar;
  add<T, Dense>(context, rows, 1000000, 8, 1, 1, false, 2.5);
  add<T, Diagonal>(context, rows, 524288, 8, 1, 1, false, 2);
  add<T, Scalar>(context, rows, 524288, 8, 1, 1, false);
  add<T, Diagonal>(context, rows, 4096, 16, 1, 1, true);
  add<T, Diagonal>(context, rows, 4096, 16, 64, 1, true);
  add<T, Diagonal>(context, rows, 8192, 16, 64, 1, true);
  add<T, Diagonal>(context, rows, 16384, 16, 1, 1, true);
  add<T, Diagonal>(context, rows, 4096, 16, 1, 64, false);
  add<T, Dense>(context, rows, 100000, 3, 1, 1, false);
  add<T, Dense>(context, rows, 100000, 16, 8, 1, false);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "quasiseparable apply", [](Context& context, std::vector<Row>& rows) {
    add_all<double>(context, rows);
    add_all<float>(context, rows);
  });
}
