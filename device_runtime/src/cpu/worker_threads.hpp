// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The worker threads of schedule::parallel. All runs of the process share them.

#include <functional>
#include <ramify/version.hpp>

namespace ramify::cpu::inline RAMIFY_ABI {

/// Returns the number of threads that run blocks at a time, the calling thread included: `workers`,
/// but at most 256 or one per core, whichever is more. 0: one per core.
[[nodiscard]] unsigned worker_count(unsigned workers) noexcept;

/// Passes `function` to a worker thread and returns. The function must not throw.
///
/// Starts a worker thread if all of them are busy and fewer than `max_threads` exist. Returns false
/// if there is no worker thread and none can be started; the function will not be called then.
/// \throws std::bad_alloc if no memory is left for the call
[[nodiscard]] bool call_in_worker(unsigned max_threads, std::function<void()> function);

}  // namespace ramify::cpu::inline RAMIFY_ABI
