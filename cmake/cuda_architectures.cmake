# SPDX-License-Identifier: BSD-3-Clause
# Chooses the GPU architectures where nobody else has: this machine's own if it has a GPU, else code
# for Hopper and a portable form from Turing on that the driver translates.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(no_gpu EQUAL 0)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
endif()
