// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <semaphore>
#include <thread>
#include <utility>

#include "device.hpp"
#include "grid.hpp"
#include "weak_memory.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

class serial_schedule;

/// Runs one block at a time on an operating-system thread.
///
/// Only one worker of a schedule runs; the others wait. A suspended block keeps its worker, because
/// `__shared__` variables are thread-local.
class block_worker {
 public:
  /// Sets the block to run after the next resume().
  void assign(serial_schedule* by, grid_ptr g, std::uint64_t index) {
    run_ = by;
    grid_ = std::move(g);
    block_ = index;
  }
  /// Lets this worker run. The calling worker must then stop or wait.
  void resume() { resumed_.release(); }
  void wait_until_resumed() { resumed_.acquire(); }
  void run_assigned();

  weak_memory::view seen;  // what its suspended block sees, under schedule::weak

 private:
  std::binary_semaphore resumed_{0};
  serial_schedule* run_ = nullptr;
  grid_ptr grid_;
  std::uint64_t block_ = 0;
};

thread_local block_worker* this_worker = nullptr;

/// A worker with a thread of its own.
class worker_thread final : public block_worker {
 public:
  worker_thread() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}
  ~worker_thread() {
    thread_.request_stop();
    resume();
  }
  worker_thread(const worker_thread&) = delete;
  worker_thread& operator=(const worker_thread&) = delete;

 private:
  void serve(const std::stop_token& stop) {
    this_worker = this;
    for (wait_until_resumed(); !stop.stop_requested(); wait_until_resumed()) run_assigned();
  }

  std::jthread thread_;
};

/// Returns the workers that no run uses. They are never destroyed: their fibers are reused, and
/// destructors of global objects may launch at exit. Only one run at a time uses this list.
std::vector<std::unique_ptr<worker_thread>>& idle_workers() {
  static auto& all = *new std::vector<std::unique_ptr<worker_thread>>;
  return all;
}

/// Returns the worker of the thread that called the launch. The process has one such worker, and
/// only one run at a time uses it. It is never destroyed, because the worker that resumes it last
/// may still be in resume() when the launch has returned.
block_worker& host_worker() {
  static auto& worker = *new block_worker;
  return worker;
}

/// The schedules eager, late, random and weak: one block runs at a time, and each scheduling point
/// chooses the next one. Only the running worker accesses the members, so they need no lock.
class serial_schedule final : public run {
 public:
  explicit serial_schedule(const executor_config& config)
      : run(config.order == schedule::random || config.order == schedule::weak),
        config_(config),
        generator_(config.seed) {}

  /// The calling thread is the first worker, so a run needs no other thread.
  void execute(const grid_ptr& root) override {
    if (config_.order == schedule::weak) memory_.emplace();
    memory_is_weak = memory_.has_value();
    block_worker& host = host_worker();
    free_.push_back(&host);
    suspended_.reserve(1);
    ready({root});
    this_worker = &host;
    dispatch();
    for (host.wait_until_resumed(); !finished_; host.wait_until_resumed()) host.run_assigned();
    this_worker = nullptr;
    memory_is_weak = false;
    memory_.reset();
    for (auto& w : workers_) idle_workers().push_back(std::move(w));
  }

  void ready(const std::vector<grid_ptr>& grids) override {
    for (const grid_ptr& g : grids) ready_.push_back({g, ++clock_});
  }

  std::uint64_t draw_random(std::uint64_t count) override {
    // Not std::uniform_int_distribution: its result may differ between standard libraries.
    return generator_() % count;
  }

  void scheduling_point() override {
    if (config_.order == schedule::late) return;
    block_worker* const self = this_worker;
    // Each write is seen after some time, so a block that waits for one does not wait for ever.
    if (memory_ && draw(points_per_publication) == 0) {
      memory_->publish();
      memory_->see();
    }
    if (memory_) memory_->prepare(self->seen);
    suspended_.push_back({self, running_since_});
    block_worker* const next = choose();  // it does not throw: `self` must not stay in the list
    if (next != self) {
      if (memory_) memory_->suspend(self->seen);
      next->resume();
      self->wait_until_resumed();
      if (memory_) memory_->resume(self->seen);
    }
    running_since_ = ++clock_;
  }

  weak_memory* memory() override { return memory_ ? &*memory_ : nullptr; }

  /// Runs a block on the calling worker, then resumes the next worker.
  void run_assigned(grid_ptr g, std::uint64_t index) {
    running_since_ = ++clock_;
    if (memory_) memory_->begin_block();
    run_block(std::exchange(g, nullptr), index);
    if (memory_) memory_->publish();
    --live_;
    free_.push_back(this_worker);
    dispatch();
  }

 private:
  struct ready_grid {  // has blocks that have not started
    grid_ptr grid;
    std::uint64_t since;
  };
  struct suspended_block {
    block_worker* on;
    std::uint64_t since;  // when it last began to run
  };

  void dispatch() {
    if (cancelled()) ready_.clear();  // suspended blocks still unwind, others never start
    if (!ready_.empty() || !suspended_.empty()) {
      choose()->resume();
      return;
    }
    finished_ = true;
    host_worker().resume();
  }

  /// Chooses the next block and returns its worker, which waits in wait_until_resumed().
  block_worker* choose() noexcept {
    const bool may_start = !ready_.empty() && live_ < config_.live_blocks && !cancelled() &&
                           (config_.order == schedule::late || have_free_worker());
    switch (config_.order) {
      case schedule::late: return start_block(0);  // the oldest; late never suspends a block
      case schedule::random:
      case schedule::weak: {
        const std::uint64_t choice = draw(suspended_.size() + (may_start ? ready_.size() : 0));
        return choice < suspended_.size() ? resume_block(choice)
                                          : start_block(choice - suspended_.size());
      }
      default: {  // eager: the newest, so that a child runs before its parent continues
        const auto newest = std::ranges::max_element(suspended_, {}, &suspended_block::since);
        const bool child_first =
            newest == suspended_.end() || (may_start && ready_.back().since > newest->since);
        return child_first ? start_block(ready_.size() - 1)
                           : resume_block(static_cast<std::size_t>(newest - suspended_.begin()));
      }
    }
  }

  block_worker* resume_block(std::size_t which) {
    block_worker* c = suspended_[which].on;
    suspended_.erase(suspended_.begin() + static_cast<std::ptrdiff_t>(which));
    return c;
  }

  block_worker* start_block(std::size_t which) {
    const grid_ptr g = ready_[which].grid;
    std::uint64_t index = 0;
    (void)g->take_block(index);
    if (index + 1 == g->block_count) {
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(which));
    }
    ++live_;
    block_worker* c = free_.back();
    free_.pop_back();
    c->assign(this, g, index);
    return c;
  }

  /// Returns whether `free_` has a worker, after an attempt to add one. If a thread or memory is
  /// missing, the run continues with the workers that it has.
  bool have_free_worker() noexcept {
    if (!free_.empty()) return true;
    if (no_more_workers_) return false;
    try {
      // All lists of workers get their memory here, so that no later step can fail.
      auto& idle = idle_workers();
      const std::size_t count = workers_.size() + 1;
      workers_.reserve(count);
      free_.reserve(count + 1);  // and the calling thread
      suspended_.reserve(count + 1);
      idle.reserve(idle.size() + count);
      if (idle.empty()) idle.push_back(std::make_unique<worker_thread>());
      workers_.push_back(std::move(idle.back()));
      idle.pop_back();
      free_.push_back(workers_.back().get());
      return true;
    } catch (const std::exception&) {  // std::bad_alloc, or std::system_error of a thread
      no_more_workers_ = true;
      return false;
    }
  }

  static constexpr std::uint64_t points_per_publication = 16;  // on average

  const executor_config config_;
  std::mt19937_64 generator_;
  std::optional<weak_memory> memory_;  // of schedule::weak
  std::uint64_t clock_ = 0;
  std::uint64_t running_since_ = 0;
  std::deque<ready_grid> ready_;  // oldest first
  std::vector<suspended_block> suspended_;
  unsigned live_ = 0;
  std::vector<std::unique_ptr<worker_thread>> workers_;
  std::vector<block_worker*> free_;
  bool no_more_workers_ = false;
  bool finished_ = false;
};

void block_worker::run_assigned() { run_->run_assigned(std::move(grid_), block_); }

}  // namespace

std::unique_ptr<run> make_serial_schedule(const executor_config& config) {
  return std::make_unique<serial_schedule>(config);
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
