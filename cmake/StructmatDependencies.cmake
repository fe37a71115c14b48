# Finds what the library itself needs.

# FindBLAS alone takes the reference BLAS without a word, which is more than ten times slower.
if(NOT BLA_VENDOR)
  set(BLA_VENDOR OpenBLAS)
  find_package(BLAS QUIET)
  find_package(LAPACK QUIET)
  if(NOT BLAS_FOUND OR NOT LAPACK_FOUND)
    set(BLA_VENDOR All)
  endif()
endif()
find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
if(BLA_VENDOR STREQUAL "All")
  list(GET BLAS_LIBRARIES 0 STRUCTMAT_BLAS_VENDOR)
  get_filename_component(STRUCTMAT_BLAS_VENDOR ${STRUCTMAT_BLAS_VENDOR} NAME_WE)
  message(WARNING "OpenBLAS was not found; linking ${BLAS_LIBRARIES}. If that is the reference BLAS, dense "
                  "operations will be more than ten times slower. Debian: libopenblas-openmp-dev.")
else()
  set(STRUCTMAT_BLAS_VENDOR ${BLA_VENDOR})
endif()

include(CheckIncludeFileCXX)
foreach(header cblas.h lapack.h)
  string(MAKE_C_IDENTIFIER STRUCTMAT_HAVE_${header} found)
  check_include_file_cxx(${header} ${found})
  if(NOT ${found})
    message(FATAL_ERROR "${header} was not found. Debian: libopenblas-openmp-dev (cblas.h), "
                        "liblapacke-dev (lapack.h).")
  endif()
endforeach()

find_package(FFTW3 REQUIRED)
find_package(nlohmann_json REQUIRED)
if(STRUCTMAT_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()

# The commit is read again whenever it changes. It stays "unknown" in a source archive, and when the sources
# lie inside the repository of another project (whose commit would mislead).
set(STRUCTMAT_GIT_COMMIT unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} rev-parse --show-prefix --git-path logs/HEAD --short=12 HEAD
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE git_output
    ERROR_QUIET RESULT_VARIABLE git_result)
  if(git_result EQUAL 0 AND git_output MATCHES "^\n([^\n]+)\n([0-9a-f]+)\n$")
    set(STRUCTMAT_GIT_COMMIT ${CMAKE_MATCH_2})
    get_filename_component(git_log ${CMAKE_MATCH_1} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS ${git_log})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${git_log})
    endif()
  endif()
endif()
