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
/// Without a profiler a range costs a test of a pointer. On the CPU executor it does nothing.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA && !defined(RAMIFY_NO_NVTX) && __has_include(<nvtx3/nvToolsExt.h>)
#define RAMIFY_HAS_NVTX 1
#include <nvtx3/nvToolsExt.h>
#else
#define RAMIFY_HAS_NVTX 0
#endif

namespace ramify::inline RAMIFY_BUILD {

/// A range from its construction to the end of its scope. `name` must be a string literal.
class [[nodiscard]] phase_range {
 public:
#if RAMIFY_HAS_NVTX
  explicit phase_range(const char* name) {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &event);
  }
  ~phase_range() { nvtxDomainRangePop(domain()); }

 private:
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t ramify = nvtxDomainCreateA("ramify");
    return ramify;
  }

 public:
#else
  explicit phase_range(const char*) {}
  ~phase_range() {}
#endif
  phase_range(const phase_range&) = delete;
  phase_range& operator=(const phase_range&) = delete;
};

}  // namespace ramify::inline RAMIFY_BUILD
