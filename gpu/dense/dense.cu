// Dense products and solutions through cuBLAS and cuSOLVER: what structured operations are compared with.
#include "core/instantiate.hpp"
#include "core/workspace.cuh"
#include "dense/blas.cuh"
#include "dense/copy.cuh"
#include "dense/solver.cuh"
#include "structmat/dense/blas.hpp"
#include "structmat/dense/solve.hpp"

namespace structmat::dense {
namespace {

using gpu::Blas;
using gpu::device_pointer;
using gpu::device_scalar_t;
using gpu::Solver;

constexpr auto gemm_name = "dense::gemm", solve_name = "dense::solve";

std::string extents(const char* name, index_t rows, index_t columns) {
  return std::string(name) + " is " + std::to_string(rows) + " x " + std::to_string(columns);
}

/// A matrix as cuBLAS has it, by columns, and what gives the transpose of op(A) from that.
struct Operand {
  index_t ld;
  cublasOperation_t op;
};

template <Scalar T>
Operand transposed_operand(const char* name, Op op, const View<const T, 2, space::cuda>& a) {
  const auto fits = [](index_t unit, index_t count, index_t step, index_t least) {
    return unit == 1 && (count <= 1 || step >= std::max<index_t>(1, least));
  };
  const index_t rows = a.extent(0), columns = a.extent(1);
  if (columns <= 1 || fits(a.stride(1), rows, a.stride(0), columns)) {
    if (columns > 1 || rows <= 1 || a.stride(0) >= 1) {
      const index_t ld = rows > 1 ? a.stride(0) : std::max<index_t>(1, columns);
      return {ld, op == Op::none ? CUBLAS_OP_N : op == Op::transpose ? CUBLAS_OP_T : CUBLAS_OP_C};
    }
  }
  if (rows <= 1 || fits(a.stride(0), columns, a.stride(1), rows)) {
    const index_t ld = columns > 1 ? a.stride(1) : std::max<index_t>(1, rows);
    if ((columns <= 1 || a.stride(1) >= 1) && !(is_complex_v<T> && op == Op::adjoint)) {
      return {ld, op == Op::none ? CUBLAS_OP_T : CUBLAS_OP_N};
    }
  }
  throw Unsupported(std::string(gemm_name) + ": " + name + " has strides (" +
                    std::to_string(a.stride(0)) + ", " + std::to_string(a.stride(1)) +
                    "); one must be 1, the last where the adjoint of complex numbers is asked for");
}

}  // namespace

template <Scalar T>
index_t gemm_workspace_bytes() {
  Blas::prepare(gemm_name);
  return Blas::workspace_bytes;
}

template <Scalar T>
void gemm(const exec::cuda& e, Op op_a, Op op_b, T alpha, View<const T, 2, space::cuda> a,
          View<const T, 2, space::cuda> b, T beta, View<T, 2, space::cuda> c) {
  using D = device_scalar_t<T>;
  const index_t m = a.extent(op_a == Op::none ? 0 : 1), k = a.extent(op_a == Op::none ? 1 : 0),
                k_b = b.extent(op_b == Op::none ? 0 : 1), n = b.extent(op_b == Op::none ? 1 : 0);
  if (k != k_b || c.extent(0) != m || c.extent(1) != n) {
    throw ShapeError(std::string(gemm_name) + ": " + extents("op(A)", m, k) + ", " +
                     extents("op(B)", k_b, n) + ", " + extents("C", c.extent(0), c.extent(1)));
  }
  if (c.empty()) return;
  if ((n > 1 && c.stride(1) != 1) || (m > 1 && c.stride(0) < n)) {
    throw Unsupported(std::string(gemm_name) + ": C has strides (" + std::to_string(c.stride(0)) +
                      ", " + std::to_string(c.stride(1)) + "), it must be row-major");
  }
  for (const auto* operand : {&a, &b}) {
    if (!operand->empty() && overlaps(View<const T, 2, space::cuda>(c), *operand)) {
      throw DomainError(std::string(gemm_name) + ": C overlaps " + (operand == &a ? "A" : "B"));
    }
  }
  const Operand left = transposed_operand<T>("A", op_a, a),
                right = transposed_operand<T>("B", op_b, b);
  void* const memory = gpu::cut(gemm_name, e.workspace, [](gpu::Workspace& w) {
    return w.take<std::byte>(Blas::workspace_bytes);
  });
  const Blas blas(gemm_name, gpu::stream_of(e), memory);
  const auto scalar = [](const T& v) { return *device_pointer(&v); };
  blas.gemm<D>(right.op, left.op, n, m, k, scalar(alpha), device_pointer(b.data()), right.ld, 0,
               device_pointer(a.data()), left.ld, 0, scalar(beta), device_pointer(c.data()),
               m > 1 ? c.stride(0) : n, 0);
}

namespace {

template <class D>
struct SolveArrays {
  D *factors, *solution;
  std::int64_t* pivots;
  int* unused;
  std::byte* buffer;
  index_t buffer_bytes;
};

template <class D>
auto solve_layout(index_t n, index_t k, index_t buffer_bytes) {
  return [=](gpu::Workspace& w) {
    return SolveArrays<D>{w.take<D>(n * n),
                          w.take<D>(n * k),
                          w.take<std::int64_t>(n),
                          w.take<int>(1),
                          w.take<std::byte>(buffer_bytes),
                          buffer_bytes};
  };
}

template <class D>
index_t factor_bytes(index_t n) {
  return static_cast<index_t>(
      Solver(solve_name, nullptr).getrf_bytes<D>(n, n, nullptr, std::max<index_t>(1, n)));
}

}  // namespace

template <Scalar T>
index_t solve_workspace_bytes(View<const T, 2, space::cuda> a, index_t k) {
  using D = device_scalar_t<T>;
  const index_t n = a.extent(0);
  return gpu::counted(solve_name, solve_layout<D>(n, k, n == 0 ? 0 : factor_bytes<D>(n)));
}

template <Scalar T>
void solve(const exec::cuda& e, View<const T, 2, space::cuda> a, View<T, 2, space::cuda> b,
           View<int, 1, space::cuda> status) {
  using D = device_scalar_t<T>;
  const index_t n = a.extent(0), k = b.extent(1);
  if (a.extent(1) != n || b.extent(0) != n) {
    throw ShapeError(std::string(solve_name) + ": " + extents("A", n, a.extent(1)) + ", " +
                     extents("B", b.extent(0), k));
  }
  if (status.size() != 1) {
    throw ShapeError(std::string(solve_name) + ": the status has " + std::to_string(status.size()) +
                     " numbers, it must have 1");
  }
  gpu::require_writable(solve_name, b, "B");
  if (!a.empty() && !b.empty() && overlaps(a, View<const T, 2, space::cuda>(b))) {
    throw DomainError(std::string(solve_name) + ": B overlaps A");
  }
  const cudaStream_t stream = gpu::stream_of(e);
  if (n == 0) return gpu::check(cudaMemsetAsync(status.data(), 0, sizeof(int), stream), solve_name);
  const int processors = gpu::multiprocessors(solve_name);
  const auto arrays = gpu::cut(solve_name, e.workspace, solve_layout<D>(n, k, factor_bytes<D>(n)));
  const auto by_columns = [&](D* data) { return gpu::Strided<D, 2>{data, {1, n}}; };
  const auto as_const = [](const gpu::Strided<D, 2>& m) {
    return gpu::Strided<const D, 2>{m.data, {m.stride[0], m.stride[1]}};
  };
  gpu::copy_matrix<D>(solve_name, gpu::strided(a), by_columns(arrays.factors), n, n, processors,
                      stream);
  gpu::copy_matrix<D>(solve_name, as_const(gpu::strided(b)), by_columns(arrays.solution), n, k,
                      processors, stream);
  const Solver solver(solve_name, stream);
  solver.getrf<D>(n, n, arrays.factors, n, arrays.pivots,
                  {arrays.buffer, static_cast<std::size_t>(arrays.buffer_bytes)}, status.data());
  if (k == 0) return;
  solver.getrs<D>(CUBLAS_OP_N, n, k, arrays.factors, n, arrays.pivots, arrays.solution, n,
                  arrays.unused);
  gpu::copy_matrix<D>(solve_name, as_const(by_columns(arrays.solution)), gpu::strided(b), n, k,
                      processors, stream, 1, false, status.data());
}

#define STRUCTMAT_INSTANTIATE(T)                                                                  \
  template STRUCTMAT_EXPORT index_t gemm_workspace_bytes<T>();                                    \
  template STRUCTMAT_EXPORT void gemm<T>(                                                         \
      const exec::cuda&, Op, Op, T, View<const T, 2, space::cuda>, View<const T, 2, space::cuda>, \
      T, View<T, 2, space::cuda>);                                                                \
  template STRUCTMAT_EXPORT index_t solve_workspace_bytes<T>(View<const T, 2, space::cuda>,       \
                                                             index_t);                            \
  template STRUCTMAT_EXPORT void solve<T>(const exec::cuda&, View<const T, 2, space::cuda>,       \
                                          View<T, 2, space::cuda>, View<int, 1, space::cuda>);
STRUCTMAT_FOR_SCALARS(STRUCTMAT_INSTANTIATE)

}  // namespace structmat::dense
