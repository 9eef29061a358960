// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grid that sorts parts of an array with a ring of scratch memory, see in_place_ring.cuh.
///
/// Blocks take tickets in their order. A ticket is a tile of a part, which the block distributes to
/// the extents of the buckets, or a leaf, which it sorts to its place. Two kinds of tickets wait:
///
///   a tile writes    after the parts that had its region before are in their places;
///   a leaf is sorted after all tiles of its part are in their extents.
///
/// A block waits only for work of tickets before its own. So the wait ends, however few blocks of
/// the grid are resident.

#include <ramify/quicksort/in_place_ring_leaves.cuh>
#include <ramify/runtime/residency.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The shared memory of a block while it distributes a tile: this struct, the keys or values of the
/// tile, and their bucket numbers. While the block sorts a leaf, this memory is that of the sorter.
template <class Ring>
struct alignas(128) ring_tile_shared {
  using tuning = typename Ring::tuning;
  uninitialized_array<typename Ring::code, tuning::max_buckets> tree;
  /// For each bucket, the number of its elements, then the index of its first in the grouped tile.
  unsigned counts[tuning::max_ids];
  /// For each bucket, the index of an element in the region minus its index in the grouped tile.
  unsigned shift[tuning::max_ids];
  typename block_scan<unsigned, tuning::threads>::TempStorage scan_storage;

  [[nodiscard]] static constexpr std::size_t bytes() {
    return sizeof(ring_tile_shared) +
           std::size_t{tuning::tile} * (tuning::of_sort::staged_bytes + sizeof(std::uint16_t));
  }
  template <class T>
  [[nodiscard]] __device__ T* grouped() {
    return reinterpret_cast<T*>(this + 1);
  }
  [[nodiscard]] __device__ std::uint16_t* ids() {
    return reinterpret_cast<std::uint16_t*>(reinterpret_cast<unsigned char*>(this + 1) +
                                            tuning::tile * tuning::of_sort::staged_bytes);
  }
};

/// Returns the bytes of dynamic shared memory of a block.
template <class Ring>
[[nodiscard]] constexpr std::size_t ring_shared_bytes() {
  return std::max(ring_tile_shared<Ring>::bytes(),
                  sizeof(typename ring_leaf_sorter<Ring>::storage));
}

/// Waits until ready() is true, which other blocks make true, and makes their earlier writes
/// visible. All threads of the block must call it.
template <class Ready>
__device__ void wait_for_blocks(const Ready& ready) {
  bool waits = true;
  do {
    waits = threadIdx.x == 0 && !ready();
    if (threadIdx.x == 0) __threadfence();  // before the barrier, after which all threads proceed
  } while (__syncthreads_or(waits ? 1 : 0) != 0);
}

/// Waits for all threads of the block, and makes their writes visible to other blocks. Then thread
/// 0 adds one to `count`, and returns its old value.
__device__ inline unsigned publish(unsigned& count) {
  __syncthreads();
  if (threadIdx.x != 0) return 0;
  __threadfence();
  return atomicAdd(&count, 1u);
}

/// One thread's part in distributing tile `number` of a part. All threads of the block must make
/// the same calls.
template <class Ring>
struct ring_tile {
  using key = typename Ring::key;
  using tuning = typename Ring::tuning;
  using shared_memory = ring_tile_shared<Ring>;
  static constexpr int items = tuning::items;
  static constexpr unsigned threads = tuning::threads;
  /// As a shift: the elements of the bucket are longer than its extent, and are not written.
  static constexpr unsigned too_long = 1u << 31;

  const Ring& ring;
  shared_memory& shared;
  const ring_part& part;
  const splitter_tree shape;
  position begin;
  unsigned count;
  /// For each item, its bucket (lower 16 bits), and its rank among the tile's elements of the
  /// bucket.
  unsigned id_and_rank[items];

  __device__ ring_tile(const Ring& r, shared_memory& memory, const ring_part& of, unsigned p,
                       unsigned number)
      : ring(r), shared(memory), part(of), shape(r.states[p].tree) {
    const position first = position{number} * tuning::tile;
    begin = part.begin + first;
    count = static_cast<unsigned>(min(part.size - first, position{tuning::tile}));
  }
  [[nodiscard]] __device__ static unsigned at(int i) { return unsigned(i) * threads + threadIdx.x; }
  [[nodiscard]] __device__ bool exists(int i) const { return at(i) < count; }

  /// Finds the bucket and the rank of each key. Ends with a barrier.
  __device__ void find_ranks() {
    for (unsigned i = threadIdx.x; i < 1u << shape.levels; i += threads) {
      if (i != 0) shared.tree[i] = ring.trees[part.trees + i];
    }
    for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) shared.counts[b] = 0;
    __syncthreads();
    constexpr int group = tuning::search_items;
    RAMIFY_UNROLL
    for (int first = 0; first < items; first += group) {
      typename Ring::code codes[group];
      unsigned found[group];
      RAMIFY_UNROLL
      for (int i = 0; i < group; ++i) {
        const bool is_key = first + i < items && exists(first + i);
        codes[i] = ring.compare.encode(ring.data.keys[begin + (is_key ? at(first + i) : 0)]);
      }
      find_buckets(found, codes, shared.tree.data(), shape.levels, shape.equality != 0,
                   ring.compare);
      RAMIFY_UNROLL
      for (int i = 0; i < group; ++i) {
        if (first + i < items) id_and_rank[first + i] = found[i];
      }
    }
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      id_and_rank[i] |= add_warp_aggregated(shared.counts, id_and_rank[i], exists(i)) << 16;
    }
    __syncthreads();
  }

  /// Takes places in the extents for the elements of the tile. Ends with a barrier.
  __device__ void take_places() {
    unsigned* const filled = ring.filled + part.tables;
    const unsigned* const extents = ring.extents + part.tables;
    scan_in_order<threads, unsigned>(
        shared.scan_storage, shape.buckets(), [&](unsigned b) { return shared.counts[b]; },
        [&](unsigned b, unsigned here, unsigned before) {
          shared.counts[b] = before;
          shared.shift[b] = here;
        });
    for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) {
      const unsigned here = shared.shift[b];
      if (here == 0) continue;
      const unsigned offset = atomicAdd(&filled[b], here);
      const bool fits = offset + here <= extents[b + 1] - extents[b];
      shared.shift[b] = fits ? extents[b] + offset - shared.counts[b] : too_long;
    }
    __syncthreads();
  }

  /// Groups the tile's keys or values by bucket in shared memory, and writes them to the extents.
  template <bool stores_ids, class T>
  __device__ void write(T* to, const T* from) const {
    T* const grouped = shared.template grouped<T>();
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!exists(i)) continue;
      const unsigned id = id_and_rank[i] & 0xffffu;
      const unsigned index = shared.counts[id] + (id_and_rank[i] >> 16);
      grouped[index] = from[begin + at(i)];
      if constexpr (stores_ids) shared.ids()[index] = static_cast<std::uint16_t>(id);
    }
    __syncthreads();
    RAMIFY_UNROLL_TWO
    for (int i = 0; i < items; ++i) {
      if (!exists(i)) continue;
      const unsigned shift = shared.shift[shared.ids()[at(i)]];
      if (shift != too_long) to[part.region + (shift + at(i))] = grouped[at(i)];
    }
  }
};

/// Computes where the buckets of a part begin, if each fits in its extent. The block that has
/// written the last tile calls it.
template <class Ring>
__device__ void end_distribution(const Ring& ring, ring_tile_shared<Ring>& shared,
                                 const ring_part& part, ring_part_state& state) {
  constexpr unsigned threads = Ring::tuning::threads;
  unsigned* const filled = ring.filled + part.tables;
  const unsigned* const extents = ring.extents + part.tables;
  const unsigned buckets = state.tree.buckets();
  bool overflows = false;
  scan_in_order<threads, unsigned>(
      shared.scan_storage, buckets, [&](unsigned b) { return load_relaxed(filled[b]); },
      [&](unsigned b, unsigned here, unsigned before) {
        overflows = overflows || here > extents[b + 1] - extents[b];
        filled[b] = before;
      });
  overflows = __syncthreads_or(overflows ? 1 : 0) != 0;
  if (threadIdx.x != 0) return;
  filled[buckets] = part.size;
  __threadfence();
  atomicExch(&state.progress, unsigned{overflows ? ring_overflows : ring_is_distributed});
}

/// Distributes tile `number` of part `p` to the extents of the buckets.
template <class Ring>
__device__ void distribute_ring_tile(const Ring& ring, ring_tile_shared<Ring>& shared, unsigned p,
                                     unsigned number, unsigned& last) {
  using tuning = typename Ring::tuning;
  const ring_part part = ring.parts[p];
  ring_part_state& state = ring.states[p];
  // 1. Find the place of each element.
  ring_tile<Ring> tile(ring, shared, part, p, number);
  tile.find_ranks();
  tile.take_places();
  // 2. Wait until the region is free.
  wait_for_blocks([&] {
    for (unsigned q = part.waits_begin; q < part.waits_end; ++q) {
      if (load_relaxed(ring.states[q].leaves_read) != ring.parts[q].leaves()) return false;
    }
    return true;
  });
  // 3. Write the elements.
  tile.template write<true>(ring.ring.keys, ring.data.keys);
  if constexpr (tuning::has_values) {
    __syncthreads();
    tile.template write<false>(ring.ring.values, ring.data.values);
  }
  // 4. Join: the last tile of the part makes its leaves ready.
  const unsigned written = publish(state.tiles_written);
  if (threadIdx.x == 0) last = written + 1 == (part.size + tuning::tile - 1) / tuning::tile ? 1 : 0;
  __syncthreads();
  if (last == 0) return;
  __threadfence();
  end_distribution(ring, shared, part, state);
}

/// Distributes tiles and sorts leaves. A block takes one ticket after another.
template <class Ring>
__global__ void __launch_bounds__(Ring::tuning::threads, Ring::tuning::blocks)
    in_place_ring_sort(Ring ring) {
  __shared__ unsigned ticket;
  __shared__ unsigned last;
  for (unsigned step = 0;;) {
    __syncthreads();  // all threads have used the shared memory of the ticket before
    if (threadIdx.x == 0) ticket = atomicAdd(ring.tickets_taken, 1u);
    __syncthreads();
    if (ticket >= ring.ticket_count) return;
    while (ring.steps[step + 1].first_ticket <= ticket) ++step;
    const ring_step mine = ring.steps[step];
    const unsigned number = ticket - mine.first_ticket;
    if (mine.sorts_leaves == 0) {
      distribute_ring_tile(ring, dynamic_shared<ring_tile_shared<Ring>>(), mine.part, number, last);
      continue;
    }
    const ring_part part = ring.parts[mine.part];
    ring_part_state& state = ring.states[mine.part];
    wait_for_blocks([&] { return load_relaxed(state.progress) != ring_distributes; });
    if (load_relaxed(state.progress) == ring_is_distributed) {
      sort_ring_leaf(ring, part, state.tree, number);
    }
    publish(state.leaves_read);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
