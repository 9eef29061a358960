// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The splitters of a segment as an implicit binary search tree: node 1 is the root, and node j has
/// the children 2j and 2j + 1. Splitters near the root, which all searches read, are neighbors in
/// shared memory, so they are in different banks.
///
///     splitters [10 20 30 40 50 60 70]  -->  tree [- 40 20 60 10 30 50 70]

#include <ramify/quicksort/sample_sort_context.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Returns the index of a node in the in-order traversal of a tree.
__device__ inline unsigned inorder_index(unsigned node, unsigned levels) {
  const auto depth = static_cast<unsigned>(31 - __clz(static_cast<int>(node)));
  const unsigned left_of_it = 2 * (node - (1u << depth)) + 1;
  return (left_of_it << (levels - 1 - depth)) - 1;
}

/// Builds the splitter tree of some sorted candidates. If two are equal, or if there is only one,
/// the tree has equality buckets, and at most `max` buckets in all; `max` must be a power of two.
/// All threads of the block must call it. `tree` is complete after the next barrier.
template <unsigned threads, class Code, class Compare>
__device__ splitter_tree build_splitter_tree(Code* tree, const Code* candidates, unsigned count,
                                             unsigned max, Compare compare) {
  __shared__ unsigned repeated;
  // 1. Repeated candidates indicate repeated keys, which need equality buckets. These take numbers
  //    from the other buckets. A single splitter needs them too: without them, a segment whose keys
  //    are all equal would never shrink.
  if (threadIdx.x == 0) repeated = count == 1 ? 1 : 0;
  __syncthreads();
  for (unsigned k = threadIdx.x + 1; k < count; k += threads) {
    if (!compare(candidates[k - 1], candidates[k])) atomicOr(&repeated, 1u);
  }
  __syncthreads();
  const bool equality = repeated != 0;
  // Every step-th candidate is a splitter.
  const unsigned step = equality ? (2 * (count + 1) + max - 1) / max : 1;
  const unsigned splitters = count / step;

  // 2. The last splitter fills the remaining nodes. The buckets between equal splitters stay empty.
  const splitter_tree shape{tree_levels(splitters + 1), equality ? 1u : 0u};
  for (unsigned node = threadIdx.x + 1; node <= shape.splitters(); node += threads) {
    const unsigned index = min(inorder_index(node, shape.levels), splitters - 1);
    tree[node] = candidates[step * (index + 1) - 1];
  }
  return shape;
}

/// Finds the buckets of some keys. The bucket is the number of splitters that are not greater than
/// the key. With equality buckets it is twice that number, less one if the last of these splitters
/// equals the key.
template <int items, class Code, class Compare>
__device__ void find_buckets(unsigned (&ids)[items], const Code (&keys)[items], const Code* tree,
                             unsigned levels, bool equality, Compare compare) {
  // 1. Descend the tree with all keys at once.
  RAMIFY_UNROLL_EVERYWHERE
  for (int i = 0; i < items; ++i) ids[i] = 1;
  const auto descend = [&] {
    RAMIFY_UNROLL_EVERYWHERE
    for (int i = 0; i < items; ++i) ids[i] = 2 * ids[i] + (compare(keys[i], tree[ids[i]]) ? 0 : 1);
  };
  constexpr unsigned usual_levels = 8;
  unsigned level = 0;
  if (levels >= usual_levels) {  // unrolled, this takes 0.8 of the loop's time
    RAMIFY_UNROLL
    for (; level < usual_levels; ++level) descend();
  }
  for (; level < levels; ++level) descend();
  const unsigned leaves = 1u << levels;
  if (!equality) {
    RAMIFY_UNROLL_EVERYWHERE
    for (int i = 0; i < items; ++i) ids[i] -= leaves;
    return;
  }
  // 2. A search goes right at a splitter that is not greater than the key. After the last such
  //    splitter it has only gone left. To find that splitter's node, remove from the binary number
  //    of the end node all trailing zeros and the one before them.
  RAMIFY_UNROLL_EVERYWHERE
  for (int i = 0; i < items; ++i) {
    const unsigned end = ids[i];
    const unsigned last_right = end == leaves ? 0 : end >> __ffs(static_cast<int>(end));
    const bool equal = last_right != 0 && !compare(tree[last_right], keys[i]);
    ids[i] = 2 * (end - leaves) - (equal ? 1 : 0);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
