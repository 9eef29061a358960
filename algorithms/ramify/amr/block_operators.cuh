// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The operators of reductions over a block of threads.

#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

struct maximum {
  template <class Real>
  __host__ __device__ Real operator()(Real a, Real b) const {
    return a > b ? a : b;
  }
};

struct plus {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
