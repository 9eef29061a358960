// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grids that finish a sample sort: leaves are sorted, and runs of equal keys are copied to the
/// output.
///
/// A leaf grid can also finish a sort that stopped, whatever is left of it: the segments of the due
/// level, leaves and copies. All are independent work on disjoint ranges of elements. It treats
/// segments as long leaves, and each block sorts one segment at a time. If a kernel launched only
/// the first grids of a round, the segments are where they were, because only the scatter grid
/// moves keys. Copies and leaves of such a round may be done twice, with the same result: leaves at
/// the depth limit, which overwrite both buffers, have no segments beside them.

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The source of the range of work of a leaf grid or copy grid.
enum class work_source {
  argument,   ///< the fields `first` and `end` of sample_sort_work
  all_found,  ///< the state: all work that the levels have found, on the flat route
  all_due,    ///< the state: the work that is due and not launched, in a graph's loop
  rest,       ///< the state: all work that is due, also of grids that kernels did not launch
};

/// The work of a leaf grid or of a copy grid.
struct sample_sort_work {
  work_source source;
  sample_sort_counts first{};  ///< the counts of the work before it
  sample_sort_counts end{};    ///< the counts including it
  bool ends_chain = false;     ///< no grid follows: the grid records the end of the last round
  unsigned segments = 0;       ///< of the due level, which a leaf grid sorts as long leaves

  /// Returns the range of the work. The levels must be complete.
  template <class Context>
  [[nodiscard]] __device__ sample_sort_work resolve(const Context& context) const {
    if (source == work_source::argument) return *this;
    const sample_sort_state& now = *context.state;
    const bool all = source == work_source::all_found;
    sample_sort_work mine{source, all ? sample_sort_counts{} : now.launched, now.due, ends_chain};
    if (context.completes) mine.segments = static_cast<unsigned>(now.segments_due() >> 32);
    return mine;
  }
  /// Returns whether the grid finishes a sort that has stopped. It is the same in all blocks.
  [[nodiscard]] __device__ bool finishes_sort() const {
    return source == work_source::rest || segments != 0;
  }
  /// Records that all work is launched, if no grid follows. All threads of the grid may call it.
  template <class Context>
  __device__ void record_end(const Context& context) const {
    if (!ends_chain || blockIdx.x != 0 || threadIdx.x != 0) return;
    context.state->launched = context.state->due;
  }
};

/// The leaves, the long leaves, and the segments, that a grid sorts.
struct leaf_range {
  unsigned first;
  unsigned count;
  unsigned first_long;
  unsigned long_count;
  unsigned segments;

  __host__ __device__ explicit leaf_range(const sample_sort_work& work)
      : first(static_cast<unsigned>(work.first.leaves)),
        count(static_cast<unsigned>(work.end.leaves - work.first.leaves)),
        first_long(static_cast<unsigned>(work.first.long_leaves)),
        long_count(static_cast<unsigned>(work.end.long_leaves - work.first.long_leaves)),
        segments(work.segments) {}

  /// Returns the number of leaves and segments that blocks sort, not teams.
  [[nodiscard]] __device__ unsigned of_blocks() const { return segments + long_count; }
};

/// Sorts the segments of `level` in the range, and its long leaves; each block sorts one at a time.
/// All threads of the block must call it.
template <class Context>
__device__ void sort_long_leaves(const Context& context, const leaf_range& range, unsigned level,
                                 void* shared) {
  using sorter = typename Context::long_leaf_sorter;
  const unsigned max = context.sizes.long_leaf;
  for (unsigned i = blockIdx.x; i < range.of_blocks(); i += gridDim.x) {
    const bool is_segment = i < range.segments;
    const segment leaf = is_segment ? context.list(level).tasks[i]
                                    : context.long_leaves[range.first_long + i - range.segments];
    sort_segment<sorter>({}, sorter::lay_out(shared, max), context.buffers, leaf, context.compare,
                         max);
    if (threadIdx.x == 0 && (is_segment || leaf.depth >= context.depth_limit)) {
      atomicAdd(&context.state->merge_sorted, 1ull);
    }
  }
}

/// Sorts leaves; each team sorts one leaf at a time. In a block without long leaves, the first leaf
/// of each team follows from the team's number. Each further leaf is fetched dynamically, because
/// leaves differ in length; `next_leaf` is in shared memory. All threads of the team must call it.
template <class Context>
__device__ void sort_leaves_by_team(const Context& context, const leaf_range& range, unsigned level,
                                    const typename Context::leaf_sorter::team& self,
                                    unsigned& next_leaf,
                                    const typename Context::leaf_sorter::arrays& shared) {
  const unsigned with_long_leaf = min(range.of_blocks(), gridDim.x);
  const unsigned without_long_leaf = gridDim.x - with_long_leaf;
  const unsigned first_dynamic = without_long_leaf * context.sizes.teams;
  const auto request_next = [&] {
    if (self.rank == 0) next_leaf = first_dynamic + atomicAdd(&context.leaves_taken[level], 1u);
  };
  const auto fetch_next = [&] {
    self.sync();
    const unsigned leaf = next_leaf;
    self.sync();  // all threads have read next_leaf before it is overwritten
    return leaf;
  };
  unsigned i = self.index * without_long_leaf + blockIdx.x - with_long_leaf;
  if (blockIdx.x < with_long_leaf) {
    request_next();
    i = fetch_next();
  }
  while (i < range.count) {
    request_next();  // the atomic operation overlaps with the sort
    const segment leaf = context.leaves[range.first + i];
    Context::leaf_sorter::sort(self, shared, context.buffers[leaf.buffer], context.buffers.output,
                               leaf.begin, static_cast<unsigned>(leaf.size()), context.compare);
    i = fetch_next();
  }
}

/// Copies sorted segments to the output; a block copies one tile at a time. Later levels may append
/// to the list at the same time.
template <class Context>
__device__ void copy_segments(const Context& context, const sample_sort_work& work) {
  // `copies` packs the number of segments (upper half) and of blocks (lower half).
  const auto segments = static_cast<unsigned>(work.end.copies >> 32);
  const auto first = static_cast<unsigned>(work.first.copies);
  const unsigned blocks = static_cast<unsigned>(work.end.copies) - first;
  for (unsigned i = blockIdx.x; i < blocks; i += gridDim.x) {
    const unsigned index = context.copies.owner_of(first + i, segments);
    const segment s = context.copies.tasks[index];
    const position begin =
        s.begin + position{first + i - context.copies.first_block[index]} * copy_tile;
    copy_to_output(context.buffers, begin, min(begin + copy_tile, s.end), threadIdx.x, blockDim.x);
  }
}

/// Sorts leaves of `level`, from either buffer, into the output arrays. If the sort has stopped at
/// this level, it can finish the sort: see the head of this file.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::leaf_threads)
    sample_sort_leaves(Context context, sample_sort_work work, unsigned level) {
  const traced here(context.trace, __func__);
  using sorter = typename Context::leaf_sorter;
  __shared__ unsigned next_leaves[Context::tuning::max_teams];
  grid_dependency_synchronize();
  context.read_root();
  context.release_slot();
  if (work.source == work_source::rest && context.finished(*context.state)) return;
  auto* const shared = &dynamic_shared<typename sorter::storage>();
  level = context.level_of_grid(level);
  const sample_sort_work mine = work.resolve(context);
  const leaf_range range(mine);
  mine.record_end(context);

  // 1. All threads of a block sort a long leaf. Few blocks have one.
  sort_long_leaves(context, range, level, shared);

  // 2. Teams of threads sort the other leaves.
  const typename sorter::team self;
  if (self.index < context.sizes.teams) {
    sort_leaves_by_team(context, range, level, self, next_leaves[self.index],
                        shared[self.index].view());
  }
  if (!mine.finishes_sort()) return;

  // 3. Copy what no grid copies. Join: the last block records that nothing is left.
  if (mine.source == work_source::rest) copy_segments(context, mine);
  if (context.is_last_block(gridDim.x) && threadIdx.x == 0) {
    context.state->launched = context.state->due;
    *context.list(level).count_and_blocks = 0;
  }
}

/// Copies sorted segments to the output.
template <class Context>
__global__ void sample_sort_copies(Context context, sample_sort_work work) {
  const traced here(context.trace, __func__);
  grid_dependency_synchronize();
  context.read_root();
  context.release_slot();
  const sample_sort_work mine = work.resolve(context);
  work.record_end(context);
  copy_segments(context, mine);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
