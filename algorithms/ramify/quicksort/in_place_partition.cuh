// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grids of a level in place that count and collect elements: see in_place_level.cuh.

#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/in_place_level.cuh>
#include <ramify/runtime/residency.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The static shared memory of a block that finds the buckets of keys.
template <class Level>
struct bucket_search_shared {
  static constexpr unsigned max = Level::tuning::max_buckets;
  uninitialized_array<typename Level::code, max> tree;
  unsigned counts[max];
  unsigned order;  ///< of the keys that the block has read
};

/// Loads the keys of this thread of a tile with `count` keys, and finds their buckets. A missing
/// key is replaced by the first.
template <class Level, int items>
__device__ void load_tile(typename Level::key (&keys)[items], unsigned (&ids)[items],
                          const Level& level, position begin, unsigned count,
                          const typename Level::code* tree, const splitter_tree& shape) {
  typename Level::code codes[items];
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = unsigned(i) * Level::tuning::threads + threadIdx.x;
    keys[i] = level.data.keys[begin + (at < count ? at : 0)];
    codes[i] = level.compare.encode(keys[i]);
  }
  find_buckets(ids, codes, tree, shape.levels, shape.equality != 0, level.compare);
}

/// Counts the elements of each bucket, and checks the order of the keys. Blocks share the tiles.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads) in_place_count(Level level) {
  using tuning = typename Level::tuning;
  constexpr unsigned threads = tuning::threads;
  __shared__ bucket_search_shared<Level> shared;

  // 1. Build the splitter tree: the same one in all blocks.
  const splitter_tree shape =
      build_splitter_tree<threads>(shared.tree.data(), level.candidates, level.buckets - 1,
                                   unsigned{tuning::max_buckets}, level.compare);
  for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) shared.counts[b] = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) level.state->tree = shape;
  if (threadIdx.x == 0) shared.order = nondecreasing | nonincreasing;
  __syncthreads();

  // 2. Count in shared memory.
  bool in_order = true;
  for (unsigned tile = blockIdx.x; tile < level.tiles(); tile += gridDim.x) {
    const position begin = position{tile} * tuning::tile;
    const auto count = static_cast<unsigned>(min(level.n - begin, position{tuning::tile}));
    if (in_order) {  // the first key of the next tile is included
      const auto checked = static_cast<unsigned>(min(level.n - begin, position{tuning::tile + 1}));
      check_order<threads, tuning::items>(shared.order, level.data.keys + begin, checked,
                                          level.compare);
      __syncthreads();
      in_order = shared.order != unordered;
      __syncthreads();
    }
    typename Level::key keys[tuning::items];
    unsigned ids[tuning::items];
    load_tile(keys, ids, level, begin, count, shared.tree.data(), shape);
    RAMIFY_UNROLL
    for (int i = 0; i < tuning::items; ++i) {
      const unsigned at = unsigned(i) * threads + threadIdx.x;
      if (at < count) atomicAdd(&shared.counts[ids[i]], 1u);
    }
  }
  __syncthreads();

  // 3. Add to the counts of the level.
  if (threadIdx.x == 0) atomicAnd(&level.state->order, shared.order);
  for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) {
    if (shared.counts[b] != 0) atomicAdd(&level.state->counts[b], position{shared.counts[b]});
  }
}

/// Reverses the array. Each block swaps a range of its first half with the mirror image.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads) in_place_reverse(Level level) {
  constexpr unsigned threads = Level::tuning::threads;
  const segment all{0, level.n};
  const position half = level.n / 2;
  const position each = half / gridDim.x + 1;
  const position first = blockIdx.x * each + threadIdx.x;
  const position end = min((blockIdx.x + 1) * each, half);
  swap_with_mirror_images<threads>(level.data.keys, all, first, end);
  if constexpr (Level::tuning::has_values) {
    swap_with_mirror_images<threads>(level.data.values, all, first, end);
  }
}

/// Computes where the buckets begin. One block.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads) in_place_bounds(Level level) {
  constexpr unsigned threads = Level::tuning::threads;
  __shared__ typename block_scan<position, threads>::TempStorage storage;
  auto* state = level.state;
  scan_in_order<threads, position>(
      storage, state->tree.buckets(), [&](unsigned b) { return state->counts[b]; },
      [&](unsigned b, position, position before) { state->next[b] = before; });
}

/// The dynamic shared memory of a block that distributes elements: this struct, the keys of a tile,
/// the values, the bucket numbers.
template <class Level>
struct alignas(128) distribute_shared {
  using tuning = typename Level::tuning;
  using key = typename Level::key;
  using value = typename Level::value;
  bucket_search_shared<Level> search;
  /// For each bucket, the index of its first element in the grouped tile.
  unsigned begins[tuning::max_buckets];
  /// For each bucket, the output index of its first element.
  position places[tuning::max_buckets];
  /// For each bucket, the slots that collect its first and its last element.
  unsigned first_slots[tuning::max_buckets];
  unsigned last_slots[tuning::max_buckets];
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
    unsigned ranks[items];
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) ranks[i] = add_warp_aggregated(counts, ids[i], at(i) < count);
    __syncthreads();
    // 2. Find where each bucket begins in the tile.
    scan_in_order<threads, unsigned>(
        shared.scan_storage, shape.buckets(), [&](unsigned b) { return counts[b]; },
        [&](unsigned b, unsigned, unsigned before) { shared.begins[b] = before; });
    // 3. Store the elements there.
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (at(i) >= count) continue;
      const unsigned to = shared.begins[ids[i]] + ranks[i];
      shared.keys()[to] = keys[i];
      shared.ids()[to] = static_cast<std::uint16_t>(ids[i]);
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
      shared.places[b] = atomicAdd(&level.state->next[b], position{here});
      for_each_slot(b, here, [&](unsigned s) { claim(s); });
    });
    bool ready = true;
    do {
      ready = true;
      for_each_bucket([&](unsigned b, unsigned here) {
        for_each_slot(b, here, [&](unsigned s) { ready = ready && is_free(s); });
      });
      __threadfence();  // before the barrier, after which all threads write
    } while (__syncthreads_or(ready ? 0 : 1) != 0);
    // Reads of shared memory take much less time than one read of `source` for each element.
    for_each_bucket([&](unsigned b, unsigned here) {
      const position to = shared.places[b];
      shared.first_slots[b] = load_relaxed(level.source[to / tuning::slot]);
      shared.last_slots[b] = load_relaxed(level.source[(to + here - 1) / tuning::slot]);
    });
    __syncthreads();
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
    const position first = shared.places[b];
    if (s == first / tuning::slot) return shared.first_slots[b];
    const position last = first + shared.search.counts[b] - 1;
    return s == last / tuning::slot ? shared.last_slots[b] : load_relaxed(level.source[s]);
  }
  /// Calls use(b, count) for each bucket of this thread that has elements of the tile.
  template <class Use>
  __device__ void for_each_bucket(const Use& use) const {
    for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) {
      if (const unsigned here = shared.search.counts[b]; here != 0) use(b, here);
    }
  }

  /// Calls use(s) for each slot of the output that gets some of the `here` elements of bucket b.
  template <class Use>
  __device__ void for_each_slot(unsigned b, unsigned here, const Use& use) const {
    const position first = shared.places[b] / tuning::slot;
    const position last = (shared.places[b] + here - 1) / tuning::slot;
    for (position s = first; s <= last; ++s) use(static_cast<unsigned>(s));
  }

  /// Takes a slot to collect the elements of slot `s` of the output, unless a block has taken one.
  __device__ void claim(unsigned s) const {
    if (load_relaxed(level.source[s]) != Level::unclaimed) return;
    if (atomicCAS(&level.source[s], Level::unclaimed, Level::claimed) != Level::unclaimed) return;
    const unsigned number = atomicAdd(&level.state->slots_taken, 1u);
    const unsigned taken =
        number < tuning::extra_slots ? level.slots() + number : number - tuning::extra_slots;
    atomicExch(&level.source[s], taken);
  }

  /// Returns whether the slot that collects the elements of slot `s` of the output may be written.
  [[nodiscard]] __device__ bool is_free(unsigned s) const {
    const unsigned taken = load_relaxed(level.source[s]);
    if (taken == Level::claimed) return false;
    constexpr unsigned slots_of_tile = tuning::tile / tuning::slot;
    return taken >= level.slots() || load_relaxed(level.was_read[taken / slots_of_tile]) != 0;
  }
};

/// Distributes the elements: collects those of each slot of the output in a free slot. Blocks take
/// the tiles in their order.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads) in_place_distribute(Level level) {
  using tuning = typename Level::tuning;
  auto& shared = dynamic_shared<distribute_shared<Level>>();
  const splitter_tree shape = build_splitter_tree<tuning::threads>(
      shared.search.tree.data(), level.candidates, level.buckets - 1, unsigned{tuning::max_buckets},
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
