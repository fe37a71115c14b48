# Decides whether the component for exact arithmetic is built (STRUCTMAT_HAVE_EXACT).
set(STRUCTMAT_HAVE_EXACT OFF)
if(NOT STRUCTMAT_EXACT MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "STRUCTMAT_EXACT is '${STRUCTMAT_EXACT}': it must be AUTO, ON or OFF")
endif()
if(STRUCTMAT_EXACT STREQUAL "OFF")
  return()
endif()

find_package(FLINT QUIET)
if(NOT FLINT_FOUND)
  if(STRUCTMAT_EXACT STREQUAL "ON")
    message(FATAL_ERROR "STRUCTMAT_EXACT=ON, but FLINT was not found (Debian: libflint-dev). Install it, or choose "
                        "STRUCTMAT_EXACT=OFF.")
  endif()
  message(STATUS "structmat: without FLINT (Debian: libflint-dev), the component for exact arithmetic is not built")
  return()
endif()
set(STRUCTMAT_HAVE_EXACT ON)
