// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The classic quicksort: partition a segment at a pivot, then sort both parts.
///
///     [5 2 8 | 1 9 3]   two tiles, pivot 4           reserve output from both ends, scatter
///     [2 1 3 | 9 8 5]   left part < 4 <= right part  the last block launches a grid for each part
///
/// A segment is a task. Several blocks partition it from one buffer into the other, one tile per
/// block. Elements equal to the pivot go right, so a segment whose keys are all equal would never
/// shrink. The remedy is that of pattern-defeating quicksort (Peters, 2021): no element of a
/// segment is smaller than the pivot that cut the segment off on the left (its fence). If the new
/// pivot is not greater than the fence, it is the minimum. The partition then sends equal elements
/// left, and the left part is sorted.

#include <ramify/quicksort/leaf_sort.cuh>
#include <ramify/runtime/spawner.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
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

template <bool can_launch, class Context>
__global__ void quicksort_binary(task_source<segment> source, spawner<segment, can_launch> spawn,
                                 Context context);

/// The parameters of all grids of a run.
template <class Key, class Value, class Compare>
struct binary_context {
  using key = Key;
  using code = typename Compare::code;
  using arrays = key_value_arrays<Key, Value>;
  using tuning = quicksort_tuning<Key, Value>;
  /// Sorts a segment with one block.
  using sorter = team_merge_sort<code, Value, tuning::threads, tuning::leaf_items>;

  __host__ __device__ static auto kernel() { return quicksort_binary<true, binary_context>; }
  __host__ __device__ static auto flat_kernel() { return quicksort_binary<false, binary_context>; }
  static constexpr unsigned max_children = 2;
  static constexpr bool may_be_thin = false;

  double_buffer<Key, Value> buffers;
  partition_state<code>* states;  ///< n / leaf_size + 1 of them, zeroed by the host
  unsigned long long* merge_sorted;
  Compare compare;
  unsigned depth_limit;

  /// Returns the number of blocks that process a segment together.
  [[nodiscard]] __host__ __device__ static unsigned blocks_of(const segment& s) {
    return s.size() <= tuning::leaf_size ? 1 : tile_count(s, tuning::tile_size);
  }
  [[nodiscard]] __device__ partition_state<code>& state_of(const segment& s) const {
    return states[s.begin / tuning::leaf_size];
  }
};

/// The dynamic shared memory of a block.
template <class Context>
struct binary_shared {
  using tuning = typename Context::tuning;
  using scan = block_scan<unsigned, tuning::threads>;

  union {
    typename Context::sorter::storage sort;
    typename scan::TempStorage scan_storage;
    uninitialized_array<typename Context::code, tuning::pivot_sample> sample;
  };
  position left_base;   ///< where this block's elements begin in the left part
  position right_base;  ///< where they begin in the right part, which grows downwards
  unsigned pivot;       ///< the pivot's index in `sample`
};

/// A block's work on the segments of its grid. All threads of the block must make the same calls.
template <bool can_launch, class Context>
struct binary_block {
  using tuning = typename Context::tuning;
  using code = typename Context::code;
  using key = typename Context::key;
  using state = partition_state<code>;

  binary_shared<Context>& shared;
  spawner<segment, can_launch>& spawn;
  const Context& context;

  /// Processes the tile with index `tile_index` of a segment, and the recursion if this block is
  /// the last to finish.
  __device__ void process(const segment& mine, unsigned tile_index) {
    const unsigned blocks = Context::blocks_of(mine);
    state& shared_state = context.state_of(mine);
    const position begin = mine.begin + position{tile_index} * tuning::tile_size;
    const auto count = static_cast<unsigned>(min(mine.end - begin, position{tuning::tile_size}));

    // 1. Base cases: only the root can be small here, and a sorted segment is only copied.
    if (!needs_grid(mine)) {
      finish(mine);
      if (threadIdx.x == 0) spawn.task_ends();
      return;
    }
    if (mine.sorted) {
      copy_to_output(context.buffers, begin, begin + count, threadIdx.x, blockDim.x);
      if (last_to_arrive(shared_state.arrived, blocks) && threadIdx.x == 0) spawn.task_ends();
      return;
    }

    // 2. Split the work at a pivot: each block partitions a tile, and the last block continues.
    const auto compare = context.compare;
    const code pivot = choose_pivot(mine);
    const bool pivot_is_minimum =
        shared_state.has_fence != 0 && !compare(shared_state.fence, pivot);
    const auto goes_left = [&](const key& k) {
      const code& encoded = compare.encode(k);
      return pivot_is_minimum ? !compare(pivot, encoded) : compare(encoded, pivot);
    };
    partition_tile(mine, begin, count, goes_left);
    if (!last_to_arrive(shared_state.arrived, blocks)) return;

    // 3. Recurse: spawn each part that needs a grid. Join: none is needed. A child touches only its
    //    own part, and the caller's stream waits for the whole tree of grids.
    const auto buffer = static_cast<unsigned short>(1 - mine.buffer);
    const position middle = mine.begin + shared_state.left;
    process_parts({mine.begin, middle, mine.depth + 1, buffer, pivot_is_minimum},
                  {middle, mine.end, mine.depth + 1, buffer, false}, pivot);
    if (threadIdx.x == 0) spawn.task_ends();
  }

 private:
  /// Returns whether a grid partitions or copies a segment; otherwise one block finishes it.
  __device__ bool needs_grid(const segment& s) const {
    if (s.size() <= tuning::leaf_size) return false;
    if (spawn.too_small(s.size())) return false;
    return s.sorted ? s.buffer != 0 : s.depth < context.depth_limit;
  }

  /// Finishes a segment that needs no grid.
  __device__ void finish(const segment& s) {
    if (s.sorted) {
      if (s.buffer != 0) copy_to_output(context.buffers, s.begin, s.end, threadIdx.x, blockDim.x);
      return;
    }
    using sorter = typename Context::sorter;
    sort_segment<sorter>({}, shared.sort.view(), context.buffers, s, context.compare);
    const bool merged = s.size() > sorter::capacity && s.depth >= context.depth_limit;
    if (merged && threadIdx.x == 0) atomicAdd(context.merge_sorted, 1ull);
  }

  /// Returns the pivot, the median of a sample. All blocks of a segment compute the same one.
  __device__ code choose_pivot(const segment& s) {
    constexpr unsigned count = tuning::pivot_sample;
    const auto compare = context.compare;
    const unsigned thread = threadIdx.x;
    if (thread < count) {
      const key& sampled = context.buffers[s.buffer].keys[sample_position(s, thread, count)];
      shared.sample[thread] = compare.encode(sampled);
    }
    if (thread == 0) shared.pivot = 0;  // stays 0 only if the comparator is inconsistent
    __syncthreads();
    if (thread < count) {
      // Half of the other keys precede the median. Equal keys are ordered by their index.
      const code mine = shared.sample[thread];
      unsigned rank = 0;
      for (unsigned i = 0; i < count; ++i) {
        const code& other = shared.sample[i];
        if (compare(other, mine) || (i < thread && !compare(mine, other))) ++rank;
      }
      if (rank == count / 2) shared.pivot = thread;
    }
    __syncthreads();
    const code pivot = shared.sample[shared.pivot];
    __syncthreads();
    return pivot;
  }

  /// Moves the `count` elements from `begin` on to their side of the pivot in the other buffer. The
  /// left part of the segment grows from the front, the right part from the back.
  template <class GoesLeft>
  __device__ void partition_tile(const segment& s, position begin, unsigned count,
                                 GoesLeft goes_left) {
    using arrays = typename Context::arrays;
    constexpr int items = tuning::tile_items;
    const arrays from = context.buffers[s.buffer];
    const arrays to = context.buffers[1 - s.buffer];
    // 1. Count this thread's elements that go left.
    const thread_share<items> share(threadIdx.x, count);
    key keys[items];
    unsigned my_left = 0;
    for (int i = 0; i < items; ++i) {
      if (i >= share.count) continue;
      keys[i] = from.keys[begin + share.at(i)];
      if (goes_left(keys[i])) ++my_left;
    }
    // 2. Reserve output for the tile, and scan over the threads.
    unsigned left_before = 0;
    unsigned tile_left = 0;
    typename binary_shared<Context>::scan(shared.scan_storage)
        .ExclusiveSum(my_left, left_before, tile_left);
    if (threadIdx.x == 0) {
      state& shared_state = context.state_of(s);
      shared.left_base = s.begin + atomicAdd(&shared_state.left, position{tile_left});
      shared.right_base = s.end - 1 - atomicAdd(&shared_state.right, position{count - tile_left});
    }
    __syncthreads();
    // 3. Scatter.
    position next_left = shared.left_base + left_before;
    position next_right = shared.right_base - (share.before - left_before);
    for (int i = 0; i < items; ++i) {
      if (i >= share.count) continue;
      position target = 0;
      if constexpr (tuning::branches) {
        target = goes_left(keys[i]) ? next_left++ : next_right--;
      } else {
        const position left = goes_left(keys[i]) ? 1 : 0;
        target = next_right - (next_right - next_left) * left;
        next_left += left;
        next_right -= 1 - left;
      }
      to.keys[target] = keys[i];
      if constexpr (arrays::has_values) to.values[target] = from.values[begin + share.at(i)];
    }
  }

  /// Spawns a grid for each part of a partitioned segment that needs one, and finishes the others.
  /// The segment's last block calls it.
  __device__ void process_parts(const segment& left, const segment& right, const code& pivot) {
    const bool spawn_left = needs_grid(left);
    const bool spawn_right = needs_grid(right);
    __syncthreads();
    if (threadIdx.x == 0) {
      state& left_state = context.state_of(left);  // used again, and keeps its fence
      left_state.left = 0;
      left_state.right = 0;
      if (spawn_left) spawn_grid(left);
      if (spawn_right) {
        state& right_state = context.state_of(right);
        right_state.fence = pivot;
        right_state.has_fence = 1;
        spawn_grid(right);
      }
    }
    if (!spawn_left) finish(left);
    if (!spawn_right) finish(right);
  }

  __device__ void spawn_grid(const segment& s) {
    spawn(quicksort_binary<can_launch, Context>, s, Context::blocks_of(s), context,
          "quicksort_binary");
  }
};

/// Processes the segments of `source`; several blocks share a segment. If it cannot launch, it is
/// the flat kernel, which the loop of a graph launches.
template <bool can_launch, class Context>
__global__ void __launch_bounds__(Context::tuning::threads)
    quicksort_binary(task_source<segment> source, spawner<segment, can_launch> spawn,
                     Context context) {
  const traced here(spawn.trace, __func__);
  binary_block<can_launch, Context> block{dynamic_shared<binary_shared<Context>>(), spawn, context};
  for (const auto [mine, tile_index] : source.members()) block.process(mine, tile_index);
  if (threadIdx.x == 0) {
    spawn.block_ends(quicksort_binary<can_launch, Context>, source, context, __func__);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
