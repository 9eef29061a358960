// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A running block: its threads, its barriers and its memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "grid.hpp"

namespace ramify::cpu {

class block {
 public:
  /// Returns the block on this operating-system thread, or null on the host.
  [[nodiscard]] static block* current();

  block(grid_ptr, std::uint64_t index);

  /// Runs every thread to its end. If a thread breaks a rule, the block reports it to the run and
  /// unwinds the other threads.
  void execute();

  // The threads of the block call the following members.
  /// Waits for all threads of the block. Returns how many of them passed a predicate other than 0.
  int barrier(builtins::site, int predicate = 0);
  /// Waits for all threads of the calling thread's team, which has `threads` consecutive threads.
  void team_barrier(unsigned threads, builtins::site);
  const warp_values& exchange(unsigned mask, std::uint64_t value, const char* builtin,
                              builtins::site);
  /// Lets the schedule switch to another block.
  void scheduling_point();
  [[nodiscard]] std::byte* dynamic_shared() { return dynamic_shared_.get(); }
  [[nodiscard]] unsigned linear_thread() const { return running_->linear; }
  [[nodiscard]] const grid_ptr& owner() const { return grid_; }
  [[nodiscard]] builtins::cudaStream_t null_stream();
  [[nodiscard]] builtins::cudaError_t& last_error() { return running_->last_error; }

  /// Throws if the bytes of an argument contain a pointer that a child must not get.
  void check_arguments(std::span<const std::span<const std::byte>> arguments) const;

  /// Returns whether `address` lies in the guard region below the stack of the running thread. A
  /// signal handler calls it.
  [[nodiscard]] bool is_stack_overflow(const void* address) const {
    return running_ != nullptr && running_->on != nullptr && running_->on->guards(address);
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
    const char* waits_in = nullptr;  // the built-in in which it waits; null: it does not wait
    builtins::site waits_at;
  };

  // A rendezvous of the lanes in a mask. It can be reused when the last lane has left.
  struct rendezvous {
    unsigned mask;
    unsigned arrived;
    unsigned left;
    const char* builtin;
    builtins::site site;
    warp_values values;
  };

  void run_threads();
  void run_thread();
  void step(thread&);
  [[nodiscard]] rendezvous& join_rendezvous(unsigned warp, unsigned mask, unsigned bit,
                                            const char* builtin, builtins::site);
  void wait(const char* builtin, builtins::site);
  void release_barrier_or_fail();
  void unwind();
  [[nodiscard]] std::string where(const thread&) const;

  grid_ptr grid_;
  std::uint64_t linear_index_;
  std::function<void()> thread_body_;
  std::vector<thread> threads_;
  std::vector<thread*> runnable_;  // the next one is at the back
  std::vector<thread*> at_barrier_;
  std::vector<std::vector<thread*>> at_team_barrier_;                 // of each team
  std::vector<std::vector<std::unique_ptr<rendezvous>>> rendezvous_;  // of each warp
  int votes_ = 0;           // of the threads at the barrier
  int released_votes_ = 0;  // of the previous barrier
  std::size_t ended_ = 0;
  thread* running_ = nullptr;
  std::unique_ptr<std::byte[], void (*)(std::byte*)> dynamic_shared_;
  builtins::cudaStream_t null_stream_ = nullptr;
};

}  // namespace ramify::cpu
