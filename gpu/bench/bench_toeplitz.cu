// y := T x for Toeplitz T by a plan, against a dense product of cuBLAS and against the padded product
// composed of cuFFT calls, irfft(rfft(pad(x)) * symbol), on the same device with the symbol at hand.
//
// What to expect at n = 1e6, L = 2^20, float: x 4 MB, y 4 MB, symbol 8 MB from memory; 16 MB, 4 us.
// Between the three launches the spectrum, 8 MB, is written twice and read twice in L2: 32 MB. Double: twice
// that. One launch (n <= 8192) is bound by latency: eight exchanges in shared memory.
#include "bench/measure.hpp"
#include "core/complex.cuh"
#include "dense/blas.cuh"
#include "fft/dft.cuh"
#include "structmat/core/device.hpp"
#include "structmat/toeplitz/plan.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

/// The padded product: what a program without this library composes.
template <class R>
__global__ void pad(const R* x, R* padded, index_t n, index_t length, index_t rows) {
  for (index_t i = index_t{blockIdx.x} * blockDim.x + threadIdx.x; i < length * rows;
       i += index_t{gridDim.x} * blockDim.x) {
    const index_t row = i / length, j = i - row * length;
    padded[i] = j < n ? x[row * n + j] : R(0);
  }
}
template <class R>
__global__ void multiply(const gpu::Complex<R>* symbol, gpu::Complex<R>* z, index_t length,
                         index_t rows) {
  for (index_t i = index_t{blockIdx.x} * blockDim.x + threadIdx.x; i < length * rows;
       i += index_t{gridDim.x} * blockDim.x) {
    z[i] *= symbol[i % length];
  }
}
template <class R>
__global__ void slice(const R* padded, R* y, index_t n, index_t length, index_t rows) {
  for (index_t i = index_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n * rows;
       i += index_t{gridDim.x} * blockDim.x) {
    const index_t row = i / n;
    y[i] = padded[row * length + (i - row * n)];
  }
}

template <class R>
struct Composed {
  using C = gpu::Complex<R>;
  Composed(index_t n_, index_t rows_)
      : n(n_),
        rows(rows_),
        length(2 * n_),
        forward("bench", length, rows, {1, length}, {1, n + 1}),
        backward("bench", length, rows, {1, n + 1}, {1, length}),
        padded({rows * length}),
        symbol(random<std::complex<R>, 1>({n + 1}, 7)),
        z({rows * (n + 1)}),
        work({std::max(forward.workspace_bytes(), backward.workspace_bytes())}) {}

  void run(cudaStream_t stream, const R* x, R* y) {
    const unsigned blocks = 132 * 8;
    C* const spectrum = reinterpret_cast<C*>(z.data());
    gpu::launch("bench", pad<R>, blocks, 256, stream, x, padded.data(), n, length, rows);
    forward.forward("bench", stream, work.data(), padded.data(), spectrum);
    gpu::launch("bench", multiply<R>, blocks, 256, stream,
                reinterpret_cast<const C*>(symbol.data()), spectrum, n + 1, rows);
    backward.backward("bench", stream, work.data(), spectrum, padded.data());
    gpu::launch("bench", slice<R>, blocks, 256, stream, padded.data(), y, n, length, rows);
  }

  index_t n, rows, length;
  gpu::Dft<R, C> forward;
  gpu::Dft<C, R> backward;
  Array<R, 1, space::cuda> padded;
  Array<std::complex<R>, 1, space::cuda> symbol, z;
  Array<std::byte, 1, space::cuda> work;
};

/// The largest error of a few rows, relative to ||c|| ||x||.
template <class R>
double error_of(const Array<R, 2, space::cuda>& lags, const Array<R, 3, space::cuda>& x,
                const Array<R, 3, space::cuda>& y, index_t n) {
  const auto c = to_host(lags);
  const auto v = to_host(x), w = to_host(y);
  double worst = 0, squares = 0, lag_squares = 0;
  for (index_t j = 0; j < n; ++j) squares += double(v(0, j, 0)) * double(v(0, j, 0));
  for (const R l : c) lag_squares += double(l) * double(l);
  for (const index_t i : {index_t{0}, n / 3, n / 2, n - 1}) {
    double sum = 0;
    for (index_t j = 0; j < n; ++j) sum += double(c(0, i - j + n - 1)) * double(v(0, j, 0));
    worst = std::max(worst, std::abs(double(w(0, i, 0)) - sum));
  }
  return worst / std::sqrt(squares * lag_squares);
}

template <class R>
const char* name_of() {
  return sizeof(R) == 4 ? "float" : "double";
}

template <class R>
void product(Context& context, std::vector<Row>& rows, index_t n, index_t batch, bool dense) {
  Toeplitz<R, space::cuda> t;
  t.lags = random<R, 2>({1, 2 * n - 1}, 1);
  t.row_count = t.col_count = n;
  const exec::cuda make{context.stream()};
  const ToeplitzPlan<R, space::cuda> plan(make, t.view(), {.method = toeplitz::Method::fourier});
  const auto x = random<R, 3>({batch, n, 1}, 2);
  Array<R, 3, space::cuda> y({batch, n, 1});
  Array<std::byte, 1, space::cuda> work({apply_workspace_bytes(plan, 1, batch)});
  const exec::cuda e{context.stream(), work.view()};
  const auto apply_once = [&](int) { apply(e, plan, Op::none, x.view(), y.view()); };
  const double ours = context.time_graph(20, apply_once);
  const double bytes = double(n) * sizeof(R) * (2.0 * double(batch) + 2);
  const double error = error_of(t.lags, x, y, n);
  const std::string name = std::string("apply, ") + name_of<R>() + ", n = " + std::to_string(n) +
                           (batch > 1 ? ", batch " + std::to_string(batch) : "");
  {
    Composed<R> peer(n, batch);
    const double composed =
        context.time_graph(20, [&](int) { peer.run(context.stream(), x.data(), y.data()); });
    rows.push_back({.name = name,
                    .ours_ms = ours,
                    .peer = "cuFFT, padded",
                    .peer_ms = composed,
                    .floor_ms = bytes / context.copy_rate(),
                    .target_ms = composed / 1.5,
                    .error = error});
  }
  if (!dense) return;
  gpu::Blas::prepare("bench");
  const auto matrix = random<R, 2>({n, n}, 3);
  Array<std::byte, 1, space::cuda> blas_work({gpu::Blas::workspace_bytes});
  const gpu::Blas blas("bench", context.stream(), blas_work.data());
  const R one = 1, zero = 0;
  const double gemv = context.time_graph(20, [&](int) {
    if constexpr (sizeof(R) == 4)
      gpu::check(cublasSgemv_64(blas.handle(), CUBLAS_OP_T, n, n, &one, matrix.data(), n, x.data(),
                                1, &zero, y.data(), 1),
                 "bench");
    else
      gpu::check(cublasDgemv_64(blas.handle(), CUBLAS_OP_T, n, n, &one, matrix.data(), n, x.data(),
                                1, &zero, y.data(), 1),
                 "bench");
  });
  rows.push_back({.name = name,
                  .ours_ms = ours,
                  .peer = "cuBLAS gemv",
                  .peer_ms = gemv,
                  .floor_ms = bytes / context.copy_rate(),
                  .target_ms = gemv});
}

/// Sums, for the crossover.
template <class R>
void sums(Context& context, std::vector<Row>& rows, index_t n, index_t batch) {
  Toeplitz<R, space::cuda> t;
  t.lags = random<R, 2>({1, 2 * n - 1}, 1);
  t.row_count = t.col_count = n;
  const exec::cuda e{context.stream()};
  const auto x = random<R, 3>({batch, n, 1}, 2);
  Array<R, 3, space::cuda> y({batch, n, 1});
  const auto time = [&](toeplitz::Method method) {
    const ToeplitzPlan<R, space::cuda> plan(e, t.view(), {.method = method});
    return context.time_graph(20, [&](int) { apply(e, plan, Op::none, x.view(), y.view()); });
  };
  rows.push_back({.name = std::string("sums, ") + name_of<R>() + ", n = " + std::to_string(n) +
                          ", batch " + std::to_string(batch),
                  .ours_ms = time(toeplitz::Method::direct),
                  .peer = "transforms",
                  .peer_ms = time(toeplitz::Method::fourier)});
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "Toeplitz", [](Context& context, std::vector<Row>& rows) {
    for (const index_t n : {4096, 8192, 16384, 65536, 262144, 1000000}) {
      product<float>(context, rows, n, 1, n <= 16384);
      product<double>(context, rows, n, 1, n <= 16384);
    }
    product<float>(context, rows, 4096, 512, false);
    product<double>(context, rows, 4096, 256, false);
    product<float>(context, rows, 65536, 64, false);
    for (const index_t batch : {1, 1024}) {
      for (const index_t n : {64, 128, 256, 512}) {
        sums<float>(context, rows, n, batch);
        sums<double>(context, rows, n, batch);
      }
    }
  });
}
