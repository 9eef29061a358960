// SPDX-License-Identifier: BSD-3-Clause
#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
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

// A stack with a guard region takes two mappings. Linux allows 65,530 mappings in a process.
constexpr int max_guarded_stacks = 16'384;
std::atomic<int> live_stacks{0};

// More than the address space, so that allocate() fails, but sums do not overflow.
constexpr std::size_t max_stack_bytes = std::size_t{1} << 50;

struct no_stack final : std::bad_alloc {
  [[nodiscard]] const char* what() const noexcept override {
    return "CPU executor: out of memory for the stacks of a block's threads";
  }
};

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

fiber_stack::fiber_stack(std::size_t bytes) : bytes_(std::min(bytes, max_stack_bytes)) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ += (page - bytes_ % page) % page;
}

boost::context::stack_context fiber_stack::allocate() {
  guarded_ = live_stacks.fetch_add(1, std::memory_order_relaxed) < max_guarded_stacks;
  const std::size_t guard = guarded_ ? guard_bytes : 0;
  void* const memory =
      mmap(nullptr, guard + bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* const bottom = static_cast<char*>(memory) + guard;
  if (memory == MAP_FAILED || mprotect(bottom, bytes_, PROT_READ | PROT_WRITE) != 0) {
    if (memory != MAP_FAILED) munmap(memory, guard + bytes_);
    live_stacks.fetch_sub(1, std::memory_order_relaxed);
    throw no_stack();
  }
  boost::context::stack_context stack;
  stack.size = bytes_;
  stack.sp = bottom + bytes_;
  return stack;
}

void fiber_stack::deallocate(boost::context::stack_context& stack) noexcept {
  const std::size_t guard = guarded_ ? guard_bytes : 0;
  munmap(static_cast<char*>(stack.sp) - bytes_ - guard, guard + bytes_);
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

bool fiber::guards(const void* address) const {
  const char* bottom = static_cast<const char*>(stack_.sp) - stack_.size;
  const char* a = static_cast<const char*>(address);
  return allocator_.guarded() && a >= bottom - fiber_stack::guard_bytes && a < bottom;
}

}  // namespace ramify::cpu
