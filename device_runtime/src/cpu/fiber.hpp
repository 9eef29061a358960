// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A reusable fiber on Boost.Context, announced to the sanitizers. It runs a thread of a block.

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>

namespace ramify::cpu {

/// Allocates a fiber's stack, with a guard region below it if the number of guarded stacks allows
/// one. An access to the guard region is a fault.
class fiber_stack {
 public:
  /// A frame can start anywhere below the stack. The guard region has the size of the largest local
  /// memory of a thread on a GPU, so no kernel that nvcc accepts can jump over it.
  static constexpr std::size_t guard_bytes = std::size_t{512} << 10;

  explicit fiber_stack(std::size_t bytes);
  /// \throws std::bad_alloc
  boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context&) noexcept;

  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool guarded() const { return guarded_; }

 private:
  std::size_t bytes_;  // a multiple of the page size
  bool guarded_ = false;
};

/// Runs one job after another on its own stack, on the operating-system thread that created it.
///
/// Creating a fiber takes longer than running one, so blocks take fibers from a pool.
class fiber {
 public:
  explicit fiber(std::size_t stack_bytes);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Sets the next job, which resume() starts. The job must not throw.
  void assign(const std::function<void()>& job);

  /// Runs the job until it suspends or ends. Must be called outside the fiber.
  void resume();

  /// Returns control to the caller of resume(). Must be called inside the fiber.
  void suspend();

  [[nodiscard]] bool idle() const { return job_ == nullptr; }

  /// Returns whether `address` lies on this fiber's stack.
  [[nodiscard]] bool holds(const void* address) const;

  /// Returns whether `address` lies in the guard region below this fiber's stack.
  [[nodiscard]] bool guards(const void* address) const;

  [[nodiscard]] std::size_t stack_bytes() const { return stack_.size; }

 private:
  boost::context::fiber serve(boost::context::fiber&& caller);

  fiber_stack allocator_;
  boost::context::stack_context stack_;
  boost::context::fiber inside_;  // valid while the caller runs: the suspended fiber
  boost::context::fiber caller_;  // valid while the fiber runs: the suspended caller
  const std::function<void()>* job_ = nullptr;
  bool quit_ = false;

  // Arguments of the sanitizers' switch functions; unused in other builds.
  void* caller_fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_caller_ = nullptr;
};

}  // namespace ramify::cpu
