# Finds FLINT, number theory in C: FLINT::flint. Debian's package has no CMake configuration of its own.
include(FindPackageHandleStandardArgs)

find_path(FLINT_INCLUDE_DIR flint/fmpq.h)
find_library(FLINT_LIBRARY flint)
find_library(FLINT_MPFR_LIBRARY mpfr)
find_library(FLINT_GMP_LIBRARY gmp)
mark_as_advanced(FLINT_INCLUDE_DIR FLINT_LIBRARY FLINT_MPFR_LIBRARY FLINT_GMP_LIBRARY)

find_package_handle_standard_args(
  FLINT
  REQUIRED_VARS FLINT_LIBRARY FLINT_MPFR_LIBRARY FLINT_GMP_LIBRARY FLINT_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: libflint-dev.")

if(FLINT_FOUND AND NOT TARGET FLINT::flint)
  add_library(FLINT::flint UNKNOWN IMPORTED)
  set_target_properties(
    FLINT::flint
    PROPERTIES IMPORTED_LOCATION ${FLINT_LIBRARY}
               INTERFACE_INCLUDE_DIRECTORIES ${FLINT_INCLUDE_DIR}
               INTERFACE_LINK_LIBRARIES "${FLINT_MPFR_LIBRARY};${FLINT_GMP_LIBRARY}")
endif()
