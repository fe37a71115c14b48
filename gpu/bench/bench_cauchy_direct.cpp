// Cauchy products pair by pair, sums over conjugate pairs, and many small systems, on one device.
#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <vector>

#include "bench/measure.hpp"
#include "core/launch.cuh"
#include "structmat/cauchy/apply.hpp"
#include "structmat/cauchy/apply_vjp.hpp"
#include "structmat/cauchy/conjugate_sums.hpp"
#include "structmat/cauchy/solve.hpp"
#include "structmat/toeplitz/solve.hpp"

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
  // Nodes on the imaginary axis: 8 operations and a reciprocal.
  row.floor_ms = 9 * terms / (sizeof(R) == 4 ? single_rate : double_rate);
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

/// Batched dense LU of cuBLAS on these matrices, (batch, n, n), with one right-hand side.
template <class T>
class DensePeer {
 public:
  DensePeer(const Array<T, 3>& dense, cudaStream_t stream)
      : n_(static_cast<int>(dense.extent(1))),
        batch_(static_cast<int>(dense.extent(0))),
        given_(to_device(dense)),
        work_(dense.extents()),
        right_({batch_, n_}),
        pivots_({index_t{batch_} * n_}),
        info_({batch_}),
        stream_(stream) {
    cublasCreate(&handle_);
    cublasSetStream(handle_, stream);
    Array<T*, 1> matrices({batch_}), vectors({batch_});
    for (int b = 0; b < batch_; ++b) {
      matrices(b) = work_.data() + index_t{b} * n_ * n_;
      vectors(b) = right_.data() + index_t{b} * n_;
    }
    matrices_ = to_device(matrices);
    vectors_ = to_device(vectors);
  }
  ~DensePeer() { cublasDestroy(handle_); }

  /// Copy, factorisation, substitution.
  void operator()() {
    cudaMemcpyAsync(work_.data(), given_.data(), given_.size() * sizeof(T),
                    cudaMemcpyDeviceToDevice, stream_);
    int status = 0;
    const auto run = [&](auto factor, auto solve, auto element) {
      using E = decltype(element);
      const auto matrices = reinterpret_cast<E**>(matrices_.data());
      check(factor(handle_, n_, matrices, n_, pivots_.data(), info_.data(), batch_));
      check(solve(handle_, CUBLAS_OP_T, n_, 1, matrices, n_, pivots_.data(),
                  reinterpret_cast<E**>(vectors_.data()), n_, &status, batch_));
    };
    if constexpr (std::is_same_v<T, float>)
      run(cublasSgetrfBatched, cublasSgetrsBatched, float{});
    else if constexpr (std::is_same_v<T, double>)
      run(cublasDgetrfBatched, cublasDgetrsBatched, double{});
    else
      run(cublasZgetrfBatched, cublasZgetrsBatched, cuDoubleComplex{});
  }

 private:
  static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw BackendError("bench", "cuBLAS", int(status), cublasGetStatusString(status));
  }

  int n_, batch_;
  Array<T, 3, space::cuda> given_, work_;
  Array<T, 2, space::cuda> right_;
  Array<int, 1, space::cuda> pivots_, info_;
  Array<T*, 1, space::cuda> matrices_, vectors_;
  cudaStream_t stream_;
  cublasHandle_t handle_ = nullptr;
};

/// ||b - A x|| / (||A||_F ||x||) of batch entry 0.
template <Scalar T>
double residual(const Array<T, 3>& dense, const Array<T, 3>& b, const Array<T, 3>& x) {
  double of_residual = 0, of_a = 0, of_x = 0;
  for (index_t i = 0; i < x.extent(1); ++i) {
    std::complex<double> sum(b(0, i, 0));
    of_x += std::norm(std::complex<double>(x(0, i, 0)));
    for (index_t j = 0; j < x.extent(1); ++j) {
      sum -= std::complex<double>(dense(0, i, j)) * std::complex<double>(x(0, j, 0));
      of_a += std::norm(std::complex<double>(dense(0, i, j)));
    }
    of_residual += std::norm(sum);
  }
  return std::sqrt(of_residual / (of_a * of_x));
}

template <class M, class T = typename M::value_type, class There>
void add_systems(Context& c, std::vector<Row>& rows, const std::string& name, const M& host,
                 const There& m) {
  const index_t n = host.rows(), batch = host.batch();
  const auto dense = host.to_dense();
  const auto b = random<T, 3>({batch, n, 1}, 5);
  Array<T, 3, space::cuda> x({batch, n, 1});
  Array<PivotStatus, 1, space::cuda> status({batch});
  Bytes workspace({solve_workspace_bytes(m, 1)});
  DensePeer<T> peer(dense, c.stream());
  Row row;
  row.name = name + " n=" + std::to_string(n) + " batch=" + std::to_string(batch);
  row.ours_ms = c.time_graph(2, [&](int) {
    solve(exec::cuda{c.stream(), workspace}, m, Op::none, b.view(), x.view(), status.view());
  });
  row.peer = "cuBLAS getrfBatched, getrsBatched";
  row.peer_ms = c.time_calls([&] { peer(); }, 3);
  row.error = residual(dense, to_host(b), to_host(x));
  rows.push_back(row);
}

template <Scalar T>
void add_cauchy_systems(Context& c, std::vector<Row>& rows, const char* type, index_t n,
                        index_t batch) {
  CauchyLike<T> m(n, n, 2, batch);
  const auto g = to_host(random<T, 3>({batch, n, 2}, 3)),
             h = to_host(random<T, 3>({batch, n, 2}, 4));
  std::copy(g.begin(), g.end(), m.g.begin());
  std::copy(h.begin(), h.end(), m.h.begin());
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) m.s(b, i) = T(double(i)), m.t(b, i) = T(double(i) + 0.5);
  }
  const auto there = to_device(m);
  add_systems(c, rows, std::string("Cauchy-like solve, order 2, ") + type, m, there.view());
}

template <Scalar T>
void add_toeplitz_systems(Context& c, std::vector<Row>& rows, const char* type, index_t n,
                          index_t batch) {
  Toeplitz<T> m(n, n, batch);
  const auto lags = to_host(random<T, 2>({batch, 2 * n - 1}, 6));
  std::copy(lags.begin(), lags.end(), m.lags.begin());
  Toeplitz<T, space::cuda> there;
  there.lags = to_device(m.lags);
  there.row_count = there.col_count = n;
  add_systems(c, rows, std::string("Toeplitz solve ") + type, m, there.view());
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
    add_cauchy_systems<double>(c, rows, "fp64", 32, 1024);
    add_cauchy_systems<double>(c, rows, "fp64", 128, 1024);
    add_cauchy_systems<float>(c, rows, "fp32", 128, 1024);
    add_cauchy_systems<double>(c, rows, "fp64", 512, 64);
    add_cauchy_systems<std::complex<double>>(c, rows, "c128", 128, 256);
    add_toeplitz_systems<double>(c, rows, "fp64", 64, 1024);
    add_toeplitz_systems<double>(c, rows, "fp64", 256, 256);
    add_product<float>(c, rows, "fp32", 1'000'000, 1, 0.5 / special_rate);
    add_product<double>(c, rows, "fp64", 1'000'000, 1, 5 / double_rate);
  });
}
