// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The splitters of a segment as a search tree without pointers: node 1 is the root, node j has the
/// children 2j and 2j + 1. A search goes down from the root, and the splitters that are compared early lie
/// side by side, in different banks of shared memory.
///
///     splitters [10 20 30 40 50 60 70]  -->  tree [- 40 20 60 10 30 50 70]

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Where in the order of its splitters a node of a tree stands.
__device__ inline unsigned inorder_index(unsigned node, unsigned levels) {
  const unsigned depth = 31 - __clz(static_cast<int>(node));
  const unsigned left_of_it = 2 * (node - (1u << depth)) + 1;
  return (left_of_it << (levels - 1 - depth)) - 1;
}

/// Plants the tree of some sorted candidates, for `most` buckets at most. Every thread of the block; the
/// tree is there after the next barrier.
template <unsigned threads, class Code, class Compare>
__device__ splitter_tree build_splitter_tree(Code* tree, const Code* candidates, unsigned count,
                                    unsigned most, Compare compare) {
  __shared__ unsigned repeated;
  // 1. Repeated keys show as repeated candidates, and want equality buckets, which share the numbers of
  //    buckets. So does a single splitter: without them, a segment of equal keys would never shrink.
  if (threadIdx.x == 0) repeated = count == 1 ? 1 : 0;
  __syncthreads();
  for (unsigned k = threadIdx.x + 1; k < count; k += threads) {
    if (!compare(candidates[k - 1], candidates[k])) atomicOr(&repeated, 1u);
  }
  __syncthreads();
  const bool equality = repeated != 0;
  const bool halve = equality && 2 * (count + 1) > most;  // then every other one will do
  const unsigned splitters_wanted = halve ? count / 2 : count;

  // 2. The last splitter fills the places that are left over; nothing falls between equal splitters.
  const splitter_tree planted{tree_levels(splitters_wanted + 1), equality ? 1u : 0u};
  for (unsigned node = threadIdx.x + 1; node <= planted.splitters(); node += threads) {
    const unsigned place = min(inorder_index(node, planted.levels), splitters_wanted - 1);
    tree[node] = candidates[halve ? 2 * place + 1 : place];
  }
  return planted;
}

/// The buckets of some keys: how many splitters are not greater than a key or, if there are equality
/// buckets, twice that, less one if the last of them is equal.
template <int items, class Code, class Compare>
__device__ void find_buckets(unsigned (&ids)[items], const Code (&keys)[items], const Code* tree,
                             unsigned levels, bool equality, Compare compare) {
  // 1. Down the tree, all keys together.
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) ids[i] = 1;
  const auto descend = [&] {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) ids[i] = 2 * ids[i] + (compare(keys[i], tree[ids[i]]) ? 0 : 1);
  };
  constexpr unsigned usual_levels = 8;
  unsigned level = 0;
  if (levels >= usual_levels) {  // without a loop this takes 0.8 of the time
    RAMIFY_UNROLL
    for (; level < usual_levels; ++level) descend();
  }
  for (; level < levels; ++level) descend();
  const unsigned leaves = 1u << levels;
  if (!equality) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) ids[i] -= leaves;
    return;
  }
  // 2. A search turns right at a splitter that is not greater. It has turned left ever since the last
  //    of them, so that one is the node before as many zeros as the number ends with, and a one.
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned end = ids[i];
    const unsigned last_right = end == leaves ? 0 : end >> __ffs(static_cast<int>(end));
    const bool equal = last_right != 0 && !compare(tree[last_right], keys[i]);
    ids[i] = 2 * (end - leaves) - (equal ? 1 : 0);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
