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
/// Join: a phase needs all results of the phase before; the last block of each grid launches the
/// next grid (phases.cuh).

#include <cstdint>
#include <ramify/rooted_tree/edges.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The operator of no_folds.
struct no_operator {
  /// Returns a; it is never called.
  __host__ __device__ char operator()(char a, char) const { return a; }
};

/// Stands for the folds in a call that computes none.
using no_folds = tree_folds<char, no_operator>;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The fold of a node's path, from the child of `ancestor` to the node. If `ancestor` is -1, the
/// path begins at the root.
template <class T>
struct path_fold {
  T fold;
  std::int32_t ancestor;
};

/// State of a folding in device memory.
struct fold_state {
  tree_phase due;
  unsigned incomplete;  ///< nonzero if a node's path does not begin at the root yet

  /// Returns whether the folding did not begin, because the numbers were not written.
  [[nodiscard]] bool did_not_begin() const {
    return due.kind == phase_kind::done && due.depth == 0;
  }
};

/// The scratch memory of a folding.
template <class T>
struct fold_memory {
  /// Leaffix: n values in preorder; then n / 2 folds of two values; n / 4 folds of four; ...
  T* ranges = nullptr;
  /// Rootfix: a double buffer. A round reads one and writes the other.
  path_fold<T>* paths[2]{};

  __host__ __device__ void take(memory_layout& memory, std::size_t nodes, bool leaffix,
                                bool rootfix) {
    if (leaffix) ranges = memory.take<T>(2 * nodes);
    if (!rootfix) return;
    for (auto& buffer : paths) buffer = memory.take<path_fold<T>>(nodes);
  }
};

/// The program of a folding: the arguments that its grids share.
template <class T, class Combine>
struct fold_program : tree_program<fold_state>, fold_memory<T> {
  tree_folds<T, Combine> wanted;
  const std::int32_t* parents = nullptr;
  const std::int32_t* preorder = nullptr;       ///< of leaffix
  const std::int32_t* subtree_sizes = nullptr;  ///< of leaffix

  /// Returns the folds of 2^level values, in a forest of `of_nodes` nodes.
  [[nodiscard]] __device__ T* folds_of(unsigned level, std::size_t of_nodes) const {
    T* at = this->ranges;
    for (unsigned i = 0; i < level; ++i) at += of_nodes >> i;
    return at;
  }

  [[nodiscard]] __host__ __device__ bool repeats(const fold_state& now) const {
    return now.due.kind == phase_kind::double_paths;
  }
  [[nodiscard]] bool is_complete_ahead() const { return wanted.rootfix == nullptr; }
  /// Launches the grids of all phases but later rounds of pointer doubling. Those of phases that
  /// are not due return at once.
  template <class Grids>
  void launch_rest(Grids& grids) const {
    runtime::launch_expected(*this, first_phase(), grids);
  }
  /// Launches a round of pointer doubling in a graph's loop.
  template <class Grids>
  void launch_repeated(const fold_state&, Grids& grids) const;

  /// The phases; see runtime/detail/phases.cuh. After double_paths another round is expected,
  /// because only the kernel can detect the last one.
  template <class Row>
  __host__ __device__ void phase_table(const tree_phase& phase, Row& row) const;

  /// Returns the first phase of the folding.
  [[nodiscard]] __host__ __device__ tree_phase first_phase() const {
    return {wanted.leaffix != nullptr ? phase_kind::permute_values : phase_kind::double_paths, 0,
            0};
  }
};

/// Makes the first phase of a folding due, if the numbers are written. Launched with one thread.
template <class State>
__global__ void begin_folding(State* state, tree_phase first, const tree_state* numbering,
                              bool single_root, trace_ticket trace) {
  const traced here(trace, __func__);
  const bool begins = numbering->is_numbered(single_root);
  *state = {begins ? first : tree_phase{phase_kind::done, 0, 0}, 0};
}

/// Writes the values in preorder.
template <class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    permute_values(fold_program<T, Combine> program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  for_each_in_tile(program.node_count(), [&](std::size_t v) {
    program.ranges[program.preorder[v]] = program.wanted.values[v];
  });
  end_block(program, phase, __func__);
}

/// Computes the folds of the next fold_levels levels from those of `phase.level`. A block processes
/// one tile, level by level. It omits ranges that reach beyond the last value.
template <class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    fold_ranges(fold_program<T, Combine> program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  const std::size_t tile = blockIdx.x;
  const std::size_t nodes = program.node_count();
  for (unsigned level = 1; level <= tuning::fold_levels; ++level) {
    const unsigned to = phase.level + level;
    const std::size_t begin = tile << (tuning::fold_levels - level);
    const std::size_t end = (tile + 1) << (tuning::fold_levels - level);
    const std::size_t all = nodes >> to;
    if (begin >= all) break;  // the same in all threads of the block
    const T* lower = program.folds_of(to - 1, nodes);
    T* upper = program.folds_of(to, nodes);
    for (std::size_t i = begin + threadIdx.x; i < end && i < all; i += tuning::threads) {
      upper[i] = program.wanted.combine(lower[2 * i], lower[2 * i + 1]);
    }
    __syncthreads();
  }
  end_block(program, phase, __func__);
}

/// Computes the leaffix: combines the folds that compose each subtree, from both ends of its range
/// to the middle.
template <class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    fold_subtrees(fold_program<T, Combine> program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  const std::size_t nodes = program.node_count();
  for_each_in_tile(nodes, [&](std::size_t v) {
    auto begin = static_cast<std::size_t>(program.preorder[v]);
    std::size_t end = begin + static_cast<std::size_t>(program.subtree_sizes[v]);
    T left{};  // fold of the values before `begin`; without an identity, flags mark empty folds
    T right{};
    bool has_left = false;
    bool has_right = false;
    const T* folds = program.ranges;
    for (std::size_t count = nodes; begin < end; folds += count, count /= 2) {
      if (begin % 2 == 1) {
        left = has_left ? program.wanted.combine(left, folds[begin]) : folds[begin];
        has_left = true;
        ++begin;
      }
      if (end % 2 == 1) {
        --end;
        right = has_right ? program.wanted.combine(folds[end], right) : folds[end];
        has_right = true;
      }
      begin /= 2;
      end /= 2;
    }
    program.wanted.leaffix[v] = !has_left    ? right
                                : !has_right ? left
                                             : program.wanted.combine(left, right);
  });
  end_block(program, phase, __func__);
}

/// Computes a block's part of one round of the rootfix. Returns whether a path of this thread is
/// incomplete afterwards.
template <class T, class Combine>
__device__ bool double_paths_of_tile(const fold_program<T, Combine>& program, unsigned round) {
  // 1. The paths before this round. In round 0 each is the node alone, below its parent.
  const path_fold<T>* const before = round % 2 == 0 ? program.paths[0] : program.paths[1];
  path_fold<T>* const after = round % 2 == 0 ? program.paths[1] : program.paths[0];
  const auto path_of = [&](std::size_t v) -> path_fold<T> {
    if (round == 0) return {program.wanted.values[v], program.parents[v]};
    return before[v];
  };
  bool incomplete = false;
  for_each_in_tile(program.node_count(), [&](std::size_t v) {
    // 2. Base case: a path that was complete two rounds ago is in both buffers already.
    if (round > 1 && before[v].ancestor == -1 && after[v].ancestor == -1) return;
    path_fold<T> mine = path_of(v);
    const bool was_complete = mine.ancestor == -1;
    // 3. Prepend the ancestor's path.
    if (!was_complete) {
      const path_fold<T> above = path_of(static_cast<std::size_t>(mine.ancestor));
      mine = {program.wanted.combine(above.fold, mine.fold), above.ancestor};
    }
    after[v] = mine;
    if (mine.ancestor != -1) {
      incomplete = true;
    } else if (!was_complete || round == 0) {
      program.wanted.rootfix[v] = mine.fold;
    }
  });
  return incomplete;
}

/// Computes one round of the rootfix. `phase.level` is the number of the round. In the loop of a
/// graph the arguments are the same in each round, so the kernel reads the due phase from the
/// state. It then contains no launch.
template <bool in_loop, class T, class Combine>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    double_paths(fold_program<T, Combine> program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if constexpr (in_loop) {
    phase = program.state->due;
    if (phase.kind != phase_kind::double_paths) {
      if (blockIdx.x == 0 && threadIdx.x == 0) runtime::end_iteration(program);
      return;
    }
  } else {
    if (!is_due(program, phase)) return;
  }
  __shared__ unsigned some_incomplete;
  if (threadIdx.x == 0) some_incomplete = 0;
  __syncthreads();
  if (double_paths_of_tile(program, phase.level)) atomicOr(&some_incomplete, 1u);
  __syncthreads();
  // Another round follows if a path is incomplete.
  unsigned& incomplete = program.state->incomplete;
  if (threadIdx.x == 0 && some_incomplete != 0) atomicOr(&incomplete, 1u);
  const auto next = [&] {
    if (incomplete == 0) return phase.then(phase_kind::done, phase.level + 1);
    incomplete = 0;
    return runtime::expected_after(program, phase);
  };
  if constexpr (in_loop) {
    if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
    program.state->due = next();
    runtime::end_iteration(program);
  } else {
    end_block(program, __func__, next);
  }
}

template <class T, class Combine>
template <class Grids>
void fold_program<T, Combine>::launch_repeated(const fold_state&, Grids& grids) const {
  grids.unordered(double_paths<true, T, Combine>, grid_over(nodes.upper_bound), *this,
                  tree_phase{});
}

template <class T, class Combine>
template <class Row>
__host__ __device__ void fold_program<T, Combine>::phase_table(const tree_phase& phase,
                                                               Row& row) const {
  using kind = phase_kind;
  const std::size_t most = nodes.upper_bound;
  const std::size_t size = row.size_of(nodes);
  switch (phase.kind) {
    case kind::permute_values:
      return row(permute_values<T, Combine>, grid_over(size),
                 phase.then(most > 1 ? kind::fold_ranges : kind::fold_subtrees));
    case kind::fold_ranges: {
      const unsigned level = phase.level + tuning::fold_levels;
      return row(fold_ranges<T, Combine>, grid_over(size >> phase.level, tuning::fold_tile),
                 most >> level > 1 ? phase.then(kind::fold_ranges, level)
                                   : phase.then(kind::fold_subtrees));
    }
    case kind::fold_subtrees:
      return row(fold_subtrees<T, Combine>, grid_over(size),
                 phase.then(wanted.rootfix != nullptr ? kind::double_paths : kind::done));
    default:
      return row(double_paths<false, T, Combine>, grid_over(size),
                 phase.then(kind::double_paths, phase.level + 1));
  }
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
