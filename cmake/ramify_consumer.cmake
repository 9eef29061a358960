# SPDX-License-Identifier: BSD-3-Clause
# Defines ramify_enable_device_launch(). Part of the installed package.

# The library of the device runtime. FindCUDAToolkit defines no target for it.
if(NOT TARGET ramify_cudadevrt)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    find_library(RAMIFY_CUDADEVRT cudadevrt HINTS ${CUDAToolkit_LIBRARY_DIR} REQUIRED)
    mark_as_advanced(RAMIFY_CUDADEVRT)
    add_library(ramify_cudadevrt STATIC IMPORTED GLOBAL)
    set_target_properties(ramify_cudadevrt PROPERTIES IMPORTED_LOCATION ${RAMIFY_CUDADEVRT})
  endif()
endif()

# ramify_enable_device_launch(<target>...)
#
# Enables device launches in CUDA targets that include Ramify's CUDA headers: compiles relocatable
# device code, and links it in the target with the device runtime. Without it, the targets have only
# the flat route. (A library cannot set these properties, because CMake does not propagate them.)
function(ramify_enable_device_launch)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "ramify_enable_device_launch: there is no target '${target}'")
    endif()
    set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ON
                                               CUDA_RESOLVE_DEVICE_SYMBOLS ON)
    target_link_libraries(${target} PRIVATE ramify_cudadevrt)
  endforeach()
endfunction()
