/// \file
/// What was built, and what it runs on: for reports and bug reports.
#pragma once

#include <string_view>

#include "structmat/core/export.hpp"

namespace structmat {

/// "0.1.0".
STRUCTMAT_EXPORT std::string_view version();

/// Abbreviated commit that the library was configured from, "unknown" outside a repository. Changes
/// that were not committed do not show.
STRUCTMAT_EXPORT std::string_view git_commit();

/// "Release", "Debug", ...
STRUCTMAT_EXPORT std::string_view build_type();

/// The BLAS that was linked: "OpenBLAS", or another name from CMake's BLA_VENDOR, or a library
/// name.
STRUCTMAT_EXPORT std::string_view blas_vendor();

/// The widest instruction set of this processor that the vectorised loops have a version for:
/// "x86-64-v4" (AVX-512), "x86-64-v3" (AVX2 and FMA) or "default".
STRUCTMAT_EXPORT std::string_view simd_path();

/// Threads that exec::cpu{} takes here (OMP_NUM_THREADS, or all processors); 0 when built without
/// OpenMP.
STRUCTMAT_EXPORT int openmp_threads();

}  // namespace structmat
