// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The last level of quicksort_in_place(): one grid sorts all parts of an array that are short
/// enough, with a scratch memory that has space for a few of them.
///
/// The scratch memory is a ring. Each part in turn has a region of it, which is divided into
/// extents: one for each bucket, a little longer than the sample of the part predicts.
///
///   1. Sample       splitters are chosen from a sorted sample, and the extents are measured by it.
///   2. Distribute   blocks write the elements of a part to the extents of their buckets.
///   3. Sort leaves  blocks sort each bucket from its extent to its place in the array.
///
/// in_place_ring_sort.cuh has the grid of steps 2 and 3. The elements of a part are in the array
/// until all its extents are complete. If one of them is too short, the part stays as it is.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/sample_sort_count.cuh>
#include <ramify/quicksort/sample_sort_sample.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Sizes of the sort of parts.
template <class Key, class Value>
struct ring_tuning {
  using of_sort = sample_sort_tuning<Key, Value>;
  static constexpr bool has_values = of_sort::has_values;
#if RAMIFY_ON_CUDA
  static constexpr int threads = of_sort::team_threads;
  static constexpr int leaf_items = of_sort::leaf_items;
  static constexpr int tile_bytes = default_shared_bytes;
  /// Maximum number of buckets of a part, equality buckets apart; a power of two.
  static constexpr int max_buckets = of_sort::bucket_limit;
#else
  static constexpr int threads = 8;
  static constexpr int leaf_items = std::clamp(160 / of_sort::sorted_bytes, 1, 40);
  static constexpr int tile_bytes = 1024;
  static constexpr int max_buckets = std::min(32, of_sort::bucket_limit);
#endif
  static constexpr int max_ids = 2 * max_buckets;
  /// Blocks of a multiprocessor, and elements of a thread in a tile: two more bytes of each are the
  /// number of its bucket. With 4 blocks and 31 elements, 2^28 u32 keys take 0.2 to 0.4 ms more.
  static constexpr int blocks = std::min(of_sort::max_teams, of_sort::staged_bytes <= 4 ? 5 : 4);
  static constexpr int items =
      std::clamp(tile_bytes / (threads * (of_sort::staged_bytes + 2)), 1, std::min(leaf_items, 24));
  static constexpr int tile = threads * items;
  /// Keys that a thread searches in the splitter tree at a time.
  static constexpr int search_items = std::min(items, of_sort::count_items);
  static constexpr int leaf_size = threads * leaf_items;
  static constexpr int bucket_size = std::max(leaf_size * 7 / 10, 1);
  static constexpr position max_part = position{bucket_size} * max_buckets;
  /// Sampled keys for each bucket. Of 10^5 buckets with so many, one is longer than its extent.
  static constexpr int oversampling = 90;
};

/// A part of the array, and its share of the tables and of the ring.
struct ring_part {
  position begin;        ///< in the array
  unsigned size;         ///< elements
  unsigned buckets;      ///< target, at least 2
  unsigned tables;       ///< index of its first entry in the tables of extents and of elements
  unsigned trees;        ///< index of its first entry in the table of splitter trees
  position region;       ///< begin of its region of the ring
  unsigned region_size;  ///< elements
  unsigned waits_begin;  ///< the parts that had the region before are [waits_begin, waits_end)
  unsigned waits_end;

  /// Returns the number of buckets of the splitter tree, equality buckets apart.
  [[nodiscard]] __host__ __device__ unsigned leaves() const { return 1u << tree_levels(buckets); }
};

/// The state of a part, which the kernels write.
struct ring_part_state {
  splitter_tree tree;
  unsigned tiles_written;
  unsigned leaves_read;  ///< leaf tickets whose elements are in the array
  unsigned progress;     ///< see ring_progress
};

/// The progress of a part.
enum ring_progress : unsigned { ring_distributes, ring_is_distributed, ring_overflows };

/// Some consecutive tickets: the tiles of a part, or its leaves. Blocks take tickets in their
/// order.
struct ring_step {
  unsigned first_ticket;
  unsigned part;
  unsigned sorts_leaves;
};

/// The sort of some parts, and the parameter of its kernels.
template <class Key, class Value, class Compare>
struct ring_sort {
  using key = Key;
  using value = Value;
  using code = typename Compare::code;
  using arrays = key_value_arrays<Key, Value>;
  using tuning = ring_tuning<Key, Value>;

  Compare compare;
  arrays data;  ///< the array
  arrays ring;
  unsigned part_count;
  unsigned ticket_count;
  const ring_part* parts;
  const ring_step* steps;  ///< the last one begins at ticket_count
  ring_part_state* states;
  code* trees;
  /// For each part: the begin of the extent of each bucket in the region, then the end of the last.
  unsigned* extents;
  /// For each part: the elements that blocks have put into each extent. After the last tile: the
  /// begin of each bucket in the part, then the end of the last.
  unsigned* filled;
  unsigned* tickets_taken;
};

/// The sorts of the samples, for sort_sample().
template <class Ring>
struct ring_sample {
  using code = typename Ring::code;
  using tuning = sample_sort_tuning<typename Ring::key, typename Ring::value>;
  using merge_sort = sample_merge_sort<ring_sample>;
};

/// Returns the share of a bucket in a region, of which the sample has `sampled` keys: five standard
/// deviations more.
__device__ inline unsigned ring_weight(unsigned sampled) {
  return sampled + static_cast<unsigned>(5 * sqrtf(static_cast<float>(sampled))) + 12;
}

/// Returns whether no key can be in bucket `b`, because it is between two equal splitters or is the
/// equality bucket of the first of them. All `count` candidates are splitters. In an array with
/// frequent keys, half of the buckets stay empty, and extents for them would shorten all others.
template <class Code, class Compare>
__device__ bool stays_empty(unsigned b, const splitter_tree& shape, const Code* candidates,
                            unsigned count, Compare compare) {
  const unsigned upper = shape.equality != 0 ? (b + 1) / 2 : b;  // the splitter after the bucket
  if (upper == 0 || upper == shape.splitters()) return false;
  return !compare(candidates[min(upper, count) - 1], candidates[min(upper, count - 1)]);
}

/// Chooses the splitters of each part from a sample of at most `most` keys, and measures the
/// extents. A block has one part at a time.
template <class Ring>
__global__ void __launch_bounds__(ring_sample<Ring>::tuning::sample_threads)
    in_place_ring_sample(Ring ring, unsigned most) {
  using code = typename Ring::code;
  using tuning = typename Ring::tuning;
  constexpr unsigned threads = ring_sample<Ring>::tuning::sample_threads;
  auto* sorted = &dynamic_shared<code>();
  __shared__ uninitialized_array<code, tuning::max_buckets> candidates;
  __shared__ unsigned sampled[tuning::max_ids];
  __shared__ typename block_scan<unsigned, threads>::TempStorage storage;
  for (unsigned p = blockIdx.x; p < ring.part_count; p += gridDim.x) {
    const ring_part part = ring.parts[p];
    const auto compare = ring.compare;

    // 1. Sort the sample, and choose the splitters.
    const auto count = static_cast<unsigned>(
        min(min(unsigned{tuning::oversampling} * part.buckets, most), part.size));
    const segment all{part.begin, part.begin + part.size};
    const auto read = [&](unsigned k) {
      return compare.encode(ring.data.keys[sample_position(all, k, count)]);
    };
    sort_sample<ring_sample<Ring>>(sorted, read, count, compare);
    for (unsigned c = threadIdx.x; c < part.buckets - 1; c += threads) {
      candidates[c] = sorted[(c + 1) * count / part.buckets];
    }
    for (unsigned b = threadIdx.x; b < 2 * part.leaves(); b += threads) sampled[b] = 0;
    __syncthreads();
    code* const tree = ring.trees + part.trees;
    const splitter_tree shape = build_splitter_tree<threads>(
        tree, candidates.data(), part.buckets - 1, 2 * part.leaves(), compare);
    __syncthreads();

    // 2. Count the sampled keys of each bucket.
    for (unsigned k = threadIdx.x; k < count; k += threads) {
      const code here[] = {sorted[k]};
      unsigned id[1];
      find_buckets(id, here, tree, shape.levels, shape.equality != 0, compare);
      atomicAdd(&sampled[id[0]], 1u);
    }
    __syncthreads();

    // 3. Divide the region in proportion.
    unsigned* const extents = ring.extents + part.tables;
    const auto weight = [&](unsigned b) {
      const bool empty = stays_empty(b, shape, candidates.data(), part.buckets - 1, compare);
      return empty ? 0 : ring_weight(sampled[b]);
    };
    const unsigned total = scan_in_order<threads, unsigned>(
        storage, shape.buckets(), weight,
        [&](unsigned b, unsigned, unsigned before) { sampled[b] = before; });
    for (unsigned b = threadIdx.x; b <= shape.buckets(); b += threads) {
      const position before = b < shape.buckets() ? sampled[b] : total;
      extents[b] = static_cast<unsigned>(before * part.region_size / total);
      ring.filled[part.tables + b] = 0;
    }
    if (threadIdx.x == 0) ring.states[p] = {shape, 0, 0, ring_distributes};
    if (p == 0 && threadIdx.x == 0) *ring.tickets_taken = 0;
    __syncthreads();
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
