// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUB's segmented sort. It is compiled without -rdc=true, because CUB is slower with it.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace benchmark {

/// Sorts segments, segment i from offsets[i] to offsets[i + 1], with second arrays of n elements.
/// Swaps the pointers if the result is in the second arrays. `values` is null for keys alone. If
/// `scratch` is null, only stores the required size in `bytes`, as CUB does.
template <class Key, class Value>
cudaError_t cub_segmented_sort(void* scratch, std::size_t& bytes, Key*& keys, Key*& other_keys,
                               Value*& values, Value*& other_values, std::uint32_t n,
                               std::uint32_t segments, const std::uint32_t* offsets);

}  // namespace benchmark
