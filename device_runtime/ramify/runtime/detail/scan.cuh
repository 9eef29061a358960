// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exclusive prefix sum of list lengths, which gives the offset of each list.
///
///     counts   <-- [3, 0, 2, any]      offsets  --> [0, 3, 3, 5]

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>

#if RAMIFY_ON_CUDA
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#else
#include <numeric>
#endif

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Writes offsets[i] = counts[0] + ... + counts[i - 1] for i in [0, n). Asynchronous.
/// \throws cuda_error
template <class = void>
void scan_counts(const std::uint32_t* counts, std::size_t n, std::uint64_t* offsets,
                 [[maybe_unused]] cudaStream_t stream) {
#if RAMIFY_ON_CUDA
  const auto scan = [&](void* scratch, std::size_t& bytes) {
    check(cub::DeviceScan::ExclusiveScan(scratch, bytes, counts, offsets, cuda::std::plus<>(),
                                         std::uint64_t{0}, n, stream),
          "scanning the counts");
  };
  std::size_t bytes = 0;
  scan(nullptr, bytes);
  const device_buffer<std::byte> scratch(bytes, stream);
  scan(scratch.data(), bytes);
#else
  // A grid that the host launched is complete on the CPU executor.
  std::exclusive_scan(counts, counts + n, offsets, std::uint64_t{0});
#endif
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
