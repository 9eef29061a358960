// SPDX-License-Identifier: BSD-3-Clause
// Sorts numbers by the CUDA header, with the kernels of the library. Compiled by nvcc, or by a C++
// compiler for the CPU executor.
#include <iostream>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/buffer.cuh>
#include <vector>

int main() {
#if RAMIFY_ON_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cout << "needs a GPU\n";
    return 77;
  }
#endif
  constexpr std::size_t n = 300'000;
  std::vector<float> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<float>(i * 7919 % n) - 1000;
  const ramify::device_buffer<float> device(n, nullptr);
  cudaMemcpy(device.data(), keys.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  std::cout << ramify::quicksort(device.data(), n, ramify::descending{},
                                 {.route = ramify::route::device});
  cudaMemcpy(keys.data(), device.data(), n * sizeof(float), cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < n; ++i) {
    if (keys[i] != static_cast<float>(n - 1 - i) - 1000) return 1;
  }
  return 0;
}
