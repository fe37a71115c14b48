# Decides whether the CUDA component is built (STRUCTMAT_HAVE_CUDA) and enables the language.
set(STRUCTMAT_HAVE_CUDA OFF)
if(NOT STRUCTMAT_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "STRUCTMAT_CUDA is '${STRUCTMAT_CUDA}': it must be AUTO, ON or OFF")
endif()
if(STRUCTMAT_CUDA STREQUAL "OFF")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(STRUCTMAT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "STRUCTMAT_CUDA=ON, but no working CUDA compiler was found. Put nvcc on PATH, "
                        "set CUDACXX or CMAKE_CUDA_COMPILER, or choose STRUCTMAT_CUDA=OFF.")
  endif()
  message(STATUS "structmat: no CUDA compiler, the CUDA component is not built")
  return()
endif()

# 80-virtual: PTX, which the driver compiles for 8.0 and everything newer when it first loads the library.
# 90a-real: machine code for Hopper only, because compute_90a PTX runs on no other architecture. To be set before
# the language is enabled.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90a-real)
endif()
enable_language(CUDA)
find_package(CUDAToolkit 12 REQUIRED)

# CMake 3.25.1 knows no C++20 for this compiler, though nvcc does.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(STRUCTMAT_HAVE_CUDA ON)
