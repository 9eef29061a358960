// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// phase_range: names a phase of the host's code for profilers, as an NVTX range of the domain
/// "ramify".
///
///     {
///       const phase_range range("quicksort: launch");
///       ...                            // Nsight Systems shows the range and the launches in it
///     }
///
/// The compiled interface has the ranges. Code that nvcc compiles has them with -DRAMIFY_NVTX=1:
/// the headers of NVTX would take a tenth of the time that nvcc takes for a sort. Without a
/// profiler a range costs a test of a pointer. On the CPU executor it does nothing.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA && defined(RAMIFY_NVTX) && __has_include(<nvtx3/nvtx3.hpp>)
#include <nvtx3/nvtx3.hpp>
#define RAMIFY_HAS_NVTX 1
#else
#define RAMIFY_HAS_NVTX 0
#endif

namespace ramify::inline RAMIFY_BUILD {

#if RAMIFY_HAS_NVTX

/// The domain of Ramify's ranges.
struct nvtx_domain {
  static constexpr const char* name = "ramify";
};

/// A range from its construction to the end of its scope. The name must be a string literal.
using phase_range = nvtx3::scoped_range_in<nvtx_domain>;

#else

class [[nodiscard]] phase_range {
 public:
  explicit phase_range(const char*) {}
  ~phase_range() {}
};

#endif

}  // namespace ramify::inline RAMIFY_BUILD
