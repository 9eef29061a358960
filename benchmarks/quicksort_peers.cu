// SPDX-License-Identifier: BSD-3-Clause
#include "quicksort_peers.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

namespace benchmark {

template <class Key, class Order>
cudaError_t cub_merge_sort(void* scratch, std::size_t& bytes, Key* keys, std::uint32_t n,
                           Order order) {
  return cub::DeviceMergeSort::SortKeys(scratch, bytes, keys, n, order);
}

template <class Key>
cudaError_t cub_radix_sort(void* scratch, std::size_t& bytes, Key*& keys, Key*& alternate,
                           std::uint32_t n) {
  cub::DoubleBuffer<Key> buffers(keys, alternate);
  const cudaError_t error = cub::DeviceRadixSort::SortKeys(scratch, bytes, buffers, n);
  keys = buffers.Current();
  alternate = buffers.Alternate();
  return error;
}

template cudaError_t cub_merge_sort(void*, std::size_t&, std::uint32_t*, std::uint32_t,
                                    natural_order);
template cudaError_t cub_merge_sort(void*, std::size_t&, std::uint64_t*, std::uint32_t,
                                    natural_order);
template cudaError_t cub_merge_sort(void*, std::size_t&, float*, std::uint32_t, natural_order);
template cudaError_t cub_merge_sort(void*, std::size_t&, double*, std::uint32_t, natural_order);
template cudaError_t cub_merge_sort(void*, std::size_t&, record16*, std::uint32_t, by_key);
template cudaError_t cub_merge_sort(void*, std::size_t&, std::uint32_t*, std::uint32_t,
                                    even_first_falling);

template cudaError_t cub_radix_sort(void*, std::size_t&, std::uint32_t*&, std::uint32_t*&,
                                    std::uint32_t);
template cudaError_t cub_radix_sort(void*, std::size_t&, std::uint64_t*&, std::uint64_t*&,
                                    std::uint32_t);
template cudaError_t cub_radix_sort(void*, std::size_t&, float*&, float*&, std::uint32_t);
template cudaError_t cub_radix_sort(void*, std::size_t&, double*&, double*&, std::uint32_t);

}  // namespace benchmark
