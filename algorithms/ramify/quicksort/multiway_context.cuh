// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the grids of a multiway quicksort share.

#include <ramify/quicksort/block_sort.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// How a segment is partitioned.
///
/// A segment has the plan, the tree and the counts from begin / bucket_unit on for itself: it has
/// fewer buckets than size / bucket_unit.
struct multiway_plan {
  unsigned levels;    ///< of the tree: it has 2^levels - 1 splitters
  unsigned equality;  ///< whether what equals a splitter has a bucket of its own
  unsigned pieces_counted;
  unsigned pieces_scattered;

  [[nodiscard]] __device__ unsigned splitters() const { return (1u << levels) - 1; }
  [[nodiscard]] __device__ unsigned buckets() const {
    return equality != 0 ? 2 * splitters() + 1 : splitters() + 1;
  }
};

/// What the levels have found so far; the host reads it when it must go on.
struct multiway_found {
  unsigned long long segments[2];  ///< of the level lists, which alternate: tasks << 32 | pieces
  unsigned long long copies;       ///< tasks << 32 | blocks
  unsigned long long leaves;
  unsigned long long merge_sorted;  ///< leaves that had reached the depth limit
  unsigned segments_done;           ///< of the level that is scattering
  unsigned level;                   ///< that comes next
};

/// How much of that has been launched.
struct multiway_launched {
  unsigned long long leaves;
  unsigned copy_blocks;
};

/// Sizes of a run that depend on the device and on n.
struct multiway_sizes {
  unsigned piece;   ///< elements of a piece, at most; even
  unsigned sample;  ///< keys, at most
  unsigned tile;    ///< elements that a block lays out in shared memory at a time
  unsigned teams;   ///< of a block of the leaf grid
  unsigned blocks;  ///< that the device holds of a kernel that takes all of an SM
  /// Dynamic shared memory of a block, in bytes.
  unsigned sample_bytes;
  unsigned tile_bytes;
};

/// The scratch memory of a run.
template <class Key>
struct multiway_memory {
  multiway_plan* plans;
  Key* trees;                   ///< of splitters, see multiway_sample
  position* counts;             ///< keys of each bucket, later where the bucket begins
  position* offsets;            ///< where in each bucket a piece's keys go
  unsigned char* ids;           ///< each key's bucket
  task_list<segment> lists[2];  ///< the level's segments, and the next one's
  task_list<segment> copies;    ///< sorted segments on their way home
  segment* leaves;
  position leaf_capacity;
  multiway_found* found;
  multiway_launched* launched;  ///< by kernels
};

/// What all grids share.
template <class Key, class Value, class Compare>
struct multiway_context : multiway_memory<Key> {
  columns<Key, Value> buffers[2];
  run_status* status;
  launch_slots slots;
  Compare compare;
  unsigned depth_limit;
  multiway_sizes sizes;
};

/// Elements that a block brings home at a time.
inline constexpr int copy_tile = 16 * 1024;

/// Buckets are numbered in a byte.
inline constexpr unsigned multiway_most_ids = 256;

/// Buckets that a segment of more than leaf_size elements is cut into, equality buckets apart, as a
/// power of two's exponent.
template <class Key, class Value>
__host__ __device__ unsigned bucket_levels(position size) {
  using tuning = multiway_tuning<Key, Value>;
  unsigned levels = 1;
  while ((1 << levels) < tuning::bucket_limit &&
         (position{1} << levels) * tuning::bucket_size < size) {
    ++levels;
  }
  return levels;
}

/// Pieces that a segment is counted and scattered in.
__host__ __device__ inline unsigned pieces(const segment& s, unsigned piece) {
  return static_cast<unsigned>((s.size() + piece - 1) / piece);
}

/// One block's piece of one segment: pieces of a segment have the same size, but for the last one.
struct multiway_piece {
  segment of;
  position begin;
  position end;
  unsigned pieces;  ///< of the segment
  /// Where in the lists of offsets this piece's are, if there are others. A segment has them from
  /// 2 * begin / most on, for it has less than 2 * size / most pieces.
  position offsets;

  /// Piece `number` of all in the list; none has more than `most` elements.
  __device__ multiway_piece(const task_list<segment>& list, unsigned number, unsigned most) {
    const unsigned index = list.owner_of(number, list.size());
    of = list.tasks[index];
    pieces = ramify::pieces(of, most);
    const unsigned rank = number - list.first_block[index];
    offsets = (of.begin / (most / 2) + rank) * multiway_most_ids;
    const position each = (of.size() + pieces - 1) / pieces;
    begin = of.begin + rank * each;
    begin = begin < of.end ? begin : of.end;
    end = begin + each < of.end ? begin + each : of.end;
  }
};

/// Launches what the level before `level` left to do. On the flat route it does nothing: the host
/// launches. One thread. `name` is the calling kernel's __func__.
template <class Key, class Value, class Compare>
__device__ void launch_from_device(const multiway_context<Key, Value, Compare>& context,
                                   unsigned level, const char* name);

}  // namespace ramify::inline RAMIFY_BUILD
