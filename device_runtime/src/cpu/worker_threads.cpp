// SPDX-License-Identifier: BSD-3-Clause
#include "worker_threads.hpp"

#include <oneapi/tbb/task_arena.h>

#include <map>
#include <mutex>

namespace ramify::cpu {
namespace {

/// Returns the arena with `workers` workers; 0: one per core. Runs share arenas: each new arena
/// makes oneTBB 2021.8 slower, and a program may launch a hundred thousand grids.
tbb::task_arena& arena_of(unsigned workers) {
  static std::mutex mutex;
  static auto& arenas = *new std::map<unsigned, tbb::task_arena>;  // worker threads outlive main
  const std::lock_guard lock(mutex);
  const int most = workers == 0 ? tbb::task_arena::automatic : static_cast<int>(workers);
  return arenas.try_emplace(workers, most).first->second;
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
