// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The segments that the caller gives, and what the first two grids find out about them.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/segment.cuh>
#include <ramify/runtime/detail/element_count.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

using quicksort::position;

/// The range of a segment as the caller gives it. Negative offsets become large ones.
struct given_range {
  position begin = 0;
  position end = 0;

  [[nodiscard]] __device__ bool is_empty() const { return begin == end; }
  [[nodiscard]] __device__ bool is_within(position n) const { return begin <= end && end <= n; }
  [[nodiscard]] __device__ bool overlaps(const given_range& other) const {
    return begin < other.end && other.begin < end && !is_empty() && !other.is_empty();
  }
};

template <class Offset>
concept offset_type = std::integral<Offset> &&(sizeof(Offset) == 4 || sizeof(Offset) == 8);

/// Segments in arrays of begins and ends. All types of offsets share the kernels.
struct offset_arrays {
  const void* begins;
  const void* ends;
  unsigned bytes;  ///< of an offset: 4 or 8
  bool is_signed;
  element_count count;

  template <class Offset>
  __host__ __device__ offset_arrays(const Offset* begin, const Offset* end,
                                    const element_count& segments)
      : begins(begin),
        ends(end),
        bytes(sizeof(Offset)),
        is_signed(std::is_signed_v<Offset>),
        count(segments) {}

  [[nodiscard]] __device__ position size() const { return count.get(); }
  [[nodiscard]] __device__ position counted() const { return count.raw(); }
  [[nodiscard]] __device__ given_range operator[](position i) const {
    return {read(begins, i), read(ends, i)};
  }

 private:
  [[nodiscard]] __device__ position read(const void* offsets, position i) const {
    if (bytes == 8) return static_cast<const std::uint64_t*>(offsets)[i];
    const std::uint32_t offset = static_cast<const std::uint32_t*>(offsets)[i];
    return is_signed ? static_cast<position>(static_cast<std::int32_t>(offset)) : offset;
  }
};

/// A few segments that the host gives: ranges of the array that do not overlap.
struct few_segments {
  static constexpr unsigned max = 64;
  unsigned count = 0;
  /// Whether the state is that of a sort before this one. Then its segments that were merge-sorted
  /// count on.
  bool follows = false;
  given_range ranges[max];

  [[nodiscard]] __device__ position size() const { return count; }
  [[nodiscard]] __device__ position counted() const { return count; }
  [[nodiscard]] __device__ given_range operator[](position i) const { return ranges[i]; }
};

/// What the first two grids find out about the segments. If they refuse any, no grid sorts.
struct segment_findings {
  static constexpr unsigned long long none = ~0ull;

  unsigned long long refused;   ///< the smallest 2 * index + reason of a refused segment, or none
  unsigned long long elements;  ///< the sum of the lengths
  unsigned long long counted;   ///< the number of segments as it is in memory
  unsigned tiles;               ///< of middle-sized segments
  unsigned tiles_taken;         ///< tiles that teams have fetched dynamically
  unsigned chunks_taken;        ///< chunks of segments that warps have fetched dynamically

  /// Why a segment is refused.
  enum reason : unsigned { is_no_range = 0, overlaps_next = 1 };

  __device__ void refuse(position index, reason why) {
    atomicMin(&refused, 2 * index + static_cast<unsigned>(why));
  }
  /// Returns whether no grid sorts. Segments that are together longer than the array overlap.
  [[nodiscard]] __device__ bool refuses(position n) const {
    return refused != none || elements > n;
  }
};

/// Checks what the first two grids have found. `call` begins the messages. \throws
/// std::length_error, std::invalid_argument
inline void check(const segment_findings& found, const char* call, std::size_t n,
                  const offset_arrays& segments) {
  segments.count.check(call, found.counted);
  const std::string name(call);
  const std::string array = "an array of " + std::to_string(n) + " elements";
  if (found.refused != segment_findings::none) {
    const std::string segment = "segment " + std::to_string(found.refused / 2);
    throw std::invalid_argument(found.refused % 2 == segment_findings::overlaps_next
                                    ? name + ": " + segment + " overlaps segment " +
                                          std::to_string(found.refused / 2 + 1)
                                    : name + ": " + segment + " is no range of " + array);
  }
  if (found.elements > n) {
    throw std::invalid_argument(name + ": segments overlap, because they have " +
                                std::to_string(found.elements) + " elements of " + array);
  }
}

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
