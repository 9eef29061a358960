# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ramify)

get_property(family_libraries GLOBAL PROPERTY RAMIFY_FAMILY_LIBRARIES)
set(libraries ramify_headers ramify_runtime ramify_facade ${family_libraries})
if(RAMIFY_HAS_CUDA)
  list(APPEND libraries ramify_facade_rdc)
endif()
if(RAMIFY_HAS_MPI)
  list(APPEND libraries ramify_cluster)
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
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/ramify)

# ---- pkg-config, for programs without CMake that use the C++ interface ----
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(pkgconfig_cuda_libraries)
if(RAMIFY_HAS_CUDA)
  set(pkgconfig_cuda_libraries "-L${CUDAToolkit_LIBRARY_DIR} -lcudadevrt -lcudart_static -lrt")
endif()
configure_file(cmake/ramify.pc.in ${CMAKE_CURRENT_BINARY_DIR}/ramify.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ramify.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- the example programs, their manual pages and their completions in bash ----
set(programs)
if(RAMIFY_EXAMPLES)
  get_property(programs DIRECTORY examples PROPERTY BUILDSYSTEM_TARGETS)
endif()
find_program(RAMIFY_HELP2MAN help2man) # optional
find_program(RAMIFY_BASH bash)
mark_as_advanced(RAMIFY_HELP2MAN RAMIFY_BASH)
set(documents)
foreach(program IN LISTS programs)
  get_target_property(type ${program} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    continue()
  endif()
  install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(CMAKE_CROSSCOMPILING OR NOT RAMIFY_BASH)
    continue() # the documents are made from the program's own --help
  endif()
  set(completion ${CMAKE_CURRENT_BINARY_DIR}/share/completions/${program})
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/bash_completion.sh)
  add_custom_command(OUTPUT ${completion}
                     COMMAND ${RAMIFY_BASH} ${script} $<TARGET_FILE:${program}> ${completion}
                     DEPENDS ${program} ${script} VERBATIM)
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  list(APPEND documents ${completion})
  if(RAMIFY_HELP2MAN)
    set(page ${CMAKE_CURRENT_BINARY_DIR}/share/man/${program}.1)
    set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/man_page.sh)
    add_custom_command(OUTPUT ${page}
                       COMMAND ${RAMIFY_BASH} ${script} ${RAMIFY_HELP2MAN}
                               $<TARGET_FILE:${program}> ${page}
                       DEPENDS ${program} ${script} VERBATIM)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    list(APPEND documents ${page})
  endif()
endforeach()
if(documents)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/completions ${CMAKE_CURRENT_BINARY_DIR}/share/man)
  add_custom_target(program_documents ALL DEPENDS ${documents})
endif()
