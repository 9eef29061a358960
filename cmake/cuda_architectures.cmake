# SPDX-License-Identifier: BSD-3-Clause
# Sets the default GPU architectures: this machine's GPU if there is one, else machine code for
# Hopper and PTX for Turing and later, which the driver compiles. RAMIFY_ALL_ARCHITECTURES is for
# packages: with it, cuda_language.cmake calls ramify_all_architectures() instead.
option(RAMIFY_ALL_ARCHITECTURES "Machine code for the GPU architectures from Turing on, for packages" OFF)
if(RAMIFY_ALL_ARCHITECTURES AND (DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS}))
  message(FATAL_ERROR "RAMIFY_ALL_ARCHITECTURES excludes CMAKE_CUDA_ARCHITECTURES and CUDAARCHS")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS}
   AND NOT RAMIFY_ALL_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(no_gpu EQUAL 0)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
endif()

# ramify_all_architectures(<result> <nvcc>): sets <result> to machine code for those of the
# architectures below that nvcc supports, and to PTX of the newest one for GPUs that appear later.
function(ramify_all_architectures result nvcc)
  execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE supported ERROR_QUIET)
  set(architectures)
  foreach(number IN ITEMS 75 80 86 89 90 100 110 120)
    if(supported MATCHES "sm_${number}[^0-9]")
      list(APPEND architectures ${number}-real)
      set(newest ${number})
    endif()
  endforeach()
  if(NOT architectures)
    message(FATAL_ERROR "${nvcc} --list-gpu-code lists no architecture that Ramify supports")
  endif()
  set(${result} ${architectures} ${newest}-virtual PARENT_SCOPE)
endfunction()

# ramify_machine_code(<result> <CMAKE_CUDA_ARCHITECTURES>): sets <result> to the architectures for which
# the build has machine code, for instance "75,86,90a". Sets it to "unknown" for native, all and
# all-major.
function(ramify_machine_code result architectures)
  set(numbers)
  foreach(architecture IN LISTS architectures)
    if(architecture MATCHES "^([0-9]+[af]?)(-real)?$")
      list(APPEND numbers ${CMAKE_MATCH_1})
    elseif(NOT architecture MATCHES "^[0-9]+[af]?-virtual$")
      set(${result} unknown PARENT_SCOPE)
      return()
    endif()
  endforeach()
  list(JOIN numbers "," numbers)
  set(${result} "${numbers}" PARENT_SCOPE)
endfunction()

# ramify_oldest_ptx(<result> <CMAKE_CUDA_ARCHITECTURES>): sets <result> to the oldest architecture for
# which the build has PTX that newer GPUs can run, or to 0 if it has none.
function(ramify_oldest_ptx result architectures)
  set(oldest 0)
  foreach(architecture IN LISTS architectures)
    if(architecture MATCHES "^([0-9]+)(-virtual)?$")
      set(number ${CMAKE_MATCH_1})
      if(oldest EQUAL 0 OR number LESS oldest)
        set(oldest ${number})
      endif()
    endif()
  endforeach()
  set(${result} ${oldest} PARENT_SCOPE)
endfunction()
