// Singular values of batches of small matrices, against gesvdaStridedBatched of cuSOLVER (values only).
// The floor reads the matrices once; what bounds the work is the latency of 2 n reflections, each
// behind a barrier, and n bisections. The error is the distance to the peer's values, relative to
// sigma_1.
#include <cusolverDn.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "core/launch.cuh"
#include "structmat/dense/singular_values.hpp"

using namespace structmat;
using namespace structmat::bench;

namespace {

void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS) {
    throw BackendError("bench", "cuSOLVER", static_cast<int>(status), "failed");
  }
}

/// The matrices' transposes, since cuSOLVER stores by columns; rows of these are the longer side.
struct Peer {
  cusolverDnHandle_t handle = nullptr;
  int rows, columns, batch;
  Array<double, 2, space::cuda> sigma;
  Array<double, 1, space::cuda> u, v, work;
  Array<int, 1, space::cuda> info;

  Peer(cudaStream_t stream, const Array<double, 3, space::cuda>& a)
      : rows(static_cast<int>(a.extent(2))),
        columns(static_cast<int>(a.extent(1))),
        batch(static_cast<int>(a.extent(0))),
        sigma({batch, columns}),
        u({index_t{batch} * rows * columns}),
        v({index_t{batch} * columns * columns}),
        info({batch}) {
    check(cusolverDnCreate(&handle));
    check(cusolverDnSetStream(handle, stream));
    int length = 0;
    check(cusolverDnDgesvdaStridedBatched_bufferSize(
        handle, CUSOLVER_EIG_MODE_NOVECTOR, columns, rows, columns, a.data(), rows,
        index_t{rows} * columns, sigma.data(), columns, u.data(), rows, index_t{rows} * columns,
        v.data(), columns, index_t{columns} * columns, &length, batch));
    work = Array<double, 1, space::cuda>({length});
  }
  ~Peer() { cusolverDnDestroy(handle); }

  void operator()(const Array<double, 3, space::cuda>& a) {
    check(cusolverDnDgesvdaStridedBatched(
        handle, CUSOLVER_EIG_MODE_NOVECTOR, columns, rows, columns, a.data(), rows,
        index_t{rows} * columns, sigma.data(), columns, u.data(), rows, index_t{rows} * columns,
        v.data(), columns, index_t{columns} * columns, work.data(), static_cast<int>(work.size()),
        info.data(), nullptr, batch));
  }
};

template <class T>
struct Ours {
  Array<real_t<T>, 2, space::cuda> sigma;
  Array<int, 1, space::cuda> status;
  Array<std::byte, 1, space::cuda> workspace;

  explicit Ours(const View<const T, 3, space::cuda>& a)
      : sigma({a.extent(0), std::min(a.extent(1), a.extent(2))}),
        status({a.extent(0)}),
        workspace({dense::singular_values_workspace_bytes<T>(a)}) {}

  void operator()(cudaStream_t stream, const View<const T, 3, space::cuda>& a) {
    dense::singular_values<T>(exec::cuda{stream, workspace}, a, sigma, status);
  }
};

template <class T>
Row measure(Context& c, index_t batch, index_t rows, index_t columns, const char* name) {
  const auto stored = random<T, 3>({batch, columns, rows}, 1);
  const auto a = stored.view().transposed();
  Ours<T> ours(a);
  Row row;
  row.name = std::to_string(batch) + " x (" + std::to_string(rows) + " x " +
             std::to_string(columns) + ") " + name;
  row.ours_ms = c.time_graph(4, [&](int) { ours(c.stream(), a); });
  row.floor_ms = static_cast<double>(sizeof(T)) * static_cast<double>(a.size()) / c.copy_rate();
  return row;
}

Row with_peer(Context& c, index_t batch, index_t rows, index_t columns,
              std::optional<double> target) {
  Row row = measure<double>(c, batch, rows, columns, "fp64");
  row.target_ms = target;
  const auto stored = random<double, 3>({batch, columns, rows}, 1);
  Ours<double> ours(stored.view().transposed());
  ours(c.stream(), stored.view().transposed());
  Peer peer(c.stream(), stored);
  row.peer = "gesvdaStridedBatched";
  row.peer_ms = c.time_calls([&] { peer(stored); });
  gpu::check(cudaStreamSynchronize(c.stream()), "bench");
  const auto found = to_host(ours.sigma), expected = to_host(peer.sigma);
  double error = 0;
  for (index_t b = 0; b < batch; ++b) {
    for (index_t l = 0; l < columns; ++l) {
      error = std::max(error, std::abs(found(b, l) - expected(b, l)) / expected(b, 0));
    }
  }
  row.error = error;
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, "singular values", [](Context& c, std::vector<Row>& rows) {
    rows.push_back(with_peer(c, 1024, 64, 64, 1.5));
    rows.push_back(with_peer(c, 256, 256, 64, 0.7));
    rows.push_back(with_peer(c, 1024, 32, 32, 0.4));
    rows.push_back(with_peer(c, 8716, 3, 2, 0.02));
    rows.push_back(with_peer(c, 1000, 60, 3, 0.05));
    rows.push_back(with_peer(c, 4096, 16, 16, 0.3));
    rows.push_back(with_peer(c, 128, 128, 128, std::nullopt));
    rows.push_back(measure<double>(c, 32766, 72, 72, "fp64"));
    rows.push_back(measure<float>(c, 1024, 64, 64, "fp32"));
    rows.push_back(measure<std::complex<double>>(c, 1024, 64, 64, "complex fp64"));
    rows.push_back(measure<double>(c, 128, 160, 160, "fp64"));
    rows.push_back(measure<double>(c, 132, 256, 256, "fp64, in global memory"));
  });
}
