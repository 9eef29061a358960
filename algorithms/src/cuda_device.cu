// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>

#include "facade.hpp"

namespace ramify::facade {

cuda_device find_cuda_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    return {false, std::string("no CUDA device: ") + cudaGetErrorString(error)};
  }
  if (count == 0) return {false, "no CUDA device"};
  int current = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&current) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, current) != cudaSuccess) {
    return {false, "the CUDA device does not answer"};
  }
  return {true, properties.name};
}

}  // namespace ramify::facade
