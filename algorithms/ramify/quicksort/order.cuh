// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The two usual orders, total for floating-point keys too.

#include <ramify/runtime/cuda.hpp>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// a < b. A NaN counts as greater than every number and equal to every NaN; -0.0 equals +0.0.
///
///     [2, NaN, -inf, inf, -1]  -->  [-inf, -1, 2, inf, NaN]
struct ascending {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return !(a >= b) && a == a;  // a < b, or only b is a NaN
    } else {
      return a < b;
    }
  }
};

/// The mirror of ascending: NaNs come first.
struct descending {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return ascending{}(b, a);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
