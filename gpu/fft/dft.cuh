/// \file
/// cuFFT for the operations of gpu/: plans of one-dimensional transforms of a batch, with checked calls.
///
///   forward:   y_k = sum_j x_j exp(-2 pi i j k / n)
///   backward:  x_j = sum_k y_k exp(+2 pi i j k / n)
///
/// Neither is normalised: backward after forward gives n x.
#pragma once

#include <cufft.h>

#include <memory>
#include <mutex>

#include "core/complex.cuh"

namespace structmat::gpu {

/// The name of a code; cuFFT itself offers none.
inline const char* name_of(cufftResult status) {
  switch (status) {
    case CUFFT_SUCCESS:
      return "CUFFT_SUCCESS";
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
      return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_INVALID_DEVICE:
      return "CUFFT_INVALID_DEVICE";
    case CUFFT_NO_WORKSPACE:
      return "CUFFT_NO_WORKSPACE";
    case CUFFT_NOT_IMPLEMENTED:
      return "CUFFT_NOT_IMPLEMENTED";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return "a code of cuFFT without a name here";
  }
}

/// Throws BackendError, on behalf of `operation`, unless the status is success.
inline void check(cufftResult status, const char* operation) {
  if (status == CUFFT_SUCCESS) return;
  throw BackendError(operation, "cuFFT", static_cast<int>(status), name_of(status));
}

/// Where one side of a batch of transforms lies: element j of transform b at b distance + j stride.
struct DftLayout {
  index_t stride = 1, distance = 0;
};

/// `batch` transforms of `length` numbers. <In, Out>: <Complex<R>, Complex<R>> in both directions;
/// <R, Complex<R>> forward, with the first length / 2 + 1 numbers of the result; <Complex<R>, R>
/// backward, from those.
///
/// Making a plan allocates and may synchronise; executing it does neither, so that it can be captured:
/// the work area comes from the caller. Length 0 or batch 0: nothing is launched.
/// Const use is safe from several threads, with a work area for each call in progress: stream and work
/// area are parts of a cuFFT plan, so that the calls that enqueue take turns.
/// Movable. The device that is current must be that of the plan.
template <class In, class Out>
class Dft {
 public:
  using R = real_of_t<In>;
  static_assert(std::is_same_v<R, real_of_t<Out>> && (is_complex<In> || is_complex<Out>));
  static constexpr bool has_forward = is_complex<Out>;
  static constexpr bool has_backward = is_complex<In>;

  Dft() = default;

  /// Throws BackendError.
  Dft(const char* operation, index_t length, index_t batch, DftLayout in, DftLayout out) {
    if (length == 0 || batch == 0) return;
    require_device(operation);
    state_ = std::make_unique<State>();
    check(cufftCreate(&state_->plan), operation);
    check(cufftSetAutoAllocation(state_->plan, 0), operation);
    // What the extents of storage are is of no importance in one dimension; without them strides
    // would be ignored.
    long long n = length, in_extent = length, out_extent = length;
    std::size_t bytes = 0;
    check(cufftMakePlanMany64(state_->plan, 1, &n, &in_extent, in.stride, in.distance, &out_extent,
                              out.stride, out.distance, type(), batch, &bytes),
          operation);
    workspace_bytes_ = static_cast<index_t>(bytes);
  }

  /// Of the work area, which begins at a multiple of 256 bytes.
  index_t workspace_bytes() const { return workspace_bytes_; }

  /// y := F x; x may be y for complex numbers in equal layouts. Throws BackendError.
  void forward(const char* operation, cudaStream_t stream, void* workspace, const In* x,
               Out* y) const requires has_forward {
    execute(operation, stream, workspace, [&](cufftHandle plan) {
      if constexpr (std::is_same_v<In, float>)
        return cufftExecR2C(plan, const_cast<float*>(x), reinterpret_cast<cufftComplex*>(y));
      else if constexpr (std::is_same_v<In, double>)
        return cufftExecD2Z(plan, const_cast<double*>(x), reinterpret_cast<cufftDoubleComplex*>(y));
      else
        return complex(plan, x, y, CUFFT_FORWARD);
    });
  }

  /// x := F^H y; with a real x, y is overwritten. Throws BackendError.
  void backward(const char* operation, cudaStream_t stream, void* workspace,
                std::conditional_t<is_complex<Out>, const In*, In*> y,
                Out* x) const requires has_backward {
    execute(operation, stream, workspace, [&](cufftHandle plan) {
      if constexpr (std::is_same_v<Out, float>)
        return cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(y), x);
      else if constexpr (std::is_same_v<Out, double>)
        return cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(y), x);
      else
        return complex(plan, y, x, CUFFT_INVERSE);
    });
  }

 private:
  struct State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      if (plan != CUFFT_PLAN_NULL) cufftDestroy(plan);
    }
    cufftHandle plan = CUFFT_PLAN_NULL;
    std::mutex mutex;
  };

  static constexpr cufftType type() {
    constexpr bool single = std::is_same_v<R, float>;
    if (!is_complex<In>) return single ? CUFFT_R2C : CUFFT_D2Z;
    if (!is_complex<Out>) return single ? CUFFT_C2R : CUFFT_Z2D;
    return single ? CUFFT_C2C : CUFFT_Z2Z;
  }

  static cufftResult complex(cufftHandle plan, const In* in, Out* out, int direction) {
    if constexpr (std::is_same_v<R, float>) {
      return cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(const_cast<In*>(in)),
                          reinterpret_cast<cufftComplex*>(out), direction);
    } else {
      return cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(const_cast<In*>(in)),
                          reinterpret_cast<cufftDoubleComplex*>(out), direction);
    }
  }

  template <class Call>
  void execute(const char* operation, cudaStream_t stream, void* workspace,
               const Call& call) const {
    if (!state_) return;
    const std::lock_guard lock(state_->mutex);
    check(cufftSetStream(state_->plan, stream), operation);
    if (workspace_bytes_ > 0) check(cufftSetWorkArea(state_->plan, workspace), operation);
    check(call(state_->plan), operation);
  }

  std::unique_ptr<State> state_;
  index_t workspace_bytes_ = 0;
};

}  // namespace structmat::gpu
