// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The Euler tour of a forest as a linked list (Tarjan and Vishkin, 1985).
///
///     0 ─ 1 ─ 3      enter 0, enter 1, enter 3, exit 3, exit 1, enter 2, exit 2, exit 0
///       └ 2          visits 0, 2, 6, 7, 3, 4, 5, 1        (2v: enter v, 2v + 1: exit v)
///
/// The tour enters and exits each node once. The number of entries before a visit is a preorder
/// number, the number of exits before it is a postorder number, and their difference is a level.
/// List ranking (ranking.cuh) computes both numbers; its cost does not depend on depth or degree.
/// If parents form a cycle, its visits form rings that are not part of any root's list.
///
/// link_tour puts siblings in order and needs a sort; splice_tour needs none, and leaves siblings
/// in any order.

#include <cstdint>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/edges.cuh>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// A list element: a visit on level 0, a sublist of level j on level j + 1. reduce_sublists
/// replaces the element's own counts by those of the elements before it in its sublist.
struct alignas(16) list_element {
  unsigned next;     ///< nil at the end of the list
  unsigned sublist;  ///< of this level, that holds the element; nil before it is traversed
  unsigned enters;   ///< entries in this element; then entries before it in its sublist
  unsigned exits;    ///< exits in this element; then exits before it in its sublist
};

/// One level of the list, and its decomposition into sublists.
///
/// The array is divided into intervals of 2^interval_bits consecutive elements. In each interval a
/// hash chooses one element as a splitter (Helman and JaJa, 2001). A sublist begins at a splitter
/// and ends before the next splitter in list order; it has the index of the splitter's interval.
/// One more sublist begins at the head of the list, unless the head is a splitter.
struct list_level {
  list_element* elements;
  unsigned count;
  unsigned interval_bits;

  [[nodiscard]] __host__ __device__ unsigned intervals() const {
    return (count >> interval_bits) + ((count & ((1u << interval_bits) - 1)) != 0 ? 1 : 0);
  }
  /// Returns the splitter of an interval.
  [[nodiscard]] __device__ unsigned splitter_of(unsigned interval) const {
    // Murmur3's finalizer (Appleby, 2011), with a different start on each level.
    unsigned h = interval + count;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return min((interval << interval_bits) + (h & ((1u << interval_bits) - 1)), count - 1);
  }
  [[nodiscard]] __device__ bool is_splitter(unsigned element) const {
    return splitter_of(element >> interval_bits) == element;
  }
  /// Returns the sublist that begins at the head: the last one, or the head's own if the head is a
  /// splitter.
  [[nodiscard]] __device__ unsigned head_sublist(unsigned head) const {
    if (head == nil) return nil;
    return is_splitter(head) ? head >> interval_bits : intervals();
  }
  /// Returns the first element of a sublist, or nil for the head's sublist if the head is a
  /// splitter.
  [[nodiscard]] __device__ unsigned first_of(unsigned sublist, unsigned head) const {
    if (sublist < intervals()) return splitter_of(sublist);
    return head_sublist(head) == intervals() ? head : nil;
  }
};

inline constexpr unsigned max_list_levels = 8;

/// The program of the numbering: the arguments that its grids share.
struct tour_program : tree_program<tree_state> {
  // Not an array of list_level: GCC 12 clears wrong bytes when it clears the padding of a kernel
  // argument that holds an array of structs.
  list_element* elements[max_list_levels];
  unsigned interval_bits[max_list_levels];
  unsigned top;                 ///< the level that one block ranks
  tree_edge* edges;             ///< in order of the parents; null: siblings may be in any order
  unsigned sorted_from;         ///< the first edge that a sort put in order
  const std::int32_t* parents;  ///< of the input, or made from its child lists
  bool single_root;
  tree_number_arrays numbers;

  /// Returns the number of elements of a level, in a list of `of_nodes` nodes.
  [[nodiscard]] __host__ __device__ unsigned count_of(unsigned index, unsigned of_nodes) const {
    unsigned count = 2 * of_nodes;
    for (unsigned i = 0; i < index; ++i) {
      count = list_level{elements[i], count, interval_bits[i]}.intervals() + 1;
    }
    return count;
  }
  [[nodiscard]] __device__ list_level level(unsigned index) const {
    return {elements[index], count_of(index, node_count()), interval_bits[index]};
  }

  /// Takes the memory of the levels of a list of `of_nodes` nodes.
  __host__ __device__ void take_levels(memory_layout& memory, unsigned of_nodes) {
    for (top = 0;; ++top) {
      const unsigned count = count_of(top, of_nodes);
      elements[top] = memory.take<list_element>(count);
      if (count <= tuning::block_list_capacity) break;
      interval_bits[top] = tuning::interval_bits(count);
    }
  }

  [[nodiscard]] __host__ __device__ bool repeats(const tree_state&) const { return false; }
  [[nodiscard]] bool is_complete_ahead() const { return true; }
  /// Launches the grids of all phases. Those of phases that are not due return at once.
  template <class Grids>
  void launch_rest(Grids& grids) const {
    runtime::launch_expected(*this, {phase_kind::initialize_tour, 0, 0}, grids);
  }
  /// The phases; see runtime/detail/phases.cuh. What follows a phase is expected for a valid input.
  template <class Row>
  __host__ __device__ void phase_table(const tree_phase& phase, Row& row) const;
};

/// Makes each node a tour of its own: enter, exit.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    initialize_tour(Program program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  const bool valid = program.state->is_valid();
  if (valid) {
    for_each_in_tile(2 * std::size_t{program.node_count()}, [&](std::size_t i) {
      const auto visit = static_cast<unsigned>(i);
      const bool enters = visit % 2 == 0;
      program.elements[0][i] = {enters ? visit + 1 : nil, nil, enters ? 1u : 0u, enters ? 0u : 1u};
    });
  }
  end_block(program, __func__, [&] {
    return valid ? runtime::expected_after(program, phase) : phase.then(phase_kind::done);
  });
}

/// Returns the phase after the tour is linked.
__device__ inline tree_phase after_linking(const tour_program& program, const tree_phase& phase) {
  const tree_state& state = *program.state;
  const bool rejected = program.single_root && state.faults.second_root != nil;
  if (rejected || !state.is_valid() || state.unsorted != 0) return phase.then(phase_kind::done);
  return runtime::expected_after(program, phase);
}

/// Links the tours of all nodes into one. The edges must be in order of their parents. If they are
/// not, because the sort waits for the host to complete it, the numbering ends here.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    link_tour(Program program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  const tree_edge* edges = program.edges;
  list_element* visits = program.elements[0];
  const unsigned nodes = program.node_count();
  for_each_in_tile(nodes, [&](std::size_t i) {
    const unsigned parent = parent_of(edges[i]);
    const unsigned child = child_of(edges[i]);
    const bool is_root = parent == nil;
    const bool is_sorted = i >= program.sorted_from && i + 1 < nodes;
    if (is_sorted && edges[i] >= edges[i + 1]) program.state->unsorted = 1;
    const auto is_sibling = [&](std::size_t other) { return parent_of(edges[other]) == parent; };
    // 1. After the entry of a parent comes the entry of its first child. The tour begins at the
    //    first root.
    if (i == 0 || !is_sibling(i - 1)) {
      (is_root ? program.state->head : visits[2 * parent].next) = 2 * child;
    } else if (is_root && (i == 1 || !is_sibling(i - 2))) {
      program.state->faults.second_root = child;
    }
    // 2. After the exit of a child comes the entry of its next sibling, or the exit of the parent.
    if (i + 1 < nodes && is_sibling(i + 1)) {
      visits[2 * child + 1].next = 2 * child_of(edges[i + 1]);
    } else if (!is_root) {
      visits[2 * child + 1].next = 2 * parent + 1;
    }
  });
  end_block(program, __func__, [&] { return after_linking(program, phase); });
}

/// Links the tours of all nodes into one with siblings in any order, without edges and a sort. A
/// node inserts its tour into its parent's tour after the entry, by one atomic exchange: the old
/// next visit of the entry becomes the next visit of the inserted tour. Insertions may run
/// concurrently.
///
///     enter 0, exit 0     1 inserts: enter 0, [enter 1, exit 1], exit 0
///                         2 inserts: enter 0, [enter 2, exit 2], enter 1, exit 1, exit 0
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    splice_tour(Program program, tree_phase phase) {
  const traced here(program.trace, __func__);
  if (!is_due(program, phase)) return;
  tree_state& state = *program.state;
  list_element* visits = program.elements[0];
  // A thread processes consecutive nodes. It links siblings among them first and inserts them
  // together, so that the center of a star does not serialize all atomic operations.
  const auto run = std::size_t{blockIdx.x} * tuning::threads + threadIdx.x;
  const std::size_t begin = run * tuning::splice_items;
  const std::size_t after = begin + tuning::splice_items;
  const unsigned nodes = program.node_count();
  const auto end = static_cast<unsigned>(after < nodes ? after : nodes);
  for (auto v = static_cast<unsigned>(begin < end ? begin : end); v < end;) {
    const unsigned first = v;
    const std::int32_t parent = program.parents[v];
    for (++v; v < end && program.parents[v] == parent; ++v) visits[2 * v - 1].next = 2 * v;
    if (!is_parent(parent, nodes)) {
      atomicMin(&state.faults.parent, first);
      continue;
    }
    unsigned* const before = parent == -1 ? &state.head : &visits[2 * unsigned(parent)].next;
    visits[2 * v - 1].next = atomicExch(before, 2 * first);
    if (parent == -1 && program.single_root) {
      // Each root but the smallest is recorded as a second root: by its own thread, or by the
      // thread of the root that replaces it as the smallest.
      for (unsigned root = first; root < v; ++root) {
        const unsigned smallest = atomicMin(&state.smallest_root, root);
        atomicMin(&state.faults.second_root, smallest < root ? root : smallest);
      }
    }
  }
  end_block(program, __func__, [&] { return after_linking(program, phase); });
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
