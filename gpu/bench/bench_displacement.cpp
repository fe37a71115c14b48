// Products with matrices given by their displacement against a dense product of cuBLAS, dense matrices
// from generators, and convolutions, on the same device.
//
// Floors. Product, n = 16384, order 2, float: spectra of 2 r transforms of length n, x and y: 1.2 MB, 0.3 us; it
// is bound by the latency of four transforms in three launches. Dense from generators: n^2 numbers written
// once, at the rate of a copy: 1.07 GB, 0.26 ms for n = 16384 in float. Convolution, batch 16, 768 channels,
// L = 4096, float: x and y 403 MB and kernels 12.6 MB once, spectra 25 MB twice.
#include <cublas_v2.h>

#include <cmath>

#include "bench/measure.hpp"
#include "dense/blas.cuh"
#include "structmat/butterfly/butterfly.hpp"
#include "structmat/cauchy/cauchy.hpp"
#include "structmat/displacement/plan.hpp"
#include "structmat/lowrank/low_rank.hpp"
#include "structmat/toeplitz/convolution.hpp"
#include "structmat/vandermonde/vandermonde.hpp"

using namespace structmat;
using namespace structmat::bench;
namespace ds = structmat::displacement;

namespace {

template <class T>
const char* name_of() {
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, std::complex<float>>) return "complex float";
  return "complex double";
}

template <class T>
double time_gemv(const Context& context, index_t n) {
  const auto matrix = random<T, 2>({n, n}, 3);
  const auto x = random<T, 1>({n}, 4);
  Array<T, 1, space::cuda> y({n});
  Array<std::byte, 1, space::cuda> memory({gpu::Blas::workspace_bytes}, uninitialized);
  gpu::Blas::prepare("bench");
  const gpu::Blas blas("bench", context.stream(), memory.data());
  const auto call = [&](auto function) {
    const T one(1), zero(0);
    gpu::check(function(blas.handle(), CUBLAS_OP_T, n, n, &one, matrix.data(), n, x.data(), 1,
                        &zero, y.data(), 1),
               "bench");
  };
  return context.time_graph(20, [&](int) {
    if constexpr (std::is_same_v<T, float>)
      call(cublasSgemv_64);
    else
      call(cublasDgemv_64);
  });
}

template <class T>
Array<T, 2> numbers(index_t rows, index_t cols, unsigned seed) {
  return to_host(random<T, 2>({rows, cols}, seed));
}
template <class T>
std::vector<T> nodes(index_t n, double shift) {
  std::vector<T> x;
  for (index_t i = 0; i < n; ++i) x.push_back(T((double(i) + shift) / double(n) - 0.5));
  return x;
}

template <class T>
void product(const Context& context, std::vector<Row>& rows, const char* kind,
             const ds::Displacement<T>& d, index_t n, index_t r, double gemv) {
  const ds::Generators<T> x{d, numbers<T>(n, r, 1), numbers<T>(n, r, 2)};
  const ds::Plan<T, space::cuda> plan(exec::cuda{context.stream()}, x);
  const auto in = random<T, 3>({1, n, 1}, 5);
  Array<T, 3, space::cuda> out({1, n, 1});
  Array<std::byte, 1, space::cuda> work({apply_workspace_bytes(plan, 1)});
  const exec::cuda e{context.stream(), work.view()};
  Row row{.name = std::string(kind) + " apply, order " + std::to_string(r) + ", " + name_of<T>() +
                  ", n = " + std::to_string(n)};
  row.ours_ms =
      context.time_graph(20, [&](int) { apply(e, plan, Op::none, in.view(), out.view()); });
  row.peer = "cuBLAS gemv";
  row.peer_ms = row.target_ms = gemv;
  row.floor_ms = double(n) * sizeof(T) * (4.0 * double(r) + 2) / context.copy_rate();
  // Against the host, relative to the largest number.
  if (n <= 4096) {
    const auto got = to_host(out), host_in = to_host(in);
    const Array<T, 3> right = ds::Plan<T>(x) * host_in;
    double worst = 0, largest = 0;
    for (index_t i = 0; i < n; ++i) {
      worst = std::max<double>(worst, std::abs(got.data()[i] - right.data()[i]));
      largest = std::max<double>(largest, std::abs(right.data()[i]));
    }
    row.error = worst / largest;
  }
  rows.push_back(row);

  Array<T, 3, space::cuda> dense({1, n, n}, uninitialized);
  Array<std::byte, 1, space::cuda> memory({to_dense_workspace_bytes(plan)});
  rows.push_back({.name = std::string(kind) + " to dense, order " + std::to_string(r) + ", " +
                          name_of<T>() + ", n = " + std::to_string(n),
                  .ours_ms = context.time_graph(
                      1,
                      [&](int) {
                        to_dense(exec::cuda{context.stream(), memory}, plan, dense.view());
                      }),
                  .floor_ms = double(n) * double(n) * sizeof(T) / context.copy_rate()});
}

/// Dense from the numbers of one family.
template <class M>
void expand(const Context& context, std::vector<Row>& rows, const char* name, const M& m) {
  using T = typename M::value_type;
  Array<T, 3, space::cuda> dense({m.batch(), m.rows(), m.cols()}, uninitialized);
  Array<std::byte, 1, space::cuda> work;
  if constexpr (requires { to_dense_workspace_bytes(m.view()); })
    work = Array<std::byte, 1, space::cuda>({to_dense_workspace_bytes(m.view())});
  const exec::cuda e{context.stream(), work.view()};
  rows.push_back(
      {.name =
           std::string(name) + " to dense, " + name_of<T>() + ", n = " + std::to_string(m.cols()),
       .ours_ms = context.time_graph(1, [&](int) { to_dense(e, m.view(), dense.view()); }),
       .floor_ms = double(dense.size()) * sizeof(T) / context.copy_rate()});
}

template <class T>
void expand_all(const Context& context, std::vector<Row>& rows, index_t n) {
  Toeplitz<T, space::cuda> t;
  t.lags = random<T, 2>({1, 2 * n - 1}, 1);
  t.row_count = t.col_count = n;
  expand(context, rows, "Toeplitz", t);
  CauchyLike<T, space::cuda> c;
  c.s = random<T, 2>({1, n}, 1);
  c.t = random<T, 2>({1, n}, 2);
  c.g = random<T, 3>({1, n, 2}, 3);
  c.h = random<T, 3>({1, n, 2}, 4);
  expand(context, rows, "Cauchy-like, order 2,", c);
  Vandermonde<T, space::cuda> v;
  v.x = random<T, 2>({1, n}, 1);
  v.col_count = n;
  expand(context, rows, "Vandermonde", v);
  LogVandermonde<T, space::cuda> e;
  e.a = random<T, 2>({1, n}, 1);
  e.row_count = n;
  expand(context, rows, "exponentials", e);
  LowRank<T, space::cuda> u;
  u.u = random<T, 3>({1, n, 16}, 1);
  u.v = random<T, 3>({1, n, 16}, 2);
  expand(context, rows, "low rank, order 16,", u);
  index_t levels = 0;
  while (index_t{1} << levels < n) ++levels;
  const auto factors = random<T, 1>({levels * n * 2}, 1);
  const ButterflyView<T, space::cuda> b{
      View<const T, 5, space::cuda>(factors.data(), {1, levels, n / 2, 2, 2}), n, n};
  expand(context, rows, "butterfly", b);
}

template <class T>
void convolution(const Context& context, std::vector<Row>& rows, index_t batch, index_t channels,
                 index_t length) {
  const auto f = random<T, 3>({1, channels, length}, 1);
  const auto x = random<T, 3>({batch, channels, length}, 2),
             y_bar = random<T, 3>({batch, channels, length}, 3);
  Array<T, 3, space::cuda> y({batch, channels, length}), f_bar({1, channels, length});
  const View<const T, 3, space::cuda> none;
  Array<std::byte, 1, space::cuda> work(
      {toeplitz::convolve_workspace_bytes<T>(f.view(), none, x.view())});
  const exec::cuda e{context.stream(), work.view()};
  const double x_bytes = double(batch * channels * length) * sizeof(T),
               f_bytes = double(channels * length) * sizeof(T);
  const std::string shape = std::string(name_of<T>()) + ", batch " + std::to_string(batch) +
                            ", channels " + std::to_string(channels) +
                            ", L = " + std::to_string(length);
  rows.push_back({.name = "causal convolution, " + shape,
                  .ours_ms = context.time_graph(
                      1, [&](int) { toeplitz::convolve<T>(e, f.view(), x.view(), y.view()); }),
                  .floor_ms = (2 * x_bytes + 5 * f_bytes) / context.copy_rate()});
  work = Array<std::byte, 1, space::cuda>(
      {toeplitz::convolve_vjp_workspace_bytes<T>(f.view(), none, x.view())});
  const exec::cuda e_vjp{context.stream(), work.view()};
  rows.push_back({.name = "its reverse mode, " + shape,
                  .ours_ms = context.time_graph(1,
                                                [&](int) {
                                                  toeplitz::convolve_vjp<T>(
                                                      e_vjp, f.view(), none, x.view(), y_bar.view(),
                                                      f_bar.view(), {}, y.view());
                                                }),
                  .floor_ms = (4 * x_bytes + 8 * f_bytes) / context.copy_rate()});
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "displacement, dense forms, convolutions",
             [](Context& context, std::vector<Row>& rows) {
               const auto products = [&](auto zero, index_t n) {
                 using T = decltype(zero);
                 const double gemv = time_gemv<T>(context, n);
                 product<T>(context, rows, "Toeplitz-like", ds::toeplitz<T>(), n, 2, gemv);
                 product<T>(context, rows, "Hankel-like", ds::hankel<T>(), n, 4, gemv);
                 product<T>(context, rows, "Vandermonde-like",
                            ds::vandermonde<T>(nodes<T>(n, 0.25), T(2)), n, 2, gemv);
                 product<T>(context, rows, "Cauchy-like",
                            ds::cauchy<T>(nodes<T>(n, 0.25), nodes<T>(n, 0.75)), n, 2, gemv);
               };
               for (const index_t n : {4096, 16384}) {
                 products(float{}, n);
                 products(double{}, n);
               }
               expand_all<float>(context, rows, 16384);
               expand_all<double>(context, rows, 8192);
               convolution<float>(context, rows, 16, 768, 4096);
               convolution<float>(context, rows, 1, 768, 65536);
             });
}
