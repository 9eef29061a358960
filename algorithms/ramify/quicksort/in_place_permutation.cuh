// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The second half of a level of quicksort_in_place(): the slots that in_place_partition.cuh has
/// collected move to their places in the output.
///
/// source[s] is the slot whose elements belong to slot s of the output. So the moves are chains: s
/// gets the elements of source[s], which then gets those of source[source[s]], and so on. A chain
/// begins at a slot without elements, and ends at a slot outside the array. All others are cycles.
///
///     source    x 0 y 1    chains: slot 3 <- 1 <- 0 <- x, and slot 2 <- y
///
/// Long chains and cycles are divided, so that many blocks move slots at the same time: the
/// elements of the slot at which a division begins are saved first. A slot begins a division if it
/// has the smallest hash of the next `reach` slots of its chain. So about one slot in `reach` does,
/// and in each cycle at least the slot with the smallest hash of all. A cycle that is shorter than
/// `reach` is not divided, and the block that moves it keeps its first slot in registers.

#include <ramify/quicksort/in_place_partition.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// A hash of a slot that no two slots share.
__device__ inline unsigned long long hash_of_slot(unsigned s) {
  return runtime::splitmix64_finalize(s);
}

/// In a list of starts: the start of a cycle that one block moves.
inline constexpr unsigned short_cycle = 1u << 31;

/// Finds the starts of chains and of their divisions. A thread has one slot of the output. The
/// slots of the array that have no elements are the last ones, because slots are used in their
/// order.
template <class Level>
__global__ void in_place_starts(Level level, unsigned reach) {
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  if (mine >= level.output_slots()) return;
  auto* state = level.state;
  const auto add_start = [&](unsigned s) { level.start_list[atomicAdd(&state->starts, 1u)] = s; };

  // 1. A slot without elements, and the last one of the output if it is shorter.
  const unsigned used = state->slots_taken;
  constexpr unsigned extra = Level::tuning::extra_slots;
  if (mine >= level.slots() || mine + extra >= used) return add_start(mine);

  // 2. A slot with the smallest hash of the next ones, or of its cycle.
  const unsigned long long hash = hash_of_slot(mine);
  unsigned s = level.source[mine];
  if (s == mine) return;
  for (unsigned i = 1; i < reach; ++i, s = level.source[s]) {
    if (s == mine) return add_start(mine | short_cycle);
    if (s >= level.slots() || hash_of_slot(s) < hash) return;
  }
  const unsigned number = atomicAdd(&state->saved, 1u);
  if (number >= level.max_saved) return;  // the host calls this kernel again, with a longer reach
  level.saved_as[mine] = level.slots() + extra + number;
  add_start(mine);
}

/// Removes all starts from the list. The threads of the grid share the work.
template <class Level>
__global__ void in_place_forget_starts(Level level) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned s = first; s < level.output_slots(); s += gridDim.x * blockDim.x) {
    level.saved_as[s] = 0;
  }
  if (first == 0) level.state->starts = level.state->saved = 0;
}

/// The elements of a slot that one thread moves, in registers.
template <class Level>
struct slot_share {
  using tuning = typename Level::tuning;
  using key = typename Level::key;
  using value = typename Level::value;
  using arrays = typename Level::arrays;
  static constexpr int items = tuning::move_items;
  uninitialized_array<key, items> keys;
  uninitialized_array<value, tuning::has_values ? items : 1> values;

  [[nodiscard]] __device__ static unsigned at(int i) {
    return unsigned(i) * tuning::move_threads + threadIdx.x;
  }
  /// Reads the elements of a slot with `count` elements.
  __device__ void read(const arrays& from, unsigned count) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (at(i) >= count) continue;
      keys[i] = from.keys[at(i)];
      if constexpr (tuning::has_values) values[i] = from.values[at(i)];
    }
  }
  __device__ void write(const arrays& to, unsigned count) const {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (at(i) >= count) continue;
      to.keys[at(i)] = keys[i];
      if constexpr (tuning::has_values) to.values[at(i)] = values[i];
    }
  }
};

/// Saves the starts of divisions. A block saves one start at a time. A source that was
/// saved is replaced by its copy outside the array, so a chain ends there.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::move_threads) in_place_save(Level level) {
  const unsigned starts = level.state->starts;
  for (unsigned i = blockIdx.x; i < starts; i += gridDim.x) {
    const unsigned s = level.start_list[i];
    if ((s & short_cycle) != 0 || s >= level.slots() || level.saved_as[s] == 0) continue;
    slot_share<Level> elements;
    elements.read(level.slot(s), Level::tuning::slot);
    elements.write(level.slot(level.saved_as[s]), Level::tuning::slot);
  }
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned s = first; s < level.output_slots(); s += gridDim.x * blockDim.x) {
    const unsigned from = level.source[s];
    if (from >= level.slots()) continue;
    if (const unsigned saved = level.saved_as[from]; saved != 0) level.source[s] = saved;
  }
}

/// The next moves of a chain.
template <class Level>
struct chain_moves {
  static constexpr int ahead = Level::tuning::moves_ahead;
  unsigned target[ahead];
  unsigned from[ahead];
  int count;
  bool ends;  ///< the chain

  /// Follows the chain from slot `to`. A chain ends outside the array, and a short cycle at
  /// `start`.
  __device__ void follow(const Level& level, unsigned to, unsigned start, bool is_short_cycle) {
    ends = false;
    count = 0;
    RAMIFY_UNROLL
    for (int i = 0; i < ahead; ++i) {
      if (ends) continue;
      target[i] = to;
      from[i] = level.source[to];
      ends = from[i] >= level.slots() || (is_short_cycle && from[i] == start);
      to = from[i];
      count = i + 1;
    }
  }
};

/// Moves the slots of one chain, from `start` on, until its end, the next start, or the end of its
/// cycle. Each thread moves the same elements of all slots, so the threads need no barrier.
template <class Level>
__device__ void move_chain(const Level& level, unsigned start, bool is_short_cycle) {
  using moves = chain_moves<Level>;
  constexpr unsigned whole = Level::tuning::slot;
  const unsigned rest = static_cast<unsigned>(level.n - position{level.slots()} * whole);
  const auto size_of = [&](unsigned s) { return s < level.slots() ? whole : rest; };
  slot_share<Level> first;
  if (is_short_cycle) first.read(level.slot(start), whole);

  moves now;
  now.follow(level, start, start, is_short_cycle);
  for (bool ends = false; !ends;) {
    // 1. Read some slots.
    slot_share<Level> elements[moves::ahead];
    RAMIFY_UNROLL
    for (int i = 0; i < moves::ahead; ++i) {
      if (i >= now.count) continue;
      if (is_short_cycle && now.from[i] == start) {
        elements[i] = first;
      } else {
        elements[i].read(level.slot(now.from[i]), size_of(now.target[i]));
      }
    }
    // 2. Follow the chain while the elements are on their way.
    ends = now.ends;
    moves next;
    next.count = 0;
    if (!ends) next.follow(level, now.from[moves::ahead - 1], start, is_short_cycle);
    // 3. Write them.
    RAMIFY_UNROLL
    for (int i = 0; i < moves::ahead; ++i) {
      if (i >= now.count) continue;
      elements[i].write(level.output_slot(now.target[i]), size_of(now.target[i]));
    }
    now = next;
  }
}

/// Moves the slots. A block moves one chain at a time.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::move_threads) in_place_move(Level level) {
  __shared__ unsigned number;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) number = atomicAdd(&level.state->starts_taken, 1u);
    __syncthreads();
    if (number >= level.state->starts) return;
    const unsigned start = level.start_list[number];
    move_chain(level, start & ~short_cycle, (start & short_cycle) != 0);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
