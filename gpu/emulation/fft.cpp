// The functions of cuFFT that gpu/ calls, on FFTW. Of what cuFFT may do and FFTW would not, this does
// the worst: it asks for a work area, overwrites it, and destroys the input of complex-to-real.
#include <fftw3.h>

#include <map>
#include <mutex>

#include "cufft.h"

namespace {

struct Plan {
  bool automatic = true;
  void* area = nullptr;
  cufftType type{};
  long long n = 0, batch = 0;
  long long in_stride = 1, in_distance = 0, out_stride = 1, out_distance = 0;
  std::size_t bytes = 0;
};

// The planner of FFTW is not safe from several threads either.
std::mutex mutex;
std::map<cufftHandle, Plan> plans;
cufftHandle next = 0;

bool is_double(cufftType type) {
  return type == CUFFT_D2Z || type == CUFFT_Z2D || type == CUFFT_Z2Z;
}

/// prepare(dims, batch dims) makes an FFTW plan.
template <class Dims, class Prepare, class Run>
cufftResult execute(cufftHandle handle, cufftType type, const Prepare& prepare, const Run& run) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  if (found == plans.end()) return CUFFT_INVALID_PLAN;
  const Plan& plan = found->second;
  if (plan.type != type) return CUFFT_INVALID_TYPE;
  if (!plan.automatic) {
    if (plan.area == nullptr) return CUFFT_NO_WORKSPACE;
    std::memset(plan.area, 0xff, plan.bytes);
  }
  const Dims dims{plan.n, plan.in_stride, plan.out_stride};
  const Dims batch{plan.batch, plan.in_distance, plan.out_distance};
  const auto made = prepare(&dims, &batch);
  if (made == nullptr) return CUFFT_EXEC_FAILED;
  run(made);
  return CUFFT_SUCCESS;
}

template <class P>
void run_double(P plan) {
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}
template <class P>
void run_single(P plan) {
  fftwf_execute(plan);
  fftwf_destroy_plan(plan);
}

constexpr unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED | FFTW_DESTROY_INPUT;
// Complex transforms out of place and real-to-complex keep their input.
constexpr unsigned keeping = FFTW_ESTIMATE | FFTW_UNALIGNED | FFTW_PRESERVE_INPUT;

}  // namespace

cufftResult cufftCreate(cufftHandle* plan) {
  const std::lock_guard lock(mutex);
  *plan = next++;
  plans[*plan] = {};
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) {
  const std::lock_guard lock(mutex);
  return plans.erase(plan) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic) {
  const std::lock_guard lock(mutex);
  plans.at(plan).automatic = automatic != 0;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle plan, void* area) {
  const std::lock_guard lock(mutex);
  plans.at(plan).area = area;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle, cudaStream_t) {
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n, long long* in_extents,
                                long long in_stride, long long in_distance, long long* out_extents,
                                long long out_stride, long long out_distance, cufftType type,
                                long long batch, std::size_t* work_bytes) {
  if (rank != 1 || in_extents == nullptr || out_extents == nullptr) return CUFFT_NOT_IMPLEMENTED;
  if (*n < 1 || batch < 1) return CUFFT_INVALID_SIZE;
  const std::lock_guard lock(mutex);
  Plan& plan = plans.at(handle);
  plan.type = type;
  plan.n = *n;
  plan.batch = batch;
  plan.in_stride = in_stride;
  plan.in_distance = in_distance;
  plan.out_stride = out_stride;
  plan.out_distance = out_distance;
  plan.bytes = static_cast<std::size_t>(*n * batch) * (is_double(type) ? 16 : 8);
  *work_bytes = plan.bytes;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute<fftwf_iodim64>(
      plan, CUFFT_C2C,
      [&](auto* dims, auto* batch) {
        return fftwf_plan_guru64_dft(1, dims, 1, batch, reinterpret_cast<fftwf_complex*>(in),
                                     reinterpret_cast<fftwf_complex*>(out), direction, keeping);
      },
      run_single<fftwf_plan>);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute<fftwf_iodim64>(
      plan, CUFFT_R2C,
      [&](auto* dims, auto* batch) {
        return fftwf_plan_guru64_dft_r2c(1, dims, 1, batch, in,
                                         reinterpret_cast<fftwf_complex*>(out), keeping);
      },
      run_single<fftwf_plan>);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute<fftwf_iodim64>(
      plan, CUFFT_C2R,
      [&](auto* dims, auto* batch) {
        return fftwf_plan_guru64_dft_c2r(1, dims, 1, batch, reinterpret_cast<fftwf_complex*>(in),
                                         out, flags);
      },
      run_single<fftwf_plan>);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out,
                         int direction) {
  return execute<fftw_iodim64>(
      plan, CUFFT_Z2Z,
      [&](auto* dims, auto* batch) {
        return fftw_plan_guru64_dft(1, dims, 1, batch, reinterpret_cast<fftw_complex*>(in),
                                    reinterpret_cast<fftw_complex*>(out), direction, keeping);
      },
      run_double<fftw_plan>);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute<fftw_iodim64>(
      plan, CUFFT_D2Z,
      [&](auto* dims, auto* batch) {
        return fftw_plan_guru64_dft_r2c(1, dims, 1, batch, in, reinterpret_cast<fftw_complex*>(out),
                                        keeping);
      },
      run_double<fftw_plan>);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute<fftw_iodim64>(
      plan, CUFFT_Z2D,
      [&](auto* dims, auto* batch) {
        return fftw_plan_guru64_dft_c2r(1, dims, 1, batch, reinterpret_cast<fftw_complex*>(in), out,
                                        flags);
      },
      run_double<fftw_plan>);
}
