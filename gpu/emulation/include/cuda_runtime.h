/// \file
/// Stands in for the CUDA runtime where the sources of gpu/ are compiled as plain C++: kernels run on
/// the host, one block after the other, with a fiber for each thread of a block. It covers the subset
/// that gpu/ uses. Only tests use it: they prove kernels without a device, under sanitizers, and in
/// several orders of threads (STRUCTMAT_EMULATION_ORDER = forward, backward or a number that seeds a
/// random one), which shows missing barriers.
///
/// Device memory is host memory, filled with NaN when it is new. Streams run at once.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#define STRUCTMAT_CUDA_EMULATION 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)

// ---- vector types

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define STRUCTMAT_VECTOR_TYPES(T, name, align2, align4) \
  struct alignas(align2) name##2 {                      \
    T x, y;                                             \
  };                                                    \
  struct alignas(align4) name##4 {                      \
    T x, y, z, w;                                       \
  };                                                    \
  inline name##2 make_##name##2(T x, T y) {             \
    return {x, y};                                      \
  }                                                     \
  inline name##4 make_##name##4(T x, T y, T z, T w) {   \
    return {x, y, z, w};                                \
  }
STRUCTMAT_VECTOR_TYPES(float, float, 8, 16)
STRUCTMAT_VECTOR_TYPES(double, double, 16, 16)
STRUCTMAT_VECTOR_TYPES(int, int, 8, 16)
STRUCTMAT_VECTOR_TYPES(unsigned, uint, 8, 16)
#undef STRUCTMAT_VECTOR_TYPES

// ---- where a thread is

inline uint3 threadIdx{}, blockIdx{};
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace structmat::emulation {

/// Runs `thread` for every thread of a grid.
void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread);

/// The dynamic shared memory of the running block.
void* shared_memory();

void block_barrier();

/// What an exchange gives to a lane.
struct Exchanged {
  alignas(16) unsigned char value[16]{};  ///< what the lane `source` brought
  unsigned votes = 0;                     ///< the lanes whose predicate holds
};

/// Waits for all lanes of the mask that still run.
const Exchanged& exchange(unsigned mask, const void* value, std::size_t bytes, int source,
                          bool predicate);

int lane();

template <class T>
T from_lane(unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= sizeof(Exchanged::value));
  T result;
  std::memcpy(&result, exchange(mask, &value, sizeof(T), source & 31, false).value, sizeof(T));
  return result;
}
inline unsigned vote(unsigned mask, bool predicate) {
  return exchange(mask, nullptr, 0, lane(), predicate).votes;
}

}  // namespace structmat::emulation

// ---- barriers and exchanges

inline void __syncthreads() {
  structmat::emulation::block_barrier();
}
int __syncthreads_count(int predicate);
inline int __syncthreads_or(int predicate) {
  return __syncthreads_count(predicate) > 0;
}
inline int __syncthreads_and(int predicate) {
  return __syncthreads_count(!predicate) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  structmat::emulation::vote(mask, false);
}
inline void __threadfence_block() {}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int first = structmat::emulation::lane() / width * width;
  return structmat::emulation::from_lane(mask, value, first + (source & (width - 1)));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int own = structmat::emulation::lane(), source = own ^ bits;
  const bool inside = source / width <= own / width;
  return structmat::emulation::from_lane(mask, value, inside ? source : own);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int own = structmat::emulation::lane();
  const int source = own - static_cast<int>(delta);
  return structmat::emulation::from_lane(mask, value, source >= own / width * width ? source : own);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int own = structmat::emulation::lane();
  const int source = own + static_cast<int>(delta);
  return structmat::emulation::from_lane(mask, value,
                                         source < own / width * width + width ? source : own);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return structmat::emulation::vote(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
  return structmat::emulation::vote(mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return structmat::emulation::vote(mask, predicate == 0) == 0;
}

/// All 32 lanes.
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  for (int bits = 16; bits > 0; bits /= 2)
    value = std::max(value, __shfl_xor_sync(mask, value, bits));
  return value;
}

// ---- atomics: threads of the emulation never run at the same time

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  return std::exchange(*at, *at + value);
}
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  return std::exchange(*at, std::min(*at, value));
}
template <class T>
T atomicOr(T* at, std::type_identity_t<T> value) {
  return std::exchange(*at, *at | value);
}

// ---- arithmetic: the overloads that CUDA has in the global namespace

using std::max;
using std::min;
#define STRUCTMAT_USING(name) using std::name;
STRUCTMAT_USING(abs)
STRUCTMAT_USING(atan2)
STRUCTMAT_USING(ceil)
STRUCTMAT_USING(copysign)
STRUCTMAT_USING(cos)
STRUCTMAT_USING(exp)
STRUCTMAT_USING(exp2)
STRUCTMAT_USING(expm1)
STRUCTMAT_USING(fabs)
STRUCTMAT_USING(floor)
STRUCTMAT_USING(fma)
STRUCTMAT_USING(fmax)
STRUCTMAT_USING(fmin)
STRUCTMAT_USING(frexp)
STRUCTMAT_USING(hypot)
STRUCTMAT_USING(ilogb)
STRUCTMAT_USING(isfinite)
STRUCTMAT_USING(isinf)
STRUCTMAT_USING(isnan)
STRUCTMAT_USING(ldexp)
STRUCTMAT_USING(log)
STRUCTMAT_USING(log1p)
STRUCTMAT_USING(log2)
STRUCTMAT_USING(pow)
STRUCTMAT_USING(rint)
STRUCTMAT_USING(round)
STRUCTMAT_USING(scalbn)
STRUCTMAT_USING(sin)
STRUCTMAT_USING(sqrt)
STRUCTMAT_USING(trunc)
#undef STRUCTMAT_USING

inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
inline float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}

template <class T>
T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
/// sin and cos of pi x, with the argument reduced exactly.
template <class T>
void sincospi(T x, T* sine, T* cosine) {
  const double turns = std::remainder(static_cast<double>(x), 2.0);
  // Quarter turns are exact.
  const double quarter = std::nearbyint(2 * turns);
  const double rest = (turns - quarter / 2) * 3.141592653589793238462643;
  const double s = std::sin(rest), c = std::cos(rest);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      *sine = static_cast<T>(s), *cosine = static_cast<T>(c);
      break;
    case 1:
      *sine = static_cast<T>(c), *cosine = static_cast<T>(-s);
      break;
    case 2:
      *sine = static_cast<T>(-s), *cosine = static_cast<T>(-c);
      break;
    default:
      *sine = static_cast<T>(-c), *cosine = static_cast<T>(s);
      break;
  }
}

inline int __float_as_int(float a) {
  return std::bit_cast<int>(a);
}
inline float __int_as_float(int a) {
  return std::bit_cast<float>(a);
}
inline long long __double_as_longlong(double a) {
  return std::bit_cast<long long>(a);
}
/// The upper 32 bits.
inline int __double2hiint(double a) {
  return static_cast<int>(std::bit_cast<std::int64_t>(a) >> 32);
}
inline double __longlong_as_double(long long a) {
  return std::bit_cast<double>(a);
}
inline int __popc(unsigned a) {
  return std::popcount(a);
}
inline int __clzll(long long a) {
  return std::countl_zero(static_cast<unsigned long long>(a));
}
inline int __ffs(int a) {
  return a == 0 ? 0 : std::countr_zero(static_cast<unsigned>(a)) + 1;
}
/// The upper half of (high, low) shifted to the left.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31) >>
                               32);
}

// ---- the runtime

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotSupported = 801,
  cudaErrorLaunchFailure = 719,
};
using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;
using cudaGraph_t = struct EmulatedGraph*;
using cudaGraphExec_t = struct EmulatedGraphExec*;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };
inline constexpr unsigned cudaStreamNonBlocking = 1;

struct cudaDeviceProp {
  char name[256];
  int multiProcessorCount;
  int major, minor;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
};

const char* cudaGetErrorString(cudaError_t status);
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaPeekAtLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  return *count = 1, cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  return *device = 0, cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
inline cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
cudaError_t cudaFree(void* pointer);
inline cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  if (bytes > 0) std::memset(pointer, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                                   cudaStream_t = nullptr) {
  return cudaMemset(pointer, value, bytes);
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return *stream = nullptr, cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
/// Graphs cannot be emulated: tests of capture ask for this status and run the operation twice.
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return cudaErrorNotSupported;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) {
  return cudaErrorNotSupported;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0) {
  return cudaErrorNotSupported;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return cudaErrorNotSupported;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return cudaSuccess;
}
/// Events tell no time here.
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return *event = nullptr, cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  return *ms = 1, cudaSuccess;
}
template <class F>
cudaError_t cudaFuncSetAttribute(F*, cudaFuncAttribute, int) {
  return cudaSuccess;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration,
                               void (*kernel)(Parameters...), Arguments&&... arguments) {
  structmat::emulation::run(configuration->gridDim, configuration->blockDim,
                            configuration->dynamicSmemBytes, [&] { kernel(arguments...); });
  return cudaSuccess;
}
