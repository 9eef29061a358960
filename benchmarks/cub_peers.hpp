// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUB's device-wide sorts, compiled in a file without -rdc=true: with it they are slower.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "sort_keys.hpp"

namespace benchmark {

/// As CUB has it: with null `scratch` only tells in `bytes` how much it needs. Sorts in place.
template <class Key, class Order>
cudaError_t cub_merge_sort(void* scratch, std::size_t& bytes, Key* keys, std::uint32_t n,
                           Order order);

/// The same; swaps `keys` with `alternate`, n keys of room, if the result is there.
template <class Key>
cudaError_t cub_radix_sort(void* scratch, std::size_t& bytes, Key*& keys, Key*& alternate,
                           std::uint32_t n);

}  // namespace benchmark
