// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUB's device-wide sorts, compiled in a file without -rdc=true: with it they are slower.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace benchmark {

/// Device memory that either peer needs to sort n keys.
[[nodiscard]] std::size_t peer_scratch_bytes(std::size_t n);
cudaError_t cub_radix_sort(void* scratch, std::size_t bytes, std::uint32_t* keys,
                           std::uint32_t* alternate, std::size_t n);
cudaError_t cub_merge_sort(void* scratch, std::size_t bytes, std::uint32_t* keys, std::size_t n);

}  // namespace benchmark
