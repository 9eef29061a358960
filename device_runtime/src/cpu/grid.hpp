// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the executor keeps of a grid, of its streams and of its events.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/cuda_builtins.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace ramify::cpu {

struct grid;
struct stream_state;
class run;
using grid_ptr = std::shared_ptr<grid>;

/// "The work before this record is complete", set once.
struct signal {
  bool set = false;
  std::vector<stream_state*> waiting;
};

struct grid {
  grid() = default;
  ~grid() {
    // An abandoned chain of grids is as deep as it got: its links go one by one, not recursively.
    for (grid_ptr up = std::move(parent); up != nullptr && up.use_count() == 1;) {
      up = std::exchange(up->parent, nullptr);
    }
  }
  grid(const grid&) = delete;
  grid& operator=(const grid&) = delete;

  launch_request request;
  std::uint64_t id = 0;  // never given twice; 0 means the host
  run* owner = nullptr;
  grid_ptr parent;  // dropped at completion, so that a deep tree is not freed recursively
  std::uint64_t block_count = 0;

  std::atomic<std::uint64_t> next_block{0};
  std::atomic<std::uint64_t> blocks_ended{0};
  std::atomic<bool> has_begun{false};

  // Guarded by the device's mutex.
  std::uint64_t pool_slots = 0;    // 1 while a launch from the device waits to begin
  stream_state* stream = nullptr;  // in which it was launched; null: in none that orders
  bool is_tail = false;
  bool own_work_done = false;
  std::uint64_t children_open = 0;  // launched and not complete; tail launches apart
  // Launched into the tail stream. The front one is null while it runs: it holds on to this grid,
  // and this one must not hold on to it.
  std::deque<grid_ptr> tail;
  std::vector<builtins::cudaStream_t> streams;  // made by this grid
  std::vector<builtins::cudaEvent_t> events;

  /// Takes the next block that nobody runs yet.
  [[nodiscard]] bool take_block(std::uint64_t& index) {
    index = next_block.fetch_add(1, std::memory_order_relaxed);
    return index < block_count;
  }
};

struct stream_state {
  struct record {
    std::shared_ptr<signal> done;
  };
  struct wait {
    std::shared_ptr<signal> until;
  };
  using entry = std::variant<grid_ptr, record, wait>;

  std::uint64_t owner = 0;  // id of the grid that made it
  run* of_run = nullptr;    // null: made by the host
  bool destroyed = false;   // the handle is; the work goes on
  bool busy = false;        // its front grid is running
  std::deque<entry> queue;
};

struct event_state {
  std::uint64_t owner = 0;
  run* of_run = nullptr;
  bool destroyed = false;
  std::shared_ptr<signal> last_record;  // in a kernel; null: never recorded
  bool has_time = false;
  std::optional<std::chrono::steady_clock::time_point> recorded_at;  // by the host
};

/// One launch from the host and all that comes of it.
class run {
 public:
  virtual ~run() = default;

  /// Runs `root` and everything below it to completion, or until a rule is broken.
  virtual void execute(const grid_ptr& root) = 0;

  /// These grids may begin. Called without the device's mutex, from inside execute().
  virtual void ready(const std::vector<grid_ptr>& grids) = 0;

  /// A moment at which another block may take over.
  virtual void scheduling_point() {}

  /// Which of `count` candidates goes first; 0 unless the schedule draws.
  virtual std::uint64_t draw(std::uint64_t /*count*/) { return 0; }

  /// Keeps the first failure and stops the run.
  void fail(std::exception_ptr);
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }

  std::uint64_t slots_held = 0;  // of the launch pool; guarded by the device's mutex

 private:
  std::atomic<bool> cancelled_{false};
  std::exception_ptr failure_;
};

[[nodiscard]] std::unique_ptr<run> make_parallel_run(const executor_config&);
[[nodiscard]] std::unique_ptr<run> make_serial_schedule(const executor_config&);

/// Runs one block of `g` to its end on the calling thread, and tells the device when the grid begins
/// and ends. What goes wrong goes to the run.
void run_block(const grid_ptr& g, std::uint64_t index);

/// A task's hold on a grid. Made and used outside the file that talks to oneTBB, which is hidden
/// from ThreadSanitizer.
struct grid_share;
[[nodiscard]] grid_share* share_grid(const grid_ptr& g);
/// Runs blocks of the grid until none is left or the run is cancelled, and ends the hold.
void run_share(grid_share* share);

}  // namespace ramify::cpu
