// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/staging.cuh>

#include "cases.hpp"
#include "copies.cuh"
#include "flood.cuh"
#include "routes_and_loops.cuh"
#include "streams.cuh"
#include "cuda_builtins.cuh"

namespace tests::inline RAMIFY_BUILD {

inline limits_seen see_limits(limit which, std::size_t wanted) {
  const auto pick = [&](const launch_limit_values& values) {
    switch (which) {
      case limit::pending_launches: return *values.pending_launches;
      case limit::malloc_heap_bytes: return *values.malloc_heap_bytes;
      default: return *values.stack_bytes;
    }
  };
  launch_limit_values values;
  if (which == limit::pending_launches) values.pending_launches = wanted;
  if (which == limit::malloc_heap_bytes) values.malloc_heap_bytes = wanted;
  if (which == limit::stack_bytes) values.stack_bytes = wanted;

  limits_seen seen{};
  seen.before = pick(current_launch_limits());
  {
    const launch_limits limits(values);
    seen.inside = pick(limits.granted());
    seen.reserved_bytes = limits.reserved_bytes();
  }
  seen.after = pick(current_launch_limits());
  return seen;
}

inline constexpr runtime_cases cases{
    run_flood,
    see_limits,
    [] { const launch_limits limits({.sync_depth = 2}); },
    [] { const launch_limits limits({.pending_launches = 0}); },
    [] { return order_after(note_in_streams); },
    [] { return order_after(note_in_null_stream); },
    early_grids,
    handles,
    times_of_events,
    launch_after_failed_call,
    warp_and_shared,
    heap_is_finite,
    memory_operations,
    visits_of_members,
    route_reason,
    planned_route,
    measure_and_keep_costs,
    kept_costs,
    run_loop,
    loop_after_bad_body,
    staged_copies,
    spoilt_staged_copy,
    copies_of_any_memory,
    staged_copies_of_two_threads,
    [] { const staging none({.chunk_bytes = 0}); },
    [] { const staging none({.threads = 0}); },
};

}  // namespace tests::inline RAMIFY_BUILD
