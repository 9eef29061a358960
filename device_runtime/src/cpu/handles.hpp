// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The streams and events that a block may use.

#include <ramify/version.hpp>
#include <string>

#include "block.hpp"
#include "device.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

[[nodiscard]] inline bool reserved(builtins::cudaStream_t stream) {
  return stream == builtins::cudaStreamTailLaunch || stream == builtins::cudaStreamFireAndForget;
}

/// Returns the state of `handle` for block `here`. Throws if another grid created the handle.
template <class Handle>
auto& resolve(block& here, Handle handle, const char* kind) {
  const auto [state, fault] = device::instance().find(handle, here.owner()->id);
  if (state == nullptr)
    here.violate(rule::foreign_stream, std::string("uses ") + kind + ' ' + fault);
  return *state;
}

inline stream_state& resolve(block& here, builtins::cudaStream_t handle) {
  return resolve(here, handle == nullptr ? here.null_stream() : handle, "a stream");
}

inline event_state& resolve(block& here, builtins::cudaEvent_t handle) {
  return resolve(here, handle, "an event");
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
