// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The leaves of a part in a ring, see in_place_ring.cuh: how a block moves the elements of buckets
/// from their extents to their places in the array.

#include <ramify/quicksort/in_place_ring.cuh>
#include <ramify/runtime/residency.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Sorts a leaf with all threads of a block.
template <class Ring>
using ring_leaf_sorter = team_merge_sort<typename Ring::code, typename Ring::value,
                                         Ring::tuning::threads, Ring::tuning::leaf_items>;

/// Returns, as the output, the place of a bucket that begins at index `before` of its part, and, as
/// the scratch array, its extent.
template <class Ring>
__device__ double_buffer<typename Ring::key, typename Ring::value> buffers_of_bucket(
    const Ring& ring, const ring_part& part, unsigned b, unsigned before) {
  using arrays = typename Ring::arrays;
  const position extent = part.region + ring.extents[part.tables + b];
  const position place = part.begin + before;
  double_buffer<typename Ring::key, typename Ring::value> buffers{arrays{ring.data.keys + place},
                                                                  arrays{ring.ring.keys + extent}};
  if constexpr (Ring::tuning::has_values) {
    buffers.output.values = ring.data.values + place;
    buffers.scratch.values = ring.ring.values + extent;
  }
  return buffers;
}

/// Sorts bucket `b` of a part from its extent to its place.
template <class Ring>
__device__ void sort_bucket(const Ring& ring, const ring_part& part, unsigned b) {
  using sorter = ring_leaf_sorter<Ring>;
  const unsigned before = load_relaxed(ring.filled[part.tables + b]);
  const unsigned count = load_relaxed(ring.filled[part.tables + b + 1]) - before;
  if (count == 0) return;
  const block_team<sorter::threads_of_team, 1> block;
  sort_segment<sorter>(block, dynamic_shared<typename sorter::storage>().view(),
                       buffers_of_bucket(ring, part, b, before), segment{0, count, 0, 1},
                       ring.compare);
}

/// Copies elements of equality buckets to their places: those with places in share `number` of the
/// part. The leaf tickets of the part have equal shares, because one bucket can have most elements.
template <class Ring>
__device__ void copy_equal_keys(const Ring& ring, const ring_part& part, const splitter_tree& tree,
                                unsigned number) {
  const unsigned* const begins = ring.filled + part.tables;
  const unsigned share = part.size / part.leaves() + 1;
  const unsigned end = min((number + 1) * share, part.size);
  unsigned at = min(number * share, part.size);
  unsigned b = 0;  // the last bucket that does not begin after `at`
  for (unsigned step = tree.splitters() + 1; step > 0; step /= 2) {
    if (b + step < tree.buckets() && load_relaxed(begins[b + step]) <= at) b += step;
  }
  for (; at < end; ++b) {
    const unsigned before = load_relaxed(begins[b]);
    const unsigned until = min(load_relaxed(begins[b + 1]), end);
    if (b % 2 == 1) {
      copy_to_output(buffers_of_bucket(ring, part, b, before), at - before, until - before,
                     threadIdx.x, Ring::tuning::threads);
    }
    at = until;
  }
}

/// Moves the elements of leaf `number` of a part: a bucket, and a share of the keys that equal a
/// splitter.
template <class Ring>
__device__ void sort_ring_leaf(const Ring& ring, const ring_part& part, const splitter_tree& tree,
                               unsigned number) {
  const bool equality = tree.equality != 0;
  sort_bucket(ring, part, equality ? 2 * number : number);
  if (equality) copy_equal_keys(ring, part, tree, number);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
