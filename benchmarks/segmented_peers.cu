// SPDX-License-Identifier: BSD-3-Clause
#include "segmented_peers.hpp"

#include <cub/device/device_segmented_sort.cuh>

namespace benchmark {

template <class Key, class Value>
cudaError_t cub_segmented_sort(void* scratch, std::size_t& bytes, Key*& keys, Key*& other_keys,
                               Value*& values, Value*& other_values, std::uint32_t n,
                               std::uint32_t segments, const std::uint32_t* offsets) {
  cub::DoubleBuffer<Key> both_keys(keys, other_keys);
  cub::DoubleBuffer<Value> both_values(values, other_values);
  const bool has_values = values != nullptr;
  const cudaError_t error =
      has_values ? cub::DeviceSegmentedSort::SortPairs(scratch, bytes, both_keys, both_values, n,
                                                       segments, offsets, offsets + 1)
                 : cub::DeviceSegmentedSort::SortKeys(scratch, bytes, both_keys, n, segments,
                                                      offsets, offsets + 1);
  keys = both_keys.Current();
  other_keys = both_keys.Alternate();
  values = has_values ? both_values.Current() : nullptr;
  other_values = both_values.Alternate();
  return error;
}

#define INSTANTIATE(Key, Value)                                                                \
  template cudaError_t cub_segmented_sort(void*, std::size_t&, Key*&, Key*&, Value*&, Value*&, \
                                          std::uint32_t, std::uint32_t, const std::uint32_t*);
INSTANTIATE(std::uint32_t, std::uint32_t)
INSTANTIATE(std::uint64_t, std::uint64_t)
INSTANTIATE(float, std::uint32_t)
INSTANTIATE(double, std::uint32_t)

}  // namespace benchmark
