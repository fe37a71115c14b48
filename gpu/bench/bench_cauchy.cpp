// Planned Cauchy products on a line.
#include <cmath>
#include <numeric>
#include <random>

#include "measure.hpp"
#include "structmat/cauchy/plan.hpp"
#include "structmat/core/device.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

enum class Nodes { interlaced, interlaced_sorted, chebyshev, clustered };

/// s and t in one set of 2 n nodes, every other one. Clustered: half of them in 1e-3 of the interval.
template <class R>
Cauchy<R> nodes(Nodes kind, index_t n) {
  Cauchy<R> c(n, n);
  for (index_t i = 0; i < 2 * n; ++i) {
    double at = static_cast<double>(i) / 2;
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(2 * n);
    if (kind == Nodes::chebyshev) at = std::cos(M_PI * share);
    if (kind == Nodes::clustered) at = share < 0.5 ? 1 + share * 1e-3 : 1 + share;
    (i % 2 == 0 ? c.s : c.t)(0, i / 2) = static_cast<R>(at);
  }
  if (kind != Nodes::interlaced_sorted) {
    std::mt19937 engine(7);
    for (auto* part : {&c.s, &c.t}) std::shuffle(part->begin(), part->end(), engine);
  }
  c.coincidence = Coincidence::skip;  // Chebyshev points meet in single precision
  return c;
}

/// The largest error of some rows, by the sum of absolute values.
template <class R>
double error_of(const Cauchy<R>& c, const Array<R, 3>& x, const Array<R, 3>& y) {
  double worst = 0;
  const index_t n = c.cols(), rows = 8;
  for (index_t r = 0; r < rows; ++r) {
    const index_t i = r * (c.rows() - 1) / (rows - 1);
    long double sum = 0, size = 0;
    for (index_t j = 0; j < n; ++j) {
      const double difference = static_cast<double>(c.s(0, i)) - static_cast<double>(c.t(0, j));
      if (difference == 0) continue;
      const long double term = static_cast<long double>(x(0, j, 0)) / difference;
      sum += term;
      size += std::abs(term);
    }
    worst = std::max(worst, static_cast<double>(std::abs(sum - y(0, i, 0)) / size));
  }
  return worst;
}

struct Case {
  const char* name;
  Nodes kind;
  index_t n, k;
  double tolerance;
  std::optional<double> target;
  bool with_plan;
};

template <class R>
void measure(Context& context, std::vector<Row>& rows, const Case& test) {
  const auto host = nodes<R>(test.kind, test.n);
  const auto s = to_device(host.s), t = to_device(host.t);
  const CauchyView<R, space::cuda> view{s.view(), t.view(), host.coincidence};
  const cauchy::PlanOptions options{test.tolerance, cauchy::Method::line};
  const CauchyPlan<R, space::cuda> plan(view, options);
  const auto x = random<R, 3>({1, test.n, test.k}, 1);
  Array<R, 3, space::cuda> y({1, test.n, test.k}, uninitialized);
  Array<std::byte, 1, space::cuda> workspace({apply_workspace_bytes(plan, test.k)}, uninitialized);
  const exec::cuda e{context.stream(), workspace.view()};

  const std::string type = sizeof(R) == 4 ? "fp32" : "fp64";
  Row row;
  row.name = std::string("cauchy line ") + type + " " + test.name;
  row.ours_ms = context.time_graph(4, [&](int) { apply(e, plan, x, y); });
  // About 200 reciprocals a node and the proxies: 0.78 and 1.32 GFlop for 10^6 nodes, at half of peak.
  row.floor_ms = (sizeof(R) == 4 ? 26e-9 : 78e-9) * static_cast<double>(test.n * test.k);
  row.target_ms = test.target;
  if (test.n <= 100000) {
    const CauchyPlan<R, space::cuda> pairs(view, {});
    Array<std::byte, 1, space::cuda> own({apply_workspace_bytes(pairs, test.k)}, uninitialized);
    const exec::cuda of{context.stream(), own.view()};
    row.peer = "pair by pair";
    row.peer_ms = context.time_graph(4, [&](int) { apply(of, pairs, x, y); });
  }
  apply(e, plan, x, y);
  device_synchronize();
  row.error = error_of(host, to_host(x), to_host(y));
  rows.push_back(row);
  if (!test.with_plan) return;
  Row making;
  making.name = row.name + ", plan";
  making.ours_ms =
      context.time_calls([&] { CauchyPlan<R, space::cuda> again(view, options, e); }, 5);
  rows.push_back(making);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Cauchy products on a line", [](Context& context, std::vector<Row>& rows) {
    constexpr index_t million = 1000000;
    measure<float>(context, rows,
                   {"1e6 interlaced 1e-6", Nodes::interlaced, million, 1, 1e-6, 1.0, true});
    measure<double>(context, rows,
                    {"1e6 interlaced 1e-12", Nodes::interlaced, million, 1, 1e-12, 3.0, true});
    measure<double>(
        context, rows,
        {"1e6 interlaced, sorted 1e-12", Nodes::interlaced_sorted, million, 1, 1e-12, {}, false});
    measure<float>(context, rows,
                   {"1e6 clustered 1e-6", Nodes::clustered, million, 1, 1e-6, {}, false});
    measure<double>(context, rows,
                    {"1e6 clustered 1e-12", Nodes::clustered, million, 1, 1e-12, {}, false});
    measure<double>(context, rows,
                    {"1e6 Chebyshev 1e-12", Nodes::chebyshev, million, 1, 1e-12, {}, false});
    measure<double>(context, rows,
                    {"1e6 interlaced 1e-12, k 4", Nodes::interlaced, million, 4, 1e-12, {}, false});
    measure<float>(context, rows,
                   {"1e5 interlaced 1e-6", Nodes::interlaced, 100000, 1, 1e-6, {}, true});
    measure<double>(context, rows,
                    {"1e5 interlaced 1e-12", Nodes::interlaced, 100000, 1, 1e-12, {}, true});
    for (const index_t n : {1024, 4096, 16384}) {
      const std::string name = std::to_string(n) + " interlaced";
      measure<float>(context, rows, {name.c_str(), Nodes::interlaced, n, 1, 1e-6, {}, false});
      measure<double>(context, rows, {name.c_str(), Nodes::interlaced, n, 1, 1e-12, {}, false});
    }
  });
}
