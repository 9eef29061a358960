// SPDX-License-Identifier: BSD-3-Clause
#include "fiber.hpp"

#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(RAMIFY_TSAN)  // this file itself is not instrumented: see CMakeLists.txt
#include <sanitizer/tsan_interface.h>
#endif

namespace ramify::cpu {
namespace {

// AddressSanitizer keeps a shadow ("fake") stack beside each stack: it is told before a switch
// which stack comes next, and after it that the switch is done. `saved` is null when the stack that
// is left will not be used again.
void announce_switch([[maybe_unused]] void** saved, [[maybe_unused]] const void* bottom,
                     [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(saved, bottom, bytes);
#endif
}

void finish_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** bottom,
                   [[maybe_unused]] std::size_t* bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(saved, bottom, bytes);
#endif
}

// ThreadSanitizer sees a fiber as a thread of its own. A switch orders what came before it before
// what comes after it, which is what sharing one operating-system thread means.
void switch_tsan_fiber([[maybe_unused]] void* to) {
#if defined(RAMIFY_TSAN)
  __tsan_switch_to_fiber(to, 0);
#endif
}

}  // namespace

fiber::fiber(std::size_t stack_bytes) : allocator_(stack_bytes), stack_(allocator_.allocate()) {
#if defined(RAMIFY_TSAN)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
  inside_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_), allocator_,
      [this](boost::context::fiber&& caller) { return serve(std::move(caller)); });
}

fiber::~fiber() {
  quit_ = true;
  if (inside_) resume();  // serve() returns, which frees the stack
#if defined(RAMIFY_TSAN)
  __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void fiber::assign(const std::function<void()>& job) { job_ = &job; }

void fiber::resume() {
#if defined(RAMIFY_TSAN)
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
