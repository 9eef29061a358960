// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reusable fibers on Boost.Context, announced to the sanitizers. They run the threads of a block.

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <ramify/version.hpp>

namespace ramify::cpu::inline RAMIFY_ABI {

/// A fiber's stack, with a guard region below it if the number of guarded stacks allows one. An
/// access to the guard region is a fault.
class fiber_stack {
 public:
  /// A frame can start anywhere below the stack. The guard region has the size of the largest local
  /// memory of a thread on a GPU, so no kernel that nvcc accepts can jump over it.
  static constexpr std::size_t guard_bytes = std::size_t{512} << 10;

  /// \throws std::bad_alloc
  explicit fiber_stack(std::size_t bytes);
  ~fiber_stack();
  fiber_stack(const fiber_stack&) = delete;
  fiber_stack& operator=(const fiber_stack&) = delete;

  [[nodiscard]] char* bottom() const { return bottom_; }
  [[nodiscard]] char* top() const { return bottom_ + bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool holds(const void* address) const;
  [[nodiscard]] bool guards(const void* address) const;

 private:
  std::size_t bytes_;  // a multiple of the page size
  std::size_t guard_ = 0;
  char* bottom_ = nullptr;
};

/// A stack and the place at which its code continues.
class execution_context {
 public:
  execution_context(const execution_context&) = delete;
  execution_context& operator=(const execution_context&) = delete;

  /// Suspends this context, which must be the running one, and continues `next`. Returns when
  /// another context switches to this one. Both must belong to the calling operating-system thread.
  void switch_to(execution_context& next);

 protected:
  execution_context() = default;
  ~execution_context() = default;  // not virtual: nothing owns a context by this type

  /// Must be called first after a switch. Keeps the place at which the former context continues.
  /// Returns the running context.
  static execution_context& arrive(boost::context::detail::transfer_t from);

  /// As switch_to(), but this context does not run again.
  [[noreturn]] void end_in(execution_context& next);

  boost::context::detail::fcontext_t suspended_ = nullptr;  // valid while another context runs
  execution_context* next_ = nullptr;                       // of the last switch_to()

  // Arguments of the sanitizers' switch functions; unused in other builds.
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* tsan_fiber_ = nullptr;
};

/// The stack of the operating-system thread that constructs the object.
class thread_context final : public execution_context {
 public:
  thread_context();
};

/// Calls a function again and again on its own stack, on the operating-system thread that created
/// it.
///
/// Creating a fiber takes longer than running one, so blocks take fibers from a pool.
class fiber final : public execution_context {
 public:
  /// Called when a context switches to an idle fiber. Returns the context to continue; the fiber is
  /// idle then. It must not throw.
  using body = execution_context& (*)(fiber& self);

  /// \throws std::bad_alloc
  fiber(std::size_t stack_bytes, body);
  /// The fiber must be idle.
  ~fiber();

  /// Returns whether `address` lies on this fiber's stack.
  [[nodiscard]] bool holds(const void* address) const { return stack_.holds(address); }

  /// Returns whether `address` lies in the guard region below this fiber's stack.
  [[nodiscard]] bool guards(const void* address) const { return stack_.guards(address); }

  [[nodiscard]] const void* stack_begin() const { return stack_.bottom(); }
  [[nodiscard]] const void* stack_end() const { return stack_.top(); }
  [[nodiscard]] std::size_t stack_bytes() const { return stack_.size(); }

 private:
  static void serve(boost::context::detail::transfer_t from);

  fiber_stack stack_;
  body body_;
  execution_context* destroyed_by_ = nullptr;
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
