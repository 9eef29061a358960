// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls from kernels whose work is a sequence of rounds of launch chains. A family describes only
/// what the rounds are:
///
///     struct call : detail::chain_call<call> {   // members as in start_call.cuh, and
///       static constexpr unsigned nested_grids;   grids of the call that are nested, if there are
///                                                 slots
///       bool fits(const plan&) const;
///       bool is_empty() const;                    true: the call has no work
///       void write_state(const plan&, const call_ticket&) const;
///       bool is_complete(const plan&, const call_ticket&) const;
///       bool is_faulty(const plan&, const call_ticket&) const;    optional: of a complete call
///       void launch_due(const plan&, const call_ticket&, const char* kernel) const;
///     };
///
/// The scratch memory of the call begins with a chain_call_state, which write_state() clears by
/// clear_state(). All programs of the call are linked to it by link_to_call(), and launch_due()
/// launches by launch_round_of_call().
///
/// Rounds     drive_call() launches the due round, and after it itself. The last block of a round
///            launches the next round of its chain, until the slots of the call are in use.
/// Join       drive_call() is a tail launch, so it begins when all rounds before are complete, and
///            all slots of the call are free but its own.
/// Failure    drive_call() keeps a call in which a launch failed. Drains continue it. A drain
///            launches one round at a time, which needs one slot.

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
    return ticket.calls->conclude(first, "start_call");
  }
  /// Launches the due round in a drain.
  template <class Plan>
  [[nodiscard]] __device__ bool launch_rest(const Plan& plan, const call_ticket& ticket) const {
    chain_progress& progress = state_of(ticket).progress;
    progress.stopped = 0;
    self().launch_due(plan, ticket, "drain_calls");
    return progress.stopped == 0;
  }
  /// Ends the call, which is complete.
  template <class Plan>
  __device__ void end(const Plan& plan, const call_ticket& ticket) const {
    if constexpr (requires { self().is_faulty(plan, ticket); }) {
      if (self().is_faulty(plan, ticket)) atomicAdd(&ticket.calls->counts.faulty, 1ull);
    }
    ticket.end();
  }

 private:
  [[nodiscard]] __device__ __forceinline__ const Call& self() const {
    return static_cast<const Call&>(*this);
  }
};

/// Launches the due round of a call and, after it, itself. Ends a call that is complete. `begins`
/// is true in the first grid of a call. Launched with one thread.
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
  call.launch_due(*plan, ticket, __func__);
  // Join: a tail launch begins when this grid and all that it launched is complete.
  const auto again = launch(drive_call<Call>, {1, 1}, tail_launch(), call, ticket, plan, false);
  if (!ticket.calls->conclude(again, __func__)) ticket.keep_unfinished();
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
