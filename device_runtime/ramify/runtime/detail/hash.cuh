// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A hash of 64-bit numbers.

#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns a 64-bit hash: the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
__host__ __device__ inline unsigned long long splitmix64_finalize(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
