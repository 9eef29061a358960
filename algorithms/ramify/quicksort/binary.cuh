// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The classic quicksort: partition a segment at a pivot, then sort both parts.
///
///     [5 2 8 | 1 9 3]   two tiles, pivot 4           reserve output from both ends, scatter
///     [2 1 3 | 9 8 5]   left part < 4 <= right part  the last block launches a grid for each part
///
/// A segment is a task. Several blocks partition it from one buffer into the other, one tile a
/// block. Elements equal to the pivot go right, so a segment whose keys are all equal would never
/// shrink. The remedy is that of pattern-defeating quicksort (Peters, 2021): no element of a
/// segment is smaller than the pivot that cut the segment off on the left (its fence). If the new
/// pivot is not greater than the fence, it is the minimum. The partition then sends equal elements
/// left, and the left part is sorted.

#include <ramify/quicksort/leaf_sort.cuh>
#include <ramify/runtime/spawner.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// State that the blocks of a segment share. A segment of more than leaf_size elements has the
/// state with index begin / leaf_size to itself: no other segment of that length that exists at the
/// same time has the same index.
template <class Code>
struct partition_state {
  position left;     ///< elements in the left part so far
  position right;    ///< elements in the right part so far
  unsigned arrived;  ///< blocks that have finished
  unsigned has_fence;
  Code fence;
};

template <class Key, class Value, class Compare>
struct binary_context;

template <bool can_launch, class Key, class Value, class Compare>
__global__ void quicksort_binary(task_source<segment> source, spawner<segment, can_launch> spawn,
                                 binary_context<Key, Value, Compare> context);

/// The parameters of all grids of a run.
template <class Key, class Value, class Compare>
struct binary_context {
  __host__ __device__ static auto kernel() { return quicksort_binary<true, Key, Value, Compare>; }
  __host__ __device__ static auto flat_kernel() {
    return quicksort_binary<false, Key, Value, Compare>;
  }
  static constexpr unsigned max_children = 2;
  static constexpr bool may_be_thin = false;

  double_buffer<Key, Value> buffers;
  partition_state<typename Compare::code>*
      states;  ///< n / leaf_size + 1 of them, zeroed by the host
  unsigned long long* merge_sorted;
  Compare compare;
  unsigned depth_limit;
};

/// Sorts a segment with one block.
template <class Code, class Value>
using block_sorter = leaf_sorter<Code, Value, quicksort_tuning<Code, Value>::threads,
                                 quicksort_tuning<Code, Value>::leaf_items>;

/// The dynamic shared memory of a block.
template <class Code, class Value>
struct binary_shared {
  using tuning = quicksort_tuning<Code, Value>;
  using scan = block_scan<unsigned, tuning::threads>;

  union {
    typename block_sorter<Code, Value>::storage sort;
    typename scan::TempStorage scan_storage;
    uninitialized_array<Code, tuning::pivot_sample> sample;
  };
  position left_base;   ///< where this block's elements begin in the left part
  position right_base;  ///< where they begin in the right part, which grows downwards
  unsigned pivot;       ///< the pivot's index in `sample`
};

/// Returns the pivot, the median of a sample. All blocks of a segment compute the same one. All
/// threads of the block must call it.
template <class Code, class Value, class Key, class Compare>
__device__ Code choose_pivot(binary_shared<Code, Value>& shared, const Key* keys, const segment& s,
                             Compare compare) {
  constexpr unsigned count = binary_shared<Code, Value>::tuning::pivot_sample;
  const unsigned thread = threadIdx.x;
  if (thread < count)
    shared.sample[thread] = compare.encode(keys[sample_position(s, thread, count)]);
  if (thread == 0) shared.pivot = 0;  // stays 0 only if the comparator is inconsistent
  __syncthreads();
  if (thread < count) {
    // The median has half of the others before it. Equal keys are ordered by their index.
    const Code mine = shared.sample[thread];
    unsigned rank = 0;
    for (unsigned i = 0; i < count; ++i) {
      const Code& other = shared.sample[i];
      if (compare(other, mine) || (i < thread && !compare(mine, other))) ++rank;
    }
    if (rank == count / 2) shared.pivot = thread;
  }
  __syncthreads();
  const Code pivot = shared.sample[shared.pivot];
  __syncthreads();
  return pivot;
}

/// Returns the number of blocks that process a segment together.
template <class Key, class Value>
__host__ __device__ unsigned binary_blocks(const segment& s) {
  using tuning = quicksort_tuning<Key, Value>;
  return s.size() <= tuning::leaf_size ? 1 : tile_count(s, tuning::tile_size);
}

/// Returns whether a grid partitions or copies a segment; otherwise one block finishes it.
template <bool can_launch, class Key, class Value, class Compare>
__device__ bool needs_grid(const segment& s, const spawner<segment, can_launch>& spawn,
                           const binary_context<Key, Value, Compare>& context) {
  if (s.size() <= quicksort_tuning<Key, Value>::leaf_size) return false;
  if (spawn.too_small(s.size())) return false;
  return s.sorted ? s.buffer != 0 : s.depth < context.depth_limit;
}

/// Finishes a segment that needs no grid. All threads of the block must call it.
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

/// A block's tile of a segment.
struct segment_tile {
  position begin;
  unsigned count;  ///< of elements

  __device__ segment_tile(const segment& of, unsigned index, unsigned tile_size)
      : begin(of.begin + position{index} * tile_size) {
    const position left_over = of.end - begin;
    count = static_cast<unsigned>(left_over < tile_size ? left_over : tile_size);
  }
};

/// Moves the elements of a tile to their side of the pivot in the other buffer. The left part of
/// the segment grows from the front, the right part from the back. All threads of the block must
/// call it.
template <class Code, class Key, class Value, class GoesLeft>
__device__ void partition_tile(binary_shared<Code, Value>& shared, partition_state<Code>& state,
                               const segment& s, const double_buffer<Key, Value>& buffers,
                               const segment_tile& tile, GoesLeft goes_left) {
  constexpr int items = quicksort_tuning<Key, Value>::tile_items;
  const key_value_arrays<Key, Value> from = buffers[s.buffer];
  const key_value_arrays<Key, Value> to = buffers[1 - s.buffer];
  // 1. Count this thread's elements that go left.
  const thread_share<items> share(tile.count);
  Key keys[items];
  unsigned my_left = 0;
  for (int i = 0; i < items; ++i) {
    if (i >= share.count()) continue;
    keys[i] = from.keys[tile.begin + share.at(i)];
    if (goes_left(keys[i])) ++my_left;
  }
  // 2. Reserve output for the tile, and scan over the threads.
  unsigned left_before = 0;
  unsigned tile_left = 0;
  typename binary_shared<Code, Value>::scan(shared.scan_storage)
      .ExclusiveSum(my_left, left_before, tile_left);
  if (threadIdx.x == 0) {
    shared.left_base = s.begin + atomicAdd(&state.left, position{tile_left});
    shared.right_base = s.end - 1 - atomicAdd(&state.right, position{tile.count - tile_left});
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
      to.values[target] = from.values[tile.begin + share.at(i)];
    }
  }
}

/// Spawns a grid for each part of a partitioned segment that needs one, and finishes the others.
/// All threads of the segment's last block must call it.
template <bool can_launch, class Key, class Value, class Compare>
__device__ void process_parts(binary_shared<typename Compare::code, Value>& shared,
                              partition_state<typename Compare::code>& state, const segment& left,
                              const segment& right, const typename Compare::code& pivot,
                              spawner<segment, can_launch>& spawn,
                              const binary_context<Key, Value, Compare>& context) {
  const bool spawn_left = needs_grid(left, spawn, context);
  const bool spawn_right = needs_grid(right, spawn, context);
  __syncthreads();
  if (threadIdx.x == 0) {
    state.left = 0;  // the left part may use this state next, and keeps its fence
    state.right = 0;
    constexpr auto kernel = quicksort_binary<can_launch, Key, Value, Compare>;
    constexpr auto name = "quicksort_binary";
    if (spawn_left) spawn(kernel, left, binary_blocks<Key, Value>(left), context, name);
    if (spawn_right) {
      auto& right_state = context.states[right.begin / quicksort_tuning<Key, Value>::leaf_size];
      right_state.fence = pivot;
      right_state.has_fence = 1;
      spawn(kernel, right, binary_blocks<Key, Value>(right), context, name);
    }
  }
  if (!spawn_left) finish_in_block(shared, left, context);
  if (!spawn_right) finish_in_block(shared, right, context);
}

/// One block's work on one segment: the tile with index `tile_index`, and the recursion if this
/// block is the last to finish. All threads of the block must call it.
template <bool can_launch, class Key, class Value, class Compare>
__device__ void process_segment(binary_shared<typename Compare::code, Value>& shared,
                                const segment& mine, unsigned tile_index,
                                spawner<segment, can_launch>& spawn,
                                const binary_context<Key, Value, Compare>& context) {
  using tuning = quicksort_tuning<Key, Value>;
  using code = typename Compare::code;
  const unsigned blocks = binary_blocks<Key, Value>(mine);
  partition_state<code>& state = context.states[mine.begin / tuning::leaf_size];
  const segment_tile tile(mine, tile_index, tuning::tile_size);

  // 1. Base cases: only the root can be small here, and a sorted segment is only copied.
  if (!needs_grid(mine, spawn, context)) {
    finish_in_block(shared, mine, context);
    if (threadIdx.x == 0) spawn.task_ends();
    return;
  }
  if (mine.sorted) {
    copy_to_output(context.buffers, tile.begin, tile.begin + tile.count, threadIdx.x, blockDim.x);
    if (last_to_arrive(state.arrived, blocks) && threadIdx.x == 0) spawn.task_ends();
    return;
  }

  // 2. Split the work at a pivot: each block partitions a tile, and the last block continues.
  const Compare compare = context.compare;
  const code pivot = choose_pivot(shared, context.buffers[mine.buffer].keys, mine, compare);
  const bool pivot_is_minimum = state.has_fence != 0 && !compare(state.fence, pivot);
  const auto goes_left = [&](const Key& key) {
    const code& encoded = compare.encode(key);
    return pivot_is_minimum ? !compare(pivot, encoded) : compare(encoded, pivot);
  };
  partition_tile(shared, state, mine, context.buffers, tile, goes_left);
  if (!last_to_arrive(state.arrived, blocks)) return;

  // 3. Recurse: spawn each part that needs a grid. Join: none is needed. A child touches only its
  //    own part, and the caller's stream waits for the whole tree of grids.
  const auto buffer = static_cast<unsigned short>(1 - mine.buffer);
  const position middle = mine.begin + state.left;
  const segment left{mine.begin, middle, mine.depth + 1, buffer, pivot_is_minimum};
  const segment right{middle, mine.end, mine.depth + 1, buffer, false};
  process_parts(shared, state, left, right, pivot, spawn, context);
  if (threadIdx.x == 0) spawn.task_ends();
}

/// Processes the segments of `source`, several blocks a segment. Without launches it is the flat
/// kernel, which a graph's loop launches.
template <bool can_launch, class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads)
    quicksort_binary(task_source<segment> source, spawner<segment, can_launch> spawn,
                     binary_context<Key, Value, Compare> context) {
  const traced here(spawn.trace, __func__);
  auto& shared = dynamic_shared<binary_shared<typename Compare::code, Value>>();
  for (const auto [mine, tile_index] : source.members()) {
    process_segment(shared, mine, tile_index, spawn, context);
  }
  if (threadIdx.x == 0) {
    spawn.block_ends(quicksort_binary<can_launch, Key, Value, Compare>, source, context, __func__);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
