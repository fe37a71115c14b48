// Cauchy sums at S4's nodes of many models: H1024, 64 complex poles, 16,384 nodes, complex<float>.
#include <cmath>
#include <complex>

#include "measure.hpp"
#include "structmat/cauchy/roots_of_unity.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

using C = std::complex<float>;
using W = std::complex<double>;

constexpr index_t models = 1024, poles = 64, length = 16384;

double error_of(const Array<C, 2>& lambda, const Array<float, 1>& dt, const Array<C, 3>& v,
                const Array<C, 3>& y, index_t model) {
  Array<W, 2> lambda_wide({1, poles});
  Array<W, 3> v_wide({1, poles, 1}), expected({1, length, 1});
  Array<double, 1> step({1});
  step(0) = dt(model);
  for (index_t n = 0; n < poles; ++n) {
    lambda_wide(0, n) = W(lambda(model, n));
    v_wide(0, n, 0) = W(v(model, n, 0));
  }
  cauchy::sums_on_roots_of_unity<W>(exec::cpu{}, {lambda_wide.view(), step.view(), length},
                                    v_wide.view(), expected.view());
  double worst = 0, largest = 0;
  for (index_t k = 0; k < length; ++k) {
    worst = std::max(worst, std::abs(W(y(model, k, 0)) - expected(0, k, 0)));
    largest = std::max(largest, std::abs(expected(0, k, 0)));
  }
  return worst / largest;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Cauchy sums on mapped roots of unity",
             [](Context& context, std::vector<Row>& rows) {
               Array<C, 2> lambda({models, poles});
               Array<float, 1> dt({models});
               for (index_t b = 0; b < models; ++b) {
                 dt(b) = float(0.001 * std::pow(100.0, double(b) / double(models)));
                 for (index_t n = 0; n < poles; ++n)
                   lambda(b, n) = C(-0.5f, float(3.14159265 * double(n)));
               }
               const auto lambda_there = to_device(lambda);
               const auto dt_there = to_device(dt);
               const auto v = random<C, 3>({models, poles, 1}, 1);
               Array<C, 3, space::cuda> y({models, length, 1}, uninitialized);
               const cauchy::MappedRootsView<C, space::cuda> m{lambda_there.view(), dt_there.view(),
                                                               length};
               const exec::cuda on_stream{context.stream()};
               Row row;
               row.name = "sums at S4's nodes, H1024 N64 L16384, complex float";
               row.ours_ms = context.time_graph(4, [&](int) {
                 cauchy::sums_on_roots_of_unity<C>(on_stream, m, v.view(), y.view());
               });
               row.floor_ms = double(y.size() * sizeof(C)) / context.copy_rate();
               row.target_ms = 0.15;
               const auto v_host = to_host(v);
               const auto y_host = to_host(y);
               row.error = std::max({error_of(lambda, dt, v_host, y_host, 0),
                                     error_of(lambda, dt, v_host, y_host, 500),
                                     error_of(lambda, dt, v_host, y_host, 1023)});
               rows.push_back(row);

               Array<C, 2, space::cuda> lambda_bar({models, poles});
               Array<C, 3, space::cuda> v_bar({models, poles, 1});
               Row reverse;
               reverse.name = "their reverse mode, direct";
               reverse.ours_ms = context.time_graph(2, [&](int) {
                 cauchy::sums_on_roots_of_unity_vjp<C>(on_stream, m, v.view(),
                                                       View<const C, 3, space::cuda>(y.view()),
                                                       lambda_bar.view(), v_bar.view());
               });
               reverse.floor_ms = row.floor_ms;
               rows.push_back(reverse);
             });
}
