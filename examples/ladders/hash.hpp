// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ramify/runtime/cuda.hpp>

namespace ladder {

/// Returns a pseudo-random number that depends only on x. Each of its bits depends on all bits of
/// x. (Wellons, "Prospecting for hash functions", 2018.)
__host__ __device__ inline std::uint32_t hash(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

}  // namespace ladder
