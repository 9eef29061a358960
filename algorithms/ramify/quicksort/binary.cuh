// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort as everybody knows it: split in two around a pivot, then sort both parts.
///
///     [5 2 8 | 1 9 3]   two tiles, pivot 4          reserve room from both ends, scatter
///     [2 1 3 | 9 8 5]   left part < 4 <= right part  the last block launches a grid for each
///
/// A segment is a task: a team of blocks partitions it, one tile each, from one buffer into the
/// other. Elements equal to the pivot go right, so a segment of nothing but equal keys would never
/// shrink. The cure is pattern-defeating quicksort's (Peters, 2021): no element of a segment is
/// smaller than the pivot that once cut it off on the left (its fence), so if the new pivot is not
/// greater than the fence, it is the minimum. The partition then sends what equals it left, and
/// that part is sorted.

#include <ramify/quicksort/leaf_sort.cuh>
#include <ramify/runtime/spawner.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// What the blocks of a team share. A segment of more than leaf_size elements has the slot
/// begin / leaf_size for itself: no other segment that is alive at the same time begins so near.
template <class Code>
struct partition_state {
  position left;     ///< elements of the left part so far
  position right;    ///< elements of the right part so far
  unsigned arrived;  ///< blocks that are done
  unsigned has_fence;
  Code fence;
};

template <class Key, class Value, class Compare>
struct binary_context;

template <class Key, class Value, class Compare>
__global__ void quicksort_binary(task_source<segment> source, spawner<segment> spawn,
                                 binary_context<Key, Value, Compare> context);

/// What all grids share.
template <class Key, class Value, class Compare>
struct binary_context {
  __host__ __device__ static auto kernel() { return quicksort_binary<Key, Value, Compare>; }
  static constexpr unsigned max_children = 2;
  static constexpr bool may_be_thin = false;

  double_buffer<Key, Value> buffers;
  partition_state<typename Compare::code>* slots;  ///< n / leaf_size + 1 of them, zeros at first
  unsigned long long* merge_sorted;
  Compare compare;
  unsigned depth_limit;
};

/// How one block sorts what is not worth a grid.
template <class Code, class Value>
using block_sorter = leaf_sorter<Code, Value, quicksort_tuning<Code, Value>::threads,
                                 quicksort_tuning<Code, Value>::leaf_items>;

template <class Code, class Value>
struct binary_shared {
  using tuning = quicksort_tuning<Code, Value>;
  using scan = block_scan<unsigned, tuning::threads>;

  union {
    typename block_sorter<Code, Value>::storage sort;
    typename scan::TempStorage scan_storage;
    uninitialized_array<Code, tuning::pivot_sample> sample;
  };
  position left_base;   ///< where this block's elements go in the left part
  position right_base;  ///< and in the right part, counted from its end
  unsigned pivot;       ///< which of the sample it is
};

/// The pivot: the median of a sample. Every block of the team finds the same one.
template <class Code, class Value, class Key, class Compare>
__device__ Code choose_pivot(binary_shared<Code, Value>& shared, const Key* keys, const segment& s,
                             Compare compare) {
  constexpr unsigned count = binary_shared<Code, Value>::tuning::pivot_sample;
  const unsigned me = threadIdx.x;
  if (me < count) shared.sample[me] = compare.encode(keys[sample_position(s, me, count)]);
  if (me == 0) shared.pivot = 0;  // stays so only if the comparator contradicts itself
  __syncthreads();
  if (me < count) {
    // The median is what has half of the others before it; equal ones count by their place.
    const Code mine = shared.sample[me];
    unsigned rank = 0;
    for (unsigned i = 0; i < count; ++i) {
      const Code& other = shared.sample[i];
      if (compare(other, mine) || (i < me && !compare(mine, other))) ++rank;
    }
    if (rank == count / 2) shared.pivot = me;
  }
  __syncthreads();
  const Code pivot = shared.sample[shared.pivot];
  __syncthreads();
  return pivot;
}

/// Blocks that work on a segment together.
template <class Key, class Value>
__host__ __device__ unsigned binary_blocks(const segment& s) {
  using tuning = quicksort_tuning<Key, Value>;
  return s.size() <= tuning::leaf_size ? 1 : tile_count(s, tuning::tile_size);
}

/// Whether a segment is partitioned, or copied, by a grid, and not finished by one block.
template <class Key, class Value, class Compare>
__device__ bool needs_grid(const segment& s, const spawner<segment>& spawn,
                             const binary_context<Key, Value, Compare>& context) {
  if (s.size() <= quicksort_tuning<Key, Value>::leaf_size) return false;
  if (spawn.too_small(s.size())) return false;
  return s.sorted ? s.buffer != 0 : s.depth < context.depth_limit;
}

/// Finishes a segment that is not worth a grid. Every thread of the block.
template <class Key, class Value, class Compare>
__device__ void finish_in_block(binary_shared<typename Compare::code, Value>& shared,
                                const segment& s,
                                const binary_context<Key, Value, Compare>& context) {
  using sorter = block_sorter<typename Compare::code, Value>;
  if (s.sorted) {
    if (s.buffer != 0) copy_to_output(context.buffers, s.begin, s.end, threadIdx.x, blockDim.x);
  } else {
    sorter::sort({}, shared.sort.view(), context.buffers, s, context.compare);
    const bool merged = s.size() > sorter::leaf_size && s.depth >= context.depth_limit;
    if (merged && threadIdx.x == 0) atomicAdd(context.merge_sorted, 1ull);
  }
}

/// Moves `count` elements from `tile_begin` on to their side of the pivot, in the other buffer. The
/// left part of the segment grows from its front, the right part from its back.
template <class Code, class Key, class Value, class GoesLeft>
__device__ void partition_tile(binary_shared<Code, Value>& shared, partition_state<Code>& slot,
                               const segment& s, const key_value_arrays<Key, Value>& from,
                               const key_value_arrays<Key, Value>& to, position tile_begin, unsigned count,
                               GoesLeft goes_left) {
  constexpr int items = quicksort_tuning<Key, Value>::tile_items;
  // 1. Count this thread's elements on the left.
  const thread_share<items> share(count);
  Key keys[items];
  unsigned my_left = 0;
  for (int i = 0; i < items; ++i) {
    if (i >= share.count()) continue;
    keys[i] = from.keys[tile_begin + share.at(i)];
    if (goes_left(keys[i])) ++my_left;
  }
  // 2. Reserve room for the tile, and find this thread's place in it.
  unsigned left_before = 0;
  unsigned tile_left = 0;
  typename binary_shared<Code, Value>::scan(shared.scan_storage)
      .ExclusiveSum(my_left, left_before, tile_left);
  if (threadIdx.x == 0) {
    shared.left_base = s.begin + atomicAdd(&slot.left, position{tile_left});
    shared.right_base = s.end - 1 - atomicAdd(&slot.right, position{count - tile_left});
  }
  __syncthreads();
  // 3. Scatter.
  position next_left = shared.left_base + left_before;
  position next_right = shared.right_base - (share.before() - left_before);
  for (int i = 0; i < items; ++i) {
    if (i >= share.count()) continue;
    const position target = goes_left(keys[i]) ? next_left++ : next_right--;
    to.keys[target] = keys[i];
    if constexpr (key_value_arrays<Key, Value>::has_values) {
      to.values[target] = from.values[tile_begin + share.at(i)];
    }
  }
}

/// One block's part in a segment.
template <class Key, class Value, class Compare>
__device__ void process_segment(binary_shared<typename Compare::code, Value>& shared,
                            const segment& mine, unsigned tile, spawner<segment>& spawn,
                            const binary_context<Key, Value, Compare>& context) {
  using tuning = quicksort_tuning<Key, Value>;
  using code = typename Compare::code;
  const unsigned team = binary_blocks<Key, Value>(mine);
  partition_state<code>& slot = context.slots[mine.begin / tuning::leaf_size];
  const position tile_begin = mine.begin + position{tile} * tuning::tile_size;
  const position left_over = mine.end - tile_begin;
  const auto count =
      static_cast<unsigned>(left_over < tuning::tile_size ? left_over : tuning::tile_size);

  // 1. Base cases. A small segment comes here only as the root; a sorted one only wants to go output.
  if (!needs_grid(mine, spawn, context)) {
    finish_in_block(shared, mine, context);
    if (threadIdx.x == 0) spawn.task_ends();
    return;
  }
  if (mine.sorted) {
    copy_to_output(context.buffers, tile_begin, tile_begin + count, threadIdx.x, blockDim.x);
    if (last_to_arrive(slot.arrived, team) && threadIdx.x == 0) spawn.task_ends();
    return;
  }

  // 2. Split the work at a pivot. Each block of the team does a tile; the last one goes on.
  const Compare compare = context.compare;
  const code pivot = choose_pivot(shared, context.buffers[mine.buffer].keys, mine, compare);
  const bool pivot_is_minimum = slot.has_fence != 0 && !compare(slot.fence, pivot);
  const auto goes_left = [&](const Key& key) {
    const code& encoded = compare.encode(key);
    return pivot_is_minimum ? !compare(pivot, encoded) : compare(encoded, pivot);
  };
  const auto buffer = static_cast<unsigned short>(1 - mine.buffer);
  partition_tile(shared, slot, mine, context.buffers[mine.buffer], context.buffers[buffer],
                 tile_begin, count, goes_left);
  if (!last_to_arrive(slot.arrived, team)) return;

  // 3. Recurse: spawn each part that is worth a grid. Join: nobody needs one. A child touches its
  //    own part only, and the caller's stream waits for the whole tree of grids.
  const position middle = mine.begin + slot.left;
  const segment left{mine.begin, middle, mine.depth + 1, buffer, pivot_is_minimum};
  const segment right{middle, mine.end, mine.depth + 1, buffer, false};
  const bool spawn_left = needs_grid(left, spawn, context);
  const bool spawn_right = needs_grid(right, spawn, context);
  __syncthreads();
  if (threadIdx.x == 0) {
    slot.left = 0;  // the left child may use this slot next, and keeps its fence
    slot.right = 0;
    constexpr auto kernel = quicksort_binary<Key, Value, Compare>;
    constexpr auto name = "quicksort_binary";
    if (spawn_left) spawn(kernel, left, binary_blocks<Key, Value>(left), context, name);
    if (spawn_right) {
      partition_state<code>& right_slot = context.slots[middle / tuning::leaf_size];
      right_slot.fence = pivot;
      right_slot.has_fence = 1;
      spawn(kernel, right, binary_blocks<Key, Value>(right), context, name);
    }
  }
  if (!spawn_left) finish_in_block(shared, left, context);
  if (!spawn_right) finish_in_block(shared, right, context);
  if (threadIdx.x == 0) spawn.task_ends();
}

template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads)
    quicksort_binary(task_source<segment> source, spawner<segment> spawn,
                     binary_context<Key, Value, Compare> context) {
  const traced here(spawn.trace, __func__);
  auto& shared = dynamic_shared<binary_shared<typename Compare::code, Value>>();
  for (const auto [mine, tile] : source.members()) {
    process_segment(shared, mine, tile, spawn, context);
  }
  if (threadIdx.x == 0) {
    spawn.block_ends(quicksort_binary<Key, Value, Compare>, source, context, __func__);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
