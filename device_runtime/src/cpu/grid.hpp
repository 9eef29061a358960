// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The executor's state of grids, streams, events and runs.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <ramify/cpu/cuda_builtins.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/grid_log.hpp>
#include <ramify/version.hpp>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ramify::cpu::inline RAMIFY_ABI {

struct grid;
struct stream_state;
class run;
class weak_memory;
using grid_ptr = std::shared_ptr<grid>;

/// The completion of the work before one event record. It is set once.
struct signal {
  bool set = false;
  std::vector<stream_state*> waiting;
};

using launch_arguments = std::span<const launch_argument>;

/// Copies of the arguments of a launch.
class argument_copies {
 public:
  argument_copies() = default;  ///< no arguments
  explicit argument_copies(launch_arguments);
  /// Returns the array of their addresses.
  [[nodiscard]] void* const* addresses() const {
    return reinterpret_cast<void* const*>(memory_.get());
  }

 private:
  std::unique_ptr<std::byte[]> memory_;  // the addresses, and after them the copies
};

struct grid {
  grid(const launch_request& of_launch, launch_arguments with)
      : request(of_launch), arguments(with) {}
  ~grid() {
    // An abandoned chain of grids may be deep, so its links are released in a loop, not
    // recursively.
    for (grid_ptr up = std::move(parent); up != nullptr && up.use_count() == 1;) {
      up = std::exchange(up->parent, nullptr);
    }
  }
  grid(const grid&) = delete;
  grid& operator=(const grid&) = delete;

  launch_request request;
  argument_copies arguments;
  std::uint64_t id = 0;  // unique; 0 means the host
  const std::string* kernel_name = nullptr;
  run* owner = nullptr;
  grid_ptr parent;  // reset at completion, so that a deep tree is not freed recursively
  std::uint64_t block_count = 0;
  std::uint64_t depth = 0;                   // number of ancestors; 0: launched by the host
  std::size_t record = grid_log::no_record;  // its index in the log

  std::atomic<std::uint64_t> next_block{0};
  std::atomic<std::uint64_t> blocks_ended{0};
  std::atomic<bool> has_begun{false};

  // Guarded by the device's mutex.
  // 1 from a launch by a kernel until the grid's blocks and its children are complete. Its tail
  // launches have slots of their own.
  std::uint64_t pool_slots = 0;
  stream_state* stream = nullptr;  // the stream of the launch; null: fire-and-forget, tail, host
  bool is_tail = false;
  bool own_work_done = false;
  std::uint64_t children_open = 0;  // children that are not complete, without tail launches
  // The tail launches. The front entry is null while that grid runs: it owns this grid through its
  // parent pointer, so this grid must not own it.
  std::list<grid_ptr> tail;
  std::vector<builtins::cudaStream_t> streams;  // created by this grid
  std::vector<builtins::cudaEvent_t> events;

  /// Takes the next block that has not started. Returns false if there is none.
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

  std::uint64_t owner = 0;    // id of the grid that created it
  run* of_run = nullptr;      // null: created by the host
  bool destroyed = false;     // the handle is invalid; the pending work goes on
  bool busy = false;          // its front grid is running
  bool has_new_work = false;  // of the host, which has neither waited for it nor queried the stream
  std::deque<entry> queue;
};

struct event_state {
  std::uint64_t owner = 0;
  run* of_run = nullptr;
  bool destroyed = false;
  std::shared_ptr<signal> last_record;  // by a kernel; null: never recorded
  bool has_time = false;
  std::optional<std::chrono::steady_clock::time_point> recorded_at;  // by the host
};

/// One launch from the host with all its descendants.
class run {
 public:
  explicit run(bool is_random) : is_random_(is_random) {}
  virtual ~run() = default;

  /// Runs `root` and its descendants to completion, or until a kernel breaks a rule.
  virtual void execute(const grid_ptr& root) = 0;

  /// Takes grids that may begin. The device calls it during execute(), without holding its mutex.
  virtual void ready(const std::vector<grid_ptr>& grids) = 0;

  /// Lets the schedule switch to another block.
  virtual void scheduling_point() {}

  /// Returns the device memory of schedule::weak; null under other schedules.
  [[nodiscard]] virtual weak_memory* memory() { return nullptr; }

  /// Returns the index of the next of `count` candidates: random in schedule::random and
  /// schedule::weak, else 0.
  [[nodiscard]] std::uint64_t draw(std::uint64_t count) {
    return is_random_ && count > 1 ? draw_random(count) : 0;
  }

  /// Keeps the first failure and stops the run.
  void fail(std::exception_ptr);
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }

  /// Counts a failed launch by `<<<>>>` whose error no call has read. Keeps the first description.
  void add_unread_failure(const std::string& what);
  /// Prints the number of these launches, and the first description, to stderr.
  void print_unread_failures() const;

  /// Returns whether a launch is one of the first of the run, which search the global variables.
  /// All launches would take several times as long with the search.
  [[nodiscard]] bool may_search_variables() {
    return searches_.load(std::memory_order_relaxed) < max_searches &&
           searches_.fetch_add(1, std::memory_order_relaxed) < max_searches;
  }

  std::uint64_t slots_held = 0;  // of the launch pool; guarded by the device's mutex

 private:
  virtual std::uint64_t draw_random(std::uint64_t /*count*/) { return 0; }

  static constexpr unsigned max_searches = 256;

  const bool is_random_;
  std::atomic<bool> cancelled_{false};
  std::atomic<unsigned> searches_{0};
  std::exception_ptr failure_;
  std::uint64_t unread_failures_ = 0;
  std::string first_unread_failure_;
};

[[nodiscard]] std::unique_ptr<run> make_parallel_run(const executor_config&);
[[nodiscard]] std::unique_ptr<run> make_serial_schedule(const executor_config&);

/// Runs one block of `g` to its end on the calling thread, and reports its begin and end to the
/// device. Errors are reported to the run.
void run_block(const grid_ptr& g, std::uint64_t index);

}  // namespace ramify::cpu::inline RAMIFY_ABI
