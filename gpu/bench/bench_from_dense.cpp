// Dense to quasiseparable on the device and on the CPU of the same machine, one after the other.
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdlib>

#include "bench/measure.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/quasiseparable/apply.hpp"
#include "structmat/quasiseparable/from_dense.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

/// Of order `order` in both parts: halves of two products of rank `order`.
template <class T>
Array<T, 2> of_order(index_t n, index_t order) {
  const auto product = [&](unsigned seed) {
    const auto p = bench::random<T, 2>({n, order}, seed),
               q = bench::random<T, 2>({n, order}, seed + 1);
    Array<T, 2, space::cuda> m({n, n}, uninitialized);
    Array<std::byte, 1, space::cuda> workspace({dense::gemm_workspace_bytes<T>()});
    dense::gemm<T>({nullptr, workspace}, Op::none, Op::transpose, T{1}, p, q, T{0}, m);
    return to_host(m);
  };
  Array<T, 2> lower = product(1);
  const Array<T, 2> upper = product(3);
  for (index_t i = 0; i < n; ++i) std::copy(&upper(i, i), upper.data() + (i + 1) * n, &lower(i, i));
  return lower;
}

/// ||(M - Q) x|| / ||M x|| for a random x.
template <class T>
double error(const Array<T, 2>& m, const Quasiseparable<T, transition::Block>& q) {
  const index_t n = m.extent(0);
  const Array<T, 2> x = to_host(bench::random<T, 2>({n, 1}, 7));
  Array<T, 2> expected({n, 1}), found({n, 1});
  dense::gemv<T>(Op::none, T{1}, m, x.view().select(1, 0), T{0}, expected.view().select(1, 0));
  q.apply(x, found);
  double difference = 0, norm = 0;
  for (index_t i = 0; i < n; ++i) {
    difference += std::norm(expected(i, 0) - found(i, 0));
    norm += std::norm(expected(i, 0));
  }
  return std::sqrt(difference / norm);
}

template <class T>
void compare(Context& c, std::vector<Row>& rows, const char* type, index_t n, index_t order,
             bool with_cpu) {
  const Array<T, 2> m = of_order<T>(n, order);
  const auto there = to_device(m);
  Row row;
  row.name = std::string("from_dense ") + type + " n=" + std::to_string(n) + " order " +
             std::to_string(order);
  quasiseparable::FromDense<T> result;
  row.ours_ms =
      c.time_calls([&] { result = quasiseparable::from_dense(exec::cuda{c.stream()}, there); }, 5);
  row.floor_ms = double(n) * double(n) * sizeof(T) / c.copy_rate();
  row.error = error(m, result.matrix);
  if (with_cpu) {
    const auto begin = std::chrono::steady_clock::now();
    const auto on_cpu = quasiseparable::from_dense(m);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    row.peer = "our CPU route, BLAS threads as in the environment";
    row.peer_ms = time.count();
    row.target_ms = time.count() / 10;
    if (!(on_cpu.matrix.order() == result.matrix.order())) row.name += " (ORDERS DIFFER)";
  }
  rows.push_back(row);
}

/// The same to generators of fixed orders for every index.
template <class T>
void fixed(Context& c, std::vector<Row>& rows, const char* type, index_t n, index_t order) {
  const Array<T, 2> m = of_order<T>(n, order);
  const auto there = to_device(m);
  const View<const T, 3, space::cuda> batch(there.data(), {1, n, n});
  Quasiseparable<T, transition::Dense, space::cuda> result(n, {order, order});
  Array<quasiseparable::TruncationReport, 1, space::cuda> reports({1});
  Array<std::byte, 1, space::cuda> workspace(
      {quasiseparable::from_dense_workspace_bytes<T>(batch, {order, order})}, uninitialized);
  Row row;
  row.name = std::string("from_dense, every index, ") + type + " n=" + std::to_string(n) +
             " order " + std::to_string(order);
  // Hundreds of launches a call: one call after the other says as much as a graph of them.
  row.ours_ms = c.time_calls(
      [&] {
        quasiseparable::from_dense<T>({c.stream(), workspace.view()}, batch, result,
                                      reports.view());
      },
      3);
  row.floor_ms = double(n) * double(n + 2 * order * order) * sizeof(T) / c.copy_rate();
  Array<T, 2> x = to_host(bench::random<T, 2>({n, 1}, 7)), expected({n, 1}), found({n, 1});
  dense::gemv<T>(Op::none, T{1}, m, x.view().select(1, 0), T{0}, expected.view().select(1, 0));
  to_host(result).apply(x, found);
  double difference = 0, norm = 0;
  for (index_t i = 0; i < n; ++i) {
    difference += std::norm(expected(i, 0) - found(i, 0));
    norm += std::norm(expected(i, 0));
  }
  row.error = std::sqrt(difference / norm);
  rows.push_back(row);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Dense to quasiseparable", [](Context& c, std::vector<Row>& rows) {
    compare<double>(c, rows, "double", 2048, 64, true);
    compare<double>(c, rows, "double", 8192, 64, std::getenv("STRUCTMAT_NO_CPU") == nullptr);
    compare<float>(c, rows, "float", 8192, 64, false);
    compare<double>(c, rows, "double", 8192, 8, false);
    fixed<double>(c, rows, "double", 2048, 64);
    fixed<double>(c, rows, "double", 8192, 8);
    fixed<double>(c, rows, "double", 8192, 64);
  });
}
