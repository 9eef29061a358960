// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUB's device-wide sorts. They are compiled without -rdc=true, because they are slower with it.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "quicksort_keys.hpp"

namespace benchmark {

/// Sorts in place. If `scratch` is null, only stores the required size in `bytes`, as CUB does.
template <class Key, class Order>
cudaError_t cub_merge_sort(void* scratch, std::size_t& bytes, Key* keys, std::uint32_t n,
                           Order order);

/// Sorts with a second array of n keys, `alternate`, and swaps the two pointers if the result is in
/// the second array. If `scratch` is null, it only stores the required size in `bytes`.
template <class Key>
cudaError_t cub_radix_sort(void* scratch, std::size_t& bytes, Key*& keys, Key*& alternate,
                           std::uint32_t n);

}  // namespace benchmark
