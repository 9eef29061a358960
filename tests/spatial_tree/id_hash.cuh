// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A hash that depends on the order of ids: a polynomial in the ids, and its factor, of 32 bits
/// each. Combining is associative, so the hash of a node does not depend on its subtree's shape.

#include <cstdint>
#include <ramify/runtime/cuda.hpp>

namespace tests {

__host__ __device__ inline std::uint64_t hash_of(std::uint32_t id) {
  return std::uint64_t{0x9e3779b9u} << 32 | (id + 1u);
}

/// Returns the hash of the ids of `a` followed by those of `b`.
__host__ __device__ inline std::uint64_t combined_hash(std::uint64_t a, std::uint64_t b) {
  const auto factor_a = static_cast<std::uint32_t>(a >> 32);
  const auto factor_b = static_cast<std::uint32_t>(b >> 32);
  const std::uint32_t value =
      static_cast<std::uint32_t>(a) * factor_b + static_cast<std::uint32_t>(b);
  return std::uint64_t{factor_a * factor_b} << 32 | value;
}

}  // namespace tests
