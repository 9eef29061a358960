// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// node_split: the partition of a node's points among its children, found by searches in the sorted
/// codes, by one thread or by a group of lanes.

#include <cstdint>
#include <ramify/spatial_tree/morton.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The partition of a node's points among its children.
template <int dim, class Codes>
struct node_split {
  static constexpr unsigned arity = spatial_shape<dim>::arity;
  Codes codes;
  std::uint32_t begin;
  std::uint32_t end;
  unsigned shift = 0;  ///< of the digit that selects the child
  unsigned parts = 0;  ///< number of equal parts if all codes are equal, else 0

  __device__ node_split(const Codes& all_codes, std::uint32_t first, std::uint32_t last,
                        unsigned leaf_size)
      : codes(all_codes), begin(first), end(last) {
    const std::uint64_t differ = codes.code(begin) ^ codes.code(end - 1);
    if (differ != 0) {
      shift = static_cast<unsigned>(63 - __clzll(static_cast<long long>(differ))) / dim * dim;
    } else {
      const std::uint32_t leaves = (end - begin - 1) / leaf_size + 1;
      parts = leaves < arity ? leaves : arity;
    }
  }

  /// Returns the first point of child `digit`; an empty child begins where the next one begins.
  [[nodiscard]] __device__ std::uint32_t begin_of(unsigned digit) const {
    if (parts != 0) {
      if (digit >= parts) return end;
      return begin + static_cast<std::uint32_t>(std::uint64_t{end - begin} * digit / parts);
    }
    std::uint32_t low = begin;
    for (std::uint32_t high = end; digit != 0 && low < high;) {
      const std::uint32_t middle = low + (high - low) / 2;
      if ((codes.code(middle) >> shift & (arity - 1)) < digit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// Returns begin_of(digit). The `threads` lanes of a group pass the same digit and search
  /// together: in each step they read codes at equal distances. All threads of a warp must call it.
  template <unsigned threads>
  [[nodiscard]] __device__ std::uint32_t search(unsigned digit) const {
    if (parts != 0) return begin_of(digit);
    const unsigned group = threadIdx.x % 32 / threads * threads;  // its first lane
    std::uint32_t low = begin;
    std::uint32_t high = digit == 0 ? begin : end;
    while (__any_sync(full_warp_mask, low < high)) {
      const auto probe = [&](unsigned i) {
        return low +
               static_cast<std::uint32_t>(std::uint64_t{high - low} * (i + 1) / (threads + 1));
      };
      const bool is_before =
          low < high && (codes.code(probe(threadIdx.x % threads)) >> shift & (arity - 1)) < digit;
      const unsigned votes = __ballot_sync(full_warp_mask, is_before) >> group;
      const auto count =
          static_cast<unsigned>(__popc(threads < 32 ? votes & ((1u << threads % 32) - 1) : votes));
      const std::uint32_t upper = count < threads ? probe(count) : high;
      if (count > 0) low = probe(count - 1) + 1;
      high = upper;
    }
    return low;
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
