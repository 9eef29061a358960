// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The device side of a call_arena: launch slots, chunks of scratch memory, and what is kept.
///
/// A thread of a kernel that calls an algorithm never waits. It takes launch slots and, if the call
/// needs scratch memory, a chunk; then it launches the first grid of the call. If it gets none, it
/// keeps the call: it writes a *record* and appends the record to a list. drain_calls(), which
/// follows the calling kernel in the stream, does what the lists have (start_call.cuh). A
/// continuation has a record from the beginning, so that it can be kept, too.
///
/// Slots        A grid keeps its place in the pending-launch pool until all grids nested in it are
///              complete. The slots of the arena, which no other run uses, count these places. A
///              call holds the slots of all its grids from its first launch to its end. The grid
///              that ends a call launches the continuation, so its place is taken until the
///              continuation is complete: these two slots are `held` until the next drain. A drain
///              begins when all that was launched before it is complete, and releases them.
/// No loss      Each call and each continuation that has not begun is in a record, and each record
///              is in a list, or belongs to a call that runs. The record of a chunk keeps a call
///              that could not launch all its grids.
/// No deadlock  No thread waits for a slot, a chunk or a record. When a drain begins, all slots are
///              free, and each taken chunk belongs to a call in a list. So each drain starts,
///              continues or ends at least one call, unless a launch fails. After many drains in a
///              row that have not, the next kernel in the stream drains, or call_arena::get().
/// Lanes        Lanes of a warp start their calls one after another (warp_flags.cuh). A lane keeps
///              its call if another lane of its warp is in a call elsewhere.
/// Nesting      Continuations that call again are nested as deep as there are slots. Then they are
///              kept, and a drain starts them at the top again.

#include <cstddef>
#include <ramify/runtime/detail/index_pool.cuh>
#include <ramify/runtime/detail/warp_flags.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/stream.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

struct call_state;

/// A call or a continuation that may have to wait.
struct call_record {
  static constexpr unsigned capacity = 288;  ///< bytes

  /// What the record keeps. (Not a function: a kernel that takes the address of a function needs as
  /// many registers as this function, and any kernel may write a record.)
  enum what : unsigned { a_continuation, a_call, an_unfinished_call };

  what keeps;
  unsigned plan;          ///< number of the plan, in the arena, of the call or of the call before
  unsigned continuation;  ///< record of the call's continuation, or none
  alignas(16) unsigned char content[capacity];

  template <class Content>
  [[nodiscard]] __device__ Content& as() {
    static_assert(sizeof(Content) <= capacity && alignof(Content) <= 16);
    return *reinterpret_cast<Content*>(content);
  }
};

/// A list of records, a ring. Any thread appends. Only the grids of a drain take from it, and only
/// what it had when the drain began. The grids of a drain read the entries until the drain ends,
/// and each record can be appended once more at the same time. So a ring has two entries for each
/// record, and cannot overflow.
struct call_list {
  unsigned* entries;
  unsigned head;
  unsigned tail;
  unsigned end;  ///< the tail at the beginning of the drain

  /// Returns the position after the entries that drains have taken. The head may be beyond the end:
  /// each thread that found no entry has raised it.
  [[nodiscard]] __host__ __device__ unsigned taken() const {
    return static_cast<int>(end - head) < 0 ? end : head;
  }
  /// Returns the number of entries that no drain has taken.
  [[nodiscard]] __host__ __device__ unsigned left() const { return tail - taken(); }
  /// Returns the number of entries that the drain has not taken.
  [[nodiscard]] __device__ unsigned due() const { return end - head; }
};

/// Counts of calls since the host read them.
struct call_counts {
  unsigned long long started;
  unsigned long long kept;
  unsigned long long refused;
  unsigned long long kept_continuations;
  unsigned long long faulty;
};

/// The state of an arena, in device memory.
struct call_state {
  static constexpr unsigned none = index_pool::none;
  static constexpr unsigned max_lists = 24;

  /// The lists. A drain takes them in this order: `unfinished`, calls that have a chunk, and need a
  /// slot at most; from `first_batch` on, calls of which grids do many, a list for each kind;
  /// `needing_chunk`; `others`, continuations and all other calls.
  enum : unsigned { unfinished, needing_chunk, others, first_batch };

  run_status* status;
  unsigned allowed;      ///< slots of calls; the arena has one more, for the next drain
  unsigned ring;         ///< entries of a list minus 1; the number of entries is a power of two
  call_record* records;  ///< of the pool `free_records`, then one for each chunk
  index_pool free_records;
  index_pool chunks;
  warp_flags launching;  ///< warps of which a lane launches
  std::byte* scratch;
  std::size_t chunk_bytes;

  // These change:
  unsigned in_use;                    ///< slots
  unsigned held;                      ///< slots that the next drain releases
  unsigned idle_drains;               ///< drains in a row that have resumed nothing
  unsigned long long resumed;         ///< calls and continuations that drains have resumed
  unsigned long long resumed_before;  ///< `resumed` at the beginning of the last drain
  call_counts counts;
  call_list lists[max_lists];

  /// Takes slots and returns true, or takes none and returns false.
  [[nodiscard]] __device__ bool acquire(unsigned count) {
    if (load_relaxed(in_use) + count > allowed) return false;  // mostly without a write
    return launch_slots{&in_use, allowed}.acquire(*status, count);
  }
  __device__ void release(unsigned count) { launch_slots{&in_use, allowed}.release(count); }
  /// Keeps slots that are taken until the next drain.
  __device__ void hold(unsigned count) { atomicAdd(&held, count); }

  /// Appends a record to a list.
  __device__ void append(unsigned list, unsigned record) {
    const unsigned at = atomicAdd(&lists[list].tail, 1u);
    lists[list].entries[at & ring] = record;
  }
  /// Returns the record of a chunk.
  [[nodiscard]] __device__ unsigned record_of_chunk(unsigned chunk) const {
    return free_records.capacity + chunk;
  }

  /// Counts a launch of `kernel` by a kernel, or its error. `call` is the number of the plan of the
  /// call, plus 1, or 0. Returns whether it was launched.
  [[nodiscard]] __device__ bool conclude(cudaError_t launched, const char* kernel,
                                         unsigned call = 0) {
    if (launched == cudaSuccess) {
      status->count_children(1, 1);
      return true;
    }
    status->record_failure(launched, kernel, run_status::not_launched, call);
    return false;
  }
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
