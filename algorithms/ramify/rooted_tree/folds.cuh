// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Folds over a numbered forest: of each subtree (leaffix) and of each path from a root (rootfix),
/// with any associative operator. It need not be commutative, and it needs no identity and no
/// inverse.
///
/// leaffix   In preorder a subtree is one range. The kernels compute the folds of aligned ranges of
///           2, 4, 8, ... values once, like the nodes of a complete binary tree. At most two ranges
///           of each length compose any subtree's range.
/// rootfix   Pointer doubling (Wyllie, 1979): each node holds the fold of the lower part of its
///           path, and the ancestor above that part. In each round it prepends the ancestor's fold,
///           so the part doubles. A node whose part begins at the root is complete.
///
/// Join: a step needs all results of the step before; the last block of each grid launches the next
/// grid (chain.cuh).

#include <cstdint>
#include <ramify/rooted_tree/chain.cuh>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The fold of a node's path, from the child of `ancestor` to the node. If `ancestor` is -1, the
/// path begins at the root.
template <class T>
struct path_fold {
  T fold;
  std::int32_t ancestor;
};

/// Arguments that the grids of a folding share.
template <class T, class Combine>
struct fold_context : chain_context {
  std::size_t nodes;
  const std::int32_t* parents;
  const T* values;
  Combine combine;
  // leaffix
  const std::int32_t* preorder;
  const std::int32_t* subtree_sizes;
  T* folds;    ///< n values in preorder; then n / 2 folds of two values; n / 4 folds of four; ...
  T* leaffix;  ///< null: not computed
  // rootfix
  path_fold<T>* paths[2];  ///< double buffer: a round reads one and writes the other
  T* rootfix;              ///< null: not computed
  unsigned* incomplete;    ///< nonzero if a node's path does not begin at the root yet

  /// Returns the folds of 2^level values.
  [[nodiscard]] __device__ T* folds_of(unsigned level) const {
    T* at = folds;
    for (unsigned i = 0; i < level; ++i) at += nodes >> i;
    return at;
  }
};

/// Launches one step of the folding, from the host or from one thread of a kernel.
template <class T, class Combine>
__host__ __device__ launch_status launch_step(const fold_context<T, Combine>& context,
                                              const tree_step& step, cudaStream_t stream);

/// Returns the step after a step of the folding. After double_paths it is always another round,
/// because only the kernel can detect the last one.
template <class T, class Combine>
__host__ __device__ tree_step expected_after(const fold_context<T, Combine>& context,
                                             const tree_step& step) {
  switch (step.kind) {
    case step_kind::permute_values:
      return step.then(context.nodes > 1 ? step_kind::fold_ranges : step_kind::fold_subtrees);
    case step_kind::fold_ranges: {
      const unsigned level = step.level + tuning::fold_levels;
      if (context.nodes >> level > 1) return step.then(step_kind::fold_ranges, level);
      return step.then(step_kind::fold_subtrees);
    }
    case step_kind::fold_subtrees:
      return step.then(context.rootfix != nullptr ? step_kind::double_paths : step_kind::done);
    default: return step.then(step_kind::double_paths, step.level + 1);
  }
}

/// Writes the values in preorder.
template <class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    permute_values(fold_context<T, Combine> context, tree_step step) {
  const traced here(context.trace, __func__);
  if (!is_due(context, step)) return;
  for_each_in_tile(context.nodes,
                   [&](std::size_t v) { context.folds[context.preorder[v]] = context.values[v]; });
  end_step(
      context, step, [&] { return expected_after(context, step); }, __func__);
}

/// Computes the folds of the next fold_levels levels from those of `step.level`. A block processes
/// one tile, level by level. It omits ranges that reach beyond the last value.
template <class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    fold_ranges(fold_context<T, Combine> context, tree_step step) {
  const traced here(context.trace, __func__);
  if (!is_due(context, step)) return;
  const std::size_t tile = blockIdx.x;
  for (unsigned level = 1; level <= tuning::fold_levels; ++level) {
    const unsigned to = step.level + level;
    const std::size_t begin = tile << (tuning::fold_levels - level);
    const std::size_t end = (tile + 1) << (tuning::fold_levels - level);
    const std::size_t all = context.nodes >> to;
    if (begin >= all) break;  // the same in all threads of the block
    const T* lower = context.folds_of(to - 1);
    T* upper = context.folds_of(to);
    for (std::size_t i = begin + threadIdx.x; i < end && i < all; i += tuning::threads) {
      upper[i] = context.combine(lower[2 * i], lower[2 * i + 1]);
    }
    __syncthreads();
  }
  end_step(
      context, step, [&] { return expected_after(context, step); }, __func__);
}

/// Computes the leaffix: composes the fold of each subtree from both ends of its range to the
/// middle.
template <class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    fold_subtrees(fold_context<T, Combine> context, tree_step step) {
  const traced here(context.trace, __func__);
  if (!is_due(context, step)) return;
  for_each_in_tile(context.nodes, [&](std::size_t v) {
    auto begin = static_cast<std::size_t>(context.preorder[v]);
    std::size_t end = begin + static_cast<std::size_t>(context.subtree_sizes[v]);
    T left{};  // fold of the values before `begin`; without an identity, flags mark empty folds
    T right{};
    bool has_left = false;
    bool has_right = false;
    const T* folds = context.folds;
    for (std::size_t count = context.nodes; begin < end; folds += count, count /= 2) {
      if (begin % 2 == 1) {
        left = has_left ? context.combine(left, folds[begin]) : folds[begin];
        has_left = true;
        ++begin;
      }
      if (end % 2 == 1) {
        --end;
        right = has_right ? context.combine(folds[end], right) : folds[end];
        has_right = true;
      }
      begin /= 2;
      end /= 2;
    }
    context.leaffix[v] = !has_left ? right : !has_right ? left : context.combine(left, right);
  });
  end_step(
      context, step, [&] { return expected_after(context, step); }, __func__);
}

/// Computes one round of the rootfix. `step.level` is the number of the round.
template <class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    double_paths(fold_context<T, Combine> context, tree_step step) {
  const traced here(context.trace, __func__);
  if (!is_due(context, step)) return;
  __shared__ unsigned some_incomplete;
  if (threadIdx.x == 0) some_incomplete = 0;
  __syncthreads();

  // 1. The paths before this round. In round 0 each is the node alone, below its parent.
  const unsigned round = step.level;
  const path_fold<T>* const before = round % 2 == 0 ? context.paths[0] : context.paths[1];
  path_fold<T>* const after = round % 2 == 0 ? context.paths[1] : context.paths[0];
  const auto path_of = [&](std::size_t v) -> path_fold<T> {
    if (round == 0) return {context.values[v], context.parents[v]};
    return before[v];
  };
  bool incomplete = false;
  for_each_in_tile(context.nodes, [&](std::size_t v) {
    // 2. Base case: a path that was complete two rounds ago is in both buffers, where others read
    // it.
    if (round > 1 && before[v].ancestor == -1 && after[v].ancestor == -1) return;
    path_fold<T> mine = path_of(v);
    const bool was_complete = mine.ancestor == -1;
    // 3. Prepend the ancestor's path.
    if (!was_complete) {
      const path_fold<T> above = path_of(static_cast<std::size_t>(mine.ancestor));
      mine = {context.combine(above.fold, mine.fold), above.ancestor};
    }
    after[v] = mine;
    if (mine.ancestor != -1) {
      incomplete = true;
    } else if (!was_complete || round == 0) {
      context.rootfix[v] = mine.fold;
    }
  });
  // 4. Another round follows if a path is incomplete.
  if (incomplete) atomicOr(&some_incomplete, 1u);
  __syncthreads();
  if (threadIdx.x == 0 && some_incomplete != 0) atomicOr(context.incomplete, 1u);
  end_step(
      context, step,
      [&] {
        if (*context.incomplete == 0) return step.then(step_kind::done, round + 1);
        *context.incomplete = 0;
        return expected_after(context, step);
      },
      __func__);
}

template <class T, class Combine>
__host__ __device__ launch_status launch_step(const fold_context<T, Combine>& context,
                                              const tree_step& step, cudaStream_t stream) {
  const auto go = [&](auto kernel, const launch_shape& shape) {
    return launch(kernel, shape, stream, context, step);
  };
  switch (step.kind) {
    case step_kind::permute_values:
      return go(permute_values<T, Combine>, grid_of_tiles(context.nodes));
    case step_kind::fold_ranges: {
      const std::size_t tiles = ((context.nodes >> step.level) - 1) / tuning::fold_tile + 1;
      return go(fold_ranges<T, Combine>, {static_cast<unsigned>(tiles), tuning::threads});
    }
    case step_kind::fold_subtrees:
      return go(fold_subtrees<T, Combine>, grid_of_tiles(context.nodes));
    default: return go(double_paths<T, Combine>, grid_of_tiles(context.nodes));
  }
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
