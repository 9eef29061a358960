// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_each(): a launch by the host with one thread for each of many items.

#include <cstddef>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns the shape of a grid with one thread for each of n > 0 items, in blocks of `max_threads`
/// threads or of one smaller block.
[[nodiscard]] __host__ __device__ inline launch_shape one_thread_each(std::size_t n,
                                                                      unsigned max_threads = 256) {
  const auto threads = n < max_threads ? static_cast<unsigned>(n) : max_threads;
  return {static_cast<unsigned>((n - 1) / threads + 1), threads};
}

/// Launches `kernel` with one thread for each of n > 0 items. `doing` begins the message of an
/// error. Asynchronous. \throws cuda_error
template <unsigned max_threads = 256, class... Parameters, class... Arguments>
void launch_each(void (*kernel)(Parameters...), std::size_t n, cudaStream_t stream,
                 const char* doing, const Arguments&... arguments) {
  check(launch(kernel, one_thread_each(n, max_threads), stream, arguments...).code(), doing);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
