// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls from kernels whose work is rounds of launch chains. A family describes only the rounds:
///
///     struct call : detail::chain_call<call> {   // members as in start_call.cuh, and
///       static constexpr unsigned nested_grids;   grids of the call that are nested, if there are
///                                                 slots
///       bool fits(const plan&) const;
///       bool is_empty() const;                    true: the call has no work
///       void write_state(const plan&, const call_ticket&) const;
///       Program program(const plan&, const call_ticket&) const;
///       bool is_faulty(const plan&, const call_ticket&) const;     optional: of a complete call
///       void write_result(const plan&, const call_ticket&) const;  optional: of a complete call
///     };
///
/// The scratch memory of the call begins with a chain_call_state, which write_state() clears by
/// clear_state(). link_to_call() makes the program a chain of the call. A call of several chains
/// has is_complete() and launch_due() instead of program(), and launches by launch_round_of_call().
///
/// Rounds     drive_call() launches the due round, and after it itself. The last block of a round
///            launches the next round of its chain, until the slots of the call are in use.
/// Join       drive_call() is a tail launch, so it begins when all rounds before are complete, and
///            all slots of the call are free but its own.
/// Failure    drive_call() keeps a call in which a launch failed. Drains continue it. A drain
///            launches one round at a time, which needs one slot.
///
/// The first grid of a call is drive_call(), or a block that usually does the whole call. A call
/// with such a block has its own needs(), one slot and a chunk, and its own start(). It has no
/// is_empty() and no write_state(): the block ends the call, or it writes the first state and its
/// thread 0 calls continue_in_rounds().

#include <cstring>
#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/runtime/detail/start_call.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The state that all chains of a call share.
struct chain_call_state {
  chain_progress progress;
  unsigned slots_in_use;  ///< by the rounds that are not known to be complete
  unsigned step;          ///< of the call, from 0 on: the family defines the steps
};

/// Returns the state of a call, with which its scratch memory begins.
[[nodiscard]] __device__ inline chain_call_state& state_of(const call_ticket& ticket) {
  return *static_cast<chain_call_state*>(ticket.scratch());
}

/// Clears the state of a call, before its first round.
__device__ inline void clear_state(const call_ticket& ticket) {
  memset(static_cast<void*>(&state_of(ticket)), 0, sizeof(chain_call_state));
  state_of(ticket).progress.call = ticket.plan + 1;
}

/// Grids of a call beside its rounds: drive_call(), and the next one.
inline constexpr unsigned drivers_of_call = 2;

/// Makes a program one of the chains of a call. Its rounds share the slots of the call that are
/// left. In a drain there are none, so that a round launches nothing.
__device__ inline void link_to_call(chain_link& link, const call_ticket& ticket) {
  chain_call_state& state = state_of(ticket);
  link.progress = &state.progress;
  link.status = ticket.calls->status;
  link.slots = {};
  if (ticket.slots > drivers_of_call) {
    link.slots = {&state.slots_in_use, ticket.slots - drivers_of_call};
  }
  link.keeps_slots = true;
  link.trace = ticket.trace;
}

/// Launches the due round of a chain of a call. If there are too few slots for a round of several
/// grids, it launches the grid that does the work of all rounds. All rounds before must be
/// complete. One thread calls it.
template <class Program>
__device__ void launch_round_of_call(const Program& program, const char* kernel) {
  const typename Program::state_type state = *program.state;  // the grids change it
  chain_progress& progress = *program.progress;
  const unsigned slots = program.slots_of(state);
  if constexpr (releases_slots<Program>) {
    if (program.slots.allowed < slots) {
      round_launcher grids(progress, 0, false);
      program.launch_rest(grids);
      return record_launches(program, grids, progress.rounds + 1, kernel);
    }
  }
  if (program.slots.in_use != nullptr) *program.slots.in_use = slots;
  launch_on_slots(program, state, chain_progress{progress}, slots, kernel);
}

template <class Call>
__global__ void drive_call(Call call, call_ticket ticket, const typename Call::plan* plan,
                           bool begins);

/// The base of a call that is a sequence of rounds; `Call` derives from it.
template <class Call>
struct chain_call {
  template <class Plan>
  [[nodiscard]] __device__ __forceinline__ call_needs needs(const Plan&) const {
    if (self().is_empty()) return {0, 0, false, call_needs::no_batch};
    return {drivers_of_call + Call::nested_grids, drivers_of_call + 1, true, call_needs::no_batch};
  }
  template <class Plan>
  [[nodiscard]] __device__ __forceinline__ bool start(const Plan& plan,
                                                      const call_ticket& ticket) const {
    const auto first =
        ramify::launch(drive_call<Call>, {1, 1}, fire_and_forget(), self(), ticket, &plan, true);
    return ticket.conclude(first, "drive_call");
  }
  template <class Plan>
  [[nodiscard]] __device__ bool is_complete(const Plan& plan, const call_ticket& ticket) const {
    const auto program = self().program(plan, ticket);
    return program.finished(*program.state);
  }
  /// Launches the due round.
  template <class Plan>
  __device__ void launch_due(const Plan& plan, const call_ticket& ticket,
                             const char* kernel) const {
    launch_round_of_call(self().program(plan, ticket), kernel);
  }
  /// Launches the due round in a drain.
  template <class Plan>
  [[nodiscard]] __device__ bool launch_rest(const Plan& plan, const call_ticket& ticket) const {
    chain_progress& progress = state_of(ticket).progress;
    progress.stopped = 0;
    self().launch_due(plan, ticket, "drain_calls");
    return progress.stopped == 0;
  }
  /// The default of a call whose first grid is a block, which writes the state.
  template <class Plan>
  __device__ void write_state(const Plan&, const call_ticket&) const {}
  /// The default of a call whose grids write its results.
  template <class Plan>
  __device__ void write_result(const Plan&, const call_ticket&) const {}
  /// The default of a call whose input cannot be faulty.
  template <class Plan>
  [[nodiscard]] __device__ bool is_faulty(const Plan&, const call_ticket&) const {
    return false;
  }
  /// Ends the call, which is complete.
  template <class Plan>
  __device__ void end(const Plan& plan, const call_ticket& ticket) const {
    if (self().is_faulty(plan, ticket)) atomicAdd(&ticket.calls->counts.faulty, 1ull);
    self().write_result(plan, ticket);
    ticket.end();
  }

 private:
  [[nodiscard]] __device__ __forceinline__ const Call& self() const {
    return static_cast<const Call&>(*this);
  }
};

/// Launches the due round of a call and, after it, drive_call(). One thread of `kernel` calls it.
template <class Call>
__device__ void launch_rounds(const Call& call, const typename Call::plan& plan,
                              const call_ticket& ticket, const char* kernel) {
  call.launch_due(plan, ticket, kernel);
  // Join: a tail launch begins when this grid and all that it launched is complete.
  const auto next = launch(drive_call<Call>, {1, 1}, tail_launch(), call, ticket, &plan, false);
  if (!ticket.conclude(next, "drive_call")) ticket.keep_unfinished();
}

/// Ends a call that is complete, or launches its due round. `begins` is true in the first grid of a
/// call. Launched with one thread.
template <class Call>
__global__ void drive_call(Call call, call_ticket ticket, const typename Call::plan* plan,
                           bool begins) {
  const traced here(ticket.trace, __func__);
  if (begins) {
    // What a drain needs, if launches fail.
    write_record_of_chunk(call, ticket);
    call.write_state(*plan, ticket);
  } else if (call.is_complete(*plan, ticket)) {
    return call.end(*plan, ticket);
  } else if (state_of(ticket).progress.stopped != 0) {
    return ticket.keep_unfinished();
  }
  launch_rounds(call, *plan, ticket, __func__);
}

/// Continues a call after its first grid, a block of `kernel` that has written the state of the
/// program. Thread 0 of the block calls it, after a barrier.
template <class Call>
__device__ void continue_in_rounds(const Call& call, const typename Call::plan& plan,
                                   call_ticket ticket, const char* kernel) {
  write_record_of_chunk(call, ticket);
  clear_state(ticket);
  // Slots for drive_call() and for some rounds. Rounds after them follow the next drive_call().
  constexpr unsigned most = 9;
  constexpr unsigned least = 2;
  for (unsigned more = most; more >= least && ticket.slots == 1; more /= 2) {
    if (ticket.calls->acquire(more)) ticket.slots += more;
  }
  if (ticket.slots == 1) return ticket.keep_unfinished();
  launch_rounds(call, plan, ticket, kernel);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
