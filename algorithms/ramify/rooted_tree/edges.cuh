// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels that make the edges of a forest, from a parent array or from child lists, and find
/// the faults of the input.

#include <cstdint>
#include <ramify/rooted_tree/phases.cuh>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// No index: the end of a list, the parent of a root.
inline constexpr unsigned nil = 0xffffffffu;

/// Faults of the input: the smallest index of each, or nil.
struct input_faults {
  unsigned parent = nil;  ///< node whose parent is out of range
  unsigned offset = nil;  ///< index in the offsets: one that decreases, or a wrong first or last
  unsigned child = nil;   ///< index in the child lists whose element is not a node
  unsigned twice = nil;   ///< node that is a child twice
  unsigned second_root = nil;  ///< second smallest root; a fault only with single_root
  unsigned on_cycle = nil;     ///< node without a path to a root
};

/// State of a numbering in device memory. The initial values are those at its beginning.
struct tree_state {
  tree_phase due{phase_kind::initialize_tour, 0, 0};  ///< of the numbering's launch chain
  input_faults faults;
  unsigned root_count = 0;       ///< roots that append_root_edges has found
  unsigned smallest_root = nil;  ///< smallest root that splice_tour has found so far
  unsigned head = nil;           ///< the tour's first visit
  unsigned reached = 0;          ///< nodes on the tour
  unsigned unsorted = 0;  ///< nonzero if the edges were not in order when the tour was linked
  runtime::counted_elements nodes{};  ///< of a tree_shape with a device_count

  /// Returns whether the tour can be linked and ranked.
  [[nodiscard]] __device__ bool is_valid() const {
    return faults.parent == nil && faults.offset == nil && faults.child == nil &&
           faults.twice == nil;
  }
  /// Returns whether the numbering is complete, and its numbers are written.
  [[nodiscard]] __device__ bool is_numbered(bool single_root) const {
    return due.kind == phase_kind::done && unsorted == 0 && is_valid() && faults.on_cycle == nil &&
           !(single_root && faults.second_root != nil);
  }
};

/// A parent and its child in one sort key. A sort brings siblings together, in order of their
/// index. A root's parent is nil, so edges of roots come last.
using tree_edge = unsigned long long;
__host__ __device__ inline tree_edge make_edge(unsigned parent, unsigned child) {
  return tree_edge{parent} << 32 | child;
}
__host__ __device__ inline unsigned parent_of(tree_edge e) {
  return static_cast<unsigned>(e >> 32);
}
__host__ __device__ inline unsigned child_of(tree_edge e) { return static_cast<unsigned>(e); }

/// Returns whether `parent` is -1 or one of `nodes` nodes.
__device__ inline bool is_parent(std::int32_t parent, unsigned nodes) {
  return parent >= -1 && (parent < 0 || static_cast<unsigned>(parent) < nodes);
}

/// Returns the last node whose child list begins at or before index i. It reads no element outside
/// of the offsets, whatever they hold.
__device__ inline unsigned owner_of(const std::int32_t* offsets, unsigned nodes, std::size_t i) {
  unsigned low = 0;
  for (unsigned high = nodes; high - low > 1;) {
    const unsigned middle = low + (high - low) / 2;
    (offsets[middle] <= static_cast<std::int32_t>(i) ? low : high) = middle;
  }
  return low;
}

// The kernels are templates because a header defines them: nvcc ignores `inline` on a kernel.

/// Makes the edges of a parent array, in order of the nodes. If the array has space for more nodes,
/// edges of roots with larger indices follow: a sort leaves them at the end.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    make_edges_from_parents(Program program) {
  const traced here(program.trace, __func__);
  const unsigned nodes = program.node_count();
  for_each_in_tile(program.nodes.upper_bound, [&](std::size_t v) {
    const auto child = static_cast<unsigned>(v);
    const std::int32_t parent = child < nodes ? program.parents[v] : -1;
    if (!is_parent(parent, nodes)) atomicMin(&program.state->faults.parent, child);
    program.edges[v] = make_edge(static_cast<unsigned>(parent), child);
  });
}

/// Makes the edges of child lists, in their order, and writes the parent of each child. All
/// `parents` must be -1 before.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    make_edges_from_children(Program program, const std::int32_t* offsets,
                             const std::int32_t* children, std::int32_t* parents) {
  const traced here(program.trace, __func__);
  input_faults& faults = program.state->faults;
  const unsigned nodes = program.node_count();
  const auto end = static_cast<std::int32_t>(program.sorted_from);
  for_each_in_tile(std::size_t{nodes} + 1, [&](std::size_t i) {
    const std::int32_t offset = offsets[i];
    const bool valid = offset >= (i == 0 ? 0 : offsets[i - 1]) && (i > 0 || offset == 0) &&
                       offset <= end && (i < nodes || offset == end);
    if (!valid) atomicMin(&faults.offset, static_cast<unsigned>(i));
  });
  for_each_in_tile(program.sorted_from, [&](std::size_t i) {
    const unsigned parent = owner_of(offsets, nodes, i);
    const auto child = static_cast<unsigned>(children[i]);
    program.edges[i] = make_edge(parent, child);
    if (child >= nodes) {
      atomicMin(&faults.child, static_cast<unsigned>(i));
    } else if (atomicExch(&parents[child], static_cast<std::int32_t>(parent)) != -1) {
      atomicMin(&faults.twice, child);
    }
  });
}

/// Appends the edges of the roots to those of the child lists, in any order. A root is a node
/// without a parent.
template <class Program>
__global__ void __launch_bounds__(tuning::threads, tuning::resident_blocks)
    append_root_edges(Program program) {
  const traced here(program.trace, __func__);
  const unsigned nodes = program.node_count();
  for_each_in_tile(nodes, [&](std::size_t v) {
    if (program.parents[v] != -1) return;
    const unsigned index = program.sorted_from + atomicAdd(&program.state->root_count, 1u);
    // The index is out of range only if a node is a child twice.
    if (index < nodes) program.edges[index] = make_edge(nil, static_cast<unsigned>(v));
  });
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
