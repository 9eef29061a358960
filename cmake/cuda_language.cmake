# SPDX-License-Identifier: BSD-3-Clause
# Sets RAMIFY_HAS_CUDA from RAMIFY_CUDA and the nvcc of this machine.
set(RAMIFY_HAS_CUDA OFF)
if(NOT RAMIFY_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "RAMIFY_CUDA is '${RAMIFY_CUDA}'; it must be AUTO, ON or OFF")
endif()

# ramify_find_nvcc(<result>): sets <result> to the reason why there is no usable nvcc, or to "".
function(ramify_find_nvcc result)
  if(CMAKE_CUDA_COMPILER_LOADED) # by the enclosing project
    set(nvcc ${CMAKE_CUDA_COMPILER})
  else()
    # The toolkit's folder is often not on the PATH.
    find_program(RAMIFY_NVCC NAMES $ENV{CUDACXX} nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda
                 PATH_SUFFIXES bin)
    mark_as_advanced(RAMIFY_NVCC)
    set(nvcc ${CMAKE_CUDA_COMPILER})
    if(NOT nvcc)
      set(nvcc ${RAMIFY_NVCC})
    endif()
    if(NOT nvcc)
      set(${result} "no nvcc on the PATH, in CUDA_PATH or in /usr/local/cuda" PARENT_SCOPE)
      return()
    endif()
  endif()

  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(NOT version MATCHES "release ([0-9]+\\.[0-9]+)")
    set(${result} "${nvcc} does not print its version" PARENT_SCOPE)
  elseif(CMAKE_MATCH_1 VERSION_LESS 12.4)
    set(${result} "${nvcc} is CUDA ${CMAKE_MATCH_1}, and Ramify needs 12.4 or later" PARENT_SCOPE)
  elseif(CMAKE_CUDA_COMPILER)
    set(${result} "" PARENT_SCOPE) # set by the user: enable_language() reports errors
  else()
    unset(CMAKE_CUDA_COMPILER CACHE) # from an earlier run without nvcc
    set(ENV{CUDACXX} ${nvcc})
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${CMAKE_CUDA_COMPILER} PARENT_SCOPE)
      set(${result} "" PARENT_SCOPE)
    else()
      set(${result} "${nvcc} cannot compile here" PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(RAMIFY_CUDA STREQUAL "OFF")
  message(STATUS "Ramify: RAMIFY_CUDA is OFF: building for the CPU executor only")
else()
  ramify_find_nvcc(missing)
  if(missing STREQUAL "")
    enable_language(CUDA)
    set(RAMIFY_HAS_CUDA ON)
    message(STATUS "Ramify: CUDA ${CMAKE_CUDA_COMPILER_VERSION} found: building for CUDA devices "
                   "(${CMAKE_CUDA_ARCHITECTURES}) and for the CPU executor")
  elseif(RAMIFY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "RAMIFY_CUDA is ON, but there is no usable CUDA: ${missing}")
  else()
    message(STATUS "Ramify: no usable CUDA (${missing}): building for the CPU executor only")
  endif()
endif()
