// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How a kernel starts a call, and how drain_calls() does what is kept. call_state.cuh describes
/// the memory.
///
/// A family gives the arena a *plan*, which the host prepares, and describes a call by a struct.
/// All members that are not marked run in kernels, and one thread calls them.
///
///     struct plan {                         // copied bit by bit to device memory
///       void prepare();                                 host: asks the device what calls need,
///                                                       and raises limits of shared memory
///       std::size_t scratch_bytes() const;              host, after prepare(): of the largest
///                                                       call; 0: none
///       static constexpr unsigned batches;              kinds of calls of which a grid does many
///       bool launch_batch(unsigned kind, unsigned count, const call_ticket&,
///                         const call_batch&) const;     launches that grid, one block for a call
///     };
///     struct call {                         // copied bit by bit; at most 230 bytes
///       using plan = ...;
///       bool fits(const plan&) const;                   false: the call is refused
///       call_needs needs(const plan&) const;
///       bool start(const plan&, const call_ticket&) const;    launches the first grid, on the
///                                                       slots of the ticket. The call's last grid
///                                                       calls ticket.end()
///     };
///
/// A call that needs scratch memory also has these members. With them a drain does what is left of
/// a call whose grids could not be launched.
///
///     void write_state(const plan&, const call_ticket&) const;   the state before the first round
///     bool is_complete(const plan&, const call_ticket&) const;
///     bool launch_rest(const plan&, const call_ticket&) const;   one grid that does all that is
///                                                       left, from any state
///
/// Its first grid calls write_record_of_chunk(). A launching member calls calls->conclude() with
/// the status of the launch, and returns its result.

#include <new>
#include <ramify/runtime/detail/call_ticket.cuh>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// Plans of several families, or for several types, for one call_arena.
///
///     using floats = ramify::quicksort_calls<float>;
///     using pairs = ramify::quicksort_calls<double, int>;
///     ramify::call_arena arena(ramify::call_plans{floats(n), pairs(m)});
///     ... ramify::kernel_environment<ramify::call_plans<floats, pairs>> calls ...
template <class... Plans>
struct call_plans : Plans... {
  static constexpr unsigned batches = (0u + ... + Plans::batches);

  explicit call_plans(const Plans&... plans) : Plans(plans)... {}

  /// Asks the current device what the calls need. \throws cuda_error
  void prepare() { (Plans::prepare(), ...); }
  /// Returns the scratch memory of the largest call, in bytes.
  [[nodiscard]] std::size_t scratch_bytes() const {
    std::size_t most = 0;
    ((most = most < Plans::scratch_bytes() ? Plans::scratch_bytes() : most), ...);
    return most;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The plans of an arena, one by one. `Plans` is one plan.
template <class Plans>
struct each_plan {
  template <class Plan>
  static constexpr unsigned first_batch = 0;
  /// Calls visit(plan, number of its first kind of batch) for each plan.
  template <class Visit>
  static __device__ void visit(const Plans& plans, const Visit& visit) {
    visit(plans, 0u);
  }
};
template <class... Plans>
struct each_plan<call_plans<Plans...>> {
  template <class Plan, class First, class... Rest>
  static constexpr unsigned batches_before() {
    if constexpr (std::is_same_v<Plan, First>) {
      return 0;
    } else {
      return First::batches + batches_before<Plan, Rest...>();
    }
  }
  template <class Plan>
  static constexpr unsigned first_batch = batches_before<Plan, Plans...>();
  template <class Visit>
  static __device__ void visit(const call_plans<Plans...>& plans, const Visit& visit) {
    (visit(static_cast<const Plans&>(plans), first_batch<Plans>), ...);
  }
};

/// Writes a call to a record.
template <class Call>
__device__ void write_record(call_record& record, const Call& call, const typename Call::plan* plan,
                             unsigned continuation,
                             bool (*resume)(call_state&, unsigned, const trace_ticket&)) {
  static_assert(std::is_trivially_copyable_v<Call>);
  static_assert(sizeof(kept_call<Call>) <= call_record::capacity,
                "the arguments of a call from a kernel, with its functors, are too large: pass "
                "pointers to device memory");
  record.resume = resume;
  record.continuation = continuation;
  new (static_cast<void*>(record.content)) kept_call<Call>{call, plan};
}

/// Continues a call that has a chunk, in a drain: ends it, or launches a grid that does the rest of
/// it, after which the next drain ends it.
template <class Call>
__device__ bool resume_unfinished(call_state& calls, unsigned record, const trace_ticket& trace) {
  const kept_call<Call>& kept = calls.records[record].template as<kept_call<Call>>();
  const call_ticket ticket{&calls, 0, record - calls.free_records.capacity,
                           calls.records[record].continuation, trace};
  if (kept.call.is_complete(*kept.plan, ticket)) {
    ticket.end();
    return true;
  }
  if (!calls.acquire(1)) return false;
  if (!kept.call.launch_rest(*kept.plan, ticket)) {
    calls.release(1);
    return false;
  }
  calls.hold(1);
  calls.append(0, record);
  return true;
}

/// Writes the record of the call's chunk, so that a drain can continue the call. The first grid of
/// a call with a chunk calls it before it launches another one.
template <class Call>
__device__ void write_record_of_chunk(const Call& call, const typename Call::plan& plan,
                                      const call_ticket& ticket) {
  call_state& calls = *ticket.calls;
  write_record(calls.records[calls.record_of_chunk(ticket.chunk)], call, &plan, ticket.continuation,
               resume_unfinished<Call>);
}

/// Starts a call. Returns false, with nothing changed, if slots or memory are missing.
template <class Call>
__device__ bool try_to_start(call_state& calls, const Call& call, const typename Call::plan& plan,
                             const call_needs& needs, unsigned continuation,
                             const trace_ticket& trace) {
  call_ticket ticket{&calls, 0, call_state::none, continuation, trace};
  if (needs.slots == 0) {
    ticket.end();
    return true;
  }
  if (calls.allowed < needs.least_slots) return false;
  ticket.slots = needs.slots < calls.allowed ? needs.slots : calls.allowed;
  if (!calls.acquire(ticket.slots)) return false;
  if (needs.scratch) ticket.chunk = calls.chunks.take();
  if (!needs.scratch || ticket.chunk != call_state::none) {
    if (call.start(plan, ticket)) return true;
    if (needs.scratch) calls.chunks.release(ticket.chunk);
  }
  calls.release(ticket.slots);
  return false;
}

/// Starts a kept call, in a drain. A call for which the arena never has enough slots gets a chunk;
/// later resume_unfinished() does it.
template <class Call>
__device__ bool resume_call(call_state& calls, unsigned record, const trace_ticket& trace) {
  const kept_call<Call>& kept = calls.records[record].template as<kept_call<Call>>();
  const unsigned continuation = calls.records[record].continuation;
  const call_needs needs = kept.call.needs(*kept.plan);
  if (try_to_start(calls, kept.call, *kept.plan, needs, continuation, trace)) {
    calls.free_records.release(record);
    return true;
  }
  if constexpr (requires(const call_ticket& t) { kept.call.launch_rest(*kept.plan, t); }) {
    if (!needs.scratch || needs.least_slots <= calls.allowed) return false;
    const unsigned chunk = calls.chunks.take();
    if (chunk == call_state::none) return false;
    const call_ticket ticket{&calls, 0, chunk, continuation, trace};
    kept.call.write_state(*kept.plan, ticket);
    write_record_of_chunk(kept.call, *kept.plan, ticket);
    calls.append(0, calls.record_of_chunk(chunk));
    calls.free_records.release(record);
    return true;
  } else {
    return false;
  }
}

// ---- drains -------------------------------------------------------------------------------------

/// Resumes the records that are due one by one, until slots or memory are missing. Any number of
/// threads of a drain may call it.
__device__ inline void resume_due(call_state& calls, const trace_ticket& trace) {
  call_list& list = calls.lists[0];
  for (;;) {
    const unsigned at = atomicAdd(&list.head, 1u);
    if (static_cast<int>(list.end - at) <= 0) return;  // the next drain corrects the head
    const unsigned record = list.entries[at & calls.ring];
    const auto resume = calls.records[record].resume;
    const bool resumed = resume == nullptr ? resume_continuation(calls, record, trace)
                                           : resume(calls, record, trace);
    if (!resumed) return calls.append(0, record);
  }
}

/// Resumes records with one thread of each block.
template <class Plans>
__global__ void resume_calls(call_state* calls, trace_ticket trace) {
  const traced here(trace, __func__);
  resume_due(*calls, trace);
}

/// Begins a drain. Returns whether there is anything to do.
__device__ inline bool begin_drain(call_state& calls) {
  // All that was launched before is complete.
  calls.release(calls.held);
  calls.held = 0;
  unsigned due = 0;
  for (call_list& list : calls.lists) {
    if (static_cast<int>(list.end - list.head) < 0) list.head = list.end;
    list.end = list.tail;
    due += list.due();
  }
  return due != 0 && calls.status->error == 0;
}

/// Launches a grid for each kind of batch that has calls.
template <class Plans>
__device__ void launch_batches(call_state& calls, const Plans& plans, const trace_ticket& trace) {
  each_plan<Plans>::visit(plans, [&](const auto& plan, unsigned first_batch) {
    for (unsigned kind = 0; kind < plan.batches; ++kind) {
      const unsigned index = 1 + first_batch + kind;
      call_list& list = calls.lists[index];
      if (list.due() == 0 || !calls.acquire(1)) continue;
      const call_ticket ticket{&calls, 0, call_state::none, call_state::none, trace};
      if (plan.launch_batch(kind, list.due(), ticket, {&calls, index, list.head})) {
        calls.hold(1);
        list.head = list.end;
      } else {
        calls.release(1);
      }
    }
  });
}

/// Starts as many kept calls and continuations as slots and chunks allow, and then launches itself,
/// until nothing is left. The host launches it after the kernels that call, with one thread.
template <class Plans>
__global__ void drain_calls(call_state* state, const Plans* plans, trace_ticket trace) {
  const traced here(trace, __func__);
  call_state& calls = *state;
  if (!begin_drain(calls)) return;
  // Join: the next drain begins when all that this one launches is complete. If it cannot be
  // launched, nothing is started, and the next kernel in the stream drains.
  const auto again = launch(drain_calls<Plans>, {1, 1}, tail_launch(), state, plans, trace);
  if (!calls.conclude(again, __func__)) return;
  launch_batches(calls, *plans, trace);
  constexpr unsigned for_one_thread = 8;
  constexpr unsigned max_blocks = 128;
  const unsigned due = calls.lists[0].due();
  if (due > for_one_thread && calls.allowed > for_one_thread && calls.acquire(1)) {
    calls.hold(1);
    const unsigned blocks = due / 4 < max_blocks ? due / 4 : max_blocks;
    const auto launched = launch(resume_calls<Plans>, {blocks, 1}, fire_and_forget(), state, trace);
    if (calls.conclude(launched, __func__)) return;
  }
  resume_due(calls, trace);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
