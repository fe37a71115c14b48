// y := M x for quasiseparable M with diagonal transitions, against a dense product of cuBLAS on the
// same device.
//
// What to expect at n = 524288, orders 8 and 8, one right-hand side, double, at 4.3 TB/s, in bytes
// a row:
//   floor: everything read once, y written once: 6 r 8 + 24 = 408; 214 MB, 50 us;
//   phase 1: a, q and x of both triangles: 272;
//   phase 3: everything, x twice, y written twice and read once: 432;
//   704 together, of which about 24 stay in L2: 357 MB, 83 us;
//   phase 2: 4096 chunks of 16 states, 5 MB in all: a few us, all of it latency.
// Half of that in float.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/launch.cuh"
#include "tests/quasiseparable_reference.hpp"

using namespace structmat;
using namespace structmat::testing;
using gpu::check;

namespace {

constexpr int samples = 20;

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw BackendError("bench", "cuBLAS", status, cublasGetStatusString(status));
  }
}

struct Context {
  cudaStream_t stream = nullptr;
  cublasHandle_t cublas = nullptr;
  /// Captured calls allocate nothing if cuBLAS has its workspace beforehand.
  Array<std::byte, 1, space::cuda> cublas_workspace{{index_t{64} << 20}, uninitialized};
  double l2_bytes = 0;
  double bytes_per_ms = 0;  ///< of a copy, read and written
};

double median(std::vector<float>& times) {
  std::sort(times.begin(), times.end());
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2.0;
}

/// Milliseconds of one call: `calls` of them, enqueued by `enqueue(i)`, are captured in a graph;
/// the median over its replays is divided by `calls`.
double time_graph(const Context& context, int calls, const std::function<void(int)>& enqueue) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  enqueue(0);
  check(cudaStreamSynchronize(context.stream), "bench");
  check(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal), "bench");
  for (int i = 0; i < calls; ++i) enqueue(i);
  check(cudaStreamEndCapture(context.stream, &graph), "bench");
  check(cudaGraphInstantiate(&executable, graph, 0), "bench");
  cudaEvent_t start = nullptr, stop = nullptr;
  check(cudaEventCreate(&start), "bench");
  check(cudaEventCreate(&stop), "bench");
  std::vector<float> times;
  for (int i = 0; i < samples + 3; ++i) {
    check(cudaEventRecord(start, context.stream), "bench");
    check(cudaGraphLaunch(executable, context.stream), "bench");
    check(cudaEventRecord(stop, context.stream), "bench");
    check(cudaEventSynchronize(stop), "bench");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop), "bench");
    if (i >= 3) times.push_back(ms);  // the first ones warm up
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return median(times) / calls;
}

/// How many sets of operands to go round, so that none is still in L2 when its turn comes again.
int sets_for(const Context& context, double bytes) {
  return static_cast<int>(std::clamp(3 * context.l2_bytes / bytes, 0.0, 63.0)) + 1;
}

__global__ void copy_lines(const double2* from, double2* to, index_t size) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    to[i] = from[i];
  }
}

/// By a kernel: cudaMemcpyAsync inside a graph may go to a copy engine, which is slower.
double copy_rate(Context& context) {
  constexpr index_t lines = index_t{1} << 26;
  Array<double2, 1, space::cuda> from({lines}), to({lines}, uninitialized);
  const double ms = time_graph(context, 4, [&](int) {
    copy_lines<<<8 * 1024, 256, 0, context.stream>>>(from.data(), to.data(), lines);
    check(cudaGetLastError(), "bench");
  });
  return 2.0 * sizeof(double2) * lines / ms;
}

/// Anything but zeros, which can be faster.
template <class T>
__global__ void scatter(T* a, index_t size) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    const auto hash = static_cast<unsigned>(i) * 2654435761u;
    a[i] = static_cast<T>(hash >> 8) / static_cast<T>(1 << 24) - T(0.5);
  }
}

/// y := M x with dense M, (batch, n, n), by gemv for one column and gemm for more.
template <class T>
double time_dense(const Context& context, index_t n, index_t k, index_t batch) {
  const double bytes = static_cast<double>(batch) * (n * n + 2 * n * k) * sizeof(T);
  const int sets = sets_for(context, bytes);
  Array<T, 4, space::cuda> m({sets, batch, n, n}, uninitialized);
  Array<T, 4, space::cuda> x({sets, batch, n, k}, uninitialized), y({sets, batch, n, k});
  scatter<T><<<1024, 256, 0, context.stream>>>(m.data(), m.size());
  scatter<T><<<1024, 256, 0, context.stream>>>(x.data(), x.size());
  check(cudaGetLastError(), "bench");
  const T one = 1, zero = 0;
  const int rows = static_cast<int>(n), columns = static_cast<int>(k);
  return time_graph(context, sets, [&](int set) {
    T* m_set = m.data() + set * batch * n * n;
    T* x_set = x.data() + set * batch * n * k;
    T* y_set = y.data() + set * batch * n * k;
    // Row-major M is M^T to cuBLAS; x and y are columns one after the other.
    if constexpr (std::is_same_v<T, double>) {
      if (k > 1) {
        check_cublas(cublasDgemm(context.cublas, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, rows,
                                 &one, m_set, rows, x_set, rows, &zero, y_set, rows));
      } else if (batch == 1) {
        check_cublas(cublasDgemv(context.cublas, CUBLAS_OP_T, rows, rows, &one, m_set, rows, x_set,
                                 1, &zero, y_set, 1));
      } else {
        check_cublas(cublasDgemvStridedBatched(context.cublas, CUBLAS_OP_T, rows, rows, &one, m_set,
                                               rows, n * n, x_set, 1, n, &zero, y_set, 1, n,
                                               static_cast<int>(batch)));
      }
    } else {
      if (k > 1) {
        check_cublas(cublasSgemm(context.cublas, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, rows,
                                 &one, m_set, rows, x_set, rows, &zero, y_set, rows));
      } else if (batch == 1) {
        check_cublas(cublasSgemv(context.cublas, CUBLAS_OP_T, rows, rows, &one, m_set, rows, x_set,
                                 1, &zero, y_set, 1));
      } else {
        check_cublas(cublasSgemvStridedBatched(context.cublas, CUBLAS_OP_T, rows, rows, &one, m_set,
                                               rows, n * n, x_set, 1, n, &zero, y_set, 1, n,
                                               static_cast<int>(batch)));
      }
    }
  });
}

struct Row {
  std::string name;
  double ours_ms = 0;
  std::string peer;
  std::optional<double> peer_ms;
  double floor_ms = 0;
  double error = 0;
};

/// Largest error over all entries, columns and rows, relative to (|M| |x|)_i.
template <class T>
double worst_error(const Quasiseparable<T, transition::Diagonal>& m, const Array<T, 3>& x,
                   const Array<T, 3>& y) {
  double worst = 0;
  for (index_t b = 0; b < y.extent(0); ++b) {
    for (index_t c = 0; c < y.extent(2); ++c) {
      std::vector<T> column(y.extent(1));
      for (index_t i = 0; i < y.extent(1); ++i) column[i] = x(b, i, c);
      const auto expected = by_recurrence(m.view(), Op::none, b, column);
      for (index_t i = 0; i < y.extent(1); ++i) {
        const double error =
            static_cast<double>(std::fabs(y(b, i, c) - expected.value[i]) / expected.magnitude[i]);
        if (!(error <= worst)) worst = error;  // NaN stays
      }
    }
  }
  return worst;
}

template <class T>
Row run(const Context& context, index_t n, index_t order, index_t k, index_t batch, bool dense) {
  const auto m = random_matrix<T, transition::Diagonal>(n, {order, order}, batch, 1);
  Array<T, 3> x({batch, n, k});
  std::mt19937 random(2);
  fill(x, random, T(-1), T(1));

  const double bytes = static_cast<double>(m.stored() + 2 * x.size()) * sizeof(T);
  const int sets = sets_for(context, bytes);
  std::vector<OnDevice<T, transition::Diagonal>> matrices;
  std::vector<Array<T, 3, space::cuda>> inputs, outputs;
  std::vector<Array<std::byte, 1, space::cuda>> workspaces;
  for (int set = 0; set < sets; ++set) {
    matrices.emplace_back(m);
    inputs.push_back(to_device(x));
    Array<T, 3> poison({batch, n, k});
    std::fill(poison.begin(), poison.end(), std::numeric_limits<T>::quiet_NaN());
    outputs.push_back(to_device(poison));
    workspaces.emplace_back(
        std::array<index_t, 1>{apply_workspace_bytes(matrices.back().view(), k)});
  }
  Row row;
  row.name = std::string(dtype_name<T>()) + " n=" + std::to_string(n) +
             " r=" + std::to_string(order) + " k=" + std::to_string(k) +
             " batch=" + std::to_string(batch);
  row.ours_ms = time_graph(context, sets, [&](int set) {
    apply(exec::cuda{context.stream, workspaces[set]}, matrices[set].view(), Op::none,
          View<const T, 3, space::cuda>(inputs[set].view()), outputs[set].view());
  });
  row.floor_ms = bytes / context.bytes_per_ms;
  row.error = worst_error(m, x, to_host(outputs.back()));
  if (dense) {
    row.peer = k > 1 ? "cuBLAS gemm" : "cuBLAS gemv";
    row.peer_ms = time_dense<T>(context, n, k, batch);
  }
  return row;
}

template <class T>
void run_all(const Context& context, std::vector<Row>& rows) {
  rows.push_back(run<T>(context, 524288, 8, 1, 1, false));
  rows.push_back(run<T>(context, 4096, 16, 1, 1, true));
  rows.push_back(run<T>(context, 4096, 16, 64, 1, true));
  rows.push_back(run<T>(context, 16384, 16, 1, 1, true));
  rows.push_back(run<T>(context, 4096, 16, 1, 64, true));
}

}  // namespace

int main(int argc, char** argv) {
  std::string json_file;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json_file = argv[++i];
    } else {
      std::printf("usage: %s [--json FILE]\n", argv[0]);
      return 2;
    }
  }
  try {
    gpu::require_device("bench_quasiseparable");
  } catch (const NotAvailable& e) {
    std::printf("skipped: %s\n", e.what());
    return 77;
  }
  try {
    Context context;
    int device = 0, l2 = 0;
    check(cudaGetDevice(&device), "bench");
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "bench");
    context.l2_bytes = l2;
    check(cudaStreamCreateWithFlags(&context.stream, cudaStreamNonBlocking), "bench");
    check_cublas(cublasCreate(&context.cublas));
    check_cublas(cublasSetStream(context.cublas, context.stream));
    check_cublas(cublasSetWorkspace(context.cublas, context.cublas_workspace.data(),
                                    context.cublas_workspace.size()));
    context.bytes_per_ms = copy_rate(context);
    std::printf("device copy: %.2f TB/s, read and written\n", context.bytes_per_ms / 1e9);

    std::vector<Row> rows;
    run_all<double>(context, rows);
    run_all<float>(context, rows);

    nlohmann::json report = nlohmann::json::array();
    bool finite = true;
    std::printf("%-38s %10s %-12s %10s %8s %10s %10s\n", "quasiseparable apply", "ours ms", "peer",
                "peer ms", "ratio", "floor ms", "error");
    for (const Row& row : rows) {
      nlohmann::json entry{{"name", "quasiseparable apply " + row.name},
                           {"ours_ms", row.ours_ms},
                           {"peer", nullptr},
                           {"peer_ms", nullptr},
                           {"ratio", nullptr},
                           {"floor_ms", row.floor_ms},
                           {"error", row.error}};
      std::printf("%-38s %10.4f ", row.name.c_str(), row.ours_ms);
      if (row.peer_ms) {
        entry["peer"] = row.peer;
        entry["peer_ms"] = *row.peer_ms;
        entry["ratio"] = *row.peer_ms / row.ours_ms;
        std::printf("%-12s %10.4f %8.2f", row.peer.c_str(), *row.peer_ms,
                    *row.peer_ms / row.ours_ms);
      } else {
        std::printf("%-12s %10s %8s", "none", "", "");
      }
      std::printf(" %10.4f %10.1e\n", row.floor_ms, row.error);
      finite &= std::isfinite(row.error);
      report.push_back(entry);
    }
    if (!json_file.empty()) {
      std::ofstream out(json_file);
      out << report.dump(2) << '\n';
      if (!out) throw FileError("bench: " + json_file + " cannot be written");
    }
    cublasDestroy(context.cublas);
    cudaStreamDestroy(context.stream);
    return finite ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    return 1;
  }
}
