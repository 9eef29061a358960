// SPDX-License-Identifier: BSD-3-Clause
#include "fiber.hpp"

#include <atomic>
#include <ramify/cpu/sanitizers.hpp>
#include <utility>

#if RAMIFY_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if RAMIFY_THREAD_SANITIZER  // this file itself is not instrumented: see CMakeLists.txt
#include <sanitizer/tsan_interface.h>
#endif

namespace ramify::cpu {
namespace {

// A stack with a guard page takes two mappings. Linux allows 65,530 mappings in a process.
constexpr int max_guarded_stacks = 16'384;
std::atomic<int> live_stacks{0};

// AddressSanitizer keeps a fake stack for each stack. A program must announce the next stack before
// a switch, and must confirm the switch afterwards. `saved` is null if the old stack will not be
// used again.
void announce_switch([[maybe_unused]] void** saved, [[maybe_unused]] const void* bottom,
                     [[maybe_unused]] std::size_t bytes) {
#if RAMIFY_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(saved, bottom, bytes);
#endif
}

void finish_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** bottom,
                   [[maybe_unused]] std::size_t* bytes) {
#if RAMIFY_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(saved, bottom, bytes);
#endif
}

// ThreadSanitizer treats a fiber as a thread. A switch orders all accesses before it before all
// accesses after it, as on one operating-system thread.
void switch_tsan_fiber([[maybe_unused]] void* to) {
#if RAMIFY_THREAD_SANITIZER
  __tsan_switch_to_fiber(to, 0);
#endif
}

}  // namespace

boost::context::stack_context fiber_stack::allocate() {
  guarded_ = live_stacks.fetch_add(1, std::memory_order_relaxed) < max_guarded_stacks;
  try {
    return guarded_ ? boost::context::protected_fixedsize_stack(bytes_).allocate()
                    : boost::context::fixedsize_stack(bytes_).allocate();
  } catch (...) {
    live_stacks.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
}

void fiber_stack::deallocate(boost::context::stack_context& stack) noexcept {
  if (guarded_) {
    boost::context::protected_fixedsize_stack(bytes_).deallocate(stack);
  } else {
    boost::context::fixedsize_stack(bytes_).deallocate(stack);
  }
  live_stacks.fetch_sub(1, std::memory_order_relaxed);
}

fiber::fiber(std::size_t stack_bytes) : allocator_(stack_bytes), stack_(allocator_.allocate()) {
#if RAMIFY_THREAD_SANITIZER
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
  inside_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_), allocator_,
      [this](boost::context::fiber&& caller) { return serve(std::move(caller)); });
}

fiber::~fiber() {
  quit_ = true;
  if (inside_) resume();  // serve() returns, which frees the stack
#if RAMIFY_THREAD_SANITIZER
  __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void fiber::assign(const std::function<void()>& job) { job_ = &job; }

void fiber::resume() {
#if RAMIFY_THREAD_SANITIZER
  tsan_caller_ = __tsan_get_current_fiber();
#endif
  void* fake_stack = nullptr;
  announce_switch(&fake_stack, static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
  switch_tsan_fiber(tsan_fiber_);
  inside_ = std::move(inside_).resume();
  finish_switch(fake_stack, nullptr, nullptr);
}

void fiber::suspend() {
  announce_switch(&caller_fake_stack_, caller_stack_, caller_stack_bytes_);
  switch_tsan_fiber(tsan_caller_);
  caller_ = std::move(caller_).resume();
  finish_switch(caller_fake_stack_, &caller_stack_, &caller_stack_bytes_);
}

boost::context::fiber fiber::serve(boost::context::fiber&& caller) {
  finish_switch(nullptr, &caller_stack_, &caller_stack_bytes_);
  caller_ = std::move(caller);
  while (!quit_) {
    (*job_)();
    job_ = nullptr;
    suspend();
  }
  announce_switch(nullptr, caller_stack_, caller_stack_bytes_);
  switch_tsan_fiber(tsan_caller_);
  return std::move(caller_);
}

bool fiber::holds(const void* address) const {
  const char* top = static_cast<const char*>(stack_.sp);
  const char* a = static_cast<const char*>(address);
  return a >= top - stack_.size && a < top;
}

}  // namespace ramify::cpu
