// SPDX-License-Identifier: BSD-3-Clause
#include "block.hpp"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <ranges>
#include <sstream>
#include <utility>

#include "device.hpp"
#include "stack_fault.hpp"

namespace ramify::cpu {
namespace {

using namespace builtins;

thread_local block* running_block = nullptr;

// Thrown in the threads of a block to unwind them after the run has failed.
struct block_abandoned {};

// The idle fibers of this operating-system thread. It runs one block at a time, so the pool grows
// to the size of the largest block.
struct fiber_pool {
  std::vector<std::unique_ptr<fiber>> idle;
  std::size_t stack_bytes = 0;

  std::size_t made = 0;

  fiber* take(std::size_t bytes) {
    if (bytes != stack_bytes) {
      idle.clear();
      stack_bytes = bytes;
    }
    if (idle.empty()) {
      idle.reserve(++made);  // so that give_back() cannot throw
      return new fiber(bytes);
    }
    fiber* taken = idle.back().release();
    idle.pop_back();
    return taken;
  }
  void give_back(fiber* f) { idle.emplace_back(f); }
};

// What an operating-system thread keeps for its blocks. It is freed by a key of pthreads: glibc
// ends the program if it has no memory to register the destructor of a thread_local object.
struct thread_resources {
  fiber_pool fibers;
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

// CUDA does not define the initial contents of shared memory, so this value fills it instead of 0.
constexpr int shared_fill = 0xA5;

std::byte* allocate_shared(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  // Not aligned_alloc: it requires a multiple of the alignment, which would hide short overruns.
  void* memory = nullptr;
  if (posix_memalign(&memory, 128, bytes) != 0) throw std::bad_alloc();
  std::memset(memory, shared_fill, bytes);
  return static_cast<std::byte*>(memory);
}

// `__shared__` variables are thread-local. Returns the calling thread's thread-local storage in all
// modules of the process.
using byte_range = std::span<const std::byte>;
std::vector<byte_range> thread_local_storage() {
  std::vector<byte_range> ranges;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        if (info->dlpi_tls_data == nullptr) return 0;
        for (const auto& header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
          if (header.p_type != PT_TLS) continue;
          static_cast<std::vector<byte_range>*>(to)->emplace_back(
              static_cast<const std::byte*>(info->dlpi_tls_data), header.p_memsz);
        }
        return 0;
      },
      &ranges);
  return ranges;
}

bool holds(byte_range range, const void* address) {
  const auto* a = static_cast<const std::byte*>(address);
  return a >= range.data() && a < range.data() + range.size();
}

// The pointer comparison usually suffices: a compiler merges equal literals.
bool same_text(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }

bool same(const site& a, const site& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         same_text(a.file_name(), b.file_name());
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

block* block::current() { return running_block; }

block::block(grid_ptr g, std::uint64_t index)
    : grid_(std::move(g)),
      linear_index_(index),
      thread_body_([this] { run_thread(); }),
      dynamic_shared_(allocate_shared(grid_->request.dynamic_shared),
                      [](std::byte* memory) { std::free(memory); }) {
  const launch_request& request = grid_->request;
  threads_.resize(request.block.volume());
  runnable_.reserve(threads_.size());
  at_barrier_.reserve(threads_.size());
  rendezvous_.resize((threads_.size() + 31) / 32);
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    threads_[i].linear = unsigned(i);
    threads_[i].index = unravel(i, request.block);
  }
  for (auto& t : threads_ | std::views::reverse) runnable_.push_back(&t);
}

void block::execute() {
  struct running {
    explicit running(block* b) { running_block = b; }
    ~running() { running_block = nullptr; }
  } const now(this);
  gridDim = grid_->request.grid;
  blockDim = grid_->request.block;
  blockIdx = unravel(linear_index_, gridDim);
  try {
    run_threads();
  } catch (...) {
    grid_->owner->fail(std::current_exception());
  }
  if (grid_->owner->cancelled()) unwind();
}

void block::run_threads() {
  while (ended_ < threads_.size() && !grid_->owner->cancelled()) {
    if (runnable_.empty()) {
      release_barrier_or_fail();
      continue;
    }
    const auto choice = grid_->owner->draw(runnable_.size());
    std::swap(runnable_.back(), runnable_[runnable_.size() - 1 - choice]);
    thread* next = runnable_.back();
    runnable_.pop_back();
    step(*next);
  }
}

void block::step(thread& t) {
  if (t.on == nullptr) {
    t.on = resources->fibers.take(device::instance().fiber_stack_bytes());
    t.on->assign(thread_body_);
  }
  running_ = &t;
  threadIdx = t.index;
  t.on->resume();
  if (t.on->idle()) {
    resources->fibers.give_back(std::exchange(t.on, nullptr));
    ++ended_;
  }
}

void block::run_thread() {
  try {
    grid_->request.thread();
  } catch (const block_abandoned&) {
  } catch (...) {
    grid_->owner->fail(std::current_exception());
  }
}

void block::wait(const char* builtin, site s) {
  thread& self = *running_;
  self.waits_in = builtin;
  self.waits_at = s;
  self.on->suspend();
  self.waits_in = nullptr;
  if (grid_->owner->cancelled()) throw block_abandoned{};
}

void block::scheduling_point() {
  grid_->owner->scheduling_point();
  if (grid_->owner->cancelled()) throw block_abandoned{};
}

int block::barrier(site s, int predicate) {
  if (grid_->owner->cancelled()) throw block_abandoned{};
  at_barrier_.push_back(running_);
  if (predicate != 0) ++votes_;
  wait("__syncthreads", s);
  return released_votes_;  // the next barrier needs this thread
}

void block::team_barrier(unsigned threads, site s) {
  if (grid_->owner->cancelled()) throw block_abandoned{};
  const std::size_t team = running_->linear / threads;
  if (at_team_barrier_.size() <= team) at_team_barrier_.resize(team + 1);
  std::vector<thread*>& waiting = at_team_barrier_[team];
  if (!waiting.empty() && !same(waiting.front()->waits_at, s)) {
    violate(rule::divergent_barrier, "waits for its team at line " + std::to_string(s.line()) +
                                         " while others of the team wait at line " +
                                         std::to_string(waiting.front()->waits_at.line()));
  }
  if (waiting.size() + 1 < threads) {
    waiting.push_back(running_);
    wait("block_team::sync", s);
  } else {
    runnable_.insert(runnable_.end(), waiting.rbegin(), waiting.rend());
    waiting.clear();
  }
}

block::rendezvous& block::join_rendezvous(unsigned warp, unsigned mask, unsigned bit,
                                          const char* builtin, site s) {
  rendezvous* free = nullptr;
  for (const auto& m : rendezvous_[warp]) {
    if (m->left == m->mask) {
      free = m.get();
    } else if (m->mask == mask && (m->arrived & bit) == 0) {
      return *m;
    }
  }
  if (free == nullptr) {
    free = rendezvous_[warp].emplace_back(std::make_unique<rendezvous>()).get();
  }
  *free = {mask, 0, 0, builtin, s, {{}, 0, mask}};
  return *free;
}

const warp_values& block::exchange(unsigned mask, std::uint64_t value, const char* builtin,
                                   site s) {
  if (grid_->owner->cancelled()) throw block_abandoned{};
  const unsigned warp = running_->linear / 32;
  const unsigned bit = 1u << running_->linear % 32;
  if ((mask & bit) == 0)
    violate(rule::divergent_barrier,
            "calls " + std::string(builtin) + " with a mask that leaves the calling lane out");
  // Lanes beyond the end of the block count as arrived.
  const std::size_t lanes = std::min<std::size_t>(32, threads_.size() - warp * 32);
  if (lanes < 32) mask &= (1u << lanes) - 1;

  rendezvous& here = join_rendezvous(warp, mask, bit, builtin, s);
  if (!same_text(here.builtin, builtin) || !same(here.site, s)) {
    violate(rule::divergent_barrier, "calls " + std::string(builtin) + " at line " +
                                         std::to_string(s.line()) +
                                         " while other lanes of its mask wait in " + here.builtin +
                                         " at line " + std::to_string(here.site.line()));
  }
  here.values.of_lane[running_->linear % 32] = value;
  if (value != 0) here.values.not_zero |= bit;
  here.arrived |= bit;
  if (here.arrived == mask) {
    for (unsigned lane = 32; lane-- > 0;) {
      if ((mask & ~bit) >> lane & 1u) runnable_.push_back(&threads_[warp * 32 + lane]);
    }
  } else {
    wait(builtin, s);
  }
  here.left |= bit;
  return here.values;  // valid until another thread of the warp has run
}

void block::release_barrier_or_fail() {
  std::string message;
  const thread* culprit = nullptr;
  if (at_barrier_.size() == threads_.size()) {
    const thread& first = *at_barrier_.front();
    for (const thread* t : at_barrier_) {
      if (same(t->waits_at, first.waits_at)) continue;
      culprit = t;
      message = "waits at another __syncthreads() (line " + std::to_string(t->waits_at.line()) +
                ") than thread " + to_text(first.index) + " (line " +
                std::to_string(first.waits_at.line()) + ")";
      break;
    }
    if (culprit == nullptr) {
      for (thread* t : at_barrier_ | std::views::reverse) runnable_.push_back(t);
      at_barrier_.clear();
      released_votes_ = std::exchange(votes_, 0);
      grid_->owner->scheduling_point();
      return;
    }
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
  grid_->owner->fail(std::make_exception_ptr(rule_violation(
      rule::divergent_barrier, kernel_name(grid_->request.kernel), where(*culprit), message)));
}

void block::unwind() {
  for (thread& t : threads_) {
    if (t.on == nullptr) continue;
    step(t);                            // its wait() throws
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

void block::check_arguments(std::span<const byte_range> arguments) const {
  std::vector<byte_range> shared = thread_local_storage();
  shared.emplace_back(dynamic_shared_.get(), grid_->request.dynamic_shared);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const byte_range bytes = arguments[i];
    for (std::size_t at = 0; at + sizeof(void*) <= bytes.size(); at += sizeof(void*)) {
      const void* address = nullptr;
      std::memcpy(&address, bytes.data() + at, sizeof address);
      if (address == nullptr) continue;
      const auto report = [&](rule broken, const char* memory) {
        violate(broken, std::string("passes its child a pointer to ") + memory +
                            " memory in argument " + std::to_string(i + 1));
      };
      if (std::ranges::any_of(shared, [&](byte_range r) { return holds(r, address); })) {
        report(rule::shared_pointer, "shared");
      }
      for (const thread& t : threads_) {
        if (t.on != nullptr && t.on->holds(address)) report(rule::local_pointer, "local");
      }
    }
  }
}

cudaStream_t block::null_stream() {
  if (null_stream_ == nullptr) null_stream_ = device::instance().make_stream(grid_.get());
  return null_stream_;
}

void run_block(const grid_ptr& g, std::uint64_t index) {
  try {
    prepare_thread();
    device::instance().block_begins(*g);
    block(g, index).execute();
    device::instance().block_ended(g);
  } catch (...) {  // an error of the executor itself, such as no memory for a stack
    g->owner->fail(std::current_exception());
  }
}

}  // namespace ramify::cpu
