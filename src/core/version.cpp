#include "structmat/core/version.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace structmat {

std::string_view version() {
  return STRUCTMAT_VERSION;
}
std::string_view git_commit() {
  return STRUCTMAT_GIT_COMMIT;
}
std::string_view build_type() {
  return STRUCTMAT_BUILD_TYPE;
}
std::string_view blas_vendor() {
  return STRUCTMAT_BLAS_VENDOR;
}

std::string_view simd_path() {
#if defined(__x86_64__)
  // The features that tell each level from the one below; processors have all of a level or none.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "x86-64-v4";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    return "x86-64-v3";
  }
#endif
  return "default";
}

int openmp_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 0;
#endif
}

}  // namespace structmat
