// Are all matrices of a batch N-quasiseparable? Mixer matrices of batch x heads in one call, against the
// host's verification of one of them times the batch. The floor reads the matrices once.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "structmat/verify/batch.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

/// A sum over r states of exponentially decaying products on either side of the diagonal.
Array<double, 3> mixers(index_t batch, index_t n, index_t r) {
  Array<double, 3> m({batch, n, n});
  unsigned state = 1;
  const auto number = [&] {
    state = state * 1664525u + 1013904223u;
    return double(state >> 8) / double(1 << 24) - 0.5;
  };
  for (index_t b = 0; b < batch; ++b) {
    for (const bool upper : {false, true}) {
      for (index_t s = 0; s < r; ++s) {
        std::vector<double> p(n), q(n);
        for (index_t i = 0; i < n; ++i) p[i] = number(), q[i] = number();
        const double decay = 0.9 + 0.19 * number();
        for (index_t i = 1; i < n; ++i) {
          double power = 1;
          for (index_t j = i; j-- > 0; power *= decay) {
            (upper ? m(b, j, i) : m(b, i, j)) += p[i] * power * q[j];
          }
        }
      }
    }
  }
  return m;
}

Row measure(Context& c, index_t batch, index_t n, index_t order) {
  constexpr index_t different = 4;
  const auto few = mixers(different, n, order);
  Array<double, 3> m({batch, n, n}, uninitialized);
  for (index_t b = 0; b < batch; ++b) {
    std::copy_n(few.begin() + b % different * n * n, n * n, m.begin() + b * n * n);
  }
  const auto there = to_device(m);
  verify::Options options;
  options.order = Order{order, order};
  verify::BatchReport report;
  Row row;
  row.name = std::to_string(batch) + " matrices, n = " + std::to_string(n) + ", order " +
             std::to_string(order) + ", fp64";
  row.ours_ms = c.time_calls(
      [&] {
        report = verify::quasiseparable(exec::cuda{c.stream(), {}}, there, options);
      },
      3);
  row.floor_ms = double(m.size()) * sizeof(double) / c.copy_rate();
  const auto start = std::chrono::steady_clock::now();
  const auto on_host = verify::quasiseparable<double>(m.view().select(0, 0), options);
  const std::chrono::duration<double, std::milli> host = std::chrono::steady_clock::now() - start;
  row.peer = "host, one times the batch";
  row.peer_ms = host.count() * double(batch);
  double error = 0;
  for (const auto& r : report.matrices) {
    error = std::max(error, r.holds && r.order == on_host.order ? r.largest_dropped : INFINITY);
  }
  row.error = error;
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "batch verification", [](Context& c, std::vector<Row>& rows) {
    rows.push_back(measure(c, 256, 64, 8));
    rows.push_back(measure(c, 256, 256, 16));
    rows.push_back(measure(c, 128, 512, 16));
    rows.push_back(measure(c, 64, 1024, 64));
  });
}
