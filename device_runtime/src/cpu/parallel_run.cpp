// SPDX-License-Identifier: BSD-3-Clause
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "device.hpp"
#include "grid.hpp"
#include "sanitizer.hpp"

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

/// schedule::parallel: each ready grid becomes a few oneTBB tasks, and each task runs one block of
/// the grid after another. A block never waits for another grid, so no task waits, and an
/// operating-system thread holds at most one live block (cuda_builtins.hpp requires it).
class parallel_run final : public run {
 public:
  explicit parallel_run(unsigned workers) : arena_(arena_of(workers)) {}

  ~parallel_run() noexcept override = default;  // no task throws, so ~task_group() does not throw

  void execute(const grid_ptr& root) override {
    arena_.execute([&] {
      ready({root});
      group_.wait();
    });
    acquire_order(this);
  }

  void ready(const std::vector<grid_ptr>& grids) override {
    const auto workers = static_cast<std::uint64_t>(arena_.max_concurrency());
    for (const grid_ptr& g : grids) {
      if (cancelled()) return;
      for (std::uint64_t i = std::min(workers, g->block_count); i > 0; --i) {
        grid_share* share = share_grid(g);
        group_.run([share] { run_share(share); });
      }
    }
  }

 private:
  tbb::task_arena& arena_;
  tbb::task_group group_;
};

}  // namespace

std::unique_ptr<run> make_parallel_run(const executor_config& config) {
  return std::make_unique<parallel_run>(config.workers);
}

}  // namespace ramify::cpu
