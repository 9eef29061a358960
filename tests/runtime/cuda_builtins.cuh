// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Shuffles and shared memory, the heap, copies and fills, in kernels.

#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

#include "device_vectors.cuh"

namespace tests::inline RAMIFY_BUILD {

// Sums of 64 numbers: in a warp by shuffles, across warps in dynamic shared memory.
__global__ void sum_numbers(int* out) {
  int* sums = &dynamic_shared<int>();
  int sum = static_cast<int>(threadIdx.x + blockIdx.x);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(full_warp_mask, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0] + sums[1];
}

inline std::vector<int> warp_and_shared() {
  const auto out = zeros<int>(5);
  check(launch(sum_numbers, {5, 64, 2 * sizeof(int)}, nullptr, out.data()).code(), "launching");
  return download(out);
}

__global__ void allocate_twice(int* outcome) {
  // More than the heap can hold, then little.
  void* much = device_malloc(std::size_t{1} << 40);
  void* little = device_malloc(100);
  *outcome = (much == nullptr ? 1 : 0) + (little != nullptr ? 2 : 0);
  device_free(much);
  device_free(little);
}

inline bool heap_is_finite() {
  const auto outcome = zeros<int>(1);
  check(launch(allocate_twice, {1, 1}, nullptr, outcome.data()).code(), "launching");
  return download(outcome)[0] == 3;
}

// Fills with zeros only: on an H200 (driver 580.159) a fill from a kernel ignores its value.
__global__ void copy_and_fill(int* memory) {
  const device_stream stream;
  bool good = cudaMemcpyAsync(memory + 2, memory, 2 * sizeof(int), cudaMemcpyDeviceToDevice,
                              stream.get()) == cudaSuccess;
  good = good && cudaMemcpyAsync(memory + 4, memory + 3, sizeof(int), cudaMemcpyDeviceToDevice,
                                 stream.get()) == cudaSuccess;
  good = good && cudaMemsetAsync(memory, 0, sizeof(int), stream.get()) == cudaSuccess;
  if (!good) memory[5] = 1;
}

inline std::vector<int> memory_operations() {
  const std::vector<int> before{7, 8, 0, 0, 0, 0};
  const auto memory = upload(before);
  check(launch(copy_and_fill, {1, 1}, nullptr, memory.data()).code(), "launching");
  return download(memory);
}

}  // namespace tests::inline RAMIFY_BUILD
