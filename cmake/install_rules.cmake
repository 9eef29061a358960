# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ramify)

set(libraries ramify_headers ramify_runtime ramify_facade)
if(RAMIFY_HAS_CUDA)
  list(APPEND libraries ramify_facade_rdc)
endif()
install(TARGETS ${libraries} EXPORT ramify-targets)
install(EXPORT ramify-targets NAMESPACE ramify:: DESTINATION ${package_dir})
install(DIRECTORY device_runtime/ramify algorithms/ramify DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.hpp PATTERN *.cuh)

configure_package_config_file(cmake/ramify-config.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/ramify-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ramify-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ramify-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ramify-config-version.cmake
              cmake/ramify_consumer.cmake
        DESTINATION ${package_dir})
