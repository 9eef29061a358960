// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What all rungs calculate with.

#include <cstddef>
#include <cstdint>

#include "../hash.hpp"
#include "sort_run.cuh"

namespace ladder {

/// Keys that belong between their neighbours already, and wait to be sorted among themselves.
struct segment {
  unsigned begin;
  unsigned end;
  unsigned buffer;  ///< where they are: 0 the caller's array, 1 the other one (rungs 4 to 7)

  [[nodiscard]] __host__ __device__ unsigned size() const { return end - begin; }
};

/// The caller's array, and a second one of the same size (rungs 4 to 7).
struct two_arrays {
  std::uint32_t* home;
  std::uint32_t* other;

  __device__ std::uint32_t* operator[](unsigned buffer) const { return buffer == 0 ? home : other; }
};

/// A place in the segment, but not the last one. So no input makes all pivots bad.
__device__ inline unsigned random_place(const segment& s) {
  return s.begin + hash(s.begin ^ hash(s.end)) % (s.size() - 1);
}

/// Segments that found no place for a grid, and stay with who has them: last in, first out. Of two halves the
/// larger one is pushed first, so the smaller one, at most half as large as their segment, is taken next: no more
/// than 33 wait.
struct kept_segments {
  segment list[34];
  unsigned count;

  __device__ void begin_with(const segment& s) {
    list[0] = s;
    count = 1;
  }
  /// Nothing is kept of a segment without keys.
  __device__ void push(const segment& s) {
    if (s.size() > 0) list[count++] = s;
  }
  __device__ segment pop() { return list[--count]; }
};

/// The larger half first.
struct two_halves {
  segment larger;
  segment smaller;

  __device__ two_halves(const segment& a, const segment& b)
      : larger(a.size() < b.size() ? b : a), smaller(a.size() < b.size() ? a : b) {}
};

}  // namespace ladder
