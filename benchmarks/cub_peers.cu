// SPDX-License-Identifier: BSD-3-Clause
#include "cub_peers.hpp"

#include <algorithm>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

namespace benchmark {

struct less {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

std::size_t peer_scratch_bytes(std::size_t n) {
  std::size_t radix = 0;
  std::size_t merge = 0;
  cub::DoubleBuffer<std::uint32_t> keys;
  if (cub::DeviceRadixSort::SortKeys(nullptr, radix, keys, n) != cudaSuccess) return 0;
  if (cub::DeviceMergeSort::SortKeys(nullptr, merge, static_cast<std::uint32_t*>(nullptr), n,
                                     less{}) != cudaSuccess) {
    return 0;
  }
  return std::max(radix, merge);
}

cudaError_t cub_radix_sort(void* scratch, std::size_t bytes, std::uint32_t* keys,
                           std::uint32_t* alternate, std::size_t n) {
  cub::DoubleBuffer<std::uint32_t> buffers(keys, alternate);
  return cub::DeviceRadixSort::SortKeys(scratch, bytes, buffers, n);
}

cudaError_t cub_merge_sort(void* scratch, std::size_t bytes, std::uint32_t* keys, std::size_t n) {
  return cub::DeviceMergeSort::SortKeys(scratch, bytes, keys, n, less{});
}

}  // namespace benchmark
