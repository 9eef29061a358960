// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Random keys of arrays of any size, and the check that an array is sorted and has the same keys.

#include <cstdint>
#include <cstring>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/launch.cuh>
#include <type_traits>

#include "measure_cuda.cuh"

namespace benchmark {

/// Writes keys first to first + n - 1 of the input.
template <class Key>
__global__ void write_keys(Key* keys, std::size_t n, std::uint64_t first) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t bits = scrambled(first + i);
  keys[i] = std::is_floating_point_v<Key> ? static_cast<Key>(double(bits >> 11) * 0x1p-53)
                                          : static_cast<Key>(bits);
}

/// The number of keys that are less than the key before them, and the sum of all keys' hashes.
struct large_inspection {
  unsigned long long inversions, sum;
};

constexpr unsigned inspecting_threads = 256;
constexpr unsigned inspecting_blocks = 1024;

template <class Key>
__global__ void inspect_large_array(const Key* keys, std::size_t n, large_inspection* result) {
  using reduce = ramify::block_reduce<unsigned long long, inspecting_threads>;
  __shared__ typename reduce::TempStorage storage;
  unsigned long long sum = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (i > 0 && keys[i] < keys[i - 1]) atomicAdd(&result->inversions, 1ULL);
    std::uint64_t bits = 0;
    memcpy(&bits, keys + i, sizeof(Key));
    sum += scrambled(bits);
  }
  sum = reduce(storage).Sum(sum);
  if (threadIdx.x == 0) atomicAdd(&result->sum, sum);
}

/// Returns the inversions of n keys of the device and the sum of their hashes. `result` is memory
/// for one inspection. Waits. \throws ramify::cuda_error
template <class Key>
large_inspection inspect_large(const Key* keys, std::size_t n, large_inspection* result) {
  ramify::clear_memory(result, 1, nullptr, "clearing an inspection");
  ramify::check(ramify::launch(inspect_large_array<Key>, {inspecting_blocks, inspecting_threads},
                               nullptr, keys, n, result)
                    .code(),
                "checking keys");
  return ramify::read_back(result, nullptr, "checking keys");
}

}  // namespace benchmark
