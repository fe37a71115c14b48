# Installation: headers, libraries, the tool, and a CMake package with the optional components `cuda` and `exact`.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/structmat)

install(TARGETS structmat EXPORT structmatTargets FILE_SET HEADERS)
install(EXPORT structmatTargets NAMESPACE structmat:: DESTINATION ${package_dir})

if(STRUCTMAT_HAVE_CUDA)
  install(TARGETS structmat_cuda EXPORT structmatCudaTargets)
  install(EXPORT structmatCudaTargets NAMESPACE structmat:: DESTINATION ${package_dir})
  set_target_properties(structmat_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()

if(STRUCTMAT_HAVE_EXACT)
  install(TARGETS structmat_exact EXPORT structmatExactTargets)
  install(EXPORT structmatExactTargets NAMESPACE structmat:: DESTINATION ${package_dir})
  set_target_properties(structmat_exact PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()

if(TARGET structmat_tool)
  install(TARGETS structmat_tool)
  set_target_properties(structmat_tool PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()

configure_package_config_file(cmake/structmatConfig.cmake.in structmatConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(structmatConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/structmatConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/structmatConfigVersion.cmake cmake/FindFFTW3.cmake cmake/FindFLINT.cmake
        DESTINATION ${package_dir})
