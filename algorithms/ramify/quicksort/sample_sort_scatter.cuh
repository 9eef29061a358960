// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grid that moves the elements of a level's segments to their buckets. A block moves one piece
/// of a segment at a time.

#include <ramify/quicksort/sample_sort_buckets.cuh>
#include <ramify/quicksort/sample_sort_count.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Adds one to the count of a bucket and returns the old count. If all lanes of a warp add to the
/// same bucket, as happens with repeated keys, one lane adds for all (warp-aggregated atomics). All
/// threads of the warp must call it; only those with `adds` add. On the CPU executor the lanes run
/// one after another, so each adds its own.
__device__ inline unsigned add_warp_aggregated(unsigned* counts, unsigned id, bool adds) {
  if constexpr (!RAMIFY_ON_CUDA) return adds ? atomicAdd(&counts[id], 1u) : 0;
  const unsigned first = __shfl_sync(full_warp_mask, id, 0);
  if (__all_sync(full_warp_mask, adds && id == first)) {
    const unsigned lane = threadIdx.x % 32;
    unsigned before = 0;
    if (lane == 0) before = atomicAdd(&counts[id], 32u);
    return __shfl_sync(full_warp_mask, before, 0) + lane;
  }
  return adds ? atomicAdd(&counts[id], 1u) : 0;
}

/// The shared memory of a block: this struct, then the elements of a tile, then their bucket
/// numbers.
template <class Context>
struct alignas(128) scatter_shared {
  using tuning = typename Context::tuning;
  /// The number of keys of each bucket in the tile, then the index in the tile where the bucket
  /// begins. In a block that emits children, before its first tile: the first bucket of each child.
  unsigned counts[max_ids];
  /// The output index of each bucket's next key.
  position next[max_ids];
  /// For each bucket, the output index of a key minus its index in the tile. Before the first tile:
  /// the output index where the bucket begins.
  position shift[max_ids];
  typename block_scan<unsigned, tuning::tile_threads>::TempStorage scan_storage;
  typename block_scan<position, tuning::tile_threads>::TempStorage segment_scan_storage;

  [[nodiscard]] static constexpr unsigned bytes(unsigned tile, unsigned id_bytes) {
    return static_cast<unsigned>(sizeof(scatter_shared)) + tile * (tuning::staged_bytes + id_bytes);
  }
  [[nodiscard]] __device__ unsigned char* elements() {
    return reinterpret_cast<unsigned char*>(this + 1);
  }
  template <class Id>
  [[nodiscard]] __device__ Id* ids(unsigned tile) {
    return reinterpret_cast<Id*>(elements() + tile * tuning::staged_bytes);
  }
};

/// One thread's part in moving a tile of `count` elements to their buckets. The elements are
/// grouped by bucket in shared memory, so that the writes to global memory are coalesced. A `plain`
/// tile is full, and its segment has no equality buckets. All threads of the block must make the
/// same calls.
template <bool plain, class Id, class Context>
struct tile_scatter {
  using key = typename Context::key;
  using tuning = typename Context::tuning;
  static constexpr int items = tuning::tile_items;
  static constexpr unsigned threads = tuning::tile_threads;
  static constexpr unsigned id_bits = 10;
  static_assert(max_ids == 1u << id_bits);

  scatter_shared<Context>& shared;
  Id* ids;  ///< in shared memory: the bucket of each element, in grouped order
  unsigned count;
  unsigned id_and_rank[items];  ///< of this thread's elements: bucket | rank in it << id_bits

  __device__ tile_scatter(scatter_shared<Context>& memory, unsigned tile, unsigned elements)
      : shared(memory), ids(memory.template ids<Id>(tile)), count(elements) {}

  [[nodiscard]] __device__ bool exists(unsigned at) const { return plain || at < count; }
  [[nodiscard]] __device__ static unsigned at(int i) { return unsigned(i) * threads + threadIdx.x; }
  /// Returns the index of an element in grouped order.
  [[nodiscard]] __device__ unsigned index(int i) const {
    return shared.counts[id_and_rank[i] % max_ids] + (id_and_rank[i] >> id_bits);
  }

  /// Loads the keys of this thread and their buckets, and counts each bucket. Ends with a barrier.
  __device__ void load(key (&keys)[items], const key* from, const Id* from_ids) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      id_and_rank[i] = 0;
      if (exists(at(i))) {
        keys[i] = from[at(i)];
        id_and_rank[i] = from_ids[at(i)];
      }
    }
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned id = id_and_rank[i];
      if constexpr (plain) {
        id_and_rank[i] |= atomicAdd(&shared.counts[id], 1u) << id_bits;
      } else {
        id_and_rank[i] |= add_warp_aggregated(shared.counts, id, at(i) < count) << id_bits;
      }
    }
    __syncthreads();
  }

  /// Computes where each bucket begins in grouped order and in the output. Ends with a barrier.
  __device__ void scan_counts(unsigned buckets) {
    scan_in_order<threads, unsigned>(
        shared.scan_storage, buckets, [&](unsigned b) { return shared.counts[b]; },
        [&](unsigned b, unsigned here, unsigned before) {
          shared.counts[b] = before;
          shared.shift[b] = shared.next[b] - before;
          shared.next[b] += here;
        });
  }

  /// Writes keys or values from grouped order in shared memory to the output.
  template <class T>
  __device__ void write(T* to, const T* grouped) const {
    // If the loop were unrolled completely, the compiler would place all writes after all reads.
    // Unrolled by two, the first write starts earlier: 2^28 u32 keys take 6.9 ms instead of 7.3 ms.
    RAMIFY_UNROLL_TWO
    for (int i = 0; i < items; ++i) {
      if (exists(at(i))) to[shared.shift[ids[at(i)]] + at(i)] = grouped[at(i)];
    }
  }

  /// Moves the keys. The writes are not complete when it returns.
  __device__ void move_keys(key* to, const key (&keys)[items]) {
    auto* grouped = reinterpret_cast<key*>(shared.elements());
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (exists(at(i))) {
        const unsigned to_index = index(i);
        grouped[to_index] = keys[i];
        ids[to_index] = static_cast<Id>(id_and_rank[i] % max_ids);
      }
    }
    __syncthreads();
    write(to, grouped);
  }

  /// Moves the values, after the keys.
  template <class Value>
  __device__ void move_values(Value* to, const Value* from) {
    auto* grouped = reinterpret_cast<Value*>(shared.elements());
    __syncthreads();
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (exists(at(i))) grouped[index(i)] = from[at(i)];
    }
    __syncthreads();
    write(to, grouped);
  }
};

/// Moves `count` elements from `begin` on to their buckets. See tile_scatter for `plain`. All
/// threads of the block must call it. shared.counts is zero before and after.
template <bool plain, class Id, class Context>
__device__ void scatter_tile(scatter_shared<Context>& shared, const Context& context,
                             const segment& of, position begin, unsigned count, unsigned buckets) {
  using tuning = typename Context::tuning;
  const auto from = context.buffers[of.buffer];
  const auto to = context.buffers[1 - of.buffer];
  typename Context::key keys[tuning::tile_items];
  tile_scatter<plain, Id, Context> tile(shared, context.sizes.tile, count);
  // 1. Find each key's bucket, and its rank among the tile's keys of that bucket.
  tile.load(keys, from.keys + begin, static_cast<const Id*>(context.ids) + begin);
  // 2. Find where each bucket begins in the tile and in the output.
  tile.scan_counts(buckets);
  // 3. Group the keys by bucket, and write them.
  tile.move_keys(to.keys, keys);
  // 4. Group and write the values in the same way.
  if constexpr (tuning::has_values) tile.move_values(to.values, from.values + begin);

  __syncthreads();
  for (unsigned b = threadIdx.x; b < buckets; b += tuning::tile_threads) shared.counts[b] = 0;
  __syncthreads();
}

/// Moves the elements of a piece, tile by tile. All threads of the block must call it.
template <class Id, class Context>
__device__ void scatter_piece(scatter_shared<Context>& shared, const Context& context,
                              const sample_sort_piece& piece, const splitter_tree& tree) {
  using tuning = typename Context::tuning;
  const unsigned tile = context.sizes.tile;
  for (position begin = piece.begin; begin < piece.end; begin += tile) {
    const auto count = static_cast<unsigned>(min(piece.end - begin, position{tile}));
    if (count == tuning::tile_threads * tuning::tile_items && tree.equality == 0) {
      scatter_tile<true, Id>(shared, context, piece.of, begin, count, tree.buckets());
    } else {
      scatter_tile<false, Id>(shared, context, piece.of, begin, count, tree.buckets());
    }
  }
}

/// Swaps the elements first, first + threads, ... before `end` with their mirror images in `of`.
/// `end` must not be beyond the middle of `of`. This is one thread's part in reversing `of`.
template <unsigned threads, class Element>
__device__ void swap_with_mirror_images(Element* elements, const segment& of, position first,
                                        position end) {
  constexpr int items = sizeof(Element) <= 8 ? 8 : 1;  // loads in flight at a time
  const auto mirrored = [&](position at) { return of.end - 1 - (at - of.begin); };
  for (; first < end; first += items * threads) {
    Element front[items];
    Element back[items];
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const position at = first + unsigned(i) * threads;
      if (at < end) {
        front[i] = elements[at];
        back[i] = elements[mirrored(at)];
      }
    }
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const position at = first + unsigned(i) * threads;
      if (at < end) {
        elements[at] = back[i];
        elements[mirrored(at)] = front[i];
      }
    }
  }
}

/// Reverses a piece's share of the root: swaps the part of the piece in the root's first half with
/// its mirror image. All threads of the block must call it.
template <class Context>
__device__ void reverse_piece(const Context& context, const sample_sort_piece& piece) {
  constexpr unsigned threads = Context::tuning::tile_threads;
  const auto data = context.buffers[piece.of.buffer];
  const position end = min(piece.end, piece.of.begin + piece.of.size() / 2);
  const position first = piece.begin + threadIdx.x;
  swap_with_mirror_images<threads>(data.keys, piece.of, first, end);
  if constexpr (Context::tuning::has_values) {
    swap_with_mirror_images<threads>(data.values, piece.of, first, end);
  }
}

/// Partitions a piece of a segment into buckets, and emits the segment's children if that is this
/// block's task. All threads of the block must call it.
template <class Context>
__device__ void partition_piece(scatter_shared<Context>& shared, const Context& context,
                                const sample_sort_piece& piece, const splitter_tree tree) {
  constexpr unsigned threads = Context::tuning::tile_threads;
  // 1. Find where the buckets begin.
  const position* counts = context.counts_of(piece.of);
  scan_in_order<threads, position>(
      shared.segment_scan_storage, tree.buckets(), [&](unsigned b) { return counts[b]; },
      [&](unsigned b, position, position before) { shared.shift[b] = piece.of.begin + before; });
  // 2. Emit the children while other blocks move keys: no kernel reads them before the next level.
  if (piece.emits_children) emit_children(shared, context, piece.of, tree);
  if (piece.begin < piece.end) {
    // 3. Find where this piece's keys begin in each bucket, and move them.
    for (unsigned b = threadIdx.x; b < tree.buckets(); b += threads) {
      shared.next[b] =
          shared.shift[b] + (piece.pieces > 1 ? context.offsets[piece.offsets + b] : 0);
      shared.counts[b] = 0;
    }
    __syncthreads();
    with_id_type(tree, [&](auto* type) {
      scatter_piece<std::remove_pointer_t<decltype(type)>>(shared, context, piece, tree);
    });
  }
}

/// Ends a level: the work that was due counts as launched, and the work that the level has found
/// becomes due. On the device route it launches the next round; in a graph's loop it ends the
/// iteration. One thread calls it, after all blocks of the grid. `name` is the calling kernel's
/// __func__.
template <bool launches, class Context>
__device__ void end_level(const Context& context, const char* name) {
  // The state is read once, because all blocks of the next round wait for this thread.
  sample_sort_state now = *context.state;
  now.launched = now.due;
  now.due = now.found;
  ++now.level;
  context.state->launched = now.launched;
  context.state->due = now.due;
  context.state->level = now.level;
  if constexpr (launches) {
    end_round(context, now, name);
  } else {
    end_iteration(context);
  }
}

/// Moves the elements of a level to their buckets in the other buffer. If the count kernel found
/// the root in order, the root stays where it is; if it is in the opposite order, it is reversed in
/// place. `launches` is false in a graph's loop, whose kernels must not contain device launches; a
/// level may be empty there.
template <bool launches, class Context>
__global__ void __launch_bounds__(Context::tuning::tile_threads)
    sample_sort_scatter(Context context, unsigned level) {
  const traced here(context.trace, __func__);
  auto& shared = dynamic_shared<scatter_shared<Context>>();
  grid_dependency_synchronize();
  context.read_root();
  context.release_slot();
  if constexpr (!launches) level = context.level_of_grid(level);

  const task_list<segment> list = context.list(level);
  const unsigned blocks = list.blocks();
  if constexpr (!launches) {
    if (blocks == 0 && blockIdx.x == 0 && threadIdx.x == 0) end_level<false>(context, __func__);
  }
  for (unsigned number = blockIdx.x; number < blocks; number += gridDim.x) {
    const sample_sort_piece piece(list, number, context.sizes);
    const sample_sort_plan& plan = context.plan_of(piece.of);

    // 1. to 3. Partition the piece, or reverse it.
    if (plan.order == unordered) {
      partition_piece(shared, context, piece, plan.tree);
    } else if ((plan.order & nondecreasing) == 0) {
      reverse_piece(context, piece);
    }

    // 4. Recurse: the last block of the level launches the grids of the next round. Join: none is
    //    needed. The grids of the next level are ordered by one stream, and the caller's stream
    //    waits for the whole tree of grids.
    if (context.is_last_block(blocks) && threadIdx.x == 0) {
      context.read_root();  // again, so that no register keeps for the launch what was read before
      end_level<launches>(context, __func__);
    }
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
