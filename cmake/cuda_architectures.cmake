# SPDX-License-Identifier: BSD-3-Clause
# Sets the default GPU architectures: this machine's GPU if there is one, else machine code for
# Hopper and PTX for Turing and later, which the driver compiles.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(no_gpu EQUAL 0)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
endif()
