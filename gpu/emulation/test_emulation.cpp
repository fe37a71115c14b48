// The emulation itself: what kernels may rely on, and that it shows their faults.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "core/launch.cuh"
#include "core/shared.cuh"

using namespace structmat;

namespace {

/// Runs a test in each order of threads.
template <class F>
void in_every_order(F&& test) {
  for (const char* order : {"forward", "backward", "1", "2"}) {
    INFO("order " << order);
    setenv("STRUCTMAT_EMULATION_ORDER", order, 1);
    test();
  }
  unsetenv("STRUCTMAT_EMULATION_ORDER");
}

__global__ void sum_of_block(const int* in, int* out) {
  __shared__ int partial[4];
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(~0u, value, bits);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3];
}

__global__ void reverse(int* data, int n) {
  int* const copy = gpu::dynamic_shared<int>();
  const int i = static_cast<int>(threadIdx.x);
  copy[i] = data[i];
  __syncthreads();
  data[i] = copy[n - 1 - i];
}

__global__ void shuffles(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  // Half of the warp has left: the others exchange among themselves.
  if (lane >= 16) return;
  const unsigned mask = 0xffff;
  out[lane] = __shfl_up_sync(mask, lane, 1, 8);
  out[16 + lane] = __shfl_down_sync(mask, lane, 1, 8);
  out[32 + lane] = __shfl_sync(mask, lane, 3, 4);
  out[48 + lane] = static_cast<int>(__ballot_sync(mask, lane % 3 == 0));
  // Two groups that follow different paths.
  const unsigned own = lane < 8 ? 0xffu : 0xff00u;
  if (lane < 8)
    out[64 + lane] = __any_sync(own, lane == 2);
  else
    out[64 + lane] = __all_sync(own, lane > 8);
}

__global__ void count_odd(int* out) {
  const int odd = __syncthreads_count(threadIdx.x % 2);
  out[threadIdx.x] = odd + (__syncthreads_or(threadIdx.x == 5) ? 100 : 0) +
                     (__syncthreads_and(threadIdx.x == 5) ? 1000 : 0);
}

__global__ void without_barrier(int* out) {
  int* const seen = gpu::dynamic_shared<int>();
  seen[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = seen[(threadIdx.x + 1) % blockDim.x];
}

__global__ void divergent() {
  if (threadIdx.x == 0)
    __syncthreads();
  else
    __syncwarp(~1u);
  if (threadIdx.x != 0) __syncwarp();
}

}  // namespace

TEST_CASE("sums over blocks", "[emulation]") {
  in_every_order([] {
    std::vector<int> in(128 * 5), out(5);
    std::iota(in.begin(), in.end(), 0);
    gpu::launch("test", sum_of_block, 5, 128, nullptr, in.data(), out.data());
    for (int b = 0; b < 5; ++b) CHECK(out[b] == 128 * 128 * b + 127 * 64);
  });
}

TEST_CASE("dynamic shared memory and barriers", "[emulation]") {
  in_every_order([] {
    std::vector<int> data(100);
    std::iota(data.begin(), data.end(), 0);
    gpu::launch("test", reverse, gpu::Grid{1, 100, 400}, nullptr, data.data(), 100);
    for (int i = 0; i < 100; ++i) CHECK(data[i] == 99 - i);
  });
}

TEST_CASE("exchanges within a warp", "[emulation]") {
  in_every_order([] {
    std::vector<int> out(80);
    gpu::launch("test", shuffles, 1, 32, nullptr, out.data());
    for (int i = 0; i < 16; ++i) {
      CHECK(out[i] == (i % 8 == 0 ? i : i - 1));
      CHECK(out[16 + i] == (i % 8 == 7 ? i : i + 1));
      CHECK(out[32 + i] == i / 4 * 4 + 3);
      CHECK(out[48 + i] == 0b1001001001001001);
      CHECK(out[64 + i] == (i < 8 ? 1 : 0));
    }
  });
}

TEST_CASE("votes of a block", "[emulation]") {
  in_every_order([] {
    std::vector<int> out(70);
    gpu::launch("test", count_odd, 1, 70, nullptr, out.data());
    for (const int v : out) CHECK(v == 135);
  });
}

TEST_CASE("a missing barrier shows", "[emulation]") {
  bool wrong = false;
  in_every_order([&] {
    std::vector<int> out(64);
    gpu::launch("test", without_barrier, gpu::Grid{1, 64, 256}, nullptr, out.data());
    for (int i = 0; i < 64; ++i) wrong |= out[i] != (i + 1) % 64;
  });
  CHECK(wrong);
}

TEST_CASE("threads that wait for each other end the program", "[emulation]") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    signal(SIGABRT, SIG_DFL);
    gpu::launch("test", divergent, 1, 32, nullptr);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("new device memory is NaN", "[emulation]") {
  float* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 100 * sizeof(float)) == cudaSuccess);
  for (int i = 0; i < 100; ++i) CHECK(std::isnan(memory[i]));
  cudaFree(memory);
}
