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
///       using call = ...;                               the calls that it plans
///       void prepare();                                 host: queries the device for what calls
///                                                       need, and raises limits of shared memory
///       std::size_t scratch_bytes() const;              host, after prepare(): of the largest
///                                                       call; 0: none
///       static constexpr const char* name;              the function that kernels call, for errors
///       static constexpr unsigned batches;              kinds of calls of which grids do many
///       bool launch_batch(unsigned kind, unsigned count, const call_ticket&,
///                         const call_batch&) const;     takes slots, and chunks if the calls need
///                                                       them, and launches the first of these
///                                                       grids; not used if `batches` is 0. False:
///                                                       the calls are started one by one
///     };
///     struct call {                         // copied bit by bit; at most 288 bytes
///       using plan = ...;
///       bool fits(const plan&) const;                   false: the call is refused
///       call_needs needs(const plan&) const;
///       bool start(const plan&, const call_ticket&) const;    launches the first grid, on the
///                                                       slots of the ticket. The call's last grid
///                                                       calls ticket.end()
///     };
///
/// A call that needs scratch memory also has these members. With them a drain does what is left of
/// a call whose grids could not be launched. chain_call.cuh has them for calls whose grids are the
/// rounds of launch chains.
///
///     bool is_complete(const plan&, const call_ticket&) const;
///     void end(const plan&, const call_ticket&) const;           ends a complete call
///     bool launch_rest(const plan&, const call_ticket&) const;   one grid that does what is left,
///                                                       or a part of it, from any state
///     void write_state(const plan&, const call_ticket&) const;   if least_slots may be more than
///                                                       one: the state before the first round
///
/// Functions that kernels of users call are forced inline: a kernel with few registers cannot call
/// a function that needs more. So are, in a call, start() and what it calls.
///
/// Its first grid calls write_record_of_chunk(). A launching member calls ticket.conclude() with
/// the status of the launch and the name of the kernel, and returns its result.

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
  static constexpr unsigned batches = (0u + ... + Plans::batches);  ///< for the runtime

  /// Copies the plans.
  explicit call_plans(const Plans&... plans) : Plans(plans)... {}

  /// Queries what the calls need of the current device. \throws cuda_error
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
  /// The name of each plan.
  static constexpr const char* names[] = {Plans::name};
  template <class>
  static constexpr unsigned number = 0;
  template <class>
  static constexpr unsigned first_batch = 0;
  /// Calls visit(plan, its number, the number of its first kind of batch) for each plan.
  template <class Visit>
  static __device__ void visit(const Plans& plans, const Visit& visit) {
    visit(plans, 0u, 0u);
  }
};
template <class... Plans>
struct each_plan<call_plans<Plans...>> {
  static constexpr const char* names[] = {Plans::name...};
  /// Returns the sum of count(plan) over the plans before Plan.
  template <class Plan, class Count, class First, class... Rest>
  static constexpr unsigned before(Count count) {
    if constexpr (std::is_same_v<Plan, First>) {
      return 0;
    } else {
      return count(static_cast<First*>(nullptr)) + before<Plan, Count, Rest...>(count);
    }
  }
  struct one {
    template <class Plan>
    constexpr unsigned operator()(Plan*) const {
      return 1;
    }
  };
  struct batches {
    template <class Plan>
    constexpr unsigned operator()(Plan*) const {
      return Plan::batches;
    }
  };
  template <class Plan>
  static constexpr unsigned number = before<Plan, one, Plans...>({});
  template <class Plan>
  static constexpr unsigned first_batch = before<Plan, batches, Plans...>({});
  template <class Visit>
  static __device__ void visit(const call_plans<Plans...>& plans, const Visit& visit) {
    (visit(static_cast<const Plans&>(plans), number<Plans>, first_batch<Plans>), ...);
  }
};

/// Writes a call to a record.
template <class Call>
__device__ __forceinline__ void write_record(call_record& record, call_record::what keeps,
                                             const Call& call, unsigned plan,
                                             unsigned continuation) {
  static_assert(std::is_trivially_copyable_v<Call>);
  static_assert(sizeof(Call) <= call_record::capacity,
                "the arguments of a call from a kernel, with its functors, are too large: pass "
                "pointers to device memory");
  record.keeps = keeps;
  record.plan = plan;
  record.continuation = continuation;
  new (static_cast<void*>(record.content)) Call(call);
}

/// Writes the record of the call's chunk, so that a drain can continue the call. The first grid of
/// a call with a chunk calls it before it launches another one.
template <class Call>
__device__ void write_record_of_chunk(const Call& call, const call_ticket& ticket) {
  call_state& calls = *ticket.calls;
  write_record(calls.records[calls.record_of_chunk(ticket.chunk)], call_record::an_unfinished_call,
               call, ticket.plan, ticket.continuation);
}

/// Starts a call. Returns false, with nothing changed, if slots or memory are missing. `ticket` has
/// neither. At most `most_chunks` chunks may be taken then.
template <class Call>
__device__ __forceinline__ bool try_to_start(call_state& calls, const Call& call,
                                             const typename Call::plan& plan,
                                             const call_needs& needs, call_ticket ticket,
                                             unsigned most_chunks) {
  if (needs.slots == 0) {
    ticket.end();
    return true;
  }
  if (calls.allowed < needs.least_slots) return false;
  if (needs.scratch) {
    ticket.chunk = calls.chunks.take(most_chunks);
    if (ticket.chunk == call_state::none) return false;
  }
  ticket.slots = needs.slots < calls.allowed ? needs.slots : calls.allowed;
  if (calls.acquire(ticket.slots)) {
    if (call.start(plan, ticket)) return true;
    calls.release(ticket.slots);
  }
  if (needs.scratch) calls.chunks.release(ticket.chunk);
  return false;
}

/// Starts a kept call, in a drain, and releases its record. A call for which the arena never has
/// enough slots gets a chunk; later resume_unfinished() does it. Returns false, with nothing
/// changed, if slots or memory are missing.
template <class Call>
__device__ bool resume_call(call_state& calls, unsigned record, const typename Call::plan& plan,
                            const trace_ticket& trace) {
  const call_record& kept = calls.records[record];
  const Call& call = calls.records[record].template as<Call>();
  call_ticket ticket{&calls, 0, call_state::none, kept.plan, kept.continuation, trace};
  const call_needs needs = call.needs(plan);
  bool resumed = try_to_start(calls, call, plan, needs, ticket, calls.chunks.capacity);
  if constexpr (requires { call.write_state(plan, ticket); }) {
    if (!resumed && needs.scratch && needs.least_slots > calls.allowed) {
      ticket.chunk = calls.chunks.take();
      if (ticket.chunk == call_state::none) return false;
      call.write_state(plan, ticket);
      write_record_of_chunk(call, ticket);
      calls.append(call_state::unfinished, calls.record_of_chunk(ticket.chunk));
      resumed = true;
    }
  }
  if (resumed) calls.free_records.release(record);
  return resumed;
}

/// Continues a call that has a chunk, in a drain: ends it, or launches a grid that does what is
/// left or a part of it. A later drain continues or ends the call. Returns false, with nothing
/// changed, if there is no slot.
template <class Call>
__device__ bool resume_unfinished(call_state& calls, unsigned record,
                                  const typename Call::plan& plan, const trace_ticket& trace) {
  const call_record& kept = calls.records[record];
  const Call& call = calls.records[record].template as<Call>();
  const call_ticket ticket{
      &calls, 0, record - calls.free_records.capacity, kept.plan, kept.continuation, trace};
  if (call.is_complete(plan, ticket)) {
    call.end(plan, ticket);
    return true;
  }
  if (!calls.acquire(1)) return false;
  if (!call.launch_rest(plan, ticket)) {
    calls.release(1);
    return false;
  }
  calls.hold(1);
  calls.append(call_state::unfinished, record);
  return true;
}

/// Starts or continues what a record keeps. Returns false, with nothing changed, if slots or memory
/// are missing. (Not inline: a drain calls it for each list, and it has the launches of all plans.)
template <class Plans>
__device__ __noinline__ bool resume(call_state& calls, unsigned record, const Plans& plans,
                                    const trace_ticket& trace) {
  const call_record& kept = calls.records[record];
  const unsigned of_plan = kept.plan;
  const bool is_continuation = kept.keeps == call_record::a_continuation;
  const bool is_unfinished = kept.keeps == call_record::an_unfinished_call;
  bool resumed = is_continuation && resume_continuation(calls, record, trace);
  each_plan<Plans>::visit(plans, [&]<class Plan>(const Plan& plan, unsigned number, unsigned) {
    using call = typename Plan::call;
    if (is_continuation || number != of_plan) return;
    if constexpr (requires(const call& c, const call_ticket& t) { c.is_complete(plan, t); }) {
      if (is_unfinished) {
        resumed = resume_unfinished<call>(calls, record, plan, trace);
        return;
      }
    }
    resumed = resume_call<call>(calls, record, plan, trace);
  });
  if (resumed) atomicAdd(&calls.resumed, 1ull);
  return resumed;
}

// ---- drains -------------------------------------------------------------------------------------

/// Resumes the records of a list in their order, until slots or memory are missing. Only one thread
/// of a drain may call it.
template <class Plans>
__device__ void resume_in_order(call_state& calls, call_list& list, const Plans& plans,
                                const trace_ticket& trace) {
  for (; list.head != list.end; ++list.head) {
    if (!resume(calls, list.entries[list.head & calls.ring], plans, trace)) return;
  }
}

/// Resumes continuations, and calls that need no chunk, until slots are missing. Any number of
/// threads of a drain may call it.
template <class Plans>
__device__ void resume_due(call_state& calls, const Plans& plans, const trace_ticket& trace) {
  call_list& list = calls.lists[call_state::others];
  for (;;) {
    const unsigned at = atomicAdd(&list.head, 1u);
    if (static_cast<int>(list.end - at) <= 0) return;  // see call_list::taken()
    const unsigned record = list.entries[at & calls.ring];
    if (!resume(calls, record, plans, trace)) return calls.append(call_state::others, record);
  }
}

/// Resumes records with one thread of each block.
template <class Plans>
__global__ void resume_calls(call_state* calls, const Plans* plans, trace_ticket trace) {
  const traced here(trace, __func__);
  resume_due(*calls, *plans, trace);
}

/// Begins a drain. `again` is true if a drain has launched it. Returns whether there is anything to
/// do, and drains before have not failed to do it for too often.
__device__ inline bool begin_drain(call_state& calls, bool again) {
  constexpr unsigned most_idle = 20;
  // All that was launched before is complete.
  calls.release(calls.held);
  calls.held = 0;
  unsigned due = 0;
  for (call_list& list : calls.lists) {
    list.head = list.taken();
    list.end = list.tail;
    due += list.due();
  }
  const bool is_idle = again && calls.resumed == calls.resumed_before;
  calls.resumed_before = calls.resumed;
  calls.idle_drains = is_idle ? calls.idle_drains + 1 : 0;
  return due != 0 && calls.idle_drains <= most_idle && calls.status->error == 0;
}

/// Launches the grids of each kind of batch that has calls, or starts these calls one by one. The
/// last kind of a plan comes first, because it may need all chunks. Continuations of calls of the
/// other kinds may take some.
template <class Plans>
__device__ void launch_batches(call_state& calls, const Plans& plans, const trace_ticket& trace) {
  each_plan<Plans>::visit(plans, [&]<class Plan>(const Plan& plan, unsigned, unsigned first_batch) {
    if constexpr (Plan::batches != 0) {
      RAMIFY_NO_UNROLL
      for (unsigned kind = Plan::batches; kind-- != 0;) {
        const unsigned index = call_state::first_batch + first_batch + kind;
        call_list& list = calls.lists[index];
        if (list.due() == 0) continue;
        const call_batch batch{&calls, index, list.head};
        if (plan.launch_batch(kind, list.due(), batch.ticket(0, trace), batch)) {
          calls.resumed += list.due();
          list.head = list.end;
        } else {
          resume_in_order(calls, list, plans, trace);
        }
      }
    }
  });
}

/// Resumes continuations, and calls that need no chunk, with the calling thread or, if they are
/// many, with a grid.
template <class Plans>
__device__ void resume_others(call_state& calls, const Plans& plans, const trace_ticket& trace) {
  constexpr unsigned for_one_thread = 8;
  constexpr unsigned max_blocks = 128;
  const unsigned due = calls.lists[call_state::others].due();
  if (due > for_one_thread && calls.allowed > for_one_thread && calls.acquire(1)) {
    calls.hold(1);
    const unsigned blocks = due / 4 < max_blocks ? due / 4 : max_blocks;
    const auto launched =
        launch(resume_calls<Plans>, {blocks, 1}, fire_and_forget(), &calls, &plans, trace);
    if (calls.conclude(launched.code(), "resume_calls")) return;
  }
  resume_due(calls, plans, trace);
}

/// Starts as many kept calls and continuations as slots and chunks allow, and then launches itself,
/// until nothing is left. The host launches it after the kernels that call, with one thread, and
/// with `again` false.
template <class Plans>
__global__ void drain_calls(call_state* state, const Plans* plans, trace_ticket trace, bool again) {
  const traced here(trace, __func__);
  call_state& calls = *state;
  if (!begin_drain(calls, again)) return;
  resume_in_order(calls, calls.lists[call_state::unfinished], *plans, trace);
  launch_batches(calls, *plans, trace);
  resume_in_order(calls, calls.lists[call_state::needing_chunk], *plans, trace);
  resume_others(calls, *plans, trace);
  // Join: the next drain begins when all that this one has launched is complete. If it cannot be
  // launched, the next kernel in the stream drains.
  const auto next = launch(drain_calls<Plans>, {1, 1}, tail_launch(), state, plans, trace, true);
  static_cast<void>(calls.conclude(next.code(), "drain_calls"));
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
