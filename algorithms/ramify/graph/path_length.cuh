// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Lengths of paths, of each type of edge lengths, and ends of paths as kernels store them.
///
///     float      the distance and the parent of a vertex share one 64-bit integer
///     double     the integer holds the distance only. Parents are found when all distances are
///     uint64_t   final, see sssp.cuh

#include <bit>
#include <cstdint>
#include <limits>
#include <ramify/graph/config.hpp>
#include <ramify/runtime/lanes.cuh>
#include <ramify/runtime/residency.cuh>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The bits of a length, as an unsigned integer. Lengths are not negative, so they are ordered as
/// their bits are.
template <edge_length T>
struct length_bits {
  using type = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;

  /// Bits of an infinite length, which is the largest value of an integer.
  static constexpr type infinity =
      std::is_integral_v<T> ? ~type{0} : std::bit_cast<type>(std::numeric_limits<T>::infinity());

  [[nodiscard]] static __device__ type of(T length) {
    if constexpr (std::is_integral_v<T>) {
      return length;
    } else if constexpr (sizeof(T) == sizeof(float)) {
      return __float_as_uint(length);
    } else {
      return static_cast<type>(__double_as_longlong(length));
    }
  }
  [[nodiscard]] static __device__ T length(type bits) {
    if constexpr (std::is_integral_v<T>) {
      return bits;
    } else if constexpr (sizeof(T) == sizeof(float)) {
      return __uint_as_float(bits);
    } else {
      return __longlong_as_double(static_cast<long long>(bits));
    }
  }
};

/// Returns the infinite length, which no path has.
template <edge_length T>
[[nodiscard]] __device__ T infinite_length() {
  return length_bits<T>::length(length_bits<T>::infinity);
}

/// Returns the sum of two lengths. A sum of integers that is too large is max_path_length + 1,
/// unless `b` is infinite: then the sum is infinite.
template <edge_length T>
[[nodiscard]] __device__ T sum_of_lengths(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == length_bits<T>::infinity) return b;
    const T sum = a + b;
    return sum < a || sum > max_path_length ? max_path_length + 1 : sum;
  } else {
    return a + b;
  }
}

/// Returns the width of a bucket that is nearest to `width`. It is at least 1 for integers.
template <edge_length T>
[[nodiscard]] __host__ __device__ T delta_of(double width) {
  double smallest = 1;
  double largest = 0x1p63;
  if constexpr (!std::is_integral_v<T>) {
    largest = sizeof(T) == sizeof(float) ? 1e37 : 1e307;
    smallest = 1 / largest;
  }
  return static_cast<T>(width < smallest ? smallest : width < largest ? width : largest);
}

/// The end of a path: its length and, if `has_parent`, the previous vertex in the lower half.
template <edge_length T>
struct path_end {
  unsigned long long bits;

  static constexpr bool has_parent = sizeof(T) == 4;
  static constexpr unsigned none = 0xffffffffu;

  [[nodiscard]] static __device__ path_end of(T distance, unsigned parent) {
    const unsigned long long upper = length_bits<T>::of(distance);
    if constexpr (has_parent) {
      return {upper << 32 | parent};
    } else {
      return {upper};
    }
  }
  [[nodiscard]] __device__ T distance() const {
    using type = typename length_bits<T>::type;
    return length_bits<T>::length(static_cast<type>(has_parent ? bits >> 32 : bits));
  }
  [[nodiscard]] __device__ unsigned parent() const { return static_cast<unsigned>(bits); }

  /// Returns the value of a path end that other threads replace: a relaxed atomic load.
  [[nodiscard]] static __device__ path_end load(path_end& from) {
    return {load_relaxed(from.bits)};
  }

  /// Stores `path` if it is shorter than the stored one. Returns whether it was stored.
  [[nodiscard]] static __device__ bool shorten(path_end& stored, path_end path) {
    path_end old = load(stored);
    if constexpr (has_parent) {
      while (path.distance() < old.distance()) {
        const path_end seen = {atomicCAS(&stored.bits, old.bits, path.bits)};
        if (seen.bits == old.bits) return true;
        old = seen;
      }
      return false;
    } else {
      return path.bits < old.bits && path.bits < atomicMin(&stored.bits, path.bits);
    }
  }
};

/// Returns the minimum of the bits of lengths over the lanes of a full warp.
[[nodiscard]] __device__ inline unsigned min_of_warp(unsigned value, unsigned /*infinity*/) {
  return min_of_lanes(value);
}
/// Returns the same for 64 bits. Most warps have infinite lengths only.
[[nodiscard]] __device__ inline unsigned long long min_of_warp(unsigned long long value,
                                                               unsigned long long infinity) {
  if (__any_sync(full_warp_mask, value != infinity) == 0) return infinity;
  const auto upper = static_cast<unsigned>(value >> 32);
  const unsigned least = min_of_lanes(upper);
  const unsigned lower = upper == least ? static_cast<unsigned>(value) : ~0u;
  return static_cast<unsigned long long>(least) << 32 | min_of_lanes(lower);
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
