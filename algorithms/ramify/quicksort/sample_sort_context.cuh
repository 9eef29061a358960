// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The program of a sample sort: what all its grids share, and how a segment is divided among
/// blocks.

#include <cstdint>
#include <ramify/quicksort/leaf_sort.cuh>
#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The shape of the search tree of a segment's splitters.
struct splitter_tree {
  unsigned levels;    ///< the tree has 2^levels - 1 splitters
  unsigned equality;  ///< whether keys equal to a splitter have a bucket of their own

  [[nodiscard]] __device__ unsigned splitters() const { return (1u << levels) - 1; }
  [[nodiscard]] __device__ unsigned buckets() const {
    return equality != 0 ? 2 * splitters() + 1 : splitters() + 1;
  }
};

/// A set of flags: the order of the keys of a segment, as far as it is known. Equal keys have both.
enum : unsigned { unordered = 0, nondecreasing = 1, nonincreasing = 2 };

/// How a segment is partitioned.
struct sample_sort_plan {
  splitter_tree tree;
  unsigned order;  ///< of the root, once it has been counted; later segments are never checked
};

/// Counts of the work for leaf grids and copy grids.
struct sample_sort_counts {
  unsigned long long copies;  ///< sorted segments << 32 | blocks that copy them
  unsigned long long leaves;
  unsigned long long long_leaves;

  bool operator==(const sample_sort_counts&) const = default;
};

/// What the levels have produced so far: the state of the launch chain. The last block of a level
/// writes `due`, `launched` and `level`.
struct sample_sort_state {
  unsigned long long segments[2];  ///< of the level lists, which alternate: tasks << 32 | blocks
  sample_sort_counts found;
  sample_sort_counts due;       ///< found by the levels that are complete
  sample_sort_counts launched;  ///< by the rounds that are complete
  /// Long leaves that had reached the depth limit, and segments that a leaf grid has sorted.
  unsigned long long merge_sorted;
  unsigned level;  ///< the next level

  /// Returns the count of the next level. The comparison is deliberate: an index known only at run
  /// time would put a copy of the state into local memory.
  [[nodiscard]] __host__ __device__ unsigned long long segments_due() const {
    return level % 2 == 0 ? segments[0] : segments[1];
  }
};

/// Bucket numbers of a segment have one byte. Those of a root with more buckets have two.
inline constexpr unsigned byte_ids = 256;
inline constexpr unsigned max_ids = 1024;

/// How a small root is sorted: blocks sort chunks, and passes merge them.
struct small_root_plan {
  unsigned chunk;      ///< elements that a block sorts; 0: the root is not small
  unsigned passes;     ///< 0: there is one chunk
  unsigned ways;       ///< runs that a pass merges into one
  unsigned searchers;  ///< threads that share the searches for the place of an element
};

/// Sizes of a run that depend on the device and on n.
struct sample_sort_sizes {
  unsigned root_piece;    ///< maximum elements of a piece of the root; even
  unsigned piece;         ///< maximum elements of a piece of a later segment
  unsigned root_buckets;  ///< target, equality buckets apart
  /// Maximum number of buckets of the root, equality buckets included, if candidates are equal.
  unsigned root_buckets_if_repeated;
  unsigned root_sample;  ///< keys; in device_sizes() the maximum
  unsigned root_part;    ///< capacity, in keys, of a part of the root's sample
  unsigned sample;       ///< maximum keys of the sample of a later segment
  unsigned tile;         ///< elements that a block groups by bucket in shared memory at a time
  unsigned long_leaf;    ///< elements that a whole block sorts in shared memory
  unsigned teams;        ///< of a block of the leaf grid
  unsigned blocks;       ///< co-resident blocks of the scatter kernel: one an SM
  /// Dynamic shared memory of a block, in bytes.
  unsigned root_sample_bytes;
  unsigned sample_bytes;
  unsigned tile_bytes;
  unsigned leaf_bytes;
  stream_serialization serialization;  ///< of grids that follow another grid of the run
  unsigned levels_ahead;  ///< levels that the host launches on the flat route without waiting
  small_root_plan small;
  unsigned value_window;  ///< values that a block counts; 0: this is no counting sort

  /// Returns whether bucket numbers of the root may have two bytes.
  [[nodiscard]] __host__ __device__ bool wide_ids() const { return root_buckets > byte_ids; }
  /// Returns the shape of a grid that follows another grid of the run.
  [[nodiscard]] __host__ __device__ launch_shape shape(unsigned grid, unsigned block,
                                                       unsigned shared_bytes) const {
    launch_shape shape(grid, block, shared_bytes);
    shape.serialization = serialization;
    return shape;
  }
};

/// The sizes of a run, and pointers into its scratch memory.
template <class Code>
struct sample_sort_memory {
  segment root;
  unsigned depth_limit;
  sample_sort_sizes sizes;
  sample_sort_plan* plans;
  Code* candidates;           ///< for splitters, sorted
  position* counts;           ///< keys of each bucket
  position* offsets;          ///< where the keys of each piece begin in each bucket
  void* ids;                  ///< the bucket of each key, in one byte or two, see with_id_type()
  task_list<segment> even;    ///< segments of even levels
  task_list<segment> odd;     ///< segments of odd levels
  task_list<segment> copies;  ///< sorted segments that are to be copied to the output
  segment* leaves;
  segment* long_leaves;
  position leaf_capacity;
  sample_sort_state* state;
  unsigned* leaves_taken;  ///< for each level's leaf grid: leaves that teams fetched dynamically
  unsigned* claims;        ///< of a small root, see place_claims

  [[nodiscard]] __device__ task_list<segment> list(unsigned level) const {
    return level % 2 == 0 ? even : odd;
  }
};

/// The maximum number of grids of a round: copies, leaves, sample, count, scatter.
inline constexpr unsigned sample_sort_level_grids = 5;

/// As the level of a grid in a graph's loop: the kernel reads the level from the state.
inline constexpr unsigned level_on_device = ~0u;

/// The program of the launch chain, and the parameter of all its kernels. A round partitions the
/// segments of a level, and sorts the leaves and copies the runs of equal keys that the level
/// before it found.
template <class Key, class Value, class Compare>
struct sample_sort_context : chain_link, sample_sort_memory<typename Compare::code> {
  using key = Key;
  using value = Value;
  using order = Compare;
  using code = typename Compare::code;
  using tuning = sample_sort_tuning<Key, Value>;
  using state_type = sample_sort_state;
  /// Sorts a leaf with a team of a block's threads.
  using leaf_sorter = team_merge_sort<code, Value, tuning::team_threads, tuning::leaf_items>;
  /// Sorts a long leaf with all threads of a block.
  using long_leaf_sorter = team_merge_sort<code, Value, tuning::leaf_threads, tuning::leaf_items>;
  /// Sorts a short chunk of a small root with all threads of a block.
  using short_chunk_sorter =
      team_merge_sort<code, Value, tuning::short_chunk.threads, tuning::short_chunk.items>;
  /// Sorts a long chunk of a small root with all threads of a block.
  using long_chunk_sorter =
      team_merge_sort<code, Value, tuning::long_chunk.threads, tuning::long_chunk.items>;
  static constexpr auto join = chain_join::last_block;
  static constexpr bool releases_slots = true;
  static constexpr bool needs_no_completing_loop = true;
  /// Whether the first grid finds out how many elements the root has, see counted_context.
  static constexpr bool is_counted = false;

  double_buffer<Key, Value> buffers;
  Compare compare;         ///< a sort_order
  bool completes = false;  ///< the last leaf grid in the stream finishes the sort from any state

  [[nodiscard]] __host__ __device__ bool finished(const sample_sort_state& now) const {
    return now.segments_due() == 0 && now.launched == now.due;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const sample_sort_state& now) const {
    return now.level > 0;
  }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const sample_sort_state&) const {
    return sample_sort_level_grids;
  }
  [[nodiscard]] __host__ __device__ bool root_is_small() const {
    return this->sizes.small.chunk != 0;
  }
  /// Returns whether the root is not partitioned: it is small, or its keys are counted.
  [[nodiscard]] __host__ __device__ bool has_no_levels() const {
    return root_is_small() || this->sizes.value_window != 0;
  }
  /// Returns whether the grids that the host puts into the stream finish the whole sort.
  [[nodiscard]] bool is_complete_ahead() const { return has_no_levels() || completes; }
  [[nodiscard]] bool has_no_state() const { return has_no_levels(); }

  // sample_sort.cuh defines these functions.
  template <class Grids>
  __host__ __device__ void launch_round(const sample_sort_state& now, Grids& grids) const;
  template <class Grids>
  unsigned launch_ahead(Grids& grids) const;
  template <class Grids>
  __host__ __device__ void launch_rest(Grids& grids) const;
#if RAMIFY_ON_CUDA  // the CPU executor has no graphs
  template <class Grids>
  void launch_repeated(const sample_sort_state&, Grids& grids) const;
#endif

  /// Reads what the first grid has found out about the root. All later kernels call it first.
  __device__ void read_root() {}
  /// Returns `level`, or the level in the state if a graph's loop launched the grid.
  [[nodiscard]] __device__ unsigned level_of_grid(unsigned level) const {
    return level == level_on_device ? this->state->level : level;
  }
  /// Returns the plan of a segment. No other segment has it, because a segment is longer than a
  /// leaf.
  [[nodiscard]] __device__ sample_sort_plan& plan_of(const segment& s) const {
    return this->plans[s.begin / tuning::leaf_size];
  }
  /// Returns the arrays of candidates and of counts of a segment. A segment has fewer buckets than
  /// size / bucket_unit, so its parts of the arrays are its own.
  [[nodiscard]] __device__ code* candidates_of(const segment& s) const {
    return this->candidates + s.begin / tuning::bucket_unit;
  }
  [[nodiscard]] __device__ position* counts_of(const segment& s) const {
    return this->counts + s.begin / tuning::bucket_unit;
  }
};

/// Elements that a block copies to the output at a time.
inline constexpr int copy_tile = 16 * 1024;

/// The maximum number of levels: a depth limit may be 255, and segments that reach it become leaves
/// of the next level.
inline constexpr unsigned max_levels = 256;

/// Calls `work` with a null pointer to the type of the bucket numbers of a segment with this tree.
template <class Work>
__device__ void with_id_type(const splitter_tree& tree, Work work) {
  if (tree.buckets() > byte_ids) {
    work(static_cast<std::uint16_t*>(nullptr));
  } else {
    work(static_cast<std::uint8_t*>(nullptr));
  }
}

/// Returns the target number of buckets, equality buckets apart, of a segment that is longer than a
/// leaf and is not the root.
template <class Tuning>
__host__ __device__ unsigned target_buckets(position size) {
  const position target = (size + Tuning::bucket_size - 1) / Tuning::bucket_size;
  return target < Tuning::bucket_limit ? static_cast<unsigned>(target) : Tuning::bucket_limit;
}

/// Returns the maximum number of buckets, equality buckets included, of a segment of that level.
__host__ __device__ inline unsigned max_buckets(unsigned level, const sample_sort_sizes& sizes) {
  return level == 0 && sizes.wide_ids() ? max_ids : byte_ids;
}

/// Returns the number of levels of the smallest tree with at least so many buckets.
__host__ __device__ inline unsigned tree_levels(unsigned buckets) {
  unsigned levels = 1;
  while (1u << levels < buckets) ++levels;
  return levels;
}

/// Returns the maximum number of elements of a piece of a segment.
__host__ __device__ inline unsigned max_piece_size(const segment& s,
                                                   const sample_sort_sizes& sizes) {
  return s.depth == 0 ? sizes.root_piece : sizes.piece;
}

/// Returns the number of pieces in which a segment is counted and scattered.
__host__ __device__ inline unsigned piece_count(const segment& s, const sample_sort_sizes& sizes) {
  const unsigned max = max_piece_size(s, sizes);
  return static_cast<unsigned>((s.size() + max - 1) / max);
}

/// Returns the number of blocks that process a segment: one per piece. The first also emits the
/// children while the others move keys. The first block of the root has no piece, because all other
/// work waits for the root.
__host__ __device__ inline unsigned block_count(const segment& s, const sample_sort_sizes& sizes) {
  return piece_count(s, sizes) + (s.depth == 0 ? 1 : 0);
}

/// The piece of a segment that one block processes; it may be empty. All pieces of a segment have
/// the same size, apart from the last ones.
struct sample_sort_piece {
  segment of;
  position begin;
  position end;
  unsigned pieces;      ///< of the segment
  bool emits_children;  ///< whether this block emits the segment's children
  /// Index of the first of this piece's bucket offsets, which exist if the segment has several
  /// pieces. Those of a segment begin at row 2 * begin / max, because it has less than 2 * size /
  /// max pieces.
  position offsets;

  /// Finds the piece of block `number`; blocks are numbered through the list.
  __device__ sample_sort_piece(const task_list<segment>& list, unsigned number,
                               const sample_sort_sizes& sizes) {
    const unsigned index = list.owner_of(number, list.size());
    of = list.tasks[index];
    pieces = piece_count(of, sizes);
    const unsigned member = number - list.first_block[index];
    emits_children = member == 0;
    const bool is_root = of.depth == 0;
    const bool has_keys = !is_root || !emits_children;
    const unsigned rank = is_root && has_keys ? member - 1 : member;
    offsets = (of.begin / (max_piece_size(of, sizes) / 2) + rank) * max_buckets(of.depth, sizes);
    const position each = (of.size() + pieces - 1) / pieces;
    begin = min(of.begin + rank * each, of.end);
    end = min(begin + (has_keys ? each : 0), of.end);
  }
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
