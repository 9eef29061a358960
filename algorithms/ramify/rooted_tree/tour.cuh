// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The Euler tour of a forest as a linked list, whatever the shape (Tarjan and Vishkin, 1985).
///
///     0 ─ 1 ─ 3      enter 0, enter 1, enter 3, exit 3, exit 1, enter 2, exit 2, exit 0
///       └ 2          visits 0, 2, 6, 7, 3, 4, 5, 1        (2v: enter v, 2v + 1: exit v)
///
/// A walk around the tree enters and exits each node once. The entries before a visit are a preorder
/// number, the exits before it a postorder number, their difference is a level. To know them is
/// list ranking (ranking.cuh), and depth and degree do not matter to it. Where parents form a cycle,
/// the visits close to rings that no root's list ever comes to.
///
/// Siblings come in order after a sort (tree_link), and in any order without one (tree_push).

#include <cstdint>
#include <ramify/rooted_tree/chain.cuh>

namespace ramify::inline RAMIFY_BUILD {

inline constexpr unsigned nobody = 0xffffffffu;

/// A piece of the tour: on level 0 one visit, on level j + 1 what one walker of level j walked.
struct alignas(16) tour_piece {
  unsigned next;    ///< nobody at the end
  unsigned walker;  ///< of this level, that came here; nobody yet
  unsigned enters;  ///< in this piece; once a walker came here, those before it on the walker's way
  unsigned exits;   ///< likewise
};

/// A child and its parent in one key, so that sorting brings siblings together, in order of their
/// index. A root's parent is nobody, and comes last.
using tree_edge = unsigned long long;
__host__ __device__ inline tree_edge make_edge(unsigned parent, unsigned child) {
  return tree_edge{parent} << 32 | child;
}
__host__ __device__ inline unsigned parent_of(tree_edge e) {
  return static_cast<unsigned>(e >> 32);
}
__host__ __device__ inline unsigned child_of(tree_edge e) { return static_cast<unsigned>(e); }

/// What is wrong with the input: the smallest index of each fault, or nobody.
struct tree_faults {
  unsigned parent;       ///< node whose parent is out of range
  unsigned offset;       ///< of the child lists, that falls or does not begin or end as it should
  unsigned child;        ///< place in the child lists that holds no node
  unsigned twice;        ///< node that is a child twice
  unsigned second_root;  ///< the second smallest root; a fault only if one root is asked for
  unsigned on_cycle;     ///< node that never reaches a root
};

struct tree_state {
  chain_state chain;
  tree_faults faults;
  unsigned roots;       ///< found so far in child lists
  unsigned first_root;  ///< the smallest, as far as known while nodes push
  unsigned head;        ///< the first visit of the tour
  unsigned reached;     ///< nodes that are on the tour

  /// Whether the tour can be made and walked.
  [[nodiscard]] __device__ bool is_sound() const {
    return faults.parent == nobody && faults.offset == nobody && faults.child == nobody &&
           faults.twice == nobody;
  }
};

// The kernels are templates because a header defines them: nvcc ignores `inline` on a kernel.

/// Edges of a parent array.
template <class State>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    edges_of_parents(const std::int32_t* parents, unsigned nodes, tree_edge* edges, State* state,
                     trace_ticket trace) {
  const traced here(trace, __func__);
  for_each_of_tile(nodes, [&](std::size_t v) {
    const std::int32_t parent = parents[v];
    if (parent < -1 || (parent >= 0 && static_cast<unsigned>(parent) >= nodes)) {
      atomicMin(&state->faults.parent, static_cast<unsigned>(v));
    }
    edges[v] = make_edge(static_cast<unsigned>(parent), static_cast<unsigned>(v));
  });
}

/// Edges of child lists, in their order, and the parent of each child. `parents` holds -1 before.
template <class State>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    edges_of_children(const std::int32_t* offsets, const std::int32_t* children, unsigned nodes,
                      unsigned child_count, tree_edge* edges, std::int32_t* parents, State* state,
                      trace_ticket trace) {
  const traced here(trace, __func__);
  for_each_of_tile(std::size_t{nodes} + 1, [&](std::size_t i) {
    const std::int32_t offset = offsets[i];
    const bool good = offset >= (i == 0 ? 0 : offsets[i - 1]) && (i > 0 || offset == 0) &&
                      offset <= static_cast<std::int32_t>(child_count) &&
                      (i < nodes || offset == static_cast<std::int32_t>(child_count));
    if (!good) atomicMin(&state->faults.offset, static_cast<unsigned>(i));
  });
  for_each_of_tile(child_count, [&](std::size_t i) {
    // The last node whose children begin at or before i. Safe for any offsets.
    unsigned low = 0;
    for (unsigned high = nodes; high - low > 1;) {
      const unsigned middle = low + (high - low) / 2;
      (offsets[middle] <= static_cast<std::int32_t>(i) ? low : high) = middle;
    }
    const auto child = static_cast<unsigned>(children[i]);
    edges[i] = make_edge(low, child);
    if (child >= nodes) {
      atomicMin(&state->faults.child, static_cast<unsigned>(i));
    } else if (atomicExch(&parents[child], static_cast<std::int32_t>(low)) != -1) {
      atomicMin(&state->faults.twice, child);
    }
  });
}

/// Appends the edges of the roots, in any order: the nodes that are nobody's children.
template <class State>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    edges_of_roots(const std::int32_t* parents, unsigned nodes, unsigned child_count,
                   tree_edge* edges, State* state, trace_ticket trace) {
  const traced here(trace, __func__);
  for_each_of_tile(nodes, [&](std::size_t v) {
    if (parents[v] != -1) return;
    const unsigned place = child_count + atomicAdd(&state->roots, 1u);
    // There are more roots than places only if a node is a child twice.
    if (place < nodes) edges[place] = make_edge(nobody, static_cast<unsigned>(v));
  });
}

/// One level of the list: pieces, and who walks them.
///
/// The level is cut into stretches of equal length, and in each a piece is chosen pseudo-randomly,
/// as nobody can know which are good: a walker sets out there and walks to the next chosen piece.
/// One more walker sets out from the head of the list, unless that is a chosen piece.
struct tour_level {
  tour_piece* pieces;
  unsigned count;
  unsigned stretch_bits;

  [[nodiscard]] __host__ __device__ unsigned stretches() const {
    return (count >> stretch_bits) + ((count & ((1u << stretch_bits) - 1)) != 0 ? 1 : 0);
  }
  /// The chosen piece of a stretch.
  [[nodiscard]] __device__ unsigned chosen(unsigned stretch) const {
    // Murmur3's finalizer (Appleby, 2011), started differently on each level.
    unsigned h = stretch + count;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return min((stretch << stretch_bits) + (h & ((1u << stretch_bits) - 1)), count - 1);
  }
  [[nodiscard]] __device__ bool is_chosen(unsigned piece) const {
    return chosen(piece >> stretch_bits) == piece;
  }
  /// The walker that sets out from the head: the one next to the last, or who is there anyway.
  [[nodiscard]] __device__ unsigned head_walker(unsigned head) const {
    if (head == nobody) return nobody;
    return is_chosen(head) ? head >> stretch_bits : stretches();
  }
};

/// Arrays for what is asked for, in device memory; null if it is not wanted.
struct tree_number_arrays {
  std::int32_t* levels = nullptr;         ///< 0 for a root
  std::int32_t* subtree_sizes = nullptr;  ///< 1 for a leaf
  std::int32_t* preorder = nullptr;       ///< from 0 on, roots in order of their index
  std::int32_t* postorder = nullptr;
};

inline constexpr unsigned most_tour_levels = 8;

/// What the grids of the numbering share.
struct tour_context : chain_context {
  // No array of tour_level: GCC 12 clears the wrong bytes where it shall clear the padding of a
  // kernel argument that holds an array of structs.
  tour_piece* pieces[most_tour_levels];
  unsigned counts[most_tour_levels];
  unsigned stretch_bits[most_tour_levels];
  unsigned top;                 ///< the level that one block ranks
  const tree_edge* edges;       ///< in order of the parents; null if siblings may come in any order
  const std::int32_t* parents;  ///< of a parent array
  unsigned nodes;
  bool single_root;
  tree_number_arrays numbers;
  tree_state* state;

  [[nodiscard]] __host__ __device__ tour_level level(unsigned index) const {
    return {pieces[index], counts[index], stretch_bits[index]};
  }
};

/// Launches one step of the numbering. From the host or from one thread of a kernel.
__host__ __device__ inline launch_status launch_stage(const tour_context& context,
                                                      const tree_stage& stage, cudaStream_t stream);

/// What follows a step of the numbering, if the input is sound.
__host__ __device__ inline tree_stage expected_after(const tour_context& context,
                                                     const tree_stage& stage) {
  switch (stage.step) {
    case tree_step::open:
      return stage.then(context.edges != nullptr ? tree_step::link : tree_step::push);
    case tree_step::link:
    case tree_step::push: return stage.then(context.top > 0 ? tree_step::walk : tree_step::rank);
    case tree_step::walk: {
      const unsigned above = stage.level + 1;
      return stage.then(above < context.top ? tree_step::walk : tree_step::rank, above);
    }
    case tree_step::rank:
      if (context.top < 2) return stage.then(tree_step::number);
      return stage.then(tree_step::expand, context.top - 1);
    case tree_step::expand:
      if (stage.level > 1) return stage.then(tree_step::expand, stage.level - 1);
      return stage.then(tree_step::number);
    default: return stage.then(tree_step::done);
  }
}

/// Makes each node a tour of its own, to which its children will be added.
template <class Context>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_open(Context context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  const bool sound = context.state->is_sound();
  if (sound) {
    for_each_of_tile(2 * std::size_t{context.nodes}, [&](std::size_t i) {
      const auto visit = static_cast<unsigned>(i);
      const bool enters = visit % 2 == 0;
      context.pieces[0][i] = {enters ? visit + 1 : nobody, nobody, enters ? 1u : 0u,
                              enters ? 0u : 1u};
    });
  }
  end_stage(
      context, stage,
      [&] { return sound ? expected_after(context, stage) : stage.then(tree_step::done); },
      __func__);
}

/// What follows when the tour is linked.
__device__ inline tree_stage after_linking(const tour_context& context, const tree_stage& stage) {
  const bool refused = context.single_root && context.state->faults.second_root != nobody;
  if (refused || !context.state->is_sound()) return stage.then(tree_step::done);
  return expected_after(context, stage);
}

/// Links the tours of all nodes into one. The edges are in order of their parents.
template <class Context>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_link(Context context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  const tree_edge* edges = context.edges;
  tour_piece* pieces = context.pieces[0];
  for_each_of_tile(context.nodes, [&](std::size_t i) {
    const unsigned parent = parent_of(edges[i]);
    const unsigned child = child_of(edges[i]);
    const bool is_root = parent == nobody;
    const auto is_sibling = [&](std::size_t other) { return parent_of(edges[other]) == parent; };
    // 1. Who enters the parent enters its first child next. The tour begins at the first root.
    if (i == 0 || !is_sibling(i - 1)) {
      (is_root ? context.state->head : pieces[2 * parent].next) = 2 * child;
    } else if (is_root && (i == 1 || !is_sibling(i - 2))) {
      context.state->faults.second_root = child;
    }
    // 2. Who exits a child enters its next sibling, or exits the parent.
    if (i + 1 < context.nodes && is_sibling(i + 1)) {
      pieces[2 * child + 1].next = 2 * child_of(edges[i + 1]);
    } else if (!is_root) {
      pieces[2 * child + 1].next = 2 * parent + 1;
    }
  });
  end_stage(
      context, stage, [&] { return after_linking(context, stage); }, __func__);
}

/// Links the tours of all nodes into one with siblings in any order, for those who do not ask for an
/// order: without edges and without a sort. A node pushes its tour onto its parent's, right behind the
/// entry: whatever came next there, comes next after it. All may push at once.
///
///     enter 0, exit 0     1 pushes: enter 0, [enter 1, exit 1], exit 0
///                         2 pushes: enter 0, [enter 2, exit 2], enter 1, exit 1, exit 0
template <class Context>
__global__ void __launch_bounds__(tree_tuning::threads, tree_tuning::resident)
    tree_push(Context context, tree_stage stage) {
  const traced here(context.trace, __func__);
  if (!is_due(context, stage)) return;
  tree_state& state = *context.state;
  tour_piece* pieces = context.pieces[0];
  // A thread takes a run of nodes. Siblings in it are linked first and pushed together: a star's
  // centre would be everybody's bottleneck.
  const auto run = std::size_t{blockIdx.x} * tree_tuning::threads + threadIdx.x;
  const std::size_t begin = run * tree_tuning::push_run;
  const std::size_t after = begin + tree_tuning::push_run;
  const auto end = static_cast<unsigned>(after < context.nodes ? after : context.nodes);
  for (auto v = static_cast<unsigned>(begin < end ? begin : end); v < end;) {
    const unsigned first = v;
    const std::int32_t parent = context.parents[v];
    for (++v; v < end && context.parents[v] == parent; ++v) pieces[2 * v - 1].next = 2 * v;
    if (parent < -1 || (parent >= 0 && static_cast<unsigned>(parent) >= context.nodes)) {
      atomicMin(&state.faults.parent, first);
      continue;
    }
    unsigned* const place = parent == -1 ? &state.head : &pieces[2 * unsigned(parent)].next;
    pieces[2 * v - 1].next = atomicExch(place, 2 * first);
    if (parent == -1 && context.single_root) {
      // All but the smallest are told to be second, by themselves or by who takes their place.
      for (unsigned root = first; root < v; ++root) {
        const unsigned smallest = atomicMin(&state.first_root, root);
        atomicMin(&state.faults.second_root, smallest < root ? root : smallest);
      }
    }
  }
  end_stage(
      context, stage, [&] { return after_linking(context, stage); }, __func__);
}

}  // namespace ramify::inline RAMIFY_BUILD
