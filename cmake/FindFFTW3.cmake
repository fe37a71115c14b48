# Finds FFTW 3 in double and single precision: FFTW3::fftw3, FFTW3::fftw3f.
#
# Debian's package has no CMake configuration of its own. A library with the same interface, such as MKL, can be
# named through FFTW3_INCLUDE_DIR, FFTW3_LIBRARY and FFTW3F_LIBRARY.
include(FindPackageHandleStandardArgs)

find_path(FFTW3_INCLUDE_DIR fftw3.h)
find_library(FFTW3_LIBRARY fftw3)
find_library(FFTW3F_LIBRARY fftw3f)
mark_as_advanced(FFTW3_INCLUDE_DIR FFTW3_LIBRARY FFTW3F_LIBRARY)

find_package_handle_standard_args(
  FFTW3
  REQUIRED_VARS FFTW3_LIBRARY FFTW3F_LIBRARY FFTW3_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: libfftw3-dev.")

if(FFTW3_FOUND AND NOT TARGET FFTW3::fftw3)
  add_library(FFTW3::fftw3 UNKNOWN IMPORTED)
  set_target_properties(FFTW3::fftw3 PROPERTIES IMPORTED_LOCATION ${FFTW3_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${FFTW3_INCLUDE_DIR})
  add_library(FFTW3::fftw3f UNKNOWN IMPORTED)
  set_target_properties(FFTW3::fftw3f PROPERTIES IMPORTED_LOCATION ${FFTW3F_LIBRARY}
                                                 INTERFACE_INCLUDE_DIRECTORIES ${FFTW3_INCLUDE_DIR})
endif()
