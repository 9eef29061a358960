// SPDX-License-Identifier: BSD-3-Clause
#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <ramify/cpu/sanitizers.hpp>

#if RAMIFY_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if RAMIFY_THREAD_SANITIZER  // this file itself is not instrumented: see CMakeLists.txt
#include <sanitizer/tsan_interface.h>
#endif

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

using boost::context::detail::transfer_t;

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

// A processor with shadow stacks compares the target of each return with a second stack. Fibers
// have no shadow stacks. This file is compiled without the mark that allows the loader to enable
// them, and it cannot use a Boost.Context that requires them.
#if defined(__CET__)
#error "CPU executor: fibers have no shadow stacks; compile fiber.cpp with -fcf-protection=none"
#endif
#if defined(SHADOW_STACK_SYSCALL)  // Boost.Context is compiled for shadow stacks
#error "CPU executor: fibers have no shadow stacks; use Boost.Context without SHADOW_STACK_SYSCALL"
#endif

#if defined(__x86_64__)
// Boost's function continues the next context with a jump. The processor predicts returns with a
// stack of its own, to which each call adds an address. Without a return, the address of this call
// would stay there, and the processor would mispredict the next returns, up to the kernel. Here the
// next context begins with `ret`, which uses that address.
#if defined(__clang__)
[[gnu::naked, gnu::noinline]]
#else
[[gnu::naked, gnu::noinline, gnu::noipa]]  // the arguments stay in their registers
#endif
static transfer_t
jump(boost::context::detail::fcontext_t /*to*/, void* /*from*/) {
  asm("leaq 1f(%rip), %rax\n\t"
      "pushq %rax\n\t"
      "jmp jump_fcontext@PLT\n"
      "1:\n\t"
      "ret");
}
#else
static transfer_t jump(boost::context::detail::fcontext_t to, void* from) {
  return boost::context::detail::jump_fcontext(to, from);
}
#endif

fiber_stack::fiber_stack(std::size_t bytes) : bytes_(std::min(bytes, max_stack_bytes)) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ += (page - bytes_ % page) % page;
  const bool guarded = live_stacks.fetch_add(1, std::memory_order_relaxed) < max_guarded_stacks;
  guard_ = guarded ? guard_bytes : 0;
  void* const memory =
      mmap(nullptr, guard_ + bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool mapped = memory != MAP_FAILED;
  if (mapped) bottom_ = static_cast<char*>(memory) + guard_;
  if (!mapped || mprotect(bottom_, bytes_, PROT_READ | PROT_WRITE) != 0) {
    if (mapped) munmap(memory, guard_ + bytes_);
    live_stacks.fetch_sub(1, std::memory_order_relaxed);
    throw no_stack();
  }
}

fiber_stack::~fiber_stack() {
  munmap(bottom_ - guard_, guard_ + bytes_);
  live_stacks.fetch_sub(1, std::memory_order_relaxed);
}

bool fiber_stack::holds(const void* address) const {
  const char* a = static_cast<const char*>(address);
  return a >= bottom_ && a < top();
}

bool fiber_stack::guards(const void* address) const {
  const char* a = static_cast<const char*>(address);
  return a >= bottom_ - guard_ && a < bottom_;
}

void execution_context::switch_to(execution_context& next) {
  next_ = &next;
  announce_switch(&fake_stack_, next.bottom_, next.bytes_);
  switch_tsan_fiber(next.tsan_fiber_);
  arrive(jump(next.suspended_, this));
}

execution_context& execution_context::arrive(transfer_t from) {
  auto& former = *static_cast<execution_context*>(from.data);
  execution_context& running = *former.next_;
  former.suspended_ = from.fctx;
  // AddressSanitizer returns the bounds of the stack that was left. Those of an operating-system
  // thread are not known before.
  finish_switch(running.fake_stack_, &former.bottom_, &former.bytes_);
  return running;
}

void execution_context::end_in(execution_context& next) {
  next_ = &next;
  announce_switch(nullptr, next.bottom_, next.bytes_);
  switch_tsan_fiber(next.tsan_fiber_);
  jump(next.suspended_, this);
  std::abort();  // not reached
}

thread_context::thread_context() {
#if RAMIFY_THREAD_SANITIZER
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

fiber::fiber(std::size_t stack_bytes, body function) : stack_(stack_bytes), body_(function) {
  bottom_ = stack_.bottom();
  bytes_ = stack_.size();
  suspended_ = boost::context::detail::make_fcontext(stack_.top(), stack_.size(), serve);
#if RAMIFY_THREAD_SANITIZER
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
  thread_context here;
  destroyed_by_ = &here;
  here.switch_to(*this);  // AddressSanitizer frees what it keeps for the stack
#if RAMIFY_THREAD_SANITIZER
  __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void fiber::serve(transfer_t from) {
  auto& self = static_cast<fiber&>(arrive(from));
  while (self.destroyed_by_ == nullptr) self.switch_to(self.body_(self));
  self.end_in(*self.destroyed_by_);
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
