// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A running block: its threads, its barriers and its memory.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <ramify/version.hpp>
#include <span>
#include <string>
#include <vector>

#include "block_memory.hpp"
#include "fiber.hpp"
#include "grid.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

/// Thrown in the threads of a block to unwind them after the run has failed.
struct block_abandoned {};

/// Compares texts. The comparison of the pointers usually suffices, because a compiler merges equal
/// literals.
[[nodiscard]] inline bool same_text(const char* a, const char* b) {
  return a == b || std::strcmp(a, b) == 0;
}

[[nodiscard]] inline bool same_site(const builtins::site& a, const builtins::site& b) {
  if (std::memcmp(&a, &b, sizeof a) == 0) return true;  // the usual case
  return a.line() == b.line() && a.column() == b.column() &&
         same_text(a.file_name(), b.file_name());
}

/// The idle fibers of an operating-system thread. It runs one block at a time, so the pool grows to
/// the size of the largest block whose threads all wait.
class fiber_pool {
 public:
  explicit fiber_pool(fiber::body body) : body_(body) {}
  /// Must be called while all fibers are idle. Destroys those with another stack size.
  void set_stack_bytes(std::size_t bytes);
  /// \throws std::bad_alloc
  fiber& take();
  void give_back(fiber& f) noexcept { idle_.push_back(&f); }
  /// Returns false if `address` lies on no fiber's stack.
  [[nodiscard]] bool may_hold(const void* address) const {
    return address >= lowest_ && address < highest_;
  }

 private:
  fiber::body body_;
  std::size_t stack_bytes_ = 0;
  std::vector<std::unique_ptr<fiber>> all_;
  std::vector<fiber*> idle_;
  const void* lowest_ = nullptr;  // bounds of all stacks
  const void* highest_ = nullptr;
};

/// Runs blocks on an operating-system thread, one after another.
///
/// A fiber runs one thread of the block after another until one of them waits. That thread keeps
/// the fiber, and another fiber continues. A thread that never waits thus costs no switch.
class block {
 public:
  /// Returns the block on this operating-system thread, or null on the host.
  [[nodiscard]] static block* current() { return current_; }

  /// Runs every thread of a block to its end. If a thread breaks a rule, the block reports the
  /// violation to the run and unwinds the other threads.
  void execute(grid_ptr, std::uint64_t index);

  // The threads of the block call the following members.
  /// Waits for all threads of the block. Returns how many of them passed a predicate other than 0.
  /// The last thread to arrive calls `work(state)` before any thread continues.
  int barrier(builtins::site, int predicate = 0, void (*work)(void* state) = nullptr,
              void* state = nullptr);
  /// Waits for all threads of the calling thread's team, which has `threads` consecutive threads.
  void team_barrier(unsigned threads, builtins::site);
  const warp_values& exchange(unsigned mask, std::uint64_t value, const char* builtin,
                              builtins::site);
  /// Waits until no thread of the block can run without it. Returns the mask of the lanes of its
  /// warp that wait with it at the same line.
  unsigned converge(builtins::site);
  /// Lets the schedule switch to another block.
  void scheduling_point();
  /// Returns the device memory of schedule::weak, or null.
  [[nodiscard]] weak_memory* memory() const { return run_->memory(); }
  /// Lets the schedule switch to another block before or after an atomic operation.
  void atomic_scheduling_point();
  [[nodiscard]] unsigned linear_thread() const { return running_->linear; }
  [[nodiscard]] const grid_ptr& owner() const { return grid_; }
  [[nodiscard]] std::uint64_t linear_index() const { return linear_index_; }
  [[nodiscard]] builtins::cudaStream_t null_stream();
  [[nodiscard]] builtins::cudaError_t& last_error() { return running_->last_error; }
  /// Keeps a failed launch by `<<<>>>` until the running thread reads its last error.
  void keep_failed_launch(const void* kernel, builtins::site written_at);
  void error_was_read() { running_->failed_kernel = nullptr; }

  /// Throws if the bytes of an argument contain a pointer that a child must not get, or, in the
  /// first launches of a run, if a global variable points to local memory of a thread of the block.
  void check_arguments(launch_arguments) const;

  /// Returns whether `address` lies in the guard region below the stack of the running thread. A
  /// signal handler calls it.
  [[nodiscard]] bool is_stack_overflow(const void* address) const {
    return running_ != nullptr && running_->on != nullptr && running_->on->guards(address);
  }
  /// Returns whether `address` lies after the block's dynamic shared memory. A signal handler calls
  /// it.
  [[nodiscard]] bool is_shared_overrun(const void* address) const {
    return shared_.guards(address);
  }
  /// Returns the size of the running thread's stack.
  [[nodiscard]] std::size_t stack_bytes() const { return running_->on->stack_bytes(); }

  /// Throws the rule_violation of the running thread.
  [[noreturn]] void violate(rule, const std::string& what) const;

 private:
  struct thread {
    fiber* on = nullptr;  // null before the thread starts and after it ends
    unsigned linear = 0;
    builtins::uint3 index{};
    builtins::cudaError_t last_error = builtins::cudaSuccess;
    const void* failed_kernel = nullptr;  // of a launch by <<<>>> whose error was not read
    builtins::site failed_at;             // of this launch
    const char* waits_in = nullptr;       // the built-in in which it waits; null: it does not wait
    builtins::site waits_at;
    unsigned converged = 0;  // the mask of the last converge()
  };

  // A rendezvous of the lanes in a mask. It can be reused when the last lane has left.
  struct rendezvous {
    unsigned mask = 0;
    unsigned arrived = 0;
    unsigned left = 0;
    const char* builtin = nullptr;
    builtins::site site;
    warp_values values;
  };
  struct warp {
    std::vector<std::unique_ptr<rendezvous>> all;
    rendezvous* joined_last = nullptr;
    unsigned lanes = 0;  // mask of the lanes that the block has
  };

  [[nodiscard]] bool is_local(const void* address) const;
  void check_variables(std::span<const std::span<const std::byte>> variables) const;
  void begin(grid_ptr, std::uint64_t index);
  void make_threads(const builtins::dim3& shape);
  void end() noexcept;
  static execution_context& run_threads(fiber& self);
  void run_thread(thread&, fiber& self);
  [[nodiscard]] thread* next_thread();
  [[nodiscard]] execution_context& context_of(thread* next) noexcept;
  [[nodiscard]] rendezvous& find_rendezvous(warp&, unsigned mask, unsigned bit, const char* builtin,
                                            builtins::site);
  [[noreturn, gnu::cold]] void violate_mask(const char* builtin) const;
  [[noreturn, gnu::cold]] void violate_rendezvous(const rendezvous& other, const char* builtin,
                                                  builtins::site) const;
  void wait(const char* builtin, builtins::site);
  [[nodiscard]] bool release_barrier();
  void release_converging();
  [[nodiscard]] std::exception_ptr divergence() const;
  [[nodiscard]] std::exception_ptr shared_overrun() const;
  void unwind();
  void report_unread_failure(const thread&);
  void report_unread_failures();
  [[nodiscard]] std::string where(const thread&) const;

  static constinit inline thread_local block* current_ = nullptr;

  // The state of the running block.
  grid_ptr grid_;
  run* run_ = nullptr;
  std::uint64_t linear_index_ = 0;
  std::vector<thread*> runnable_;  // the next one is at the back
  std::vector<thread*> at_barrier_;
  std::vector<thread*> converging_;
  bool different_barriers_ = false;  // whether at_barrier_ has threads of several source locations
  int votes_ = 0;                    // of the threads at the barrier
  int released_votes_ = 0;           // of the previous barrier
  std::size_t ended_ = 0;
  bool launch_failed_ = false;  // whether a thread called keep_failed_launch()
  thread* running_ = nullptr;
  thread* starting_ = nullptr;  // the thread that an idle fiber runs first
  builtins::cudaStream_t null_stream_ = nullptr;

  // Reused by the next block.
  block_memory shared_;
  std::vector<thread> threads_;
  builtins::dim3 shape_{0, 0, 0};                      // of threads_
  std::vector<std::vector<thread*>> at_team_barrier_;  // of each team
  std::vector<warp> warps_;
  thread_context thread_stack_;  // of the operating-system thread; runs while no fiber runs
  fiber_pool fibers_{run_threads};
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
