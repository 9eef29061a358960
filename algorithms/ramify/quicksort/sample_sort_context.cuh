// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the grids of a sample_sort quicksort share.

#include <cstdint>
#include <ramify/quicksort/leaf_sort.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The splitters of a segment, as a search tree.
struct splitter_tree {
  unsigned levels;    ///< it has 2^levels - 1 splitters
  unsigned equality;  ///< whether what equals a splitter has a bucket of its own

  [[nodiscard]] __device__ unsigned splitters() const { return (1u << levels) - 1; }
  [[nodiscard]] __device__ unsigned buckets() const {
    return equality != 0 ? 2 * splitters() + 1 : splitters() + 1;
  }
};

/// What is known of the order of a segment: nothing, or that no key comes before the one in front of it
/// (nondecreasing), or none after (nonincreasing), or both.
enum : unsigned { unordered = 0, nondecreasing = 1, nonincreasing = 2 };

/// How a segment is partitioned.
struct sample_sort_plan {
  splitter_tree tree;
  unsigned order;  ///< of the root when it has been counted; of later segments none is known
};

/// What the levels have found so far; the host reads it when it must go on.
struct sample_sort_progress {
  unsigned long long segments[2];  ///< of the level lists, which alternate: tasks << 32 | blocks
  unsigned long long copies;       ///< tasks << 32 | blocks
  unsigned long long leaves;
  unsigned long long long_leaves;
  unsigned long long merge_sorted;  ///< long leaves that had reached the depth limit
  unsigned blocks_done;             ///< of the level that is scattering
  unsigned level;                   ///< that comes next
};

/// How much of that has been launched.
struct sample_sort_launched {
  unsigned long long leaves;
  unsigned long long long_leaves;
  unsigned copy_blocks;
};

/// Buckets are numbered in a byte, but for those of a root that has more of them.
inline constexpr unsigned byte_ids = 256;
inline constexpr unsigned max_ids = 1024;

/// Sizes of a run that depend on the device and on n.
struct sample_sort_sizes {
  unsigned root_piece;    ///< elements of a piece of the root, at most; even
  unsigned piece;         ///< of a later segment
  unsigned root_buckets;  ///< wanted, equality buckets apart
  unsigned root_sample;   ///< keys; of device_sizes(), at most
  unsigned root_part;     ///< keys of a part of it that there is room for
  unsigned sample;        ///< of a later segment, at most
  unsigned tile;          ///< elements that a block lays out in shared memory at a time
  unsigned long_leaf;     ///< elements that a block sorts in shared memory
  unsigned teams;         ///< of a block of the leaf grid
  unsigned blocks;        ///< of scatter that are resident at a time: one an SM
  /// Dynamic shared memory of a block, in bytes.
  unsigned root_sample_bytes;
  unsigned sample_bytes;
  unsigned tile_bytes;
  unsigned leaf_bytes;
  stream_serialization serialization;  ///< of grids that follow another of the run

  /// Whether this run's bucket numbers take two bytes.
  [[nodiscard]] __host__ __device__ bool wide_ids() const { return root_buckets > byte_ids; }
};

/// The scratch memory of a run.
template <class Code>
struct sample_sort_memory {
  sample_sort_plan* plans;
  Code* candidates;         ///< for splitters, in order
  position* counts;         ///< keys of each bucket
  position* offsets;        ///< where in each bucket a piece's keys go
  void* ids;                ///< each key's bucket, in one byte or two, see with_id_type()
  task_list<segment> even;  ///< the segments of a level that is even
  task_list<segment> odd;
  task_list<segment> copies;  ///< sorted segments on their way home
  segment* leaves;
  segment* long_leaves;
  position leaf_capacity;
  sample_sort_progress* progress;
  sample_sort_launched* launched;  ///< by kernels
  unsigned* leaves_taken;       ///< by the teams of each level's leaf grid, beside their first

  [[nodiscard]] __device__ task_list<segment> list(unsigned level) const {
    return level % 2 == 0 ? even : odd;
  }
};

/// What all grids share.
template <class Key, class Value, class Compare>
struct sample_sort_context : sample_sort_memory<typename Compare::code> {
  using code = typename Compare::code;

  double_buffer<Key, Value> buffers;
  run_status* status;
  launch_slots slots;
  Compare compare;  ///< a sort_order
  segment root;
  unsigned depth_limit;
  sample_sort_sizes sizes;
  trace_ticket trace;  ///< of each grid its own

  /// A segment is longer than a leaf, so it has one plan for itself.
  [[nodiscard]] __device__ sample_sort_plan& plan_of(const segment& s) const {
    return this->plans[s.begin / sample_sort_tuning<Key, Value>::leaf_size];
  }
  /// From where on a segment has candidates and counts for itself: it has fewer buckets than
  /// size / bucket_unit.
  [[nodiscard]] __device__ position first_bucket_of(const segment& s) const {
    return s.begin / sample_sort_tuning<Key, Value>::bucket_unit;
  }
  [[nodiscard]] __device__ code* candidates_of(const segment& s) const {
    return this->candidates + first_bucket_of(s);
  }
  [[nodiscard]] __device__ position* counts_of(const segment& s) const {
    return this->counts + first_bucket_of(s);
  }
};

/// Elements that a block brings home at a time.
inline constexpr int copy_tile = 16 * 1024;

/// A depth limit may be 255, and the segments that reach it become leaves of the next level.
inline constexpr unsigned max_levels = 256;

/// Calls `work` with a null pointer to the type that bucket numbers have in this run.
template <class Work>
__device__ void with_id_type(const sample_sort_sizes& sizes, Work work) {
  if (sizes.wide_ids()) {
    work(static_cast<std::uint16_t*>(nullptr));
  } else {
    work(static_cast<std::uint8_t*>(nullptr));
  }
}

/// Buckets that a segment of more than leaf_size elements is cut into, equality buckets apart.
template <class Key, class Value>
__host__ __device__ unsigned target_buckets(position size) {
  using tuning = sample_sort_tuning<Key, Value>;
  const position wanted = (size + tuning::bucket_size - 1) / tuning::bucket_size;
  return wanted < tuning::bucket_limit ? static_cast<unsigned>(wanted) : tuning::bucket_limit;
}

/// The same of a segment of the level that is `level` levels below the root.
template <class Key, class Value>
__device__ unsigned target_buckets(position size, unsigned level, const sample_sort_sizes& sizes) {
  return level == 0 ? sizes.root_buckets : target_buckets<Key, Value>(size);
}

/// How many buckets, equality buckets included, a segment of that level may have.
__host__ __device__ inline unsigned max_buckets(unsigned level, const sample_sort_sizes& sizes) {
  return level == 0 && sizes.wide_ids() ? max_ids : byte_ids;
}

/// Levels of the smallest tree with so many buckets.
__host__ __device__ inline unsigned tree_levels(unsigned buckets) {
  unsigned levels = 1;
  while (1u << levels < buckets) ++levels;
  return levels;
}

/// Elements of a piece of a segment, at most.
__host__ __device__ inline unsigned max_piece_size(const segment& s, const sample_sort_sizes& sizes) {
  return s.depth == 0 ? sizes.root_piece : sizes.piece;
}

/// Pieces that a segment is counted and scattered in.
__host__ __device__ inline unsigned piece_count(const segment& s, const sample_sort_sizes& sizes) {
  const unsigned most = max_piece_size(s, sizes);
  return static_cast<unsigned>((s.size() + most - 1) / most);
}

/// Blocks that work on a segment: one a piece. The first one also hands the buckets on while the others move
/// keys; that of the root, which everybody waits for, has no piece.
__host__ __device__ inline unsigned block_count(const segment& s, const sample_sort_sizes& sizes) {
  return piece_count(s, sizes) + (s.depth == 0 ? 1 : 0);
}

/// One block's piece of one segment, if it has one: pieces of a segment have the same size, but for the last
/// ones.
struct sample_sort_piece {
  segment of;
  position begin;
  position end;
  unsigned pieces;  ///< of the segment
  bool emits_children;    ///< the block has the segment's buckets to hand on
  /// Where in the lists of offsets this piece's are, if there are others. A segment has them from
  /// 2 * begin / most on, for it has less than 2 * size / most pieces.
  position offsets;

  /// What block `number` of all in the list has.
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
    begin = of.begin + rank * each;
    begin = begin < of.end ? begin : of.end;
    end = begin + (has_keys ? each : 0);
    end = end < of.end ? end : of.end;
  }
};

/// Launches what the level before `level` left to do. On the flat route it does nothing: the host
/// launches. One thread. `name` is the calling kernel's __func__.
template <class Key, class Value, class Compare>
__device__ void launch_from_device(const sample_sort_context<Key, Value, Compare>& context,
                                   unsigned level, const char* name);

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
