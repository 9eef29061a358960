// SPDX-License-Identifier: BSD-3-Clause
#include "quicksort_peers.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <type_traits>

namespace benchmark {

using ramify::no_value;

template <class Key, class Value, class Order>
cudaError_t cub_merge_sort(void* scratch, std::size_t& bytes, element_arrays<Key, Value> data,
                           std::uint32_t n, Order order, cudaStream_t stream) {
  if constexpr (std::is_same_v<Value, no_value>) {
    return cub::DeviceMergeSort::SortKeys(scratch, bytes, data.keys, n, order, stream);
  } else {
    return cub::DeviceMergeSort::SortPairs(scratch, bytes, data.keys, data.values, n, order,
                                           stream);
  }
}

template <class Count, class Key, class Value>
cudaError_t cub_radix_sort(void* scratch, std::size_t& bytes, element_arrays<Key, Value>& data,
                           element_arrays<Key, Value>& alternate, std::uint32_t n) {
  cub::DoubleBuffer<Key> keys(data.keys, alternate.keys);
  cub::DoubleBuffer<Value> values(data.values, alternate.values);
  cudaError_t error = cudaSuccess;
  if constexpr (std::is_same_v<Value, no_value>) {
    error = cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, Count{n});
  } else {
    error = cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, Count{n});
  }
  data = {keys.Current(), values.Current()};
  alternate = {keys.Alternate(), values.Alternate()};
  return error;
}

#define INSTANTIATE_MERGE_SORT(Key, Value, Order)                                      \
  template cudaError_t cub_merge_sort(void*, std::size_t&, element_arrays<Key, Value>, \
                                      std::uint32_t, Order, cudaStream_t);
#define INSTANTIATE_SORTS(Key, Value)                                                             \
  INSTANTIATE_MERGE_SORT(Key, Value, natural_order)                                               \
  template cudaError_t cub_radix_sort<std::uint32_t>(void*, std::size_t&,                         \
                                                     element_arrays<Key, Value>&,                 \
                                                     element_arrays<Key, Value>&, std::uint32_t); \
  template cudaError_t cub_radix_sort<std::uint64_t>(void*, std::size_t&,                         \
                                                     element_arrays<Key, Value>&,                 \
                                                     element_arrays<Key, Value>&, std::uint32_t);

INSTANTIATE_SORTS(std::uint32_t, no_value)
INSTANTIATE_SORTS(std::uint64_t, no_value)
INSTANTIATE_SORTS(float, no_value)
INSTANTIATE_SORTS(double, no_value)
INSTANTIATE_SORTS(std::uint32_t, std::uint32_t)
INSTANTIATE_SORTS(double, std::uint32_t)
INSTANTIATE_MERGE_SORT(record16, no_value, by_key)
INSTANTIATE_MERGE_SORT(std::uint32_t, no_value, even_first_falling)

}  // namespace benchmark
