// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// List ranking by recursion: counts the entries and exits before each element of the tour.
///
///     1 base case   one block ranks a short list by pointer jumping (Wyllie, 1979)
///     2 split       splitters divide the list into sublists. A thread traverses a sublist and sums
///                   its counts. The sublists are the elements of the next level's list, which is
///                   shorter by the length of an interval (Reid-Miller, 1996; Helman and JaJa,
///                   2001; on GPUs Wei and JaJa, 2010)
///     3 recurse     rank that list; then add the rank of its sublist to each element
///
/// Join: a level needs all of the level above; the last block of each grid launches the next grid
/// (phases.cuh). Each element is read and written once on the way up and once on the way down, with
/// O(1) words per element. Rings, which are part of no root's list, are traversed too, but are not
/// marked as reached, because they have no end.

#include <ramify/rooted_tree/tour.cuh>
#include <ramify/runtime/shared.cuh>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// Returns the head of a level's list.
__device__ inline unsigned head_of(const tour_program& program, unsigned level) {
  unsigned head = program.state->head;
  for (unsigned i = 0; i < level; ++i) head = program.level(i).head_sublist(head);
  return head;
}

/// 2. Split: traverses the sublists of level `phase.level`, and makes the next level's list.
/// 3. Recurse: the last block launches this kernel, or rank_top_list, for that list.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    reduce_sublists(Program program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  const list_level from = program.level(phase.level);
  const list_level to = program.level(phase.level + 1);
  const unsigned head = head_of(program, phase.level);

  // A thread traverses several sublists in one loop, so that the lanes of a warp do not wait for
  // each other at the ends of sublists.
  std::size_t sublist = std::size_t{blockIdx.x} * tuning::threads + threadIdx.x;
  const std::size_t all_threads = std::size_t{gridDim.x} * tuning::threads;
  const auto first_of = [&](std::size_t index) {
    return index < to.count ? from.first_of(static_cast<unsigned>(index), head) : nil;
  };
  unsigned at = first_of(sublist);
  unsigned enters = 0;
  unsigned exits = 0;
  while (sublist < to.count) {
    if (at != nil) {
      const list_element element = from.elements[at];
      from.elements[at] = {element.next, static_cast<unsigned>(sublist), enters, exits};
      enters += element.enters;
      exits += element.exits;
      at = element.next;
    }
    if (at == nil || from.is_splitter(at)) {
      const unsigned next = at == nil ? nil : at >> from.interval_bits;
      to.elements[sublist] = {next, nil, enters, exits};
      sublist += all_threads;
      at = first_of(sublist);
      enters = 0;
      exits = 0;
    }
  }
  end_block(program, phase, __func__);
}

/// A list in shared memory.
struct shared_list {
  static constexpr unsigned capacity = tuning::block_list_capacity;
  unsigned next[capacity];
  unsigned enters[capacity];  ///< from this element on, up to `next`
  unsigned exits[capacity];   ///< from this element on, up to `next`
};

/// Ranks a list of `count` elements from its end by pointer jumping: afterwards the counts of an
/// element include all elements after it. Elements on rings keep a next element. All threads of the
/// block must call it after a barrier; it ends with a barrier.
__device__ inline void jump_pointers(shared_list& list, unsigned count) {
  constexpr unsigned threads = tuning::threads;
  constexpr unsigned items = shared_list::capacity / threads;
  // Each element adds the counts of its next element. The distance that it covers doubles.
  for (unsigned distance = 1; distance < count; distance *= 2) {
    unsigned next[items];
    unsigned enters[items];
    unsigned exits[items];
    for (unsigned k = 0; k < items; ++k) {
      const unsigned i = k * threads + threadIdx.x;
      const unsigned there = i < count ? list.next[i] : nil;
      const bool jumps = there != nil;
      next[k] = jumps ? list.next[there] : nil;
      enters[k] = jumps ? list.enters[there] : 0;
      exits[k] = jumps ? list.exits[there] : 0;
    }
    __syncthreads();
    for (unsigned k = 0; k < items; ++k) {
      const unsigned i = k * threads + threadIdx.x;
      if (i >= count) continue;
      list.next[i] = next[k];
      list.enters[i] += enters[k];
      list.exits[i] += exits[k];
    }
    __syncthreads();
  }
}

/// 1. Base case: one block ranks the top level.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    rank_top_list(Program program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  auto& list = dynamic_shared<shared_list>();
  const list_level level = program.level(program.top);
  for (unsigned i = threadIdx.x; i < level.count; i += tuning::threads) {
    const list_element element = level.elements[i];
    list.next[i] = element.next;
    list.enters[i] = element.enters;
    list.exits[i] = element.exits;
  }
  __syncthreads();
  jump_pointers(list, level.count);

  // The counts before an element are those of the whole list minus those from the element on. An
  // element on a ring still has a next element, so it is not marked as reached.
  const unsigned head = head_of(program, program.top);
  const unsigned all_enters = head == nil ? 0 : list.enters[head];
  const unsigned all_exits = head == nil ? 0 : list.exits[head];
  for (unsigned i = threadIdx.x; i < level.count; i += tuning::threads) {
    const bool reached = list.next[i] == nil;
    level.elements[i] = {nil, reached ? 0 : nil, all_enters - list.enters[i],
                         all_exits - list.exits[i]};
  }
  if (threadIdx.x == 0) program.state->reached = all_enters;
  end_block(program, phase, __func__);
}

/// Returns an element of `level` with its rank in the whole list: the counts before it. Its
/// `sublist` is nil if the list does not reach the element.
__device__ inline list_element ranked_element(const tour_program& program, unsigned level,
                                              std::size_t index) {
  list_element element = program.elements[level][index];
  if (level == program.top || element.sublist == nil) return element;
  const list_element sublist = program.elements[level + 1][element.sublist];
  element.sublist = sublist.sublist;
  element.enters += sublist.enters;
  element.exits += sublist.exits;
  return element;
}

/// 3. Recurse, on the way down: ranks a level after the level above it.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    add_splitter_ranks(Program program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  for_each_in_tile(program.level(phase.level).count, [&](std::size_t i) {
    program.elements[phase.level][i] = ranked_element(program, phase.level, i);
  });
  end_block(program, phase, __func__);
}

/// Writes the requested numbers. If some nodes are not on the tour, it records the smallest of them
/// and writes no number.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    write_numbers(Program program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  const tree_number_arrays to = program.numbers;
  const unsigned nodes = program.node_count();
  const bool all_reached = program.state->reached == nodes;
  for_each_in_tile(nodes, [&](std::size_t v) {
    const list_element enter = ranked_element(program, 0, 2 * v);
    const list_element exit = ranked_element(program, 0, 2 * v + 1);
    if (!all_reached) {
      if (enter.sublist == nil) {
        atomicMin(&program.state->faults.on_cycle, static_cast<unsigned>(v));
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
  end_block(program, phase, __func__);
}

/// Returns the phase after the elements of level `phase.level` are ranked.
[[nodiscard]] __host__ __device__ inline tree_phase after_ranking(const tree_phase& phase) {
  if (phase.level > 1) return phase.then(phase_kind::add_splitter_ranks, phase.level - 1);
  return phase.then(phase_kind::write_numbers);
}

template <class Row>
__host__ __device__ void tour_program::phase_table(const tree_phase& phase, Row& row) const {
  using kind = phase_kind;
  const auto size = static_cast<unsigned>(row.size_of(nodes));
  const tree_phase rank =
      top > 0 ? phase.then(kind::reduce_sublists) : phase.then(kind::rank_top_list);
  switch (phase.kind) {
    case kind::initialize_tour:
      return row(initialize_tour<tour_program>, grid_over(2 * std::size_t{size}),
                 phase.then(edges != nullptr ? kind::link_tour : kind::splice_tour));
    case kind::link_tour: return row(link_tour<tour_program>, grid_over(size), rank);
    case kind::splice_tour:
      return row(splice_tour<tour_program>, grid_over(size, tuning::threads * tuning::splice_items),
                 rank);
    case kind::reduce_sublists: {
      const unsigned above = phase.level + 1;
      const unsigned sublists = count_of(above, size);
      return row(reduce_sublists<tour_program>,
                 grid_over(min(sublists, tuning::max_sublist_threads), tuning::threads),
                 phase.then(above < top ? kind::reduce_sublists : kind::rank_top_list, above));
    }
    case kind::rank_top_list:  // level `top`
      static_assert(sizeof(shared_list) <= 48 * 1024);
      return row(rank_top_list<tour_program>, {1, tuning::threads, sizeof(shared_list)},
                 after_ranking(phase));
    case kind::add_splitter_ranks:
      return row(add_splitter_ranks<tour_program>, grid_over(count_of(phase.level, size)),
                 after_ranking(phase));
    default: return row(write_numbers<tour_program>, grid_over(size), phase.then(kind::done));
  }
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
