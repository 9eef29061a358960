# SPDX-License-Identifier: BSD-3-Clause
# Sets RAMIFY_HAS_CUDA, after RAMIFY_CUDA and what this machine has.
set(RAMIFY_HAS_CUDA OFF)
if(NOT RAMIFY_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "RAMIFY_CUDA is '${RAMIFY_CUDA}'; it must be AUTO, ON or OFF")
endif()

if(NOT RAMIFY_CUDA STREQUAL "OFF")
  # The toolkit's folder is often not on the PATH.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(RAMIFY_NVCC nvcc HINTS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(RAMIFY_NVCC)
    if(RAMIFY_NVCC)
      set(CMAKE_CUDA_COMPILER ${RAMIFY_NVCC})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
      message(FATAL_ERROR "Ramify needs CUDA 12.4 or later; this is ${CMAKE_CUDA_COMPILER_VERSION}. "
                          "Configure with -DRAMIFY_CUDA=OFF for the CPU executor alone.")
    endif()
    set(RAMIFY_HAS_CUDA ON)
    message(STATUS "Ramify: CUDA ${CMAKE_CUDA_COMPILER_VERSION} found: building for CUDA devices "
                   "(${CMAKE_CUDA_ARCHITECTURES}) and for the CPU executor")
  elseif(RAMIFY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "RAMIFY_CUDA is ON, but no nvcc was found on the PATH, in CUDA_PATH or in "
                        "/usr/local/cuda")
  else()
    message(STATUS "Ramify: no CUDA compiler found: building for the CPU executor only")
  endif()
else()
  message(STATUS "Ramify: RAMIFY_CUDA is OFF: building for the CPU executor only")
endif()
