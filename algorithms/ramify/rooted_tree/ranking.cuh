// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// List ranking by recursion: how much of the list lies before each piece.
///
///     1 base case   a list short enough is ranked by one block, by pointer jumping (Wyllie, 1979)
///     2 split       walkers, spread over the list, each walk to where the next one set out, and
///                   add up; their ways are the pieces of a list that is shorter by the length of a
///                   stretch (Reid-Miller, 1996; on GPUs Wei and JaJa, 2010)
///     3 recurse     rank that list; then each piece adds what lies before its walker's way
///
/// Join: a level needs all of the one above; the last block of each grid launches the next (chain.cuh).
/// Each piece is read and written once on the way up and once on the way down, O(1) words a piece.
/// Rings, which no list comes to, are walked too, but not reached: they end nowhere.

#include <ramify/rooted_tree/tour.cuh>
#include <ramify/runtime/shared.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The head of a level's list.
__device__ inline unsigned head_of(const tour_context& context, unsigned level) {
  unsigned head = context.state->head;
  for (unsigned i = 0; i < level; ++i) head = context.level(i).head_walker(head);
  return head;
}

/// 2. Split: walks level `stage.level`, and makes the next one of the ways. 3. Recurse: the last block
/// launches the walk of that one, or its ranking.
template <class Context>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_walk(Context context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  const tour_level from = context.level(stage.level);
  const tour_level to = context.level(stage.level + 1);
  const unsigned head = head_of(context, stage.level);
  const unsigned stretches = from.stretches();
  const auto start_of = [&](unsigned walker) {
    if (walker < stretches) return from.chosen(walker);
    return from.head_walker(head) == stretches ? head : nobody;
  };

  // A thread is one walker after the other, in one loop: a warp's lanes do not wait for one another
  // where a way ends.
  std::size_t walker = std::size_t{blockIdx.x} * tree_tuning::threads + threadIdx.x;
  const std::size_t all_walking = std::size_t{gridDim.x} * tree_tuning::threads;
  unsigned at = walker < to.count ? start_of(static_cast<unsigned>(walker)) : nobody;
  unsigned enters = 0;
  unsigned exits = 0;
  while (walker < to.count) {
    if (at != nobody) {
      const tour_piece here = from.pieces[at];
      from.pieces[at] = {here.next, static_cast<unsigned>(walker), enters, exits};
      enters += here.enters;
      exits += here.exits;
      at = here.next;
    }
    if (at == nobody || from.is_chosen(at)) {
      const unsigned next = at == nobody ? nobody : at >> from.stretch_bits;
      to.pieces[walker] = {next, nobody, enters, exits};
      walker += all_walking;
      at = walker < to.count ? start_of(static_cast<unsigned>(walker)) : nobody;
      enters = 0;
      exits = 0;
    }
  }
  end_stage(
      context, stage, [&] { return expected_after(context, stage); }, __func__);
}

/// A list in shared memory.
struct ranked_list {
  static constexpr unsigned capacity = tree_tuning::ranked_by_a_block;
  unsigned next[capacity];
  unsigned enters[capacity];  ///< from this piece on, up to `next`
  unsigned exits[capacity];
};

/// 1. Base case: one block ranks the top level by pointer jumping.
template <class Context>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_rank(Context context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  constexpr unsigned threads = tree_tuning::threads;
  constexpr unsigned items = ranked_list::capacity / threads;
  auto& list = dynamic_shared<ranked_list>();
  const tour_level level = context.level(context.top);
  for (unsigned i = threadIdx.x; i < level.count; i += threads) {
    const tour_piece piece = level.pieces[i];
    list.next[i] = piece.next;
    list.enters[i] = piece.enters;
    list.exits[i] = piece.exits;
  }
  __syncthreads();

  // Each piece takes over what its next one knows. What it knows then reaches twice as far.
  for (unsigned reach = 1; reach < level.count; reach *= 2) {
    unsigned next[items];
    unsigned enters[items];
    unsigned exits[items];
    for (unsigned k = 0; k < items; ++k) {
      const unsigned i = k * threads + threadIdx.x;
      const unsigned there = i < level.count ? list.next[i] : nobody;
      const bool jumps = there != nobody;
      next[k] = jumps ? list.next[there] : nobody;
      enters[k] = jumps ? list.enters[there] : 0;
      exits[k] = jumps ? list.exits[there] : 0;
    }
    __syncthreads();
    for (unsigned k = 0; k < items; ++k) {
      const unsigned i = k * threads + threadIdx.x;
      if (i >= level.count) continue;
      list.next[i] = next[k];
      list.enters[i] += enters[k];
      list.exits[i] += exits[k];
    }
    __syncthreads();
  }

  // What lies before a piece is all of the list without what it and those behind it hold. On a ring
  // there is no end to come to, and nobody is said to have been there.
  const unsigned head = head_of(context, context.top);
  const unsigned all_enters = head == nobody ? 0 : list.enters[head];
  const unsigned all_exits = head == nobody ? 0 : list.exits[head];
  for (unsigned i = threadIdx.x; i < level.count; i += threads) {
    const bool reached = list.next[i] == nobody;
    level.pieces[i] = {nobody, reached ? 0 : nobody, all_enters - list.enters[i],
                       all_exits - list.exits[i]};
  }
  if (threadIdx.x == 0) context.state->reached = all_enters;
  end_stage(
      context, stage, [&] { return expected_after(context, stage); }, __func__);
}

/// A piece of `level` with what lies before it in the whole list. `walker` is nobody where the list
/// never comes.
__device__ inline tour_piece ranked_piece(const tour_context& context, unsigned level,
                                          std::size_t index) {
  tour_piece piece = context.pieces[level][index];
  if (level == context.top || piece.walker == nobody) return piece;
  const tour_piece way = context.pieces[level + 1][piece.walker];
  piece.walker = way.walker;
  piece.enters += way.enters;
  piece.exits += way.exits;
  return piece;
}

/// 3. The way back: ranks a level after the one above it.
template <class Context>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_expand(Context context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  const tour_level level = context.level(stage.level);
  for_each_of_tile(level.count,
                   [&](std::size_t i) { level.pieces[i] = ranked_piece(context, stage.level, i); });
  end_stage(
      context, stage, [&] { return expected_after(context, stage); }, __func__);
}

/// Writes the numbers that are wanted; or, if not all nodes are on the tour, finds the first that is
/// not, and writes nothing.
template <class Context>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_number(Context context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  const tree_number_arrays to = context.numbers;
  const bool all_reached = context.state->reached == context.nodes;
  for_each_of_tile(context.nodes, [&](std::size_t v) {
    const tour_piece enter = ranked_piece(context, 0, 2 * v);
    const tour_piece exit = ranked_piece(context, 0, 2 * v + 1);
    if (!all_reached) {
      if (enter.walker == nobody) {
        atomicMin(&context.state->faults.on_cycle, static_cast<unsigned>(v));
      }
      return;
    }
    const auto write = [v](std::int32_t* array, unsigned number) {
      if (array != nullptr) array[v] = static_cast<std::int32_t>(number);
    };
    write(to.levels, enter.enters - enter.exits);
    write(to.subtree_sizes, exit.enters - enter.enters);
    write(to.preorder, enter.enters);
    write(to.postorder, exit.exits);
  });
  end_stage(
      context, stage, [&] { return expected_after(context, stage); }, __func__);
}

__host__ __device__ inline launch_status launch_stage(const tour_context& context,
                                                      const tree_stage& stage,
                                                      cudaStream_t stream) {
  using tuning = tree_tuning;
  const auto go = [&](auto kernel, const launch_shape& shape) {
    return launch(kernel, shape, stream, context, stage);
  };
  switch (stage.step) {
    case tree_step::open:
      return go(tree_open<tour_context>, tiles_over(2 * std::size_t{context.nodes}));
    case tree_step::link: return go(tree_link<tour_context>, tiles_over(context.nodes));
    case tree_step::push: {
      const std::size_t tile = std::size_t{tuning::threads} * tuning::push_run;
      return go(tree_push<tour_context>,
                {static_cast<unsigned>((context.nodes + tile - 1) / tile), tuning::threads});
    }
    case tree_step::walk: {
      const unsigned walkers = context.counts[stage.level + 1];
      const unsigned walking = walkers < tuning::most_walking ? walkers : tuning::most_walking;
      return go(tree_walk<tour_context>,
                {(walking + tuning::threads - 1) / tuning::threads, tuning::threads});
    }
    case tree_step::rank:
      static_assert(sizeof(ranked_list) <= 48 * 1024);
      return go(tree_rank<tour_context>, {1, tuning::threads, sizeof(ranked_list)});
    case tree_step::expand:
      return go(tree_expand<tour_context>, tiles_over(context.counts[stage.level]));
    default: return go(tree_number<tour_context>, tiles_over(context.nodes));
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
