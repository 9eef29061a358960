// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUB's device-wide sorts. They are compiled without -rdc=true, because they are slower with it.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/collectives.cuh>

#include "quicksort_keys.hpp"

namespace benchmark {

/// Sorts in place, in the order of `stream`. If `scratch` is null, only stores the required size in
/// `bytes`, as CUB does.
template <class Key, class Value, class Order>
cudaError_t cub_merge_sort(void* scratch, std::size_t& bytes, element_arrays<Key, Value> data,
                           std::uint32_t n, Order order, cudaStream_t stream = nullptr);

/// Sorts with second arrays of n elements, `alternate`, and swaps the pointers if the result is in
/// these. If `scratch` is null, it only stores the required size in `bytes`. `Count` is the type of
/// the number of elements that CUB gets: depending on n, either one of 32 bits or one of 64 bits
/// takes less time.
template <class Count, class Key, class Value>
cudaError_t cub_radix_sort(void* scratch, std::size_t& bytes, element_arrays<Key, Value>& data,
                           element_arrays<Key, Value>& alternate, std::uint32_t n);

}  // namespace benchmark
