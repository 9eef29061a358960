// SPDX-License-Identifier: BSD-3-Clause
#include "worker_threads.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace ramify::cpu {
namespace {

/// Allows oneTBB to start `workers` threads. Without this call it starts one per core, and prints a
/// warning if an arena needs more. Two threads must not call this function at the same time.
void allow_threads(unsigned workers) {
  using tbb::global_control;
  static auto& limit = *new std::unique_ptr<global_control>;  // worker threads outlive main
  if (workers <= global_control::active_value(global_control::max_allowed_parallelism)) return;
  limit.reset();  // the smallest limit applies
  limit = std::make_unique<global_control>(global_control::max_allowed_parallelism, workers);
}

/// Returns the arena with `workers` workers; 0: one per core. Runs share arenas: each new arena
/// makes oneTBB 2021.8 slower, and a program may launch a hundred thousand grids.
tbb::task_arena& arena_of(unsigned workers) {
  static std::mutex mutex;
  static auto& arenas = *new std::map<unsigned, tbb::task_arena>;  // worker threads outlive main
  const std::lock_guard lock(mutex);
  constexpr unsigned max_threads = 256;  // oneTBB starts no more unless there are many cores
  const unsigned most = std::max(max_threads, std::thread::hardware_concurrency());
  const unsigned threads = std::min(workers, most);
  allow_threads(threads);
  const int concurrency = workers == 0 ? tbb::task_arena::automatic : static_cast<int>(threads);
  return arenas.try_emplace(threads, concurrency).first->second;
}

}  // namespace

unsigned worker_count(unsigned workers) noexcept {
  try {
    return static_cast<unsigned>(arena_of(workers).max_concurrency());
  } catch (...) {  // without oneTBB, the calling thread runs all blocks
    return 1;
  }
}

bool call_in_worker(unsigned workers, void (*function)(void*), void* argument) noexcept {
  try {
    arena_of(workers).enqueue([=] { function(argument); });
    return true;
  } catch (...) {  // oneTBB also throws after it has taken the work, if it cannot start a thread
    return false;
  }
}

}  // namespace ramify::cpu
