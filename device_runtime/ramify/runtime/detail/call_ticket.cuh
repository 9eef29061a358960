// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the grids of a call get: call_ticket and call_batch; and what a call needs.

#include <ramify/runtime/detail/continuation.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// What the grids of a call get: how the call ends.
struct call_ticket {
  call_state* calls;
  unsigned slots;         ///< that the call holds
  unsigned chunk;         ///< of scratch memory, or none
  unsigned plan;          ///< number of the plan in the arena
  unsigned continuation;  ///< record, or none
  trace_ticket trace;

  /// Returns the call's scratch memory.
  [[nodiscard]] __device__ void* scratch() const {
    return calls->scratch + calls->chunk_bytes * chunk;
  }

  /// Counts a launch of `kernel` for the call, or its error. Returns whether it was launched.
  [[nodiscard]] __device__ bool conclude(const launch_status& launched, const char* kernel) const {
    return calls->conclude(launched.code(), kernel, plan + 1);
  }

  /// Ends the call. One thread calls it in the call's last grid, which nothing follows, when the
  /// results are complete: it launches the continuation. The slots of the call's other grids are
  /// free, so these must be complete.
  __device__ __forceinline__ void end() const {
    if (chunk != call_state::none) calls->chunks.release(chunk);
    if (continuation == call_state::none) return slots == 0 ? void() : calls->release(slots);
    if (resume_continuation(*calls, continuation, trace)) {
      if (slots == 0) return;
      calls->hold(1);  // of this grid, see call_state.cuh
      return calls->release(slots - 1);
    }
    atomicAdd(&calls->counts.kept_continuations, 1ull);
    calls->append(call_state::others, continuation);
    calls->release(slots);
  }

  /// Keeps the call, some grids of which could not be launched, with its chunk. A drain continues
  /// it when the others are complete, and until then their slots are held. Requires
  /// write_record_of_chunk().
  __device__ void keep_unfinished() const {
    calls->append(call_state::unfinished, calls->record_of_chunk(chunk));
    calls->hold(slots);
  }
};

/// The calls that the same grids do, see launch_batch() in start_call.cuh.
struct call_batch {
  call_state* calls = nullptr;  ///< null: the grids do one call
  unsigned list = 0;
  unsigned first = 0;

  [[nodiscard]] __device__ unsigned record(unsigned i) const {
    return calls->lists[list].entries[(first + i) & calls->ring];
  }
  /// Returns call i.
  template <class Call>
  [[nodiscard]] __device__ const Call& call(unsigned i) const {
    return calls->records[record(i)].template as<Call>();
  }
  /// Releases the record of call i, after all threads have read it.
  __device__ void release(unsigned i) const { calls->free_records.release(record(i)); }
  /// Returns the ticket of call i, which has neither slots nor a chunk.
  [[nodiscard]] __device__ call_ticket ticket(unsigned i, const trace_ticket& trace) const {
    const call_record& kept = calls->records[record(i)];
    return {calls, 0, call_state::none, kept.plan, kept.continuation, trace};
  }
};

/// What a call needs before it can start.
struct call_needs {
  static constexpr unsigned no_batch = ~0u;

  unsigned slots;        ///< 0: there is nothing to do, and the call ends at once
  unsigned least_slots;  ///< with fewer, drains do the call, by Call::launch_rest()
  bool scratch;          ///< whether it needs a chunk
  unsigned batch;        ///< number of the kind of calls that the same grids do, or no_batch
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
