# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ramify)

get_property(family_libraries GLOBAL PROPERTY RAMIFY_FAMILY_LIBRARIES)
set(libraries ramify_runtime ramify_facade ramify_compiled_sorts ${family_libraries})
if(RAMIFY_HAS_CUDA)
  list(APPEND libraries ramify_facade_rdc)
endif()
if(RAMIFY_HAS_MPI)
  list(APPEND libraries ramify_cluster)
endif()

# ---- libraries that are not built yet: one sentence, before anything is installed ----
add_custom_target(ramify_libraries)
add_dependencies(ramify_libraries ${libraries})
list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
install(CODE "
  set(all \"${files}\")
  set(missing)
  foreach(file IN LISTS all)
    if(NOT EXISTS \"\${file}\")
      cmake_path(GET file FILENAME name)
      list(APPEND missing \${name})
    endif()
  endforeach()
  if(missing)
    list(LENGTH missing count)
    list(GET missing 0 first)
    message(FATAL_ERROR \"Ramify: \${count} libraries are not built, for example \${first}. \"
      \"Build them first: cmake --build '${PROJECT_BINARY_DIR}' --target ramify_libraries\")
  endif()" COMPONENT libraries)

install(TARGETS ramify_headers ${libraries} EXPORT ramify-targets COMPONENT libraries)
install(EXPORT ramify-targets NAMESPACE ramify:: DESTINATION ${package_dir} COMPONENT libraries)
install(DIRECTORY device_runtime/ramify algorithms/ramify DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT libraries FILES_MATCHING PATTERN *.hpp PATTERN *.cuh)

# The components of find_package(): the targets without "ramify::". Those that need MPI have a message
# of their own.
list(TRANSFORM libraries REPLACE "^ramify_" "" OUTPUT_VARIABLE ramify_components)
list(APPEND ramify_components headers)
file(GLOB ramify_components_with_mpi RELATIVE ${PROJECT_SOURCE_DIR}/algorithms/src
     ${PROJECT_SOURCE_DIR}/algorithms/src/distributed_*)
list(TRANSFORM ramify_components_with_mpi PREPEND facade_)
list(APPEND ramify_components_with_mpi facade_distributed cluster)
configure_package_config_file(cmake/ramify-config.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/ramify-config.cmake
                              INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ramify-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ramify-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ramify-config-version.cmake
              cmake/ramify_consumer.cmake
        DESTINATION ${package_dir} COMPONENT libraries)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/ramify COMPONENT libraries)

# ---- pkg-config, for programs without CMake that use the C++ interface ----
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(pkgconfig_cuda_libraries)
if(RAMIFY_HAS_CUDA)
  set(pkgconfig_cuda_libraries "-L${CUDAToolkit_LIBRARY_DIR} -lcudadevrt -lcudart_static -lrt")
endif()
# pkgconfig_module(<name> <description> <library>...): one module; ramify_runtime is in each.
function(pkgconfig_module pkgconfig_name pkgconfig_description)
  list(TRANSFORM ARGN PREPEND -l)
  list(JOIN ARGN " " pkgconfig_libraries)
  configure_file(cmake/ramify.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${pkgconfig_name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${pkgconfig_name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libraries)
endfunction()
pkgconfig_module(ramify "${PROJECT_DESCRIPTION}" ramify_graph_files ramify_facade)
pkgconfig_module(ramify-runtime "The CPU executor of Ramify, for kernels that a C++ compiler compiles")
foreach(library IN LISTS family_libraries)
  string(REGEX REPLACE "^ramify_(facade_)?" "" name ${library})
  set(description "One part of Ramify: ${name}")
  set(others)
  if(name MATCHES "^distributed")
    string(APPEND description ". Compile and link with mpicxx")
    set(others ramify_cluster)
  endif()
  pkgconfig_module(ramify-${name} "${description}" ${library} ${others})
endforeach()

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
  # A program that is not built is not installed.
  install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs OPTIONAL)
  if(CMAKE_CROSSCOMPILING OR NOT RAMIFY_BASH)
    continue() # the documents are made from the program's own --help
  endif()
  set(completion ${CMAKE_CURRENT_BINARY_DIR}/share/completions/${program})
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/bash_completion.sh)
  add_custom_command(OUTPUT ${completion}
                     COMMAND ${RAMIFY_BASH} ${script} $<TARGET_FILE:${program}> ${completion}
                     DEPENDS ${program} ${script} VERBATIM)
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          COMPONENT programs OPTIONAL)
  list(APPEND documents ${completion})
  if(RAMIFY_HELP2MAN)
    set(page ${CMAKE_CURRENT_BINARY_DIR}/share/man/${program}.1)
    set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/man_page.sh)
    add_custom_command(OUTPUT ${page}
                       COMMAND ${RAMIFY_BASH} ${script} ${RAMIFY_HELP2MAN}
                               $<TARGET_FILE:${program}> ${page}
                       DEPENDS ${program} ${script} VERBATIM)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs OPTIONAL)
    list(APPEND documents ${page})
  endif()
endforeach()
if(documents)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/completions ${CMAKE_CURRENT_BINARY_DIR}/share/man)
  add_custom_target(program_documents ALL DEPENDS ${documents})
endif()
