// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls whose grids are the rounds of a launch chain (chain_link.cuh), each of one grid.
///
///     first grid             one block, on the slot of the call. If it does the whole call, it
///                            writes the result and ends the call. Otherwise it writes the first
///                            state, and thread 0 calls continue_in_rounds()
///     rounds                 as in a run that the host starts: the last block of each launches the
///                            next one, while the call has slots
///     end_rounds_of_call     one thread: ends the call, or launches the due round and itself
///
/// Slots     The first grid takes the slots of the others. If none are free, drains do the call,
///           one round each.
/// Join      end_rounds_of_call() is a tail launch of the first grid, and then of itself, so it
///           begins when the rounds that were launched are complete.
///
/// Such a call derives from call_of_rounds, needs one slot and a chunk (call_needs), and has these
/// members, which one thread of a kernel calls:
///
///     Program program(const plan&, const call_ticket&) const;   called_chain sets its chain_link
///     void write_result(const plan&, const call_ticket&) const;

#include <cstring>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/runtime/detail/start_call.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The memory of a call's chain, in the call's chunk.
struct called_chain {
  __host__ __device__ explicit called_chain(memory_layout& layout)
      : progress(layout.take<chain_progress>(1)), slots_in_use(layout.take<unsigned>(1)) {}

  /// Returns the base of the program that the rounds of a call share.
  [[nodiscard]] __device__ chain_link link(const call_ticket& ticket) const {
    constexpr unsigned other_grids = 2;  // the first one, and end_rounds_of_call()
    chain_link link;
    link.progress = progress;
    link.status = ticket.calls->status;
    link.slots = {slots_in_use, ticket.slots > other_grids ? ticket.slots - other_grids : 0};
    link.trace = ticket.trace;
    return link;
  }

  chain_progress* progress;
  unsigned* slots_in_use;  ///< by all rounds that are nested in one another
};

/// Launches the due round of a call. All earlier rounds are complete. Returns whether it was
/// launched. One thread calls it.
template <class Program>
[[nodiscard]] __device__ bool launch_due_round(const Program& program, const char* kernel) {
  const typename Program::state_type state = *program.state;
  memset(static_cast<void*>(program.progress), 0, sizeof *program.progress);
  program.progress->rounds = 1;
  *program.slots.in_use = 1;
  // From the launch on, the next round may change the state and the progress.
  round_launcher grids(*program.progress, 0, false);
  launch_round(program, state, grids);
  record_launches(program, grids, 1, kernel);
  return grids.error() == cudaSuccess;
}

/// The base of a call, with what drains need (start_call.cuh).
template <class Call>
struct call_of_rounds {
  template <class Plan>
  [[nodiscard]] __device__ bool is_complete(const Plan& plan, const call_ticket& ticket) const {
    const auto program = static_cast<const Call&>(*this).program(plan, ticket);
    return program.finished(*program.state);
  }
  template <class Plan>
  __device__ void end(const Plan& plan, const call_ticket& ticket) const {
    static_cast<const Call&>(*this).write_result(plan, ticket);
    ticket.end();
  }
  /// Launches the due round. A drain has no slots for the rounds after it.
  template <class Plan>
  [[nodiscard]] __device__ bool launch_rest(const Plan& plan, const call_ticket& ticket) const {
    return launch_due_round(static_cast<const Call&>(*this).program(plan, ticket), __func__);
  }
};

template <class Call>
__global__ void end_rounds_of_call(Call call, call_ticket ticket, const typename Call::plan* plan);

/// Launches the due round of a call, and then the end of the rounds. If a launch fails, a drain
/// continues. One thread calls it.
template <class Call>
__device__ void launch_rounds(const Call& call, const typename Call::plan& plan,
                              const call_ticket& ticket, const char* kernel) {
  // Join: the tail launch begins when the rounds that are launched are complete.
  if (launch_due_round(call.program(plan, ticket), kernel)) {
    const auto end = launch(end_rounds_of_call<Call>, {1, 1}, tail_launch(), call, ticket, &plan);
    if (ticket.calls->conclude(end, kernel)) return;
  }
  ticket.keep_unfinished();
}

/// Ends a call whose rounds are complete. If some are left, it launches the due one and itself.
/// Launched with one thread.
template <class Call>
__global__ void end_rounds_of_call(Call call, call_ticket ticket, const typename Call::plan* plan) {
  const traced here(ticket.trace, __func__);
  if (!call.is_complete(*plan, ticket)) return launch_rounds(call, *plan, ticket, __func__);
  call.end(*plan, ticket);
}

/// Continues a call after its first grid, which has written the state of the rounds. Thread 0 of
/// the first grid calls it, after a barrier.
template <class Call>
__device__ void continue_in_rounds(const Call& call, const typename Call::plan& plan,
                                   call_ticket ticket) {
  write_record_of_chunk(call, ticket);
  // Slots for the end and for some rounds. Rounds after them follow the end.
  constexpr unsigned most = 9;
  constexpr unsigned least = 2;
  for (unsigned more = most; more >= least && ticket.slots == 1; more /= 2) {
    if (ticket.calls->acquire(more)) ticket.slots += more;
  }
  if (ticket.slots == 1) return ticket.keep_unfinished();
  launch_rounds(call, plan, ticket, __func__);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
