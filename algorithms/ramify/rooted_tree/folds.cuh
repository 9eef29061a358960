// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Folds over a forest that is numbered: of each subtree (leaffix), of each path from a root (rootfix),
/// with any associative operator. It need not commute, and needs neither a neutral element nor an
/// inverse.
///
/// leaffix   In preorder a subtree is one range. The folds of 2, 4, 8, ... neighbours, aligned like
///           the nodes of a complete binary tree, are made once; any range is put together from at
///           most two of each length.
/// rootfix   Pointer doubling (Wyllie, 1979): each node knows the fold of a stretch of its path,
///           and who comes above that stretch; it takes over what that one knows, and what it knows
///           then reaches twice as far. Nodes that have arrived at the root drop out.
///
/// Join: a step needs all of the one before; the last block of each grid launches the next (chain.cuh).

#include <cstdint>
#include <ramify/rooted_tree/chain.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The fold of a node's path from below `ancestor`, or from the root if that is -1, to the node.
template <class T>
struct path_fold {
  T fold;
  std::int32_t ancestor;
};

/// What the grids of a folding share.
template <class T, class Combine>
struct fold_context : chain_context {
  std::size_t nodes;
  const std::int32_t* parents;
  const T* values;
  Combine combine;
  // leaffix
  const std::int32_t* preorder;
  const std::int32_t* subtree_sizes;
  T* folds;    ///< values in preorder, n of them; then of two neighbours each, n / 2; of four, ...
  T* leaffix;  ///< null if it is not wanted
  // rootfix
  path_fold<T>* paths[2];  ///< what nodes know, and knew the round before
  T* rootfix;              ///< null if it is not wanted
  unsigned* under_way;     ///< whether some node has not arrived yet

  /// The folds of 2^level neighbours.
  [[nodiscard]] __device__ T* folds_of(unsigned level) const {
    T* at = folds;
    for (unsigned i = 0; i < level; ++i) at += nodes >> i;
    return at;
  }
};

/// Launches one step of the folding. From the host or from one thread of a kernel.
template <class T, class Combine>
__host__ __device__ launch_status launch_stage(const fold_context<T, Combine>& context,
                                               const tree_stage& stage, cudaStream_t stream);

/// What follows a step of the folding; of the doublings, as many as are not known to be enough.
template <class T, class Combine>
__host__ __device__ tree_stage expected_after(const fold_context<T, Combine>& context,
                                              const tree_stage& stage) {
  switch (stage.step) {
    case tree_step::gather:
      return stage.then(context.nodes > 1 ? tree_step::fold : tree_step::leaffix);
    case tree_step::fold: {
      const unsigned level = stage.level + tree_tuning::fold_levels;
      if (context.nodes >> level > 1) return stage.then(tree_step::fold, level);
      return stage.then(tree_step::leaffix);
    }
    case tree_step::leaffix:
      return stage.then(context.rootfix != nullptr ? tree_step::rootfix : tree_step::done);
    default: return stage.then(tree_step::rootfix, stage.level + 1);
  }
}

/// Brings the values into preorder.
template <class T, class Combine>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_gather(fold_context<T, Combine> context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  for_each_of_tile(context.nodes,
                   [&](std::size_t v) { context.folds[context.preorder[v]] = context.values[v]; });
  end_stage(
      context, stage, [&] { return expected_after(context, stage); }, __func__);
}

/// Makes the folds of the next levels from those of `stage.level`. A block takes a tile of them, and
/// the tile's levels one after the other. Folds that would reach beyond the end are left out.
template <class T, class Combine>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_fold(fold_context<T, Combine> context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  using tuning = tree_tuning;
  const std::size_t tile = blockIdx.x;
  for (unsigned level = 1; level <= tuning::fold_levels; ++level) {
    const unsigned to = stage.level + level;
    const std::size_t begin = tile << (tuning::fold_levels - level);
    const std::size_t end = (tile + 1) << (tuning::fold_levels - level);
    const std::size_t all = context.nodes >> to;
    if (begin >= all) break;  // the same for the whole block
    const T* lower = context.folds_of(to - 1);
    T* upper = context.folds_of(to);
    for (std::size_t i = begin + threadIdx.x; i < end && i < all; i += tuning::threads) {
      upper[i] = context.combine(lower[2 * i], lower[2 * i + 1]);
    }
    __syncthreads();
  }
  end_stage(
      context, stage, [&] { return expected_after(context, stage); }, __func__);
}

/// Puts the fold of each subtree together, from both ends of its range towards the middle.
template <class T, class Combine>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_leaffix(fold_context<T, Combine> context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  for_each_of_tile(context.nodes, [&](std::size_t v) {
    auto begin = static_cast<std::size_t>(context.preorder[v]);
    std::size_t end = begin + static_cast<std::size_t>(context.subtree_sizes[v]);
    T left{};  // of what lies before `begin`; a fold of nothing is no value
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
  end_stage(
      context, stage, [&] { return expected_after(context, stage); }, __func__);
}

/// One round of pointer doubling. `stage.level` counts the rounds.
template <class T, class Combine>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_rootfix(fold_context<T, Combine> context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  __shared__ unsigned some_under_way;
  if (threadIdx.x == 0) some_under_way = 0;
  __syncthreads();

  // 1. What all nodes knew before this round. At first each knows itself and its parent.
  const unsigned round = stage.level;
  const path_fold<T>* const before = round % 2 == 0 ? context.paths[0] : context.paths[1];
  path_fold<T>* const after = round % 2 == 0 ? context.paths[1] : context.paths[0];
  const auto known = [&](std::size_t v) -> path_fold<T> {
    if (round == 0) return {context.values[v], context.parents[v]};
    return before[v];
  };
  bool under_way = false;
  for_each_of_tile(context.nodes, [&](std::size_t v) {
    // 2. Base case: who arrived two rounds ago is in both arrays, for others to look up.
    if (round > 1 && before[v].ancestor == -1 && after[v].ancestor == -1) return;
    path_fold<T> mine = known(v);
    const bool arrived_before = mine.ancestor == -1;
    // 3. Take over what the ancestor knows: its stretch of the path comes before mine.
    if (!arrived_before) {
      const path_fold<T> above = known(static_cast<std::size_t>(mine.ancestor));
      mine = {context.combine(above.fold, mine.fold), above.ancestor};
    }
    after[v] = mine;
    if (mine.ancestor != -1) {
      under_way = true;
    } else if (!arrived_before || round == 0) {
      context.rootfix[v] = mine.fold;
    }
  });
  // 4. Another round, if it can do something.
  if (under_way) atomicOr(&some_under_way, 1u);
  __syncthreads();
  if (threadIdx.x == 0 && some_under_way != 0) atomicOr(context.under_way, 1u);
  end_stage(
      context, stage,
      [&] {
        if (*context.under_way == 0) return stage.then(tree_step::done, round + 1);
        *context.under_way = 0;
        return expected_after(context, stage);
      },
      __func__);
}

template <class T, class Combine>
__host__ __device__ launch_status launch_stage(const fold_context<T, Combine>& context,
                                               const tree_stage& stage, cudaStream_t stream) {
  const auto go = [&](auto kernel, const launch_shape& shape) {
    return launch(kernel, shape, stream, context, stage);
  };
  switch (stage.step) {
    case tree_step::gather: return go(tree_gather<T, Combine>, tiles_over(context.nodes));
    case tree_step::fold: {
      const std::size_t tiles = ((context.nodes >> stage.level) - 1) / tree_tuning::fold_tile + 1;
      return go(tree_fold<T, Combine>, {static_cast<unsigned>(tiles), tree_tuning::threads});
    }
    case tree_step::leaffix: return go(tree_leaffix<T, Combine>, tiles_over(context.nodes));
    default: return go(tree_rootfix<T, Combine>, tiles_over(context.nodes));
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
