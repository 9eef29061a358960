// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The start of a call of the facade that does not wait, on the backend of this build.

#include <cstddef>
#include <memory>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/runtime/stream.cuh>
#include <utility>

#include "facade/started_call.hpp"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// Allocates device memory for a run that a graph captures: not in a stream, so that the allocation
/// is no part of the graph. \throws cuda_error
[[nodiscard]] inline std::shared_ptr<void> allocate_for_graph(std::size_t bytes) {
  const relaxed_capture_scope here;
  const runtime::destroyed_by<cudaFree> free{runtime::current_context()};
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "allocating the memory of a captured run");
  return {memory, [free](void* allocated) {
            const relaxed_capture_scope another_graph_may_be_captured;
            free(allocated);
          }};
}

/// Calls start(environment), which returns an async_run. If a graph captures the call and no memory
/// is handed in, the environment has scratch_bytes() bytes of memory, which the result owns.
/// \throws cuda_error; what `start` throws
template <class Report, class ScratchBytes, class Start>
[[nodiscard]] started_call<Report> start_call(environment env, const ScratchBytes& scratch_bytes,
                                              const Start& start) {
  std::shared_ptr<void> memory;
  if (env.memory.empty() && is_being_captured(runtime::stream_of(env))) {
    const relaxed_capture_scope here;
    const std::size_t bytes = scratch_bytes();
    memory = allocate_for_graph(bytes);
    env.memory = {memory.get(), bytes};
  }
  async_run<Report> run = start(env);
  return {std::move(memory), std::move(run)};
}

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD
