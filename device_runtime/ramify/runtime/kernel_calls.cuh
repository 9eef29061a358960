// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// kernel_environment: the last argument of an algorithm that a kernel calls.
///
///     using sorts = ramify::quicksort_calls<float>;
///
///     __global__ void sort_rows(..., ramify::kernel_environment<sorts> calls) {
///       if (threadIdx.x != 0) return;
///       const ramify::call_status status = ramify::quicksort(
///           row, n, ramify::ascending{}, calls.then(use_row, {1, 128}, row, n, calls));
///       if (status == ramify::call_status::refused) ...
///     }
///
/// The host gets it from a call_arena (call_arena.cuh), which also has an example of both sides.
///
/// Caller         One thread makes a call. Thousands of threads of thousands of blocks may call at
///                the same time. The call does not wait: its results are complete when its
///                continuation begins, and for work that enters the stream after
///                call_arena::complete_async(). Lanes of a warp start their calls one after
///                another, because the GPU hangs if they launch different kernels at the same time.
///                So no other lane of the warp may launch a kernel while one calls.
/// Continuation   A kernel that runs once when the call is complete, also after a call without
///                work. It may call again, and it sees all results of the call.
/// Arguments      Those of the call and of the continuation are copied bit by bit. They must not
///                point to local or shared memory. Device memory that they point to must exist
///                until the call is complete, and what they point to must have been written by the
///                calling thread, or before a barrier of its block that precedes the call.
/// Build          -rdc=true; without it the call does not compile.

#include <ramify/runtime/detail/start_call.cuh>
#include <ramify/version.hpp>
#include <utility>

namespace ramify::inline RAMIFY_ABI {

/// The result of a call from a kernel. The caller must read it.
enum class [[nodiscard]] call_status{
    started,  ///< the grids of the call are launched
    kept,     ///< grids that follow in the stream do the call
    refused,  ///< nothing was done, and the continuation will not run
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_BUILD {

template <class Plans, class... Parameters>
struct continued_environment;

/// How kernels call algorithms: the launch slots and the memory of a call_arena. `Plans` is the
/// type of the plan with which the arena was made. Trivially copyable; it must not outlive the
/// arena.
template <class Plans>
struct kernel_environment {
  using plans_type = Plans;  ///< the plans of the call

  detail::call_state* calls = nullptr;  ///< in device memory
  const Plans* plans = nullptr;         ///< in device memory
  trace_ticket trace{};                 ///< of the calling grid, if ramify::launch() launched it
  bool refuses = false;                 ///< see or_refuse()

  /// Returns the environment of a call that is refused instead of kept: if launch slots or memory
  /// are missing, a launch fails, or another lane of the warp is in a call elsewhere. A call
  /// without work has started; its continuation may be kept.
  [[nodiscard]] __device__ kernel_environment or_refuse() const {
    kernel_environment refusing = *this;
    refusing.refuses = true;
    return refusing;
  }

  /// Returns the environment of a call after which `kernel` runs, in a grid of this shape. The
  /// arguments of the kernel have at most 192 bytes.
  template <class... Parameters, class... Arguments>
  [[nodiscard]] __device__ __forceinline__ continued_environment<Plans, Parameters...> then(
      void (*kernel)(Parameters...), const launch_shape& shape,
      const Arguments&... arguments) const {
    static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                  "the arguments of a continuation are copied bit by bit");
    static_assert(detail::parameter_layout<Parameters...>::bytes <= detail::kept_launch::capacity,
                  "the arguments of a continuation have more than 192 bytes: pass a pointer to "
                  "device memory");
    return {*this, {kernel, shape, detail::kernel_arguments<Parameters...>::of(arguments...)}};
  }

  /// Writes the continuation of a call, if there is one, to a record. Returns false if no record is
  /// free. `plan` is the number of the call's plan.
  [[nodiscard]] __device__ bool keep_continuation(unsigned& record, unsigned /*plan*/) const {
    record = detail::call_state::none;
    return true;
  }
};

/// A kernel_environment with a continuation: the result of kernel_environment::then().
template <class Plans, class... Parameters>
struct continued_environment : kernel_environment<Plans> {
  detail::continuation<Parameters...> next;  ///< the launch that follows the call

  /// A call has one continuation.
  template <class... Arguments>
  void then(Arguments&&...) const = delete;

  /// Returns the environment of a call that is refused instead of kept; see
  /// kernel_environment::or_refuse().
  [[nodiscard]] __device__ continued_environment or_refuse() const {
    continued_environment refusing = *this;
    refusing.refuses = true;
    return refusing;
  }

  /// Writes the continuation of a call to a record. Returns false if no record is free, or if the
  /// continuation cannot be kept. `plan` is the number of the call's plan.
  [[nodiscard]] __device__ __forceinline__ bool keep_continuation(unsigned& record,
                                                                  unsigned plan) const {
    record = detail::call_state::none;
    if (!may_be_kept(next)) return false;
    record = this->calls->free_records.take();
    if (record == detail::call_state::none) return false;
    write_continuation(this->calls->records[record], plan, next);
    return true;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Whether T is a kernel_environment, with or without a continuation.
template <class T>
inline constexpr bool is_kernel_environment = false;
template <class Plans>
inline constexpr bool is_kernel_environment<kernel_environment<Plans>> = true;
template <class Plans, class... Parameters>
inline constexpr bool is_kernel_environment<continued_environment<Plans, Parameters...>> = true;

/// Whether kernels can launch. It depends on a type, so that only calls are checked.
template <class>
inline constexpr bool kernels_can_call = device_launch_available;

/// Returns the number of chunks that may be taken after a call has started at once. If a batch can
/// do the call, it is few, because many calls take less time together.
template <class Environment>
[[nodiscard]] __device__ __forceinline__ unsigned chunks_for(const call_needs& needs,
                                                             const Environment& env) {
  constexpr unsigned few = 8;
  const unsigned all = env.calls->chunks.capacity;
  return needs.batch == call_needs::no_batch || env.refuses || all < few ? all : few;
}

/// Keeps a call in the list for its needs. Returns false if no record is free.
template <class Plans, class Call>
[[nodiscard]] __device__ __forceinline__ bool keep_call(const Call& call, const call_needs& needs,
                                                        const call_ticket& ticket) {
  call_state& calls = *ticket.calls;
  const unsigned record = calls.free_records.take();
  if (record == call_state::none) return false;
  write_record(calls.records[record], call_record::a_call, call, ticket.plan, ticket.continuation);
  const unsigned batch = call_state::first_batch +
                         each_plan<Plans>::template first_batch<typename Call::plan> + needs.batch;
  const bool alone = needs.batch == call_needs::no_batch;
  calls.append(!alone          ? batch
               : needs.scratch ? unsigned{call_state::needing_chunk}
                               : unsigned{call_state::others},
               record);
  return true;
}

/// Calls an algorithm from a kernel; `Call` is described in start_call.cuh. One thread calls it.
template <class Call, class Environment>
__device__ __forceinline__ call_status start_call(const Call& call, const Environment& env) {
  using plan_type = typename Call::plan;
  using plans_type = typename Environment::plans_type;
  constexpr bool has_plan = std::is_base_of_v<plan_type, plans_type>;
  static_assert(kernels_can_call<Call>,
                "a kernel can call an algorithm only in a program compiled with -rdc=true");
  static_assert(has_plan,
                "the kernel_environment has no plan for this call: give the call_arena a plan for "
                "these types of keys, values and functors, such as quicksort_calls<Key>");
  if constexpr (has_plan && kernels_can_call<Call>) {
    call_counts& counts = env.calls->counts;
    const plan_type& plan = *env.plans;
    constexpr unsigned number = each_plan<plans_type>::template number<plan_type>;
    call_ticket ticket{env.calls, 0, call_state::none, number, call_state::none, env.trace};
    // 1. The continuation gets a record first, so that it cannot be lost later.
    if (check_kept_arguments(plan_type::name, call) && call.fits(plan) &&
        env.keep_continuation(ticket.continuation, number)) {
      // 2. Start the call, or else keep it. If it cannot be kept, start it after all.
      const call_needs needs = call.needs(plan);
      const unsigned chunks = env.calls->chunks.capacity;
      for (unsigned most = chunks_for(needs, env);; most = chunks) {
        const bool started = env.calls->launching.one_by_one(
            [&] { return try_to_start(*env.calls, call, plan, needs, ticket, most); });
        if (started) {
          atomicAdd(&counts.started, 1ull);
          return call_status::started;
        }
        if (!env.refuses && keep_call<plans_type>(call, needs, ticket)) {
          atomicAdd(&counts.kept, 1ull);
          return call_status::kept;
        }
        if (most == chunks) break;
      }
      // 3. Nothing will be done.
      if (ticket.continuation != call_state::none) {
        env.calls->free_records.release(ticket.continuation);
      }
    }
    atomicAdd(&counts.refused, 1ull);
    return call_status::refused;
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
