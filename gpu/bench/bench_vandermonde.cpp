// Exponential sums of many models: H1024, 64 complex poles, 16,384 lags, float. Two products of 128 real numbers
// for each of 16.8e6 results.
#include <cmath>
#include <complex>

#include "measure.hpp"
#include "structmat/vandermonde/apply.hpp"
#include "structmat/vandermonde/exponential_sum.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

using C = std::complex<float>;

constexpr index_t models = 1024, poles = 64, lags = 16384;

/// S4D's poles, exp(dt a) with a = -1/2 + i pi n and steps from 0.001 to 0.1.
LogVandermonde<C> exponentials() {
  LogVandermonde<C> e(lags, poles, models);
  for (index_t b = 0; b < models; ++b) {
    const double dt = 0.001 * std::pow(100.0, double(b) / double(models));
    for (index_t n = 0; n < poles; ++n)
      e.a(b, n) = C(std::complex<double>(-0.5 * dt, 3.14159265 * double(n) * dt));
  }
  return e;
}

/// The largest error of the sums of one model against double, in units of their largest.
double error_of(const LogVandermonde<C>& e, const Array<C, 3>& c, const Array<float, 3>& y,
                index_t model) {
  LogVandermonde<std::complex<double>> exact(lags, poles);
  Array<std::complex<double>, 3> weights({1, poles, 1});
  Array<double, 3> expected({1, lags, 1});
  for (index_t n = 0; n < poles; ++n) {
    exact.a(0, n) = std::complex<double>(e.a(model, n));
    weights(0, n, 0) = std::complex<double>(c(model, n, 0));
  }
  real_exponential_sum(exec::cpu{}, exact, weights, expected);
  double worst = 0, largest = 0;
  for (index_t l = 0; l < lags; ++l) {
    worst = std::max(worst, std::abs(y(model, l, 0) - expected(0, l, 0)));
    largest = std::max(largest, std::abs(expected(0, l, 0)));
  }
  return worst / largest;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "exponential sums", [](Context& context, std::vector<Row>& rows) {
    const auto host = exponentials();
    const auto e = to_device(host);
    const auto c = random<C, 3>({models, poles, 1}, 1);
    Array<float, 3, space::cuda> y({models, lags, 1}, uninitialized);
    const exec::cuda on_stream{context.stream()};
    Row row;
    row.name = "2 Re sum_n c_n exp(l a_n), H1024 N64 L16384, float";
    row.ours_ms = context.time_graph(4, [&](int) { real_exponential_sum(on_stream, e, c, y); });
    row.floor_ms = double(y.size() * sizeof(float)) / context.copy_rate();
    row.target_ms = 0.08;
    const auto c_host = to_host(c);
    const auto y_host = to_host(y);
    row.error = std::max({error_of(host, c_host, y_host, 0), error_of(host, c_host, y_host, 500),
                          error_of(host, c_host, y_host, 1023)});
    rows.push_back(row);

    const auto y_bar = random<float, 3>({models, lags, 1}, 2);
    Array<C, 2, space::cuda> a_bar({models, poles});
    Array<C, 3, space::cuda> c_bar({models, poles, 1});
    const index_t bytes = real_exponential_sum_vjp_workspace_bytes(e.view(), models, 1);
    Array<std::byte, 1, space::cuda> workspace({bytes});
    Row reverse;
    reverse.name = "its reverse mode, both cotangents";
    reverse.ours_ms = context.time_graph(4, [&](int) {
      real_exponential_sum_vjp<C>(
          {context.stream(), workspace}, e.view(), View<const C, 3, space::cuda>(c.view()),
          View<const float, 3, space::cuda>(y_bar.view()), a_bar.view(), c_bar.view());
    });
    reverse.floor_ms = row.floor_ms;
    rows.push_back(reverse);

    Row whole;
    whole.name = "sum_n c_n exp(l a_n), complex results";
    Array<C, 3, space::cuda> z({models, lags, 1}, uninitialized);
    whole.ours_ms = context.time_graph(4, [&](int) { apply(on_stream, e, c, z); });
    whole.floor_ms = 2 * *row.floor_ms;
    rows.push_back(whole);
  });
}
