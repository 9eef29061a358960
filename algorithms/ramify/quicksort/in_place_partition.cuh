// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grid of a level in place that collects elements, see in_place_level.cuh.

#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/in_place_count.cuh>
#include <ramify/runtime/residency.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The dynamic shared memory of a block that distributes elements: this struct, the keys of a tile,
/// the values, the bucket numbers.
template <class Level>
struct alignas(128) distribute_shared {
  using tuning = typename Level::tuning;
  using key = typename Level::key;
  using value = typename Level::value;
  bucket_search_shared<Level> search;
  /// For each bucket, the index of its first element in the grouped tile.
  unsigned begins[tuning::max_ids];
  /// For each bucket, the output index of its first element.
  position places[tuning::max_ids];
  /// For each bucket, the slots that collect its first and its last element.
  unsigned first_slots[tuning::max_ids];
  unsigned last_slots[tuning::max_ids];
  /// For each bucket, the number of the first slot of those that collect the elements between.
  unsigned inner_slots[tuning::max_ids];
  typename block_scan<unsigned, tuning::threads>::TempStorage scan_storage;
  unsigned tile;  ///< the number of the tile

  [[nodiscard]] static constexpr std::size_t bytes() {
    return sizeof(distribute_shared) + keys_bytes() + values_bytes() +
           tuning::tile * sizeof(std::uint16_t);
  }
  [[nodiscard]] __device__ key* keys() { return reinterpret_cast<key*>(this + 1); }
  [[nodiscard]] __device__ value* values() {
    return reinterpret_cast<value*>(reinterpret_cast<unsigned char*>(this + 1) + keys_bytes());
  }
  [[nodiscard]] __device__ std::uint16_t* ids() {
    return reinterpret_cast<std::uint16_t*>(reinterpret_cast<unsigned char*>(this + 1) +
                                            keys_bytes() + values_bytes());
  }

 private:
  [[nodiscard]] __host__ __device__ static constexpr std::size_t keys_bytes() {
    return (tuning::tile * sizeof(key) + 127) / 128 * 128;
  }
  [[nodiscard]] __host__ __device__ static constexpr std::size_t values_bytes() {
    return tuning::has_values ? (tuning::tile * sizeof(value) + 127) / 128 * 128 : 0;
  }
};

/// One thread's part in distributing a tile of `count` elements. All threads of the block must make
/// the same calls.
template <class Level>
struct tile_distribution {
  using tuning = typename Level::tuning;
  using key = typename Level::key;
  static constexpr int items = tuning::items;
  static constexpr unsigned threads = tuning::threads;

  const Level& level;
  distribute_shared<Level>& shared;
  const splitter_tree& shape;
  position begin;
  unsigned count;

  [[nodiscard]] __device__ static unsigned at(int i) { return unsigned(i) * threads + threadIdx.x; }

  /// Groups the elements by bucket in shared memory, and marks the slots of the tile as free. Ends
  /// with a barrier.
  __device__ void group() const {
    // 1. Find the bucket of each key, and its rank among the tile's keys of that bucket.
    unsigned* const counts = shared.search.counts;
    for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) counts[b] = 0;
    key keys[items];
    unsigned ids[items];
    load_tile(keys, ids, level, begin, count, shared.search.tree.data(), shape);
    __syncthreads();
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {  // the rank is in the upper half: fewer registers
      ids[i] |= add_warp_aggregated(counts, ids[i], at(i) < count) << 16;
    }
    __syncthreads();
    // 2. Find where each bucket begins in the tile.
    scan_in_order<threads, unsigned>(
        shared.scan_storage, shape.buckets(), [&](unsigned b) { return counts[b]; },
        [&](unsigned b, unsigned, unsigned before) { shared.begins[b] = before; });
    // 3. Store the elements there.
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (at(i) >= count) continue;
      const unsigned id = ids[i] & 0xffffu;
      const unsigned to = shared.begins[id] + (ids[i] >> 16);
      shared.keys()[to] = keys[i];
      shared.ids()[to] = static_cast<std::uint16_t>(id);
      if constexpr (tuning::has_values) {
        shared.values()[to] = level.data.values[begin + at(i)];
      }
    }
    // 4. All elements are in shared memory: other blocks may write into the slots.
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(&level.was_read[shared.tile], 1u);
    }
  }

  /// Takes the places of the elements in the output, and claims the slots that collect them.
  /// Waits until all these slots are free. Ends with a barrier.
  ///
  /// A block claims its slots before it waits. A slot for which it waits belongs to a tile that
  /// another block has taken, and that this block reads before it waits. So the wait ends, however
  /// few blocks of the grid are resident.
  __device__ void take_places() const {
    for_each_bucket([&](unsigned b, unsigned here) {
      const position to = atomicAdd(&level.state->next[b], position{here});
      const auto first = static_cast<unsigned>(to / tuning::slot);
      const auto last = static_cast<unsigned>((to + here - 1) / tuning::slot);
      shared.places[b] = to;
      // Other blocks may have elements of the first and of the last slot, but not of those between.
      claim(first);
      if (last > first) claim(last);
      if (last > first + 1) claim_inner(b, first + 1, last);
    });
    bool ready = true;
    do {
      ready = true;
      for_each_bucket([&](unsigned b, unsigned here) {
        const position to = shared.places[b];
        const auto first = static_cast<unsigned>(to / tuning::slot);
        const auto last = static_cast<unsigned>((to + here - 1) / tuning::slot);
        shared.first_slots[b] = load_relaxed(level.source[first]);
        shared.last_slots[b] = load_relaxed(level.source[last]);
        ready = ready && is_free(shared.first_slots[b]) && is_free(shared.last_slots[b]) &&
                are_free(shared.inner_slots[b], last > first ? last - first - 1 : 0);
      });
      __threadfence();  // before the barrier, after which all threads write
    } while (__syncthreads_or(ready ? 0 : 1) != 0);
  }

  /// Writes the elements to the slots. The writes are not complete when it returns.
  __device__ void write() const {
    RAMIFY_UNROLL_TWO
    for (int i = 0; i < items; ++i) {
      const unsigned k = at(i);
      if (k >= count) continue;
      const unsigned id = shared.ids()[k];
      const position to = shared.places[id] + (k - shared.begins[id]);
      const auto slot = level.slot(collecting_slot(id, to / tuning::slot));
      slot.keys[to % tuning::slot] = shared.keys()[k];
      if constexpr (tuning::has_values) slot.values[to % tuning::slot] = shared.values()[k];
    }
  }

 private:
  /// Returns the slot that collects slot `s` of the output, of which bucket `b` has some elements.
  [[nodiscard]] __device__ unsigned collecting_slot(unsigned b, position s) const {
    const position first = shared.places[b] / tuning::slot;
    if (s == first) return shared.first_slots[b];
    const position last = (shared.places[b] + shared.search.counts[b] - 1) / tuning::slot;
    if (s == last) return shared.last_slots[b];
    return slot_of_number(shared.inner_slots[b] + static_cast<unsigned>(s - first - 1));
  }
  /// Calls use(b, count) for each bucket of this thread that has elements of the tile.
  template <class Use>
  __device__ void for_each_bucket(const Use& use) const {
    for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) {
      if (const unsigned here = shared.search.counts[b]; here != 0) use(b, here);
    }
  }

  /// Returns the slot with a number, in the order in which slots are used.
  [[nodiscard]] __device__ unsigned slot_of_number(unsigned number) const {
    return number < tuning::extra_slots ? level.slots() + number : number - tuning::extra_slots;
  }
  /// Takes a slot to collect the elements of slot `s` of the output, unless a block has taken one.
  __device__ void claim(unsigned s) const {
    if (load_relaxed(level.source[s]) != Level::unclaimed) return;
    if (atomicCAS(&level.source[s], Level::unclaimed, Level::claimed) != Level::unclaimed) return;
    atomicExch(&level.source[s], slot_of_number(atomicAdd(&level.state->slots_taken, 1u)));
  }
  /// Takes a slot for each of the slots [first, end) of the output, which are all in bucket `b`.
  __device__ void claim_inner(unsigned b, unsigned first, unsigned end) const {
    const unsigned number = atomicAdd(&level.state->slots_taken, end - first);
    shared.inner_slots[b] = number;
    for (unsigned s = first; s < end; ++s) level.source[s] = slot_of_number(number + (s - first));
  }

  /// Returns whether the slot `taken` of the array, or outside it, may be written.
  [[nodiscard]] __device__ bool is_free(unsigned taken) const {
    if (taken == Level::claimed) return false;
    constexpr unsigned slots_of_tile = tuning::tile / tuning::slot;
    return taken >= level.slots() || load_relaxed(level.was_read[taken / slots_of_tile]) != 0;
  }
  /// Returns whether the `slots` slots with numbers from `number` on may be written. They are fewer
  /// than those of a tile, so they are in at most two tiles.
  [[nodiscard]] __device__ bool are_free(unsigned number, unsigned slots) const {
    return slots == 0 ||
           (is_free(slot_of_number(number)) && is_free(slot_of_number(number + slots - 1)));
  }
};

/// Distributes the elements: collects those of each slot of the output in a free slot. Blocks take
/// the tiles in their order.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads, Level::tuning::blocks)
    in_place_distribute(Level level) {
  using tuning = typename Level::tuning;
  auto& shared = dynamic_shared<distribute_shared<Level>>();
  const splitter_tree shape = build_splitter_tree<tuning::threads>(
      shared.search.tree.data(), level.candidates, level.buckets - 1, unsigned{tuning::max_ids},
      level.compare);
  for (;;) {
    // 1. Take the next tile.
    __syncthreads();  // all threads have written the elements of the previous tile
    if (threadIdx.x == 0) shared.tile = atomicAdd(&level.state->tiles_taken, 1u);
    __syncthreads();
    if (shared.tile >= level.tiles()) return;
    const position begin = position{shared.tile} * tuning::tile;
    const auto count = static_cast<unsigned>(min(level.n - begin, position{tuning::tile}));
    const tile_distribution<Level> tile{level, shared, shape, begin, count};
    // 2. Read it, which makes its slots free.
    tile.group();
    // 3. Take slots for its elements, and write them there.
    tile.take_places();
    tile.write();
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
