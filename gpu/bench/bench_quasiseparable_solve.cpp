// Cholesky factors, solutions and likelihoods of quasiseparable covariances.
//
// Floors: generators, right-hand sides and results cross the bus once. n = 262,144, J = 8, double:
// Diagonal 71 MB, 17 us; Dense 189 MB, 45 us. Both phases read the generators, so twice that is what
// the method can reach where they do not stay in L2.
#include <cmath>

#include "bench/measure.hpp"
#include "structmat/quasiseparable/from_kernel.hpp"
#include "structmat/quasiseparable/log_likelihood.hpp"

using namespace structmat;
using namespace structmat::bench;
namespace qs = structmat::quasiseparable;

namespace {

/// Exponentials with scales 1, 2, 4, ..., and noise, at times with gaps around 0.01.
Quasiseparable<double, transition::Diagonal> exponentials(index_t n, index_t order, index_t batch) {
  Quasiseparable<double, transition::Diagonal> m(n, {order, 0}, batch);
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {
      const double gap = 0.01 * (1 + 0.5 * std::sin(double(i + 7 * b)));
      for (index_t l = 0; l < order; ++l) {
        m.p(b, i, l) = m.a(b, i, l) = std::exp(-gap / double(index_t{1} << l));
        m.q(b, i, l) = 1 / double(order);
      }
      m.d(b, i) = 1.01;
    }
  }
  return m;
}

/// A covariance of order 8 with dense transitions.
Quasiseparable<double, transition::Dense> kernel_of_order_8(index_t n) {
  std::vector<double> times(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    times[std::size_t(i)] = 0.01 * (double(i) + 0.3 * std::sin(double(i)));
  }
  using qs::Kernel;
  return qs::from_kernel(times,
                         Kernel::matern52(1) + Kernel::sho(3, 5) + Kernel::sho(11, 20, 0.5) +
                             Kernel::exponential(2, 0.2),
                         0.01);
}

template <class T, int Rank>
double largest_difference(const Array<T, Rank>& x, const Array<T, Rank>& y) {
  double most = 0, scale = 0;
  for (index_t i = 0; i < y.size(); ++i) {
    most = std::max(most, std::abs(x.data()[i] - y.data()[i]));
    scale = std::max(scale, std::abs(y.data()[i]));
  }
  return most / scale;
}

template <class K>
void rows_of(Context& context, std::vector<Row>& rows, const std::string& name,
             const Quasiseparable<double, K>& m, std::optional<double> target) {
  const index_t batch = m.batch(), n = m.size(), r = m.order().lower;
  const auto p = to_device(m.p), q = to_device(m.q);
  const auto a = to_device(m.a);
  const auto d = to_device(m.d);
  QuasiseparableView<double, K, space::cuda> there;
  there.p = p.view();
  there.q = q.view();
  there.a = a.view();
  there.d = d.view();
  Array<double, 3, space::cuda> w({batch, n, r}), x({batch, n, 1}), y({batch, n, 1});
  Array<double, 2, space::cuda> pivots({batch, n});
  Array<PivotStatus, 1, space::cuda> status({batch});
  Array<double, 1, space::cuda> value({batch});
  x = random<double, 3>({batch, n, 1}, 5);
  const qs::LdlView<double, K, space::cuda> f{there.p, w.view(), there.a, pivots.view()};
  Array<std::byte, 1, space::cuda> memory(
      {std::max({qs::factor_ldl_workspace_bytes(there), qs::ldl_apply_workspace_bytes(f, 1, batch),
                 qs::log_likelihood_workspace_bytes(there, batch)})});
  const exec::cuda e{context.stream(), memory.view()};
  const std::string shape = name + " n=" + std::to_string(n) +
                            (batch > 1 ? " batch=" + std::to_string(batch) : std::string());
  const double generators = static_cast<double>(2 * m.p.size() + m.a.size() + m.d.size());
  const auto expected = qs::factor_ldl(m);

  Row factor{.name = "factor " + shape};
  factor.ours_ms = context.time_graph(
      1, [&](int) { qs::factor_ldl(e, there, {}, w.view(), pivots.view(), status.view()); });
  factor.floor_ms =
      8 * (generators + static_cast<double>(m.p.size() + m.d.size())) / context.copy_rate();
  factor.target_ms = target;
  factor.error = largest_difference(to_host(pivots), expected.d);
  rows.push_back(factor);

  Row solve{.name = "solve, 1 rhs, " + shape};
  solve.ours_ms = context.time_graph(1, [&](int) { qs::solve(e, f, x, y); });
  // Two sweeps over all generators.
  solve.floor_ms = 8 * (2 * generators + static_cast<double>(2 * m.d.size())) / context.copy_rate();
  Array<double, 3> solution({batch, n, 1});
  const auto b = to_host(x);
  qs::solve(exec::cpu{}, expected, b, solution);
  solve.error = largest_difference(to_host(y), solution);
  rows.push_back(solve);

  Row likelihood{.name = "log likelihood " + shape};
  likelihood.ours_ms = context.time_graph(1, [&](int) {
    qs::log_likelihood(e, there, View<const double, 2, space::cuda>(x.view().select(2, 0)),
                       value.view(), status.view());
  });
  likelihood.floor_ms = 8 * (generators + static_cast<double>(m.d.size())) / context.copy_rate();
  Array<double, 1> values({batch});
  qs::log_likelihood(exec::cpu{}, m.view(), View<const double, 2>(b.view().select(2, 0)),
                     values.view());
  likelihood.error = largest_difference(to_host(value), values);
  rows.push_back(likelihood);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Hermitian quasiseparable matrices: factors, solutions, likelihoods",
             [](Context& context, std::vector<Row>& rows) {
               constexpr index_t n = 262144;
               rows_of(context, rows, "Dense J=8", kernel_of_order_8(n), 5.0);
               rows_of(context, rows, "Diagonal J=8", exponentials(n, 8, 1), 5.0);
               rows_of(context, rows, "Diagonal J=4", exponentials(n, 4, 1), {});
               rows_of(context, rows, "Diagonal J=2", exponentials(n, 2, 1), {});
               rows_of(context, rows, "Diagonal J=8", exponentials(4096, 8, 64), {});
             });
}
