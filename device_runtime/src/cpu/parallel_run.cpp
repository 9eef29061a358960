// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "device.hpp"
#include "grid.hpp"
#include "worker_threads.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

/// The state that the threads of a run share. A worker thread that starts after the run is over
/// still reads it, so each requested worker owns a reference.
struct crew {
  std::mutex mutex;
  std::condition_variable changed;  // for the calling thread: a grid is ready, or a helper left
  std::vector<grid_ptr> ready;      // grids with blocks that have not started; the last runs first
  run* of_run = nullptr;            // null after the run
  unsigned helpers = 0;             // worker threads that run blocks
  unsigned requested = 0;           // worker threads that have not started yet
};
using crew_ptr = std::shared_ptr<crew>;

void remove_grid(std::vector<grid_ptr>& grids, const grid_ptr& g) {
  const auto found = std::find(grids.rbegin(), grids.rend(), g);
  if (found != grids.rend()) grids.erase(std::next(found).base());
}

/// Runs blocks until no grid is ready. `lock` holds the crew's mutex, but not while a block runs.
void run_ready_grids(crew& c, std::unique_lock<std::mutex>& lock) {
  run& the_run = *c.of_run;
  while (!c.ready.empty() && !the_run.cancelled()) {
    grid_ptr g = c.ready.back();
    std::uint64_t index = 0;
    bool taken = g->take_block(index);
    if (!taken || index + 1 == g->block_count) c.ready.pop_back();
    lock.unlock();
    while (taken && !the_run.cancelled()) {
      run_block(g, index);
      taken = g->take_block(index);
    }
    lock.lock();
    if (g->block_count > 1) remove_grid(c.ready, g);
    lock.unlock();
    g.reset();  // it may be the last reference
    lock.lock();
  }
}

/// Runs in a worker thread.
void help(crew& c) {
  std::unique_lock lock(c.mutex);
  if (c.of_run == nullptr) return;
  --c.requested;
  ++c.helpers;
  run_ready_grids(c, lock);
  --c.helpers;
  c.changed.notify_one();
}

/// schedule::parallel: the calling thread and worker threads run blocks of the ready grids.
///
/// A thread that makes a grid ready runs ready grids itself afterwards. Therefore a run that gets
/// no worker thread is slower, but complete. A block never waits for another grid, so an
/// operating-system thread holds at most one live block (cuda_builtins.hpp requires it).
class parallel_run final : public run {
 public:
  explicit parallel_run(unsigned workers) : run(false), max_helpers_(worker_count(workers) - 1) {
    crew_->of_run = this;
  }

  void execute(const grid_ptr& root) override {
    crew& c = *crew_;
    c.ready.push_back(root);  // no helper has been requested yet
    request_helpers(root->block_count - 1);
    std::unique_lock lock(c.mutex);
    for (;;) {
      run_ready_grids(c, lock);
      if (c.helpers == 0) break;
      c.changed.wait(lock);
    }
    c.of_run = nullptr;
    c.ready.clear();
  }

  void ready(const std::vector<grid_ptr>& grids) override {
    std::uint64_t blocks = 0;
    {
      const std::lock_guard lock(crew_->mutex);
      for (const grid_ptr& g : grids) {
        crew_->ready.push_back(g);
        blocks += g->block_count;
      }
      crew_->changed.notify_one();
    }
    request_helpers(blocks);
  }

 private:
  /// Requests up to `wanted` worker threads. The run continues with fewer if a resource is missing.
  void request_helpers(std::uint64_t wanted) noexcept {
    for (; wanted > 0; --wanted) {
      {
        const std::lock_guard lock(crew_->mutex);
        if (crew_->helpers + crew_->requested >= max_helpers_) return;
        ++crew_->requested;
      }
      // If a call fails, `requested` stays as it is: this run requests no worker in its place.
      try {
        if (!call_in_worker(max_helpers_, [own = crew_] { help(*own); })) return;
      } catch (const std::bad_alloc&) {
        return;
      }
    }
  }

  const unsigned max_helpers_;
  const crew_ptr crew_ = std::make_shared<crew>();
};

}  // namespace

std::unique_ptr<run> make_parallel_run(const executor_config& config) {
  return std::make_unique<parallel_run>(config.workers);
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
