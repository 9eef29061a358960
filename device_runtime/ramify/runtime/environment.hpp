// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// environment: where and how a call runs. Plain C++.
///
///     ramify::quicksort(keys, n, less, {.stream = s, .memory = scratch});
///     ramify::quicksort(keys, ramify::sort_order::ascending, {.route = ramify::route::flat});

#include <cstddef>
#include <ramify/runtime/memory_ref.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/stream_ref.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// The last argument of every call, of both interfaces and in all families.
struct environment {
  /// The backend of a compiled call. A header template runs on the backend of its compiler, and
  /// refuses the other one.
  ramify::backend backend = ramify::backend::automatic;
  /// The call is ordered after earlier work in this stream. The per-thread default stream is
  /// another stream in each thread: then one thread must start the run, call get() and destroy it.
  stream_ref stream{};
  /// The scratch memory of the call. The description of each function names the function that
  /// returns its size. If it is empty, the call allocates from Ramify's stream-ordered pool. The
  /// memory must exist until get() has returned.
  memory_ref memory{};
  /// The route of the call. The report states the route that was taken, and the reason.
  ramify::route route = ramify::route::automatic;
  /// What launches the iterations of the flat route. While a graph captures the stream, the host
  /// cannot: then `host` makes route::automatic the device route, where get() launches what kernels
  /// could not launch, and route::flat is refused.
  ramify::flat_loop flat_loop = ramify::flat_loop::automatic;
  /// The pending-launch limit of the device from the call to the end of get(); 0 leaves it
  /// unchanged. The report states the granted limit. The change waits for the device. No other
  /// thread may launch while the limit is in force. Runs that change the limit must end in the
  /// reverse order of their beginnings, because each restores the limit that it found.
  std::size_t pending_launches = 0;
  /// The trace to which the grids of the call are appended when it ends; null: none. It must
  /// outlive the call, or the object that the call creates.
  launch_trace* trace = nullptr;
  /// When the results of an _async call are complete. With `in_stream`, work that enters the stream
  /// after the call sees them. Where the stream cannot complete a run, the call completes it before
  /// it returns, and report.completion_reason states why: there is a trace; the program has no
  /// loop; or it needs one and the kernels run on the CPU executor, the driver has no loops in
  /// graphs, or flat_loop is host. With `by_get`, the results are complete only after get(). Calls
  /// that wait, and calls whose results only get() returns, ignore this field.
  ramify::completion completion = ramify::completion::in_stream;
};

/// Checks the enumerators. \throws std::invalid_argument naming the field
inline void validate(const environment& env) {
  check_enumerator(env.backend, "environment.backend");
  check_enumerator(env.route, "environment.route");
  check_enumerator(env.flat_loop, "environment.flat_loop");
  check_enumerator(env.completion, "environment.completion");
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Returns the environment of a run whose results only get() returns: `env` with
/// completion::by_get. \throws std::invalid_argument for a bad enumerator in `env`
[[nodiscard]] inline environment by_get(environment env) {
  validate(env);  // the field that is replaced, too
  env.completion = completion::by_get;
  return env;
}

/// Returns the environment of a run whose get() is called next: `env` with
/// completion::by_get_at_once. \throws std::invalid_argument for a bad enumerator in `env`
[[nodiscard]] inline environment waiting(environment env) {
  validate(env);
  env.completion = completion::by_get_at_once;
  return env;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI
