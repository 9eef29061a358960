// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_each(): a launch by the host with one thread for each of many items, or, if only the
/// device has their number, with threads that loop over them.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns the shape of a grid with one thread for each of n > 0 items, in blocks of `max_threads`
/// threads or of one smaller block.
[[nodiscard]] __host__ __device__ inline launch_shape one_thread_each(std::size_t n,
                                                                      unsigned max_threads = 256) {
  const auto threads = n < max_threads ? static_cast<unsigned>(n) : max_threads;
  return {static_cast<unsigned>((n - 1) / threads + 1), threads};
}

/// Blocks of a multiprocessor in a grid whose threads loop over items: enough to fill it.
inline constexpr std::size_t blocks_that_loop = RAMIFY_ON_CUDA ? 16 : 1;

/// Returns the shape of a grid over n > 0 items with one thread each, in blocks of `threads`
/// threads. If only the device has n, the grid has at most `most` blocks for each multiprocessor,
/// because each block without items takes time, too. Its threads must loop: for_each_item() or
/// for_each_block_of_items(). \throws cuda_error
[[nodiscard]] inline launch_shape shape_over(const element_count& n, unsigned threads,
                                             std::size_t most = blocks_that_loop) {
  std::size_t blocks = (n.upper_bound - 1) / threads + 1;
  if (n.on_device()) blocks = std::min(blocks, most * multiprocessor_count());
  return {static_cast<unsigned>(blocks), threads};
}

/// Launches `kernel` over n > 0 items, in blocks of `max_threads` threads or of one smaller block:
/// see shape_over(). `doing` begins the message of an error. Asynchronous. \throws cuda_error
template <unsigned max_threads = 256, class... Parameters, class... Arguments>
void launch_each(void (*kernel)(Parameters...), const element_count& n, cudaStream_t stream,
                 const char* doing, const Arguments&... arguments) {
  const std::size_t threads = std::min<std::size_t>(n.upper_bound, max_threads);
  const launch_shape shape = shape_over(n, static_cast<unsigned>(threads));
  check(launch(kernel, shape, stream, arguments...).code(), doing);
}

/// Calls use(i) for each item of this thread, of n items of the grid.
template <class Use>
__device__ __forceinline__ void for_each_item(unsigned long long n, const Use& use) {
  const unsigned long long all = 1ull * gridDim.x * blockDim.x;
  for (auto i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) use(i);
}

/// Calls use(i) for each item of this thread, in all threads of the block together: in the last
/// block of items i may be n or more.
template <class Use>
__device__ __forceinline__ void for_each_block_of_items(unsigned long long n, const Use& use) {
  const unsigned long long all = 1ull * gridDim.x * blockDim.x;
  for (auto first = 1ull * blockIdx.x * blockDim.x; first < n; first += all) {
    use(first + threadIdx.x);
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
