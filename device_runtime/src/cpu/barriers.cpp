// SPDX-License-Identifier: BSD-3-Clause
// The built-ins in which the threads of a block wait for each other. One source file contains all
// functions that a waiting thread calls, so that the compiler can inline them. The processor may
// mispredict each return after a switch of stacks, and inlined functions do not return.
#include <algorithm>
#include <bit>
#include <exception>
#include <ramify/cpu/cuda_builtins.hpp>
#include <string>
#include <utility>

#include "block.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

using namespace builtins;

/// Takes the thread that runs next. Returns null if all threads have ended, if the run has failed,
/// or if no thread can run.
block::thread* block::next_thread() {
  while (!run_->cancelled()) {
    if (!runnable_.empty()) {
      const auto choice = run_->draw(runnable_.size());
      if (choice != 0) std::swap(runnable_.back(), runnable_[runnable_.size() - 1 - choice]);
      thread* const next = runnable_.back();
      runnable_.pop_back();
      return next;
    }
    if (!converging_.empty()) {
      release_converging();
    } else if (ended_ == threads_.size() || !release_barrier()) {
      return nullptr;
    }
  }
  return nullptr;
}

/// Returns the context that runs `next`, or that of the operating-system thread if it is null.
execution_context& block::context_of(thread* next) noexcept {
  if (next == nullptr) return thread_stack_;
  if (next->on != nullptr) return *next->on;
  try {
    starting_ = next;
    return fibers_.take();
  } catch (...) {  // the waiting thread did nothing wrong, so it must not get the exception
    run_->fail(std::current_exception());
    return thread_stack_;
  }
}

void block::wait(const char* builtin, site s) {
  thread& self = *running_;
  self.waits_in = builtin;
  self.waits_at = s;
  thread* const next = next_thread();
  if (next != &self) {
    self.on->switch_to(context_of(next));
    running_ = &self;
    threadIdx = self.index;
  }
  self.waits_in = nullptr;
  if (run_->cancelled()) throw block_abandoned{};
}

/// Lets the threads at the barrier continue if it has all threads of the block.
bool block::release_barrier() {
  if (at_barrier_.size() != threads_.size() || different_barriers_) return false;
  runnable_.assign(at_barrier_.rbegin(), at_barrier_.rend());
  at_barrier_.clear();
  released_votes_ = std::exchange(votes_, 0);
  run_->scheduling_point();
  return true;
}

int block::barrier(site s, int predicate, void (*work)(void*), void* state) {
  if (run_->cancelled()) throw block_abandoned{};
  if (!at_barrier_.empty() && !same_site(at_barrier_.back()->waits_at, s))
    different_barriers_ = true;
  const bool is_last = at_barrier_.size() + 1 == threads_.size();
  if (work != nullptr && is_last && !different_barriers_) work(state);
  at_barrier_.push_back(running_);
  if (predicate != 0) ++votes_;
  wait("__syncthreads", s);
  return released_votes_;  // the next barrier needs this thread
}

unsigned block::converge(site s) {
  if (run_->cancelled()) throw block_abandoned{};
  converging_.push_back(running_);
  wait("coalesced_threads", s);
  return running_->converged;
}

/// Lets the threads in converge() continue, each with the lanes that wait at the same line.
void block::release_converging() {
  for (thread* const t : converging_) {
    t->converged = 0;
    for (const thread* const other : converging_) {
      if (other->linear / 32 == t->linear / 32 && same_site(other->waits_at, t->waits_at)) {
        t->converged |= 1u << other->linear % 32;
      }
    }
  }
  runnable_.assign(converging_.rbegin(), converging_.rend());
  converging_.clear();
}

void block::team_barrier(unsigned threads, site s) {
  if (run_->cancelled()) throw block_abandoned{};
  const std::size_t team = running_->linear / threads;
  if (at_team_barrier_.size() <= team) at_team_barrier_.resize(team + 1);
  std::vector<thread*>& waiting = at_team_barrier_[team];
  if (!waiting.empty() && !same_site(waiting.front()->waits_at, s)) {
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

/// Returns the open rendezvous of the lanes in `mask`, or a new one. At most one rendezvous of a
/// mask is open, because a lane that has arrived waits until it is complete.
block::rendezvous& block::find_rendezvous(warp& w, unsigned mask, unsigned bit, const char* builtin,
                                          site s) {
  rendezvous* free = nullptr;
  for (const auto& m : w.all) {
    if (m->left == m->mask) {
      free = m.get();
    } else if (m->mask == mask && (m->arrived & bit) == 0) {
      return *m;
    }
  }
  if (free == nullptr) free = w.all.emplace_back(std::make_unique<rendezvous>()).get();
  free->mask = mask;
  free->arrived = free->left = 0;
  free->builtin = builtin;
  free->site = s;
  free->values.not_zero = 0;
  free->values.lanes = mask;
  if (mask != ~0u) std::ranges::fill(free->values.of_lane, 0);
  return *free;
}

void block::violate_mask(const char* builtin) const {
  violate(rule::divergent_barrier,
          "calls " + std::string(builtin) + " with a mask that leaves the calling lane out");
}

void block::violate_rendezvous(const rendezvous& other, const char* builtin, site s) const {
  violate(rule::divergent_barrier, "calls " + std::string(builtin) + " at line " +
                                       std::to_string(s.line()) +
                                       " while other lanes of its mask wait in " + other.builtin +
                                       " at line " + std::to_string(other.site.line()));
}

const warp_values& block::exchange(unsigned mask, std::uint64_t value, const char* builtin,
                                   site s) {
  if (run_->cancelled()) throw block_abandoned{};
  const unsigned lane = running_->linear % 32;
  const unsigned bit = 1u << lane;
  if ((mask & bit) == 0) violate_mask(builtin);
  warp& w = warps_[running_->linear / 32];
  mask &= w.lanes;  // lanes beyond the end of the block count as arrived

  if (w.joined_last == nullptr || w.joined_last->mask != mask ||
      (w.joined_last->arrived & bit) != 0) {
    w.joined_last = &find_rendezvous(w, mask, bit, builtin, s);
  }
  rendezvous& here = *w.joined_last;
  if (!same_text(here.builtin, builtin) || !same_site(here.site, s)) {
    violate_rendezvous(here, builtin, s);
  }
  here.values.of_lane[lane] = value;
  if (value != 0) here.values.not_zero |= bit;
  here.arrived |= bit;
  if (here.arrived == mask) {
    thread* const first = running_ - lane;
    for (unsigned others = mask & ~bit; others != 0;) {
      const unsigned last = std::bit_width(others) - 1;
      runnable_.push_back(first + last);
      others &= ~(1u << last);
    }
  } else {
    wait(builtin, s);
  }
  here.left |= bit;
  return here.values;  // valid until another thread of the warp has run
}

void wait_then_call(void (*work)(void*), void* state, site s) {
  static_cast<void>(block::current()->barrier(s, 0, work, state));
}

unsigned converged_lanes(site s) { return block::current()->converge(s); }

void wait_for_team(unsigned threads, site s) { block::current()->team_barrier(threads, s); }

const warp_values& warp_exchange(unsigned mask, std::uint64_t value, const char* builtin, site s) {
  return block::current()->exchange(mask, value, builtin, s);
}

}  // namespace ramify::cpu::inline RAMIFY_ABI

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

void __syncthreads(site s) { static_cast<void>(block::current()->barrier(s)); }

int __syncthreads_count(int predicate, site s) { return block::current()->barrier(s, predicate); }

int __syncthreads_and(int predicate, site s) {
  return block::current()->barrier(s, predicate == 0 ? 1 : 0) == 0 ? 1 : 0;
}

int __syncthreads_or(int predicate, site s) {
  return block::current()->barrier(s, predicate) != 0 ? 1 : 0;
}

void __syncwarp(unsigned mask, site s) {
  static_cast<void>(warp_exchange(mask, 0, "__syncwarp", s));
}

namespace {

unsigned ballot(unsigned mask, int predicate, const char* builtin, site s) {
  return warp_exchange(mask, predicate != 0 ? 1 : 0, builtin, s).not_zero;
}

}  // namespace

unsigned __ballot_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate, "__ballot_sync", s);
}

int __any_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate, "__any_sync", s) != 0 ? 1 : 0;
}

int __all_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate == 0 ? 1 : 0, "__all_sync", s) == 0 ? 1 : 0;
}

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
