// The randomised certificate and rank profiles of dense matrices on the device.
#include <chrono>
#include <limits>

#include "bench/measure.hpp"
#include "structmat/core/device.hpp"
#include "structmat/dense/blas.hpp"
#include "structmat/verify/randomised.hpp"
#include "structmat/verify/rank_profile.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

template <class T>
using DeviceMatrix = Array<T, 2, space::cuda>;

/// Of rank `order`, and so of that order in both parts.
template <class T>
DeviceMatrix<T> of_rank(index_t n, index_t order) {
  const auto p = bench::random<T, 2>({n, order}, 1), q = bench::random<T, 2>({n, order}, 2);
  DeviceMatrix<T> m({n, n}, uninitialized);
  Array<std::byte, 1, space::cuda> workspace({dense::gemm_workspace_bytes<T>()});
  dense::gemm<T>({nullptr, workspace}, Op::none, Op::transpose, T{1}, p, q, T{0}, m);
  device_synchronize();
  return m;
}

template <class T>
void certificate(Context& c, std::vector<Row>& rows, const char* type, index_t n, index_t order,
                 double target_ms) {
  const DeviceMatrix<T> m = of_rank<T>(n, order);
  const verify::RandomisedOptions options{.order = {order, order}};
  verify::RandomisedReport report;
  Row row;
  row.ours_ms =
      c.time_calls([&] { report = verify::randomised(exec::cuda{c.stream()}, m, options); }, 5);
  row.name = std::string("certificate ") + type + " n=" + std::to_string(n) + " order " +
             std::to_string(order) + " probes " + std::to_string(report.probes);
  // What was measured beyond the order, which is rounding here.
  row.error = report.verdict == verify::Verdict::holds && report.worst
                  ? report.worst->compressed
                  : std::numeric_limits<double>::quiet_NaN();
  row.target_ms = target_ms;
  const auto probes = bench::random<T, 2>({n, report.probes}, 3);
  Array<T, 2, space::cuda> x({n, report.probes}), y({n, report.probes});
  Array<std::byte, 1, space::cuda> workspace({dense::gemm_workspace_bytes<T>()});
  const exec::cuda e{c.stream(), workspace};
  row.peer = "two products with all probes (cuBLAS), without ranks";
  row.peer_ms = c.time_graph(1, [&](int) {
    dense::gemm<T>(e, Op::none, Op::none, T{1}, m, probes, T{0}, x);
    dense::gemm<T>(e, Op::transpose, Op::none, T{1}, m, probes, T{0}, y);
  });
  row.floor_ms = 2 * double(n) * double(n) * sizeof(T) / c.copy_rate();
  rows.push_back(row);
}

template <class T>
void profile(Context& c, std::vector<Row>& rows, const char* type, index_t n, index_t order,
             bool with_cpu) {
  const DeviceMatrix<T> m = of_rank<T>(n, order);
  verify::Report report;
  Row row;
  row.name = std::string("rank profile ") + type + " n=" + std::to_string(n) + " order " +
             std::to_string(order);
  row.ours_ms =
      c.time_calls([&] { report = verify::quasiseparable(exec::cuda{c.stream()}, m); }, 2);
  row.floor_ms = double(n) * double(n) * sizeof(T) / c.copy_rate();
  row.error = report.order == Order{order, order} ? report.largest_dropped
                                                  : std::numeric_limits<double>::quiet_NaN();
  if (with_cpu) {
    const Array<T, 2> on_host = to_host(m);
    const auto begin = std::chrono::steady_clock::now();
    const auto expected = verify::quasiseparable(on_host);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    row.peer = "our CPU route, BLAS threads as in the environment";
    row.peer_ms = time.count();
    if (expected.lower != report.lower) row.error = std::numeric_limits<double>::quiet_NaN();
  }
  rows.push_back(row);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Certificates and rank profiles", [](Context& c, std::vector<Row>& rows) {
    certificate<double>(c, rows, "double", 16384, 64, 40);
    certificate<float>(c, rows, "float", 16384, 64, 40);
    certificate<double>(c, rows, "double", 4096, 16, 10);
    profile<double>(c, rows, "double", 1024, 64, true);
    profile<double>(c, rows, "double", 4096, 16, false);
  });
}
