// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// One block while it runs: its threads, its barriers, its memory.

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
  /// The block on this operating-system thread; null on the host.
  [[nodiscard]] static block* current();

  block(grid_ptr, std::uint64_t index);

  /// Runs every thread to its end. A broken rule goes to the run, and the rest is unwound.
  void execute();

  // For the threads of the block.
  void barrier(builtins::site);
  /// Waits for the `threads` consecutive threads that the calling one belongs to.
  void team_barrier(unsigned threads, builtins::site);
  const warp_values& exchange(unsigned mask, std::uint64_t value, const char* word, builtins::site);
  /// Another block may take over here.
  void scheduling_point();
  [[nodiscard]] std::byte* dynamic_shared() { return dynamic_shared_.get(); }
  [[nodiscard]] unsigned linear_thread() const { return running_->linear; }
  [[nodiscard]] const grid_ptr& owner() const { return grid_; }
  [[nodiscard]] builtins::cudaStream_t null_stream();

  /// Throws if the bytes of an argument hold a pointer that a child must not be given.
  void check_arguments(std::span<const std::span<const std::byte>> arguments) const;

  /// Breaks a rule off in the running thread.
  [[noreturn]] void violate(rule, const std::string& what) const;

 private:
  struct thread {
    fiber* on = nullptr;  // null until it starts and after it ended
    unsigned linear = 0;
    builtins::uint3 index{};
    const char* waits_in = nullptr;  // null: does not wait
    builtins::site waits_at;
  };

  // A meeting of the lanes in a mask. When the last of them has left, it may serve for another one.
  struct meeting {
    unsigned mask;
    unsigned arrived;
    unsigned left;
    const char* word;
    builtins::site site;
    warp_values values;
  };

  void run_threads();
  void run_thread();
  void step(thread&);
  [[nodiscard]] meeting& join_meeting(unsigned warp, unsigned mask, unsigned bit, const char* word,
                                      builtins::site);
  void wait(const char* word, builtins::site);
  void release_barrier_or_complain();
  void unwind();
  [[nodiscard]] std::string where(const thread&) const;

  grid_ptr grid_;
  std::uint64_t linear_index_;
  std::function<void()> thread_body_;
  std::vector<thread> threads_;
  std::vector<thread*> runnable_;  // taken from the back
  std::vector<thread*> at_barrier_;
  std::vector<std::vector<thread*>> at_team_barrier_;            // of each team
  std::vector<std::vector<std::unique_ptr<meeting>>> meetings_;  // of each warp
  std::size_t ended_ = 0;
  thread* running_ = nullptr;
  std::unique_ptr<std::byte[], void (*)(std::byte*)> dynamic_shared_;
  builtins::cudaStream_t null_stream_ = nullptr;
};

}  // namespace ramify::cpu
