// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The data types that all rungs share.

#include <cstddef>
#include <cstdint>

#include "../hash.hpp"
#include "sort_run.cuh"

namespace ladder {

/// A range of keys that is in its final range of the output, and is not sorted yet.
struct segment {
  unsigned begin;
  unsigned end;
  unsigned buffer;  ///< where the keys are: 0 the caller's array, 1 the other array (rungs 4 to 7)

  [[nodiscard]] __host__ __device__ unsigned size() const { return end - begin; }
};

/// The caller's array, and a second array of the same size (rungs 4 to 7).
struct double_buffer {
  std::uint32_t* output;
  std::uint32_t* other;

  __device__ std::uint32_t* operator[](unsigned buffer) const {
    return buffer == 0 ? output : other;
  }
};

/// Returns a pseudo-random position in the segment, except the last one. So no input makes all
/// pivots bad.
__device__ inline unsigned random_position(const segment& s) {
  return s.begin + hash(s.begin ^ hash(s.end)) % (s.size() - 1);
}

/// A stack of the segments for which no grid was launched. The larger of two halves is pushed
/// first, so the smaller one, which has at most half of the keys, is popped next. So the stack
/// holds at most 33 segments.
struct segment_stack {
  segment list[34];
  unsigned count;

  __device__ void reset(const segment& s) {
    list[0] = s;
    count = 1;
  }
  /// Pushes a segment unless it is empty.
  __device__ void push(const segment& s) {
    if (s.size() > 0) list[count++] = s;
  }
  __device__ segment pop() { return list[--count]; }
};

/// Two halves of a segment, ordered by size.
struct two_halves {
  segment larger;
  segment smaller;

  __device__ two_halves(const segment& a, const segment& b)
      : larger(a.size() < b.size() ? b : a), smaller(a.size() < b.size() ? a : b) {}
};

}  // namespace ladder
