// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The worker threads of schedule::parallel: those of oneTBB.

namespace ramify::cpu {

/// Returns the number of threads that run blocks at a time, the calling thread included: `workers`,
/// or one per core if `workers` is 0. Returns 1 if oneTBB cannot start.
[[nodiscard]] unsigned worker_count(unsigned workers) noexcept;

/// Passes `function(argument)` to a worker thread and returns. The function must not throw.
///
/// Returns false if a resource is missing, such as a thread. The function may then run later, or
/// never.
[[nodiscard]] bool call_in_worker(unsigned workers, void (*function)(void*),
                                  void* argument) noexcept;

}  // namespace ramify::cpu
