// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A choice without a branch.

#include <concepts>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns condition ? a : b. A compiler for a CPU may turn the conditional expression into a
/// branch, which costs some ten cycles whenever the processor mispredicts it.
template <std::unsigned_integral Integer>
[[nodiscard]] __device__ Integer select(bool condition, Integer a, Integer b) {
  if constexpr (RAMIFY_ON_CUDA) {
    return condition ? a : b;
  } else {
    return b + (a - b) * Integer{condition};
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
