// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the grids of a multiway quicksort share.

#include <ramify/quicksort/block_sort.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// How a segment is partitioned. A segment has the plan, the splitters and the counts from
/// begin / half_leaf on for itself, for it has at most size / half_leaf buckets.
struct multiway_plan {
  unsigned splitters;
  unsigned equality;       ///< whether equality buckets are used
  unsigned tiles_counted;  ///< blocks that are done
  unsigned tiles_scattered;
};

/// What the levels have found so far; the host reads it between the levels of a flat run.
struct multiway_found {
  unsigned long long segments[2];  ///< of the level lists, which alternate: tasks << 32 | blocks
  unsigned long long copies;       ///< likewise
  unsigned long long leaves;
  unsigned long long merge_sorted;  ///< leaves that were too long
  unsigned segments_done;           ///< of the level that is scattering
  unsigned level;                   ///< that comes next
};

/// How much of that has been launched.
struct multiway_launched {
  unsigned long long leaves;
  unsigned copy_blocks;
};

/// The scratch memory of a run.
template <class Key>
struct multiway_memory {
  multiway_plan* plans;
  Key* splitters;
  position* counts;  ///< two a splitter: keys of each bucket, later where the bucket ends
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
};

template <class Key, class Value>
struct multiway_tuning : quicksort_tuning<Key, Value> {
  using base = quicksort_tuning<Key, Value>;
  static constexpr int half_leaf = base::leaf_size / 2;
  static constexpr int most_counts = 2 * base::bucket_limit;
};

/// Buckets that a segment of more than leaf_size elements is cut into, equality buckets apart: half
/// a leaf in each if all goes well, so that few are larger than a leaf.
template <class Key, class Value>
__host__ __device__ unsigned bucket_count(position size) {
  using tuning = multiway_tuning<Key, Value>;
  const position wanted = size / tuning::half_leaf;
  return wanted < tuning::bucket_limit ? static_cast<unsigned>(wanted) : tuning::bucket_limit;
}

/// Launches what the level before `level` left to do. On the flat route it does nothing: the host
/// launches. One thread. `name` is the calling kernel's __func__.
template <class Key, class Value, class Compare>
__device__ void launch_from_device(const multiway_context<Key, Value, Compare>& context,
                                   unsigned level, const char* name);

}  // namespace ramify::inline RAMIFY_BUILD
