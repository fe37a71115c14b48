// See measure.hpp.
#include "bench/measure.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/complex.cuh"
#include "core/launch.cuh"
#include "structmat/core/bf16.hpp"
#include "structmat/core/device.hpp"

namespace structmat::bench {
namespace {

using gpu::check;

constexpr int samples = 20;

double median(std::vector<float>& times) {
  std::sort(times.begin(), times.end());
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2.0;
}

class Events {
 public:
  explicit Events(cudaStream_t stream) : stream_(stream) {
    check(cudaEventCreate(&start_), "bench");
    check(cudaEventCreate(&stop_), "bench");
  }
  ~Events() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  template <class F>
  float milliseconds(F&& work) const {
    float ms = 0;
    check(cudaEventRecord(start_, stream_), "bench");
    work();
    check(cudaEventRecord(stop_, stream_), "bench");
    check(cudaEventSynchronize(stop_), "bench");
    check(cudaEventElapsedTime(&ms, start_, stop_), "bench");
    return ms;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

__device__ double uniform(index_t i, unsigned seed) {
  auto h = static_cast<unsigned long long>(i) * 0x9e3779b97f4a7c15ull + seed;
  h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9ull;
  h ^= h >> 29;
  return static_cast<double>(h >> 11) * 0x1p-53 - 0.5;
}

template <class T>
__global__ void scatter(T* a, index_t size, unsigned seed) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
       i += step) {
    if constexpr (gpu::is_complex<T>) {
      using R = gpu::real_of_t<T>;
      a[i] = T(static_cast<R>(uniform(2 * i, seed)), static_cast<R>(uniform(2 * i + 1, seed)));
    } else if constexpr (std::is_same_v<T, bf16>) {
      a[i] = bf16(static_cast<float>(uniform(i, seed)));
    } else {
      a[i] = static_cast<T>(uniform(i, seed));
    }
  }
}

/// The text of a number that may be missing.
std::string text(const std::optional<double>& value, const char* format) {
  if (!value) return "";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, *value);
  return buffer;
}

nlohmann::json json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

Context::Context() {
  int device = 0, l2 = 0;
  check(cudaGetDevice(&device), "bench");
  check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "bench");
  l2_bytes_ = l2;
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "bench");
  copy_rate_ = 1e-3 * device_copy_bandwidth();
}

Context::~Context() {
  cudaStreamDestroy(stream_);
}

double Context::time_graph(int calls, const std::function<void(int)>& enqueue) const {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  enqueue(0);
  check(cudaStreamSynchronize(stream_), "bench");
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "bench");
  for (int i = 0; i < calls; ++i) enqueue(i);
  check(cudaStreamEndCapture(stream_, &graph), "bench");
  check(cudaGraphInstantiate(&executable, graph, 0), "bench");
  const Events events(stream_);
  std::vector<float> times;
  for (int i = 0; i < samples + 3; ++i) {
    const float ms =
        events.milliseconds([&] { check(cudaGraphLaunch(executable, stream_), "bench"); });
    if (i >= 3) times.push_back(ms);  // the first ones warm up
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return median(times) / calls;
}

double Context::time_calls(const std::function<void()>& call, int count) const {
  call();
  const Events events(stream_);
  std::vector<float> times;
  for (int i = 0; i < count; ++i) times.push_back(events.milliseconds(call));
  return median(times);
}

int run(int argc, char** argv, const char* title,
        const std::function<void(Context&, std::vector<Row>&)>& fill) {
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
    gpu::require_device("bench");
  } catch (const NotAvailable& e) {
    std::printf("skipped: %s\n", e.what());
    return 77;
  }
  std::vector<Row> rows;
  int status = 0;
  try {
    Context context;
    std::printf("device copy: %.2f TB/s, read and written\n", context.copy_rate() / 1e9);
    fill(context, rows);
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    status = 1;
  }
  nlohmann::json report = nlohmann::json::array();
  std::printf("%-52s %10s %-26s %10s %7s %9s %9s %9s\n", title, "ours ms", "peer", "peer ms",
              "ratio", "floor ms", "target", "error");
  for (const Row& row : rows) {
    const std::optional<double> ratio =
        row.peer_ms ? std::optional(*row.peer_ms / row.ours_ms) : std::nullopt;
    std::printf("%-52s %10.4f %-26s %10s %7s %9s %9s %9s\n", row.name.c_str(), row.ours_ms,
                row.peer.c_str(), text(row.peer_ms, "%.4f").c_str(), text(ratio, "%.2f").c_str(),
                text(row.floor_ms, "%.4f").c_str(), text(row.target_ms, "%.3f").c_str(),
                text(row.error, "%.1e").c_str());
    if (row.error && !std::isfinite(*row.error)) status = 1;
    report.push_back(
        {{"name", std::string(title) + " " + row.name},
         {"ours_ms", row.ours_ms},
         {"peer", row.peer.empty() ? nlohmann::json(nullptr) : nlohmann::json(row.peer)},
         {"peer_ms", json(row.peer_ms)},
         {"ratio", json(ratio)},
         {"floor_ms", json(row.floor_ms)},
         {"target_ms", json(row.target_ms)},
         {"error", json(row.error)}});
  }
  if (!json_file.empty()) {
    std::ofstream out(json_file);
    out << report.dump(2) << '\n';
    if (!out) {
      std::printf("FAILED: %s cannot be written\n", json_file.c_str());
      status = 1;
    }
  }
  return status;
}

template <class T, int Rank>
Array<T, Rank, space::cuda> random(const std::array<index_t, Rank>& extents, unsigned seed) {
  Array<T, Rank, space::cuda> a(extents, uninitialized);
  if (!a.empty()) {
    gpu::launch("bench", scatter<gpu::device_scalar_t<T>>, 1024, 256, nullptr,
                gpu::device_pointer(a.data()), a.size(), seed);
    check(cudaDeviceSynchronize(), "bench");
  }
  return a;
}

#define STRUCTMAT_RANDOM(T)                                                                     \
  template Array<T, 1, space::cuda> random<T, 1>(const std::array<index_t, 1>&, unsigned seed); \
  template Array<T, 2, space::cuda> random<T, 2>(const std::array<index_t, 2>&, unsigned seed); \
  template Array<T, 3, space::cuda> random<T, 3>(const std::array<index_t, 3>&, unsigned seed);
STRUCTMAT_RANDOM(float)
STRUCTMAT_RANDOM(double)
STRUCTMAT_RANDOM(std::complex<float>)
STRUCTMAT_RANDOM(std::complex<double>)
STRUCTMAT_RANDOM(bf16)
#undef STRUCTMAT_RANDOM

}  // namespace structmat::bench
