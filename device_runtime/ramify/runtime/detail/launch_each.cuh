// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_each(): a launch by the host with one thread for each of many items.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Launches `kernel` with one thread for each of n > 0 items, in blocks of `max_threads` threads or
/// of one smaller block. `doing` begins the message of an error. Asynchronous. \throws cuda_error
template <unsigned max_threads = 256, class... Parameters, class... Arguments>
void launch_each(void (*kernel)(Parameters...), std::size_t n, cudaStream_t stream,
                 const char* doing, const Arguments&... arguments) {
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(n, max_threads));
  const auto blocks = static_cast<unsigned>((n - 1) / threads + 1);
  check(launch(kernel, {blocks, threads}, stream, arguments...).code(), doing);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
