# SPDX-License-Identifier: BSD-3-Clause
# What a target needs to launch from the device. Part of the installed package.

# The device runtime's library; FindCUDAToolkit has no target for it.
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
# For CUDA targets that include Ramify's kernel headers: relocatable device code, linked into the
# target itself, with the device runtime. Without it they still have the flat route. (The properties
# cannot come with a library: CMake hands them to nobody.)
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
