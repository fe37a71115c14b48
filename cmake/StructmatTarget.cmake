# Settings common to every target of the project.

function(structmat_configure_target target)
  set_target_properties(
    ${target}
    PROPERTIES CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(
    ${target}
    PRIVATE
      # Vectorise where it is asked for, also without threads.
      $<$<COMPILE_LANGUAGE:CXX>:-fopenmp-simd>
      # No errno from math functions and no observable floating-point traps: neither changes a result, both
      # stand in the way of vectorisation. -ffast-math is never used: it breaks NaN, infinity and
      # compensated sums.
      $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>
      $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math>
      $<$<COMPILE_LANGUAGE:CXX>:-Wall>
      $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
      $<$<COMPILE_LANGUAGE:CXX>:-Wundef>
      $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>
      $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
      $<$<COMPILE_LANGUAGE:CXX>:-Wvla>
      # Vectors of lanes are passed between functions that are always inlined: no ABI is involved.
      $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wno-psabi>
      # g++ 12 warns falsely about std::string concatenation (GCC bug 105329).
      $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
      $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas>)
  if(STRUCTMAT_HAVE_CUDA)
    set_target_properties(
      ${target}
      PROPERTIES CUDA_STANDARD 20
                 CUDA_STANDARD_REQUIRED ON
                 CUDA_EXTENSIONS OFF
                 CUDA_VISIBILITY_PRESET hidden)
  endif()
endfunction()

function(structmat_configure_library target)
  structmat_configure_target(${target})
  # Before 1.0 a minor version may break the interface.
  set_target_properties(
    ${target}
    PROPERTIES VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
               # Static and shared builds compile with equal commands, so that a compiler cache serves both.
               DEFINE_SYMBOL "")
endfunction()

# Programs of this project link the optional components that are built, and STRUCTMAT_HAVE_CUDA and
# STRUCTMAT_HAVE_EXACT tell them. The library does not know: components are decided where a program is linked.
function(structmat_configure_program target)
  structmat_configure_target(${target})
  target_compile_definitions(${target} PRIVATE STRUCTMAT_HAVE_CUDA=$<BOOL:${STRUCTMAT_HAVE_CUDA}>
                                               STRUCTMAT_HAVE_EXACT=$<BOOL:${STRUCTMAT_HAVE_EXACT}>)
  target_link_libraries(${target} PRIVATE structmat::structmat
                                          $<TARGET_NAME_IF_EXISTS:structmat::cuda>
                                          $<TARGET_NAME_IF_EXISTS:structmat::exact>)
endfunction()
