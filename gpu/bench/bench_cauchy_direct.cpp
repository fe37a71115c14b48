// Cauchy products pair by pair, and sums over conjugate pairs, on one device.
#include <cmath>
#include <complex>

#include "bench/measure.hpp"
#include "core/launch.cuh"
#include "structmat/cauchy/apply.hpp"
#include "structmat/cauchy/apply_vjp.hpp"
#include "structmat/cauchy/conjugate_sums.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

using Bytes = Array<std::byte, 1, space::cuda>;

/// Issue slots of an H200 in single precision, special functions, and operations in double precision, a
/// millisecond (132 multiprocessors at 1.78 GHz).
constexpr double single_rate = 3.0e10, special_rate = 3.75e9, double_rate = 1.5e10;

/// Interlaced nodes on the line or on the unit circle.
template <Scalar T>
Cauchy<T> interlaced(index_t n) {
  Cauchy<T> c(n, n);
  for (index_t i = 0; i < n; ++i) {
    const double at = double(i) / double(n), half = 0.5 / double(n);
    if constexpr (is_complex_v<T>) {
      c.s(0, i) = T(std::polar(1.0, 2 * M_PI * at));
      c.t(0, i) = T(std::polar(1.0, 2 * M_PI * (at + half)));
    } else {
      c.s(0, i) = real_t<T>(at);
      c.t(0, i) = real_t<T>(at + half);
    }
  }
  return c;
}

/// The largest error of a few rows in units of the sum of absolute terms.
template <Scalar T>
double error_of(const Cauchy<T>& c, const Array<T, 3>& x, const Array<T, 3>& y) {
  using Wide = std::complex<long double>;
  double worst = 0;
  for (index_t i = 0; i < c.rows(); i += std::max<index_t>(c.rows() / 7, 1)) {
    Wide sum = 0;
    long double scale = 0;
    for (index_t j = 0; j < c.cols(); ++j) {
      const Wide term = Wide(x(0, j, 0)) / (Wide(c.s(0, i)) - Wide(c.t(0, j)));
      sum += term;
      scale += std::abs(term);
    }
    worst = std::max(worst, double(std::abs(sum - Wide(y(0, i, 0))) / scale));
  }
  return worst;
}

template <Scalar T>
void add_product(Context& c, std::vector<Row>& rows, const char* type, index_t n, index_t k,
                 double floor_per_pair) {
  const auto host = interlaced<T>(n);
  const auto m = to_device(host);
  const auto x = random<T, 3>({1, n, k}, 1);
  Array<T, 3, space::cuda> y({1, n, k});
  Bytes workspace({apply_workspace_bytes(m.view(), k)});
  const exec::cuda e{c.stream(), workspace};
  Row row;
  row.name = "apply " + std::string(type) + " n=" + std::to_string(n) + " k=" + std::to_string(k);
  const auto call = [&] { apply(e, m.view(), Op::none, x.view(), y.view()); };
  row.ours_ms = n >= 100'000 ? c.time_calls(call, 3) : c.time_graph(4, [&](int) { call(); });
  row.floor_ms = floor_per_pair * double(n) * double(n) * double(k);
  row.error = error_of(host, to_host(x), to_host(y));
  rows.push_back(row);
}

template <class R>
void add_sums(Context& c, std::vector<Row>& rows, index_t batch, index_t pairs, index_t nodes,
              const char* type, std::optional<double> target) {
  using T = std::complex<R>;
  Array<T, 2> hw({batch, pairs}), hz({1, nodes});
  for (index_t b = 0; b < batch; ++b) {
    for (index_t n = 0; n < pairs; ++n) hw(b, n) = T(R(-0.5), R(M_PI * double(n)));
  }
  for (index_t l = 0; l < nodes; ++l)
    hz(0, l) = T(0, R(2000 * std::tan(M_PI * double(l) / double(nodes + 1))));
  const auto v = random<T, 2>({batch, pairs}, 2);
  const auto w = to_device(hw), z = to_device(hz);
  Array<T, 2, space::cuda> out({batch, nodes});
  Bytes workspace({cauchy::conjugate_sums_workspace_bytes<T>(batch, pairs, nodes)});
  const exec::cuda e{c.stream(), workspace};
  const double terms = double(batch) * double(pairs) * double(nodes);
  const std::string shape = std::string(type) + " H=" + std::to_string(batch) +
                            " pairs=" + std::to_string(pairs) + " L=" + std::to_string(nodes);
  Row row;
  row.name = "conjugate_sums " + shape;
  row.ours_ms = c.time_graph(
      4, [&](int) { cauchy::conjugate_sums<T>(e, v.view(), w.view(), z.view(), out.view()); });
  row.floor_ms = 16 * terms / (sizeof(R) == 4 ? single_rate : double_rate);
  row.target_ms = target;
  const auto hv = to_host(v);
  const auto got = to_host(out);
  double worst = 0;
  for (index_t l = 0; l < nodes; l += nodes / 50) {
    std::complex<double> sum = 0;
    double scale = 0;
    for (index_t n = 0; n < pairs; ++n) {
      const std::complex<double> a = std::complex<double>(hv(0, n)) /
                                     (std::complex<double>(hz(0, l)) -
                                      std::complex<double>(hw(0, n))),
                                 b = std::conj(std::complex<double>(hv(0, n))) /
                                     (std::complex<double>(hz(0, l)) -
                                      std::conj(std::complex<double>(hw(0, n))));
      sum += a + b;
      scale += std::abs(a) + std::abs(b);
    }
    worst = std::max(worst, std::abs(sum - std::complex<double>(got(0, l))) / scale);
  }
  row.error = worst;
  rows.push_back(row);

  Array<T, 2, space::cuda> v_bar({batch, pairs}), w_bar({batch, pairs}), z_bar({1, nodes});
  Bytes space({cauchy::conjugate_sums_vjp_workspace_bytes<T>(batch, pairs, nodes)});
  const auto gradient = [&](bool of_nodes) {
    Row next;
    next.name = std::string("conjugate_sums_vjp ") + (of_nodes ? "v w z " : "v w ") + shape;
    next.ours_ms = c.time_graph(2, [&](int) {
      cauchy::conjugate_sums_vjp<T>(
          exec::cuda{c.stream(), space}, v.view(), w.view(), z.view(), std::as_const(out).view(),
          {v_bar.view(), w_bar.view(), of_nodes ? z_bar.view() : View<T, 2, space::cuda>()});
    });
    next.floor_ms = (of_nodes ? 60 : 35) * terms / (sizeof(R) == 4 ? single_rate : double_rate);
    rows.push_back(next);
  };
  gradient(false);
  gradient(true);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Cauchy matrices pair by pair", [](Context& c, std::vector<Row>& rows) {
    add_product<float>(c, rows, "fp32", 4096, 1, 0.5 / special_rate);
    add_product<float>(c, rows, "fp32", 16384, 1, 0.5 / special_rate);
    add_product<double>(c, rows, "fp64", 4096, 1, 5 / double_rate);
    add_product<double>(c, rows, "fp64", 16384, 1, 5 / double_rate);
    add_product<std::complex<float>>(c, rows, "c64", 16384, 1, 10 / single_rate);
    add_product<std::complex<double>>(c, rows, "c128", 16384, 1, 13 / double_rate);
    add_product<float>(c, rows, "fp32", 16384, 4, 1.2 / single_rate);
    add_sums<float>(c, rows, 1024, 32, 16384, "c64", 0.5);
    add_sums<float>(c, rows, 1024, 64, 16384, "c64", 0.5);
    add_sums<double>(c, rows, 256, 32, 16384, "c128", std::nullopt);
    add_product<float>(c, rows, "fp32", 1'000'000, 1, 0.5 / special_rate);
    add_product<double>(c, rows, "fp64", 1'000'000, 1, 5 / double_rate);
  });
}
