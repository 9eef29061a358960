// SPDX-License-Identifier: BSD-3-Clause
#include "block.hpp"

#include <pthread.h>

#include <algorithm>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <ranges>
#include <sstream>
#include <utility>

#include "device.hpp"
#include "stack_fault.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

using namespace builtins;

// The objects that an operating-system thread uses for all its blocks. A key of pthreads frees
// them, not a thread_local object, because glibc ends the program if it has no memory to register
// its destructor.
struct thread_resources {
  block runner;
  signal_stack on_stack_overflow;
};
thread_local thread_resources* resources = nullptr;

void prepare_thread() {
  if (resources != nullptr) return;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const auto free_resources = [](void* of_thread) {
      delete static_cast<thread_resources*>(of_thread);
    };
    if (pthread_key_create(&made, free_resources) != 0) throw std::bad_alloc();
    return made;
  }();
  auto made = std::make_unique<thread_resources>();
  if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
  resources = made.release();
}

// Sets the floating-point modes to their defaults: rounding to nearest, no traps, denormal numbers.
// A new fiber has the modes of the operating-system thread that created it, and a used fiber has
// those of the last thread that ran on it. Reading the modes is faster than setting them.
//
// On x86-64, Boost.Context saves and restores the modes of each context. On other machines the
// change would affect the host's code, so there the modes remain those of the host.
void set_default_floating_point_modes() {
#if defined(__x86_64__)
  constexpr unsigned sse_flags = 0x3f;  // they record exceptions, and change no result
  constexpr unsigned default_sse = 0x1f80;
  constexpr unsigned short default_x87 = 0x37f;
  unsigned short x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  const bool is_default = (_mm_getcsr() & ~sse_flags) == default_sse && x87 == default_x87;
  if (!is_default) [[unlikely]] {
    std::fesetenv(FE_DFL_ENV);
  }
#endif
}

std::string to_text(const uint3& i) {
  std::ostringstream text;
  text << '(' << i.x << ',' << i.y << ',' << i.z << ')';
  return text.str();
}

uint3 unravel(std::uint64_t linear, const dim3& extent) {
  return {unsigned(linear % extent.x), unsigned(linear / extent.x % extent.y),
          unsigned(linear / extent.x / extent.y)};
}

}  // namespace

void fiber_pool::set_stack_bytes(std::size_t bytes) {
  if (bytes == stack_bytes_) return;
  idle_.clear();
  all_.clear();
  lowest_ = highest_ = nullptr;
  stack_bytes_ = bytes;
}

fiber& fiber_pool::take() {
  if (idle_.empty()) {
    if (all_.size() == all_.capacity()) all_.reserve(std::max<std::size_t>(32, 2 * all_.size()));
    idle_.reserve(all_.capacity());  // so that give_back() cannot throw
    fiber& made = *all_.emplace_back(std::make_unique<fiber>(stack_bytes_, body_));
    if (all_.size() == 1 || made.stack_begin() < lowest_) lowest_ = made.stack_begin();
    highest_ = std::max(highest_, made.stack_end());
    return made;
  }
  fiber& taken = *idle_.back();
  idle_.pop_back();
  return taken;
}

void block::make_threads(const dim3& shape) {
  if (shape_.x == shape.x && shape_.y == shape.y && shape_.z == shape.z) return;
  shape_ = {0, 0, 0};  // until all memory is there
  threads_.clear();
  threads_.resize(shape.volume());
  runnable_.reserve(threads_.size());
  at_barrier_.reserve(threads_.size());
  warps_.resize(std::max(warps_.size(), (threads_.size() + 31) / 32));
  for (std::size_t i = 0; i * 32 < threads_.size(); ++i) {
    const std::size_t lanes = std::min<std::size_t>(32, threads_.size() - i * 32);
    warps_[i].lanes = ~0u >> (32 - lanes);
  }
  thread* next = threads_.data();
  for (unsigned z = 0; z < shape.z; ++z) {
    for (unsigned y = 0; y < shape.y; ++y) {
      for (unsigned x = 0; x < shape.x; ++x, ++next) {
        next->linear = static_cast<unsigned>(next - threads_.data());
        next->index = {x, y, z};
      }
    }
  }
  shape_ = shape;
}

void block::begin(grid_ptr g, std::uint64_t index) {
  const launch_request& request = g->request;
  make_threads(request.block);
  fibers_.set_stack_bytes(device::instance().fiber_stack_bytes());
  shared_.begin(request.dynamic_shared);
  running_shared = {shared_.data(), request.dynamic_shared};
  runnable_.clear();
  for (thread& t : threads_ | std::views::reverse) runnable_.push_back(&t);
  at_barrier_.clear();
  converging_.clear();
  different_barriers_ = false;
  votes_ = released_votes_ = 0;
  ended_ = 0;
  running_ = nullptr;
  null_stream_ = nullptr;
  linear_index_ = index;
  run_ = g->owner;
  gridDim = request.grid;
  blockDim = request.block;
  blockIdx = unravel(index, gridDim);
  grid_ = std::move(g);
  current_ = this;
}

void block::end() noexcept {
  current_ = nullptr;
  if (run_->cancelled()) {  // the lists may still have threads of this block
    for (auto& team : at_team_barrier_) team.clear();
    for (warp& w : warps_) {
      w.joined_last = nullptr;
      w.all.clear();
    }
  }
  running_shared = {};
  shared_.end();
  grid_ = nullptr;
}

void block::execute(grid_ptr g, std::uint64_t index) {
  begin(std::move(g), index);
  try {
    execution_context& first = context_of(next_thread());
    if (&first != &thread_stack_) thread_stack_.switch_to(first);
    if (ended_ < threads_.size() && !run_->cancelled()) run_->fail(divergence());
    if (!run_->cancelled() && shared_.overrun()) run_->fail(shared_overrun());
  } catch (...) {
    run_->fail(std::current_exception());
  }
  if (run_->cancelled()) unwind();
  if (launch_failed_) report_unread_failures();
  end();
}

execution_context& block::run_threads(fiber& self) {
  block& here = *current_;
  thread* next = here.starting_;
  do {
    here.run_thread(*next, self);
    next = here.next_thread();
  } while (next != nullptr && next->on == nullptr);
  here.fibers_.give_back(self);
  return here.context_of(next);
}

void block::run_thread(thread& t, fiber& self) {
  running_ = &t;
  threadIdx = t.index;
  t.on = &self;
  t.last_error = cudaSuccess;
  set_default_floating_point_modes();
  try {
    grid_->request.thread(grid_->request.kernel, grid_->arguments.addresses());
  } catch (const block_abandoned&) {
  } catch (...) {
    run_->fail(std::current_exception());
  }
  t.on = nullptr;
  ++ended_;
}

void block::keep_failed_launch(const void* kernel, site written_at) {
  thread& t = *running_;
  if (t.failed_kernel != nullptr) report_unread_failure(t);
  launch_failed_ = true;
  t.failed_kernel = kernel;
  t.failed_at = written_at;
}

/// Reports the failed launches that the threads keep, when all threads have ended.
void block::report_unread_failures() {
  for (thread& t : threads_) {
    if (t.failed_kernel != nullptr) report_unread_failure(t);
    t.failed_kernel = nullptr;
  }
  launch_failed_ = false;
}

void block::report_unread_failure(const thread& t) {
  std::size_t limit = 0;
  std::string what = "kernel " + kernel_name(grid_->request.kernel) + ", " + where(t) +
                     ", at depth " + std::to_string(grid_->depth) +
                     " of the launch tree: the launch of " + kernel_name(t.failed_kernel) +
                     " at line " + std::to_string(t.failed_at.line()) + " failed with " +
                     cudaGetErrorName(t.last_error);
  if (t.last_error == cudaErrorLaunchPendingCountExceeded &&
      device::instance().limit(cudaLimitDevRuntimePendingLaunchCount, limit) == cudaSuccess) {
    what += ": at most " + std::to_string(limit) +
            " grids may be pending, and a grid is pending until its descendants are complete";
  }
  run_->add_unread_failure(what);
}

void block::scheduling_point() {
  run_->scheduling_point();
  if (run_->cancelled()) throw block_abandoned{};
}

void block::atomic_scheduling_point() {
  constexpr std::uint64_t points_per_switch = 4;  // on average
  // A destructor that runs because the run has failed must not throw.
  if (std::uncaught_exceptions() == 0 && run_->draw(points_per_switch) == 0) scheduling_point();
}

/// Returns the rule_violation of threads that wait for other threads without an end.
std::exception_ptr block::divergence() const {
  std::string message;
  const thread* culprit = nullptr;
  if (at_barrier_.size() == threads_.size()) {
    const thread& first = *at_barrier_.front();
    culprit = *std::ranges::find_if(
        at_barrier_, [&](const thread* t) { return !same_site(t->waits_at, first.waits_at); });
    message = "waits at another __syncthreads() (line " + std::to_string(culprit->waits_at.line()) +
              ") than thread " + to_text(first.index) + " (line " +
              std::to_string(first.waits_at.line()) + ")";
  } else {
    // At least one thread waits for a thread that has ended or waits elsewhere.
    const auto waits = [](const thread& t) { return t.waits_in != nullptr; };
    const thread& waiting = *std::ranges::find_if(threads_, waits);
    const auto missing = std::ranges::find_if(threads_, [&](const thread& t) {
      return !waits(t) || std::strcmp(t.waits_in, waiting.waits_in) != 0;
    });
    culprit = &waiting;
    message = "waits in " + std::string(waiting.waits_in) + " at line " +
              std::to_string(waiting.waits_at.line());
    if (missing != threads_.end()) {
      message += ", which thread " + to_text(missing->index) + " never reaches: it ";
      message += waits(*missing) ? "waits in " + std::string(missing->waits_in) + " at line " +
                                       std::to_string(missing->waits_at.line())
                                 : "has ended";
    } else {
      message += " for lanes of its mask that never arrive";
    }
  }
  return std::make_exception_ptr(rule_violation(
      rule::divergent_barrier, kernel_name(grid_->request.kernel), where(*culprit), message));
}

std::exception_ptr block::shared_overrun() const {
  const launch_request& request = grid_->request;
  return std::make_exception_ptr(rule_violation(
      rule::shared_overrun, kernel_name(request.kernel),
      "block " + to_text(unravel(linear_index_, request.grid)),
      "writes after the dynamic shared memory, which has " +
          std::to_string(request.dynamic_shared) + " bytes: the third number of the launch"));
}

void block::unwind() {
  for (thread& t : threads_) {
    if (t.on == nullptr) continue;
    thread_stack_.switch_to(*t.on);     // its wait() throws
    if (t.on != nullptr) std::abort();  // a destructor in the kernel waits; it cannot be unwound
  }
}

std::string block::where(const thread& t) const {
  return "block " + to_text(unravel(linear_index_, grid_->request.grid)) + ", thread " +
         to_text(t.index);
}

void block::violate(rule broken, const std::string& what) const {
  throw rule_violation(broken, kernel_name(grid_->request.kernel), where(*running_), what);
}

cudaStream_t block::null_stream() {
  if (null_stream_ == nullptr) null_stream_ = device::instance().make_stream(grid_.get());
  return null_stream_;
}

void run_block(const grid_ptr& g, std::uint64_t index) {
  try {
    prepare_thread();
    device::instance().block_begins(*g);
    resources->runner.execute(g, index);
    device::instance().block_ended(g);
  } catch (...) {  // an error of the executor itself, such as no memory for a stack
    g->owner->fail(std::current_exception());
  }
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
