// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The recursion of sample sort: the buckets of a partitioned segment become its children.

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The buckets of a segment, and how they are grouped into children: a bucket longer than half a
/// leaf is a child of its own, and adjacent shorter ones share a child of at most a leaf's size.
template <unsigned half_leaf>
struct bucket_groups {
  const position* begins;
  unsigned buckets;
  const segment& parent;

  [[nodiscard]] __device__ position begin(unsigned b) const { return begins[b]; }
  [[nodiscard]] __device__ position end(unsigned b) const {
    return b + 1 < buckets ? begin(b + 1) : parent.end;
  }
  [[nodiscard]] __device__ bool is_small(unsigned b) const {
    return end(b) - begin(b) <= half_leaf;
  }
  /// Returns whether a bucket begins a child. Adjacent small buckets that begin in the same half
  /// leaf share one.
  [[nodiscard]] __device__ bool is_first(unsigned b) const {
    const auto window = [&](unsigned i) { return (begin(i) - parent.begin) / half_leaf; };
    return b == 0 || !is_small(b - 1) || !is_small(b) || window(b - 1) != window(b);
  }
};

/// Appends a child that is no leaf to the list of copies, long leaves, or segments of the next
/// level. A segment of equal keys that is in the output buffer already is dropped.
template <class Context>
__device__ void append_child(const Context& context, const segment& child, bool all_equal) {
  bool appended = true;
  if (all_equal) {
    if (child.buffer != 0) appended = context.copies.push(child, tile_count(child, copy_tile));
  } else if (child.size() <= context.sizes.long_leaf || child.depth >= context.depth_limit) {
    // Too short for a level of its own, or too deep.
    context.long_leaves[atomicAdd(&context.state->found.long_leaves, 1ull)] = child;
  } else {
    appended = context.list(child.depth).push(child, block_count(child, context.sizes));
  }
  if (!appended) atomicAdd(&context.status->dropped, 1ull);
}

/// Appends the leaves of all threads of the block to the list of leaves, with one atomic operation
/// for the block. All threads of the block must call it. `leaf_count` is 0 before and after.
template <class Context>
__device__ void append_leaves(const Context& context, bool is_leaf, const segment& child,
                              unsigned& leaf_count, position& first_leaf) {
  __syncthreads();
  unsigned index = 0;
  if (is_leaf) index = atomicAdd(&leaf_count, 1u);
  __syncthreads();
  if (threadIdx.x == 0) {
    first_leaf = atomicAdd(&context.state->found.leaves, position{leaf_count});
    if (first_leaf + leaf_count > context.leaf_capacity) atomicAdd(&context.status->dropped, 1ull);
    leaf_count = 0;
  }
  __syncthreads();
  if (is_leaf && first_leaf + index < context.leaf_capacity) {
    context.leaves[first_leaf + index] = child;
  }
}

/// Emits the children of a segment: large ones to the list of the next level, small ones to the
/// list of leaves. Requires shared.shift, where each bucket begins. Overwrites shared.counts. All
/// threads of the block must call it.
template <class Shared, class Context>
__device__ void emit_children(Shared& shared, const Context& context, const segment& parent,
                              const splitter_tree& tree) {
  using tuning = typename Context::tuning;
  constexpr unsigned threads = tuning::tile_threads;
  __shared__ unsigned leaf_count;
  __shared__ position first_leaf;
  const unsigned buckets = tree.buckets();
  const bucket_groups<tuning::leaf_size / 2> groups{shared.shift, buckets, parent};
  if (threadIdx.x == 0) leaf_count = 0;

  // 1. Find the first bucket of each child; their numbers go to shared.counts.
  const unsigned children = scan_in_order<threads, unsigned>(
      shared.scan_storage, buckets, [&](unsigned b) { return groups.is_first(b) ? 1u : 0u; },
      [&](unsigned b, unsigned is_first, unsigned before) {
        if (is_first != 0) shared.counts[before] = b;
      });

  for (unsigned first = 0; first < children; first += threads) {
    // 2. One thread a child: append it to the list that its size requires.
    const unsigned c = first + threadIdx.x;
    segment child;
    bool is_leaf = false;
    if (c < children) {
      const unsigned b = shared.counts[c];
      const unsigned last = c + 1 < children ? shared.counts[c + 1] - 1 : buckets - 1;
      child = {groups.begin(b), groups.end(last), parent.depth + 1,
               static_cast<unsigned short>(1 - parent.buffer), false};
      const bool is_equality_bucket = tree.equality != 0 && b % 2 == 1 && last == b;
      const bool all_equal = is_equality_bucket && !groups.is_small(b);
      if (!all_equal && child.size() <= tuning::leaf_size) {
        is_leaf = child.size() > 0;
      } else {
        append_child(context, child, all_equal);
      }
    }
    // 3. Append the leaves of all threads together.
    append_leaves(context, is_leaf, child, leaf_count, first_leaf);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
