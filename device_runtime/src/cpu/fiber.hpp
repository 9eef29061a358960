// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A thread of a block: Boost.Context's fiber, made reusable and known to the sanitizers.

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <functional>

namespace ramify::cpu {

/// Memory for a fiber's stack, with a guard page against overflow while there are not too many.
class fiber_stack {
 public:
  explicit fiber_stack(std::size_t bytes) : bytes_(bytes) {}
  boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context&) noexcept;

 private:
  std::size_t bytes_;
  bool guarded_ = false;
};

/// Runs one job after another on a stack of its own, always on the operating-system thread that
/// made it. Creating one costs more than running it, so blocks keep theirs in a pool.
class fiber {
 public:
  explicit fiber(std::size_t stack_bytes);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Gives the fiber its next job; resume() starts it. The job must not throw.
  void assign(const std::function<void()>& job);

  /// Runs the job until it suspends or ends. From outside the fiber.
  void resume();

  /// Goes back to whoever called resume(). From inside the fiber.
  void suspend();

  [[nodiscard]] bool idle() const { return job_ == nullptr; }

  /// Whether `address` lies on this fiber's stack.
  [[nodiscard]] bool holds(const void* address) const;

 private:
  boost::context::fiber serve(boost::context::fiber&& caller);

  fiber_stack allocator_;
  boost::context::stack_context stack_;
  boost::context::fiber inside_;  // the suspended fiber, while its caller runs
  boost::context::fiber caller_;  // the suspended caller, while the fiber runs
  const std::function<void()>* job_ = nullptr;
  bool quit_ = false;

  // What the sanitizers must be told at each switch; unused without them.
  void* caller_fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_caller_ = nullptr;
};

}  // namespace ramify::cpu
