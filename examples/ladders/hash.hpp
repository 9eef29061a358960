// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ramify/runtime/cuda.hpp>

namespace ladder {

/// A number that looks like chance, and is the same for all that ask: every bit of it depends on every bit of
/// x. (Wellons, "Prospecting for hash functions", 2018.)
__host__ __device__ inline std::uint32_t hash(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

}  // namespace ladder
