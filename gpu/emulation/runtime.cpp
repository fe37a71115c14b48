// Blocks run one after the other; within a block each thread is a fiber with a stack of its own, and
// a scheduler resumes those that do not wait. Fibers change places with _setjmp and _longjmp, which
// leave the signal mask alone and so cost no system call; ucontext only starts them.
#undef _FORTIFY_SOURCE  // longjmp between stacks is what this file does

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

#include "cuda_runtime.h"

namespace structmat::emulation {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

enum class Wait { none, block, warp };

struct Fiber {
  jmp_buf context;
  void* stack = nullptr;
  uint3 index{};
  Wait wait = Wait::none;
  unsigned mask = 0;  ///< of the exchange it waits for
  bool started = false, finished = false;
  bool predicate = false;
  int source = 0;
  alignas(16) unsigned char brought[16];
  Exchanged taken;
};

struct Block {
  std::vector<Fiber> fibers;
  const std::function<void()>* thread = nullptr;
  std::vector<std::byte> shared;
  int current = 0;
  int live = 0;
  int count = 0;  ///< result of the last __syncthreads_count
};

Block block;
jmp_buf scheduler;
std::vector<void*> stacks;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulation: %s (block %u, thread %d)\n", what, blockIdx.x, block.current);
  std::abort();
}

void* stack(std::size_t i) {
  while (stacks.size() <= i) {
    void* memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail("no memory for stacks");
    // An overflow meets a page that nobody may touch.
    mprotect(memory, 4096, PROT_NONE);
    stacks.push_back(memory);
  }
  return stacks[i];
}

void start() {
  (*block.thread)();
  block.fibers[block.current].finished = true;
  _longjmp(scheduler, 1);
}

void yield() {
  if (_setjmp(block.fibers[block.current].context) == 0) _longjmp(scheduler, 1);
}

void resume(int i) {
  block.current = i;
  Fiber& fiber = block.fibers[i];
  threadIdx = fiber.index;
  if (_setjmp(scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.context, 1);
  fiber.started = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack;
  context.uc_stack.ss_size = stack_bytes;
  context.uc_link = nullptr;
  makecontext(&context, start, 0);
  setcontext(&context);
}

/// Lets the warp of a fiber go on if all lanes of its mask that still run have arrived.
void release_warp(int i) {
  const int first = i / 32 * 32;
  const int end = std::min<int>(first + 32, static_cast<int>(block.fibers.size()));
  const unsigned mask = block.fibers[i].mask;
  unsigned running = 0, votes = 0;
  for (int j = first; j < end; ++j) {
    const Fiber& fiber = block.fibers[j];
    if ((mask >> (j - first) & 1) == 0 || fiber.finished) continue;
    if (fiber.wait != Wait::warp || fiber.mask != mask) return;
    running |= 1u << (j - first);
    votes |= static_cast<unsigned>(fiber.predicate) << (j - first);
  }
  for (int j = first; j < end; ++j) {
    if ((running >> (j - first) & 1) == 0) continue;
    Fiber& fiber = block.fibers[j];
    // The value of a lane that does not take part is undefined: here, what it brought last.
    const int source = std::min(first + fiber.source, end - 1);
    std::memcpy(fiber.taken.value, block.fibers[source].brought, sizeof fiber.brought);
    fiber.taken.votes = votes;
    fiber.wait = Wait::none;
  }
}

void release_block() {
  int waiting = 0, count = 0;
  for (const Fiber& fiber : block.fibers) {
    if (!fiber.finished && fiber.wait == Wait::block) ++waiting, count += fiber.predicate;
  }
  if (waiting == 0 || waiting != block.live) return;
  block.count = count;
  for (Fiber& fiber : block.fibers) fiber.wait = Wait::none;
}

/// The order in which threads are resumed.
class Order {
 public:
  explicit Order(int threads) : order_(threads) {
    std::iota(order_.begin(), order_.end(), 0);
    const char* wish = std::getenv("STRUCTMAT_EMULATION_ORDER");
    if (wish == nullptr || std::string(wish) == "forward") return;
    if (std::string(wish) == "backward") {
      std::reverse(order_.begin(), order_.end());
      return;
    }
    random_.seed(static_cast<unsigned>(std::strtoul(wish, nullptr, 10)) + blockIdx.x);
    shuffled_ = true;
  }
  const std::vector<int>& next() {
    if (shuffled_) std::shuffle(order_.begin(), order_.end(), random_);
    return order_;
  }

 private:
  std::vector<int> order_;
  std::mt19937 random_;
  bool shuffled_ = false;
};

void run_block() {
  const int threads = static_cast<int>(block.fibers.size());
  block.live = threads;
  Order order(threads);
  while (block.live > 0) {
    bool progress = false;
    for (const int i : order.next()) {
      if (block.fibers[i].finished || block.fibers[i].wait != Wait::none) continue;
      progress = true;
      resume(i);
      if (!block.fibers[i].finished) continue;
      --block.live;
      // Others may have waited for this one alone.
      for (int j = i / 32 * 32; j < std::min(threads, i / 32 * 32 + 32); ++j) {
        if (!block.fibers[j].finished && block.fibers[j].wait == Wait::warp) release_warp(j);
      }
    }
    release_block();
    if (!progress && block.live > 0) {
      bool ready = false;
      for (const Fiber& fiber : block.fibers) ready |= !fiber.finished && fiber.wait == Wait::none;
      if (!ready) fail("threads wait for each other at different barriers");
    }
  }
}

}  // namespace

void run(dim3 grid, dim3 threads, std::size_t shared_bytes, const std::function<void()>& thread) {
  const unsigned count = threads.x * threads.y * threads.z;
  if (count == 0 || count > 1024) fail("a block has 1 to 1024 threads");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) fail("an empty grid");
  if (shared_bytes > 227 * 1024) fail("more than 227 KiB of shared memory");
  blockDim = threads;
  gridDim = grid;
  block.thread = &thread;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        block.shared.assign(shared_bytes + 16, std::byte{0xff});
        block.fibers.resize(count);
        for (unsigned i = 0; i < count; ++i) {
          Fiber& fiber = block.fibers[i];
          fiber.stack = stack(i);
          fiber.index = {i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y};
          fiber.wait = Wait::none;
          fiber.started = fiber.finished = false;
        }
        run_block();
      }
    }
  }
}

void* shared_memory() {
  void* memory = block.shared.data();
  std::size_t space = block.shared.size();
  return std::align(16, 1, memory, space);
}

void block_barrier() {
  __syncthreads_count(0);
}

int lane() {
  return block.current % 32;
}

const Exchanged& exchange(unsigned mask, const void* value, std::size_t bytes, int source,
                          bool predicate) {
  const int own = block.current;
  Fiber& fiber = block.fibers[own];
  if ((mask >> (own % 32) & 1) == 0) fail("a thread is not in the mask of its own exchange");
  if (bytes > 0) std::memcpy(fiber.brought, value, bytes);
  fiber.source = source;
  fiber.predicate = predicate;
  fiber.mask = mask;
  fiber.wait = Wait::warp;
  release_warp(own);
  if (fiber.wait != Wait::none) yield();
  return fiber.taken;
}

}  // namespace structmat::emulation

int __syncthreads_count(int predicate) {
  using namespace structmat::emulation;
  Fiber& fiber = block.fibers[block.current];
  fiber.predicate = predicate != 0;
  fiber.wait = Wait::block;
  yield();
  return block.count;
}

const char* cudaGetErrorString(cudaError_t status) {
  switch (status) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNotSupported:
      return "operation not supported";
    default:
      return "error of the emulation";
  }
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"host emulation", 4, 9, 0};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 4;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 * 1024;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
  }
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  // As on a device: aligned to 256 bytes. More than this is for tests of exhausted memory.
  if (bytes > std::size_t{1} << 36) return cudaErrorMemoryAllocation;
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*pointer, 0xff, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t) {
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(static_cast<char*>(to) + row * to_pitch,
                static_cast<const char*>(from) + row * from_pitch, width);
  }
  return cudaSuccess;
}
