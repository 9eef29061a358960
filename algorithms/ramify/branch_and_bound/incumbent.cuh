// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The incumbent: the best solution that any grid has found so far, in one 64-bit number.
///
///     value - lower (as many bits as the range needs) | the first bits of the path
///
/// A smaller number is a smaller value or, among equal values, an earlier path. So one atomicMin
/// updates both, and one load reads both.

#include <cstdint>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/next_index.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

using bits64 = unsigned long long;

/// An interval of path numbers, which belongs to a node. That of the root has all numbers. The
/// children of a node divide its interval, in their order. So a depth-first search reaches the
/// leaves in the order of their path numbers, and no two leaves have the same number.
struct path_range {
  bits64 first;
  bits64 size;

  /// Returns the range of the root.
  [[nodiscard]] __host__ __device__ static path_range all() { return {0, ~bits64{0}}; }

  /// Returns the range of child number `i` of `degree`. Its size is 0 if the path is too long.
  [[nodiscard]] __host__ __device__ path_range child(unsigned i, unsigned degree) const {
    const bits64 step = degree == 1 ? size : size / degree;
    return {first + i * step, step};
  }
  /// Returns the number of the child, of `degree`, whose range contains `path`.
  [[nodiscard]] __host__ __device__ unsigned child_with(bits64 path, unsigned degree) const {
    return degree == 1 ? 0 : static_cast<unsigned>((path - first) / (size / degree));
  }
};

/// The incumbent of a run in device memory, which all its grids share.
struct shared_incumbent {
  bits64 code;      ///< initially all ones: no solution
  bits64 open;      ///< smallest code of an unexplored node, initially all ones
  bits64 updates;   ///< number of times that a leaf has replaced the code
  bits64 too_deep;  ///< number of nodes whose path_range is too small for their children
  // Members of searches with limits.
  bits64 expanded;    ///< number of nodes that were to be expanded
  bits64 unexplored;  ///< number of nodes that a limit left without children
  bits64 begin;       ///< device_time() of the first visit
  bits64 stopped;     ///< not 0: a limit is reached
  bits64 path;        ///< of a batch: the path of the first best leaf
};

/// The limits of a search on the device; 0: none.
struct device_limits {
  bits64 nodes;
  bits64 nanoseconds;

  explicit device_limits(const search_limits& limits)
      : nodes(limits.max_nodes),
        nanoseconds(limits.max_seconds == 0 ? 0
                                            : static_cast<bits64>(limits.max_seconds * 1e9) + 1) {}

  [[nodiscard]] __device__ bool any() const { return (nodes | nanoseconds) != 0; }

  /// Counts a node that is to be expanded. Returns whether a limit forbids it.
  [[nodiscard]] __device__ bool forbid(shared_incumbent& shared) const {
    if (load_relaxed(shared.stopped) != 0) return true;
    bool ends = nodes != 0 && next_index(&shared.expanded) >= nodes;
    if (nanoseconds != 0) {
      const bits64 now = runtime::device_time();
      bits64 begin = load_relaxed(shared.begin);
      if (begin == 0) begin = atomicCAS(&shared.begin, bits64{0}, now);
      ends = ends || (begin != 0 && now > begin + nanoseconds);
    }
    if (ends) atomicExch(&shared.stopped, bits64{1});
    return ends;
  }
};

/// How a value and a path are packed into a code.
struct incumbent_packing {
  std::int64_t lower;
  std::int64_t upper;
  unsigned path_bits;

  explicit incumbent_packing(const value_range& range)
      : lower(range.lower), upper(range.upper), path_bits(63) {
    const auto values = static_cast<bits64>(upper) - static_cast<bits64>(lower);
    while (path_bits > 1 && values >> (64 - path_bits) != 0) --path_bits;
  }

  /// Returns the code of a value that is at most `upper`. A bound may be less than `lower`.
  [[nodiscard]] __host__ __device__ bits64 code(std::int64_t value, bits64 path) const {
    const bits64 offset =
        value < lower ? 0 : static_cast<bits64>(value) - static_cast<bits64>(lower);
    return offset << path_bits | path >> (64 - path_bits);
  }
  /// Returns the value of a code; at least `lower`.
  [[nodiscard]] __host__ __device__ std::int64_t value(bits64 code) const {
    return lower + static_cast<std::int64_t>(code >> path_bits);
  }
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
