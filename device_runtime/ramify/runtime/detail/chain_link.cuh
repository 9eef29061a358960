// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The device side of a launch chain: how the last thread of a round launches the next round.
///
/// A chain is a sequence of dependent rounds. A round is a few grids, whose sizes are known when
/// the previous round is complete. A *program* describes a chain; it is the argument that all its
/// kernels share:
///
///     struct halving : detail::chain_link {        // slots, status, trace
///       using state_type = unsigned;                        // what a round passes to the next one
///       static constexpr auto join = chain_join::last_block;
///       state_type* state;                                  // in device memory
///       bool finished(const unsigned& left) const { return left == 0; }
///       bool repeats(const unsigned&) const { return true; }  // a graph loop may launch the round
///       unsigned slots_of(const unsigned&) const { return 1; }  // grids that a round launches
///       template <class Grids>
///       void launch_round(const unsigned& left, Grids& grids) const {
///         grids.unordered(halve, {left, 32}, *this);
///       }
///     };
///
///     __global__ void halve(halving program) {
///       ...
///       if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
///       *program.state /= 2;
///       end_round(program, __func__);                        // launches the next round
///     }
///
/// All members are __host__ __device__. chain_members.cuh lists the optional members, and
/// launch_chain.cuh is the host side. If each round is one grid of several kinds, a table replaces
/// launch_round() (phases.cuh).
///
/// Join         How the chain waits for a round. `last_block`: one thread of the last block of the
///              round's last grid calls end_round(), which launches the next round. `tail_launch`:
///              the driver kernel launches the round and then itself into its tail-launch stream; a
///              round may then have grids that launch grids.
/// Slots        A round takes slots_of() launch slots before its first launch. A grid keeps its
///              place in the pending-launch pool until all grids nested in it are complete, so a
///              chain keeps its slots. The driver, which the host launches after the first round,
///              releases them and launches a round that found no slots. A program with
///              `releases_slots` has few rounds and no driver; each of its grids calls
///              release_slot() first.
/// Failure      A launch that fails ends the chain's launches. The chain counts the launched grids
///              of a round, and the host launches the others (launch_chain::finish()). If none was
///              launched, a loop that follows in the stream can continue (begin_completion()).
/// State        Only the last grid of a round writes what launch_round() reads.

#include <ramify/runtime/detail/phases.cuh>
#include <ramify/runtime/detail/round_launcher.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Launches a child of a round's grid into the fire-and-forget stream, with a launch slot of its
/// own; one thread calls it. Returns false and launches nothing if there is no slot or the launch
/// fails.
///
/// The child's kernel calls release_slot() first. `name` is the calling kernel's __func__.
template <class Program, class... Parameters, class... Arguments>
[[nodiscard]] __device__ bool launch_child(const char* name, void (*kernel)(Program, Parameters...),
                                           const launch_shape& shape, const Program& program,
                                           const Arguments&... arguments) {
  if (!program.slots.acquire(*program.status)) return false;
  Program of_child = program;
  of_child.on_slot = true;
  const unsigned depth = program.progress->rounds;
  const auto launched = launch(kernel, shape, fire_and_forget(), of_child, arguments...);
  if (launched) {
    program.status->count_children(1, depth + 1);
    return true;
  }
  program.slots.release();
  program.status->record_failure(launched.code(), name, depth, program.progress->call);
  return false;
}

/// Launches the due round. The chain has taken `slots` slots for it. `before` is the progress
/// before the round. One thread calls it.
template <class Program>
__device__ void launch_on_slots(const Program& program, const typename Program::state_type& state,
                                const chain_progress& before, unsigned slots, const char* kernel) {
  chain_progress& progress = *program.progress;
  const unsigned depth = before.rounds + 1;
  progress.launched = 0;
  progress.rounds = depth;
  // From the first launch on, the next round may change the state and the progress.
  round_launcher grids(progress, 0, Program::join == chain_join::last_block);
  if constexpr (releases_slots<Program>) {
    Program of_round = program;
    of_round.on_slot = !program.keeps_slots;
    launch_round(of_round, state, grids);
    program.slots.release(slots - grids.launched());
  } else {
    progress.held = before.held + slots;
    launch_round(program, state, grids);
  }
  record_launches(program, grids, depth, kernel);
}

/// Ends an iteration of a graph's loop. The loop continues unless the chain is finished or its due
/// round does not repeat. The one thread that has written the state must call it; `state` is a copy
/// of that state. Kernels in the body of a loop must not contain device launches, so they call this
/// function instead of end_round(). The host may launch the same kernels outside a graph.
template <class Program>
__device__ void end_iteration(const Program& program, const typename Program::state_type& state) {
  // An atomic operation whose result is not used, so that the thread does not wait for a read.
  if (program.loop.in_graph()) atomicAdd(&program.progress->iterations, 1u);
  program.loop.again(!program.finished(state) && program.repeats(state));
}

/// Overload for a thread that has no copy of the state.
template <class Program>
__device__ void end_iteration(const Program& program) {
  const typename Program::state_type state = *program.state;
  end_iteration(program, state);
}

/// Ends a round. On the device route of a chain with chain_join::last_block, it launches the next
/// round. The one thread that has written the state must call it; `state` is a copy of that state.
template <class Program>
__device__ void end_round(const Program& program,
                          [[maybe_unused]] const typename Program::state_type& state,
                          [[maybe_unused]] const char* kernel) {
  // A copy of the whole: reading member by member would be a chain of dependent reads.
  [[maybe_unused]] const chain_progress before = *program.progress;
  program.progress->launched = 0;
  if constexpr (Program::join == chain_join::last_block && device_launch_available) {
    if (program.finished(state)) return;
    // A chain without a driver stops only at a launch that fails, and then its round does not end.
    if (!releases_slots<Program> && before.stopped != 0) return;
    const unsigned slots = program.slots_of(state);
    if (program.slots.acquire(*program.status, slots)) {
      launch_on_slots(program, state, before, slots, kernel);
    } else if (program.slots.in_use != nullptr) {
      atomicAdd(&program.status->spilled, 1ull);
    }
  }
}

/// Overload for a thread that has no copy of the state.
template <class Program>
__device__ void end_round(const Program& program, const char* kernel) {
  const typename Program::state_type state = *program.state;
  end_round(program, state, kernel);
}

/// Drives a chain: releases the slots of the rounds that are complete, and launches the due round
/// and, after it, itself. Without slots the host continues. Launched with one thread.
template <class Program>
__global__ void drive_chain(Program program) {
  const traced here(program.trace, __func__);
  chain_progress& progress = *program.progress;
  const run_status& status = *program.status;
  const typename Program::state_type& state = *program.state;
  // 1. All that was launched before this kernel is complete, so its slots are free.
  program.slots.release(progress.held);
  progress.held = 0;
  // 2. Base case: nothing is left to do, or the host has an error to report.
  if (program.finished(state) || progress.stopped != 0) return;
  if (status.error != 0 || status.dropped != 0) return;
  // 3. Slots for the round and for the next driver.
  const unsigned slots = program.slots_of(state) + 1;
  if (!program.slots.acquire(*program.status, slots)) {
    progress.stopped = 1;
    atomicAdd(&program.status->spilled, 1ull);
    return;
  }
  // 4. The round.
  launch_on_slots(program, state, progress, slots, __func__);
  // 5. Recurse. Join: a tail launch begins when this grid and all that it launched is complete.
  if constexpr (Program::join == chain_join::tail_launch) {
    if (progress.stopped != 0) return;
  }
  const auto again = launch(drive_chain<Program>, {1, 1}, tail_launch(), program);
  if (again) {
    program.status->count_children(1, 1);
  } else {
    progress.stopped = 1;
    program.status->record_failure(again.code(), __func__, 1);
  }
}

/// Writes the state of a chain. Launched with one thread.
template <class State>
__global__ void write_chain_state(State* to, State state, trace_ticket trace) {
  const traced here(trace, __func__);
  *to = state;
}

/// Decides whether the loop that follows a chain in the stream runs: it runs if the grids before it
/// have not finished the chain. Releases the slots that the chain holds. Launched with one thread.
template <class Program>
__global__ void begin_completion(Program program) {
  const traced here(program.trace, __func__);
  chain_progress& progress = *program.progress;
  // 1. All that was launched before this kernel is complete, so its slots are free.
  if (progress.held != 0) program.slots.release(progress.held);
  progress.held = 0;
  // 2. After an error the host throws. It also continues a round of several grids of which a kernel
  //    launched only some.
  const typename Program::state_type state = *program.state;
  const bool has_failed = program.status->error != 0 || program.status->dropped != 0;
  const bool is_partial = progress.launched != 0 && program.slots_of(state) > 1;
  program.loop.again(!has_failed && !is_partial && !program.finished(state) &&
                     program.repeats(state));
}

/// Releases the slots of a chain that stopped. Launched with one thread.
template <class Link>
__global__ void release_slots(Link link) {
  const traced here(link.trace, __func__);
  link.slots.release(link.progress->held);
  link.progress->held = 0;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
