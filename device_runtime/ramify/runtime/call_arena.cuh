// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// call_arena: what kernels need to call algorithms, on the host.
///
///     using sorts = ramify::quicksort_calls<float>;
///     ramify::call_arena arena(sorts(1'000'000), {.chunks = 16, .kept_calls = 10'000});
///
///     sort_rows<<<blocks, threads, 0, stream>>>(..., arena.environment());  // calls quicksort()
///     arena.complete_async(stream);
///     use_results<<<..., stream>>>(...);           // sees the results of all calls
///     const ramify::call_report report = arena.get();
///
/// Memory         call_arena_bytes(), from the environment or from Ramify's pool: a chunk of
///                scratch memory for each call that may have one at the same time, and a record of
///                304 bytes for each call that may be kept, and for each continuation that has not
///                begun; and 8 to 16 bytes for each record in each of three lists or more.
/// Launch slots   The arena takes launch slots of the device for its whole life. So its calls make
///                progress whatever other runs do, and other runs have fewer.
/// Order          One stream, or streams that are ordered with each other: all kernels that call by
///                the arena, then complete_async(), then kernels that call again.
/// Capture        A graph can capture the kernels that call together with complete_async(). Each
///                launch of the graph begins with an empty arena, unless a launch before it
///                recorded an error, which get() throws. The arena must exist as long as the graph
///                may be launched, and must be made before the capture.
/// Completion     Work that enters the stream after complete_async() sees the results of all calls,
///                also of those that continuations made. One case is left to get(): launches
///                failed again and again in the kernels that do what was kept, because other users
///                of the pending-launch pool have exhausted it. If none succeeds for half a second,
///                get() throws.

#include <ramify/runtime/detail/requirements.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/kernel_calls.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace ramify::inline RAMIFY_ABI {

/// Options of a call_arena.
struct call_arena_options {
  /// The number of calls at the same time that have scratch memory, in [1, 65536]. Small calls need
  /// none. Large sorts that are kept share the memory of all.
  unsigned chunks = 8;
  /// The number of records, in [1, 2^24]: of calls that are kept, and of continuations that have
  /// not begun. If all are taken, a call is refused.
  unsigned kept_calls = 16'384;
  /// The number of launch slots that the arena takes, at most the launch quota; 0: half of the
  /// quota, or min(quota, 16) if that is more. If other runs hold so many that fewer are free, it
  /// takes a half, a quarter, ... of this number, and at least two.
  unsigned launch_slots = 0;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const call_arena_options& options) {
  detail::check_field(options.chunks >= 1 && options.chunks <= 65'536, "call_arena_options.chunks",
                      options.chunks, "in [1, 65536]");
  detail::check_field(options.kept_calls >= 1 && options.kept_calls <= 1u << 24,
                      "call_arena_options.kept_calls", options.kept_calls, "in [1, 2^24]");
}

/// What the calls from kernels did since the report before. `child_grids` counts their grids, their
/// continuations, and the grids that did what was kept, except those that the host launched.
/// `peak_slots` is the maximum number of the arena's slots in use.
struct call_report : run_report {
  std::uint64_t started = 0;             ///< calls that were started at once
  std::uint64_t kept = 0;                ///< calls that were kept and done later
  std::uint64_t refused = 0;             ///< calls that were refused
  std::uint64_t kept_continuations = 0;  ///< continuations that were kept and ran later
  std::uint64_t faulty = 0;              ///< calls whose input was faulty: they wrote no output
};

/// Prints one line "name: value" for each field.
inline std::ostream& operator<<(std::ostream& out, const call_report& r) {
  return out << static_cast<const run_report&>(r) << "calls started: " << r.started
             << "\ncalls kept: " << r.kept << "\ncalls refused: " << r.refused
             << "\ncontinuations kept: " << r.kept_continuations
             << "\ncalls with faulty input: " << r.faulty << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Takes launch slots of the device: `wanted`, a half, a quarter, ... of them, but at least
/// `least`, or none. Launched with one thread.
template <class Link>
__global__ void take_slots(Link link, unsigned wanted, unsigned least) {
  unsigned taken = wanted;
  while (!link.slots.acquire(*link.status, taken)) {
    if (taken == least) {
      taken = 0;
      break;
    }
    taken = taken / 2 > least ? taken / 2 : least;
  }
  link.progress->held = taken;
}

/// Writes the state of an empty arena, whose pools and flags are zeros, and which uses `lists`
/// lists. Launched with one thread.
template <class State>
__global__ void begin_calls(State* calls, State first, unsigned* entries, unsigned lists) {
  *calls = first;
  for (unsigned i = 0; i != lists; ++i) {
    calls->lists[i].entries = entries;
    entries += first.ring + 1;
  }
  calls->free_records.mark_end();
  calls->chunks.mark_end();
}

/// The memory of an arena.
template <class Plans>
struct arena_memory {
  static constexpr unsigned lists = call_state::first_batch + Plans::batches;
  static_assert(lists <= call_state::max_lists, "the plans have too many kinds of batches");

  arena_memory(memory_layout& memory, const Plans& prepared, const call_arena_options& options)
      : control(memory.take<std::byte>(run_control::scratch_bytes)),
        state(memory.take<call_state>(1)),
        plans(memory.take<Plans>(1)) {
    constexpr std::size_t unit = memory_layout::alignment;
    const std::size_t before = memory.size();
    pools = memory.take<std::byte>(0);
    first.free_records = index_pool::place(memory, options.kept_calls);
    first.chunks = index_pool::place(memory, options.chunks);
    first.launching = warp_flags::place(memory);
    pool_bytes = memory.size() - before;
    const unsigned records = options.kept_calls + options.chunks;
    // Entries that a drain has taken are read until it ends. Others are appended at the same time.
    first.ring = std::bit_ceil(2 * records) - 1;
    entries = memory.take<unsigned>(lists * (std::size_t{first.ring} + 1));
    first.records = memory.take<call_record>(records);
    first.chunk_bytes = (prepared.scratch_bytes() + unit - 1) / unit * unit;
    first.scratch = memory.take<std::byte>(first.chunk_bytes * options.chunks);
  }

  std::byte* control;
  call_state* state;
  Plans* plans;
  std::byte* pools;
  std::size_t pool_bytes = 0;
  unsigned* entries = nullptr;
  call_state first{};  ///< the state of an empty arena
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the device memory of a call_arena, in bytes, for a plan, such as
/// quicksort_calls<float>(n), or call_plans of several. \throws std::invalid_argument, cuda_error
template <class Plans>
[[nodiscard]] std::size_t call_arena_bytes(Plans plans, const call_arena_options& options = {}) {
  validate(options);
  plans.prepare();
  return layout_bytes<detail::arena_memory<Plans>>(plans, options);
}

/// The launch slots and the memory for calls from kernels. Move-only; a moved-from arena may only
/// be destroyed.
///
/// The destructor does not wait: it returns slots and memory in the order of the stream of the
/// environment.
template <class Plans>
class call_arena {
 public:
  /// Takes launch slots and memory. Waits for the stream.
  ///
  /// \param plans    a plan of a family, or call_plans of several: which calls kernels may make
  /// \param env      its stream: that of the kernels that call; its memory: call_arena_bytes()
  /// \throws std::invalid_argument for bad options or memory; unavailable with the numbers if there
  ///         are fewer than two free launch slots, in a build without -rdc=true, while the stream
  ///         is being captured, and for route::flat; cuda_error
  explicit call_arena(Plans plans, const call_arena_options& options = {},
                      const ramify::environment& env = {})
      : call_arena(prepared(std::move(plans), options), options,
                   checked(detail::run_setup("call_arena", env))) {}

  /// Returns the argument for kernels that call.
  [[nodiscard]] kernel_environment<Plans> environment() const {
    return {memory_.parts.state, memory_.parts.plans, control_.ticket()};
  }

  /// Puts grids into the stream that do what the kernels before them have kept, and end at once if
  /// that is nothing. Asynchronous; a graph can capture it. \throws std::logic_error after
  /// cudaDeviceReset(); cuda_error
  void complete_async(cudaStream_t stream) {
    const phase_range range("call_arena: complete");
    const device_scope here(choices_.device);
    control_.require_context();
    const auto env = environment();
    // If a drain cannot launch the next one, the following kernel in the stream drains. The last
    // kernel usually launches nothing: a graph does not wait for the child grids of its last
    // kernel.
    constexpr int drains = 3;
    for (int i = 0; i < drains; ++i) {
      control_.launched(launch(detail::drain_calls<Plans>, {1, 1}, stream, env.calls, env.plans,
                               env.trace, false),
                        "launching the grids that do kept calls");
    }
  }
  /// Overload for the stream of the arena's environment.
  void complete_async() { complete_async(control_.stream()); }

  /// Waits for the stream of the environment, with which the streams of all kernels that call must
  /// be ordered, does what is left, and reports.
  /// \throws device_launch_error for the first launch in a kernel that failed, other than for want
  ///         of a place in the pending-launch pool, and if there is no place for half a second:
  ///         then calls are incomplete, and the arena is empty again; std::logic_error while the
  ///         stream is being captured, and after cudaDeviceReset(); cuda_error
  call_report get() {
    const phase_range range("call_arena: get");
    const device_scope here(choices_.device);
    detail::require_not_captured(control_.stream(), choices_.algorithm);
    detail::call_state seen{};
    try {
      complete(seen);
    } catch (const device_launch_error& e) {
      const unsigned call = control_.seen(control_.status()).error_call;
      clear();
      if (call == 0) throw;
      throw device_launch_error(
          e.code(), e.kernel(), e.depth(),
          std::string("call of ") + detail::each_plan<Plans>::names[call - 1] + ": " + e.what());
    }
    control_.read_trace();
    call_report report;
    static_cast<run_report&>(report) = control_.report();
    report.started = seen.counts.started;
    report.kept = seen.counts.kept;
    report.refused = seen.counts.refused;
    report.kept_continuations = seen.counts.kept_continuations;
    report.faulty = seen.counts.faulty;
    report.scratch_bytes = memory_.scratch.size();
    clear();
    return report;
  }

 private:
  static Plans prepared(Plans plans, const call_arena_options& options) {
    validate(options);
    plans.prepare();
    return plans;
  }

  static const detail::run_setup& checked(detail::run_setup&& setup) {
    if (!device_launch_available) {
      throw unavailable("call_arena: calls from kernels need a build with -rdc=true");
    }
    if (setup.captured) throw unavailable("call_arena: it must be made before the capture");
    if (setup.wanted == route::flat) {
      throw unavailable("call_arena: environment.route is flat, but kernels launch the calls");
    }
    setup.choice = {route::device, "kernels launch the calls"};
    return setup;
  }

  call_arena(const Plans& plans, const call_arena_options& options, const detail::run_setup& setup)
      : choices_(setup),
        memory_(setup.given, setup.stream, setup.algorithm, plans, options),
        control_(memory_.parts.control, setup) {
    memory_.parts.first.status = control_.status();
    memory_.parts.first.allowed = take_slots(options) - 1;
    check(cudaMemcpyAsync(memory_.parts.plans, &plans, sizeof plans, cudaMemcpyHostToDevice,
                          control_.stream()),
          "writing the plans of calls");
    clear();
  }

  /// Takes the launch slots of the arena. Returns their number. \throws unavailable; cuda_error
  unsigned take_slots(const call_arena_options& options) {
    constexpr unsigned preferred = 16;
    constexpr unsigned least = 2;  // of a call, and of the next drain
    const unsigned quota = launch_quota(choices_.limit);
    unsigned wanted = std::min(options.launch_slots, quota);
    if (wanted == 0) wanted = std::max(quota / 2, std::min(quota, preferred));
    detail::chain_link link = control_.link();
    link.trace = {};  // the grid is in no report
    control_.may_hold_slots();
    control_.launch_grid("taking launch slots", detail::take_slots<detail::chain_link>, {1, 1},
                         link, std::max(wanted, least), least);
    const detail::chain_progress progress = control_.wait();
    if (progress.held != 0) return progress.held;
    throw unavailable("call_arena: it needs at least " + std::to_string(least) +
                      " launch slots; the pending-launch limit of " +
                      std::to_string(choices_.limit) + " gives " + std::to_string(quota) +
                      ", of which other runs may have taken some");
  }

  /// Makes the arena empty, and waits for that. Its slots stay taken. \throws cuda_error
  void clear() {
    const detail::arena_memory<Plans>& parts = memory_.parts;
    clear_memory(control_.status(), 1, control_.stream(), "clearing the status of calls");
    clear_memory(parts.pools, parts.pool_bytes, control_.stream(), "clearing the pools of calls");
    control_.launch_grid("clearing the state of calls", detail::begin_calls<detail::call_state>,
                         {1, 1}, parts.state, parts.first, parts.entries,
                         detail::arena_memory<Plans>::lists);
    check(cudaStreamSynchronize(control_.stream()), "clearing the state of calls");
    control_.report() = report_of_this_build(choices_.choice);
    control_.report().pending_launch_limit = choices_.limit;
  }

  /// Waits for the stream, and does what is left. `seen` gets the last state. \throws
  /// device_launch_error; std::logic_error after cudaDeviceReset(); cuda_error
  void complete(detail::call_state& seen) {
    constexpr unsigned most_idle = 100;
    constexpr std::chrono::milliseconds pause(5);  // for other users of the pool
    unsigned long long resumed = 0;
    for (unsigned idle = 0; !is_complete(seen); ++idle) {
      if (seen.resumed != resumed) idle = 0;
      resumed = seen.resumed;
      if (idle > most_idle) throw never_launched(seen);
      if (idle > 1) std::this_thread::sleep_for(pause);
      complete_async();
    }
  }

  [[nodiscard]] static device_launch_error never_launched(const detail::call_state& seen) {
    unsigned kept = 0;
    for (const detail::call_list& list : seen.lists) kept += list.left();
    return {cudaErrorLaunchPendingCountExceeded, "drain_calls", 0,
            "call_arena: " + std::to_string(kept) +
                " calls and continuations are incomplete, because the pending-launch pool had no "
                "place for their grids: other launches by kernels fill it"};
  }

  /// Waits for the stream, and reads the state. Returns whether nothing is kept. \throws
  /// device_launch_error; std::logic_error after cudaDeviceReset(); cuda_error
  [[nodiscard]] bool is_complete(detail::call_state& seen) {
    static_cast<void>(control_.wait());
    seen = read_back(memory_.parts.state, control_.stream(), "reading the state of calls");
    return std::ranges::all_of(seen.lists, [](const auto& list) { return list.left() == 0; });
  }

  detail::run_choices choices_;  // has the limits of the environment
  run_memory<detail::arena_memory<Plans>> memory_;
  run_control control_;
};

}  // namespace ramify::inline RAMIFY_BUILD
