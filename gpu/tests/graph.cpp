// Operations in CUDA graphs.
#include <cuda_runtime.h>

#include "core/launch.cuh"
#include "support/gpu.hpp"

namespace structmat::test {
namespace {

class Stream {
 public:
  // It does not wait for the null stream, nor that one for it.
  Stream() { gpu::check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "replay"); }
  ~Stream() { cudaStreamDestroy(handle_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;

  Graph() = default;
  ~Graph() {
    if (executable != nullptr) cudaGraphExecDestroy(executable);
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
};

}  // namespace

void replay(const std::function<void(void* stream)>& run) {
  const Stream stream;
  if (emulated()) {
    run(stream);
    run(stream);
    return;
  }
  Graph graph;
  gpu::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "replay");
  try {
    run(stream);
  } catch (...) {
    cudaStreamEndCapture(stream, &graph.graph);
    cudaGetLastError();
    throw;
  }
  gpu::check(cudaStreamEndCapture(stream, &graph.graph), "replay");
  gpu::check(cudaGraphInstantiate(&graph.executable, graph.graph, 0), "replay");
  for (int i = 0; i < 2; ++i) gpu::check(cudaGraphLaunch(graph.executable, stream), "replay");
  gpu::check(cudaStreamSynchronize(stream), "replay");
}

}  // namespace structmat::test
