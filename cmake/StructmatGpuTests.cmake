# gpu/tests/<family>/test_<op>.cpp: one program, one CTest entry per file, named <prefix>.<family>.<op>. Plain
# C++, like every user of the library: the same sources run on a device and on its emulation.
function(structmat_add_gpu_tests prefix)
  find_package(Catch2 2.13 REQUIRED)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/gpu/tests/*/test_*.cpp)
  set(program ${prefix}_tests)
  add_executable(${program} ${PROJECT_SOURCE_DIR}/gpu/tests/main.cpp
                            ${PROJECT_SOURCE_DIR}/gpu/tests/graph.cpp ${sources})
  structmat_configure_target(${program})
  target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
                                                ${PROJECT_SOURCE_DIR}/gpu)
  set(sanitized 0)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    set(sanitized 1)
    if(NOT STRUCTMAT_INSTRUMENT_TESTS)
      target_compile_options(${program} PRIVATE -fno-sanitize=all -O1)
    endif()
  endif()
  target_compile_definitions(${program} PRIVATE STRUCTMAT_SANITIZED=${sanitized})
  # Before the library itself, which has stand-ins that throw.
  target_link_libraries(${program} PRIVATE ${ARGN} structmat::structmat Catch2::Catch2)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH family)
    cmake_path(GET family FILENAME family)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^test_" "" operation ${stem})
    set(test ${prefix}.${family}.${operation})
    # Names repeat between families: the path tells them apart.
    add_test(NAME ${test} COMMAND ${program} "[${family}_${operation}]" --warn NoTests)
    set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 LABELS ${prefix} TIMEOUT 600)
  endforeach()
endfunction()
