# Finds FFLAS-FFPACK, a library of headers, and Givaro under it, which is not one: FFLAS::fflas. BLAS must have been
# found before. Debian's packages have no CMake configuration of their own.
include(FindPackageHandleStandardArgs)

find_path(FFLAS_INCLUDE_DIR fflas-ffpack/ffpack/ffpack.h)
find_library(GIVARO_LIBRARY givaro)
find_library(GMPXX_LIBRARY gmpxx)
find_library(GMP_LIBRARY gmp)
mark_as_advanced(FFLAS_INCLUDE_DIR GIVARO_LIBRARY GMPXX_LIBRARY GMP_LIBRARY)

find_package_handle_standard_args(
  FFLAS
  REQUIRED_VARS FFLAS_INCLUDE_DIR GIVARO_LIBRARY GMPXX_LIBRARY GMP_LIBRARY
  REASON_FAILURE_MESSAGE "Debian: fflas-ffpack, libgivaro-dev.")

if(FFLAS_FOUND AND NOT TARGET FFLAS::fflas)
  add_library(FFLAS::fflas INTERFACE IMPORTED)
  set_target_properties(
    FFLAS::fflas PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${FFLAS_INCLUDE_DIR}
                            INTERFACE_LINK_LIBRARIES "${GIVARO_LIBRARY};${GMPXX_LIBRARY};${GMP_LIBRARY};BLAS::BLAS")
endif()
