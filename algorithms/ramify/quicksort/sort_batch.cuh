// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// *Batches* of sorts that kernels call: those that were kept and that are too long for one block
/// are sorted together, with a few large grids instead of a few small ones for each.
///
///     place_rows     one block: takes as many calls as fit, in their order, and makes each of them
///                    a segment; appends the other calls to their list again
///     copy_rows      copies the elements of all calls to the arrays of the batch
///     levels         of a sample_sort that begins with segments, as in a segmented sort
///     copy_rows      copies the elements back
///     end_rows       ends each call, with a block for each
///
/// Memory   All chunks of the arena together. Their arrays have the elements of all calls, one call
///          after another, because the arrays of a sample_sort have a place for each position. The
///          chunks are released when the continuations of all calls are complete, so that calls
///          that need a chunk are kept until then.
/// Join     drive_call() launches each of these grids but the first one, and then the levels, when
///          what was launched before is complete (chain_call.cuh). So a drain can continue a batch
///          in which a launch failed. The records of its calls are released at the end.

#include <ramify/quicksort/sort_call_memory.cuh>
#include <ramify/runtime/detail/partition_point.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The steps of a batch.
enum batch_step : unsigned { gathering, sorting, returning, ending, batch_is_complete };

/// Threads of a block of place_rows() and of copy_rows().
inline constexpr unsigned batch_threads = 256;

/// Copies `count` elements with all threads of the block.
template <class T>
__device__ void copy_elements(T* to, const T* from, position count) {
  constexpr int items = sizeof(T) <= 8 ? 8 : 1;  // loads in flight at a time
  for (position first = threadIdx.x; first < count; first += items * batch_threads) {
    T loaded[items];
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const position at = first + unsigned(i) * batch_threads;
      if (at < count) loaded[i] = from[at];
    }
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const position at = first + unsigned(i) * batch_threads;
      if (at < count) to[at] = loaded[i];
    }
  }
}

/// Copies the elements of all calls to the arrays of the batch, or back. A block copies one tile at
/// a time.
template <bool gathers, class Call, class Arrays>
__global__ void __launch_bounds__(batch_threads)
    copy_rows(sort_batch batch, Arrays gathered, trace_ticket trace) {
  const traced here(trace, __func__);
  const batch_row* const rows = batch.rows();
  const position n = batch.extent->n;
  for (position tile = position{blockIdx.x} * copy_tile; tile < n;
       tile += position{gridDim.x} * copy_tile) {
    const position end = min(tile + copy_tile, n);
    // The last row that does not begin after the tile.
    unsigned i = runtime::partition_point(1u, batch.extent->rows,
                                          [&](unsigned row) { return rows[row].begin <= tile; }) -
                 1;
    for (position at = tile; at < end; ++i) {
      const Call& call = batch.template call<Call>(i);
      const position first = at - rows[i].begin;
      const position count = min(call.n - first, end - at);
      const auto copy = [&](auto* mine, auto* of_batch) {
        if constexpr (gathers) {
          copy_elements(of_batch + at, mine + first, count);
        } else {
          copy_elements(mine + first, of_batch + at, count);
        }
      };
      copy(call.data.keys, gathered.keys);
      if constexpr (Arrays::has_values) copy(call.data.values, gathered.values);
      at += count;
    }
  }
}

/// Ends call i in block i. Launched with blocks of one thread.
template <class Call>
__global__ void end_rows(sort_batch batch, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned record = batch.rows()[blockIdx.x].record;
  const call_record& kept = batch.calls->records[record];
  const call_ticket own{batch.calls, 0, call_state::none, kept.plan, kept.continuation, trace};
  batch.calls->free_records.release(record);
  own.end();
}

/// Returns whether a level is due, and otherwise makes the next step due.
template <class Context>
[[nodiscard]] __device__ bool is_sorting(const Context& sort, unsigned& step) {
  if (step == sorting && sort.finished(*sort.state)) step = returning;
  return step == sorting;
}

/// Launches the grid of a step that is not one of the levels.
template <class Call, class Context>
__device__ void launch_step_of_batch(const Call&, const Context& sort, const call_ticket& ticket) {
  using arrays = key_value_arrays<typename Context::key, typename Context::value>;
  const sort_batch batch(ticket);
  chain_call_state& state = state_of(ticket);
  const position tiles = batch.extent->n / copy_tile + 1;
  const launch_shape copying(static_cast<unsigned>(least(tiles, 8 * sort.sizes.blocks)),
                             batch_threads);
  const auto launch_copies = [&](void (*copies)(sort_batch, arrays, trace_ticket)) {
    return ramify::launch(copies, copying, fire_and_forget(), batch, sort.buffers.output,
                          ticket.trace);
  };
  const auto launched = state.step == gathering ? launch_copies(copy_rows<true, Call, arrays>)
                        : state.step == returning
                            ? launch_copies(copy_rows<false, Call, arrays>)
                            : ramify::launch(end_rows<Call>, {batch.extent->rows, 1},
                                             fire_and_forget(), batch, ticket.trace);
  if (ticket.conclude(launched, state.step == ending ? "end_rows" : "copy_rows")) {
    ++state.step;
  } else {
    state.progress.stopped = 1;
  }
}

/// Begins a batch: takes as many of the calls as fit, and writes the first state. Launched with one
/// block.
template <class Call>
__global__ void __launch_bounds__(batch_threads)
    place_rows(Call whole, call_ticket ticket, const typename Call::plan* plan, call_batch given) {
  const traced here(ticket.trace, __func__);
  __shared__ typename block_scan<position, batch_threads>::TempStorage storage;
  __shared__ batch_extent extent;
  const sort_batch batch(ticket);
  batch_row* const rows = batch.rows();
  if (threadIdx.x == 0) {
    extent.rows = 0;
    extent.n = 0;
    clear_state(ticket);
  }
  __syncthreads();
  // 1. Place the elements of one call after those of another, while they fit.
  scan_in_order<batch_threads, position>(
      storage, whole.rows, [&](unsigned i) { return given.template call<Call>(i).n; },
      [&](unsigned i, position n, position begin) {
        const unsigned record = given.record(i);
        if (begin + n > whole.n) return ticket.calls->append(given.list, record);
        rows[i] = {record, begin};
        atomicAdd(&extent.rows, 1u);
        atomicMax(&extent.n, begin + n);
      });
  if (threadIdx.x == 0) *batch.extent = extent;
  __syncthreads();
  // 2. Make them the segments of level 1.
  const auto sort = whole.program(*plan, ticket);
  clear_state(sort);
  __syncthreads();
  if (threadIdx.x == 0) sort.state->level = 1;
  for (unsigned i = threadIdx.x; i < extent.rows; i += batch_threads) {
    const position begin = rows[i].begin;
    const segment s{begin, begin + given.template call<Call>(i).n, 1, 0, 0};
    static_cast<void>(sort.list(1).push(s, block_count(s, sort.sizes)));
  }
  __threadfence();
  __syncthreads();
  // 3. Launch the first driver, or keep the batch for a drain.
  if (threadIdx.x != 0) return;
  write_record_of_chunk(whole, ticket);
  const auto driver = launch(drive_call<Call>, {1, 1}, tail_launch(), whole, ticket, plan, false);
  if (!ticket.conclude(driver, "drive_call")) ticket.keep_unfinished();
}

/// Starts a batch of `count` calls. Returns false, with nothing changed, if there is one call, a
/// chunk is taken, there is too little memory or slots, or the launch fails.
template <class Call>
[[nodiscard]] __device__ bool start_batch(const typename Call::plan& plan, unsigned count,
                                          call_ticket ticket, const call_batch& given) {
  using context = typename Call::context;
  call_state& calls = *ticket.calls;
  constexpr unsigned of_level = sample_sort_level_grids;
  const unsigned levels = levels_of_segment<typename Call::tuning>(plan.max_n()) + 2;
  const unsigned wanted = drivers_of_call + levels * of_level;
  if (count < 2 || calls.allowed < drivers_of_call + of_level) return false;
  Call whole = given.template call<Call>(0);
  whole.data = {};
  whole.rows = count;
  whole.n = batch_capacity<context>(calls.chunk_bytes * calls.chunks.capacity, plan);
  if (whole.n < plan.max_n() || !calls.chunks.take_all()) return false;
  ticket.chunk = 0;
  ticket.continuation = call_state::none;
  ticket.slots = wanted < calls.allowed ? wanted : calls.allowed;
  if (calls.acquire(ticket.slots)) {
    const auto launched = ramify::launch(place_rows<Call>, {1, batch_threads}, fire_and_forget(),
                                         whole, ticket, &plan, given);
    if (ticket.conclude(launched, "place_rows")) return true;
    calls.release(ticket.slots);
  }
  calls.chunks.release_all();
  return false;
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
