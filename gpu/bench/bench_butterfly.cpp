// Butterfly, Monarch and low-rank products against a dense product of cuBLAS on the same device.
//
// Floors: M, x and y cross the bus once. Monarch, n = 4096 in blocks of 64, 64 columns, float: 4.2 MB,
// 1 us; launches and the 0.13 GFlop of its two halves cost more.
#include <cublas_v2.h>

#include <cmath>

#include "bench/measure.hpp"
#include "dense/blas.cuh"
#include "structmat/butterfly/apply.hpp"
#include "structmat/lowrank/apply.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

/// y := D x, row-major (n, k), by gemm.
template <class T>
double time_dense(const Context& context, index_t n, index_t k) {
  const double bytes = static_cast<double>(n * n + 2 * n * k) * sizeof(T);
  const int sets = context.sets_for(bytes);
  std::vector<Array<T, 2, space::cuda>> d, x, y;
  for (int i = 0; i < sets; ++i) {
    d.push_back(random<T, 2>({n, n}, 1));
    x.push_back(random<T, 2>({n, k}, 2));
    y.emplace_back(std::array<index_t, 2>{n, k});
  }
  Array<std::byte, 1, space::cuda> memory({gpu::Blas::workspace_bytes}, uninitialized);
  gpu::Blas::prepare("bench");
  return context.time_graph(sets, [&](int i) {
    const gpu::Blas blas("bench", context.stream(), memory.data());
    blas.gemm<T>(CUBLAS_OP_N, CUBLAS_OP_N, k, n, n, T(1), x[i].data(), k, 0, d[i].data(), n, 0,
                 T(0), y[i].data(), k, 0);
  });
}

/// Time of y := M x, and its largest error against the host, relative to the largest entry.
template <class T, class M>
Row measure(const Context& context, const std::string& name, const M& host, index_t k) {
  const auto first = to_device(host);
  const index_t m = host.rows(), n = host.cols();
  const double bytes = static_cast<double>(host.stored() + (m + n) * k) * sizeof(T);
  const int sets = context.sets_for(bytes);
  std::vector<decltype(to_device(host))> matrices;
  std::vector<Array<T, 3, space::cuda>> x, y;
  for (int i = 0; i < sets; ++i) {
    matrices.push_back(to_device(host));
    x.push_back(random<T, 3>({1, n, k}, 3));
    y.emplace_back(std::array<index_t, 3>{1, m, k});
  }
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(first.view(), k)});
  Row row{.name = name + " n=" + std::to_string(n) + " k=" + std::to_string(k)};
  row.ours_ms = context.time_graph(sets, [&](int i) {
    apply(exec::cuda{context.stream(), workspace}, matrices[i].view(), Op::none,
          View<const T, 3, space::cuda>(x[i].view()), y[i].view());
  });
  row.floor_ms = bytes / context.copy_rate();
  const Array<T, 3> got = to_host(y.back()), in = to_host(x.back());
  Array<T, 3> expected(got.extents());
  apply(exec::cpu{}, host, in, expected);
  double worst = 0, largest = 0;
  for (index_t i = 0; i < got.size(); ++i) {
    worst = std::max<double>(worst, std::abs(got.data()[i] - expected.data()[i]));
    largest = std::max<double>(largest, std::abs(expected.data()[i]));
  }
  row.error = worst / largest;
  if (m == n && n <= 16384) {
    row.peer = "cuBLAS gemm, dense";
    row.peer_ms = time_dense<T>(context, n, k);
  }
  return row;
}

template <class A>
void fill(A& a, unsigned seed) {
  const auto values = to_host(random<typename A::value_type, 1>({a.size()}, seed));
  std::copy(values.begin(), values.end(), a.data());
}

template <class T>
void measure_all(const Context& context, std::vector<Row>& rows) {
  const std::string type = sizeof(T) == 4 ? "float32" : "float64";
  for (const index_t b : {64, 128}) {
    Monarch<T> m({b, b, b}, {b, b, b});
    fill(m.w1, 1);
    fill(m.w2, 2);
    for (const index_t k : {1, 64, 1024}) {
      rows.push_back(measure<T>(context, "Monarch " + type, m, k));
    }
  }
  for (const index_t n : {4096, 65536}) {
    Butterfly<T> m(n, n);
    fill(m.factors, 3);
    for (const index_t k : {1, 64}) {
      rows.push_back(measure<T>(context, "butterfly " + type, m, k));
    }
  }
  LowRank<T> m(16384, 16384, 16);
  fill(m.u, 4);
  fill(m.v, 5);
  for (const index_t k : {1, 64}) {
    rows.push_back(measure<T>(context, "low rank 16 " + type, m, k));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "butterfly and low rank apply",
             [](Context& context, std::vector<Row>& rows) {
               measure_all<float>(context, rows);
               measure_all<double>(context, rows);
             });
}
