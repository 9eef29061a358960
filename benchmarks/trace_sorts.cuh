// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A timed sort. The including file decides with RAMIFY_TRACE whether its kernels can record.

#include <cstdint>
#include <ramify/quicksort.cuh>

#include "trace_sorts.hpp"

namespace ramify::inline RAMIFY_BUILD {

/// Sorts a copy of the input on the device route. Returns the time between events around the sort.
inline timed_sort sort_once(const std::uint32_t* input, std::uint32_t* keys, std::size_t n,
                            launch_trace* trace) {
  const host_stream stream;
  check(cudaMemcpyAsync(keys, input, n * sizeof *keys, cudaMemcpyDeviceToDevice, stream.get()),
        "copying the keys");
  stream.synchronize();
  host_event begun, ended;
  begun.record(stream.get());
  auto run = quicksort_async(keys, n, ascending{},
                             {.stream = stream, .route = route::device, .trace = trace});
  ended.record(stream.get());
  const quicksort_report report = run.get();
  return {ended.milliseconds_since(begun), report.host_grids + report.child_grids};
}

}  // namespace ramify::inline RAMIFY_BUILD
