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
/// A program has the ranges if at least one of its sources is compiled with -DRAMIFY_NVTX=1; those
/// of the compiled interface are. (The headers of NVTX would take a tenth of the time that nvcc
/// takes for a sort.) Without a profiler a range costs the test of two pointers. On the CPU
/// executor it does nothing.

#include <ramify/runtime/build.hpp>
#include <ramify/version.hpp>

#if RAMIFY_ON_CUDA
extern "C" {
// Null pointers, unless a source of the program defines them.
[[gnu::weak]] void ramify_begin_range(const char* name);  ///< begins a range of NVTX
[[gnu::weak]] void ramify_end_range();                    ///< ends the range
}
#endif

namespace ramify::inline RAMIFY_BUILD {

/// A range from its construction to the end of its scope. The name must be a string literal.
class [[nodiscard]] phase_range {
 public:
#if RAMIFY_ON_CUDA
  /// Begins the range. The text must exist until the range ends.
  explicit phase_range(const char* name) {
    if (ramify_begin_range != nullptr) ramify_begin_range(name);
  }
  ~phase_range() {
    if (ramify_end_range != nullptr) ramify_end_range();
  }
#else
  explicit phase_range(const char*) {}
  ~phase_range() {}
#endif
  phase_range(const phase_range&) = delete;
  phase_range& operator=(const phase_range&) = delete;
};

}  // namespace ramify::inline RAMIFY_BUILD

#if RAMIFY_ON_CUDA && defined(RAMIFY_NVTX) && RAMIFY_NVTX && __has_include(<nvtx3/nvtx3.hpp>)

#include <nvtx3/nvtx3.hpp>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// The domain of Ramify's ranges.
struct nvtx_domain {
  static constexpr const char* name = "ramify";
};

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

extern "C" {
void ramify_begin_range(const char* name) {
  const nvtx3::event_attributes attributes(name);
  nvtxDomainRangePushEx(nvtx3::domain::get<ramify::detail::runtime::nvtx_domain>(),
                        attributes.get());
}
void ramify_end_range() {
  nvtxDomainRangePop(nvtx3::domain::get<ramify::detail::runtime::nvtx_domain>());
}
}

#endif
