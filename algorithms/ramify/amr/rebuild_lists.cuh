// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels that run after the mesh has changed: they find neighbors, and put the lists of
/// blocks in Morton order.

#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/collectives.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr int order_threads = 512;

/// Finds the neighbors of all nodes. One thread per node and face.
template <class View>
__global__ void link_neighbors(View view, unsigned nodes) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  constexpr int dim = View::dim;
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= nodes * view.tree.faces || view.state->fault.code != fault::none) return;
  const int node = static_cast<int>(item / view.tree.faces);
  const int face = static_cast<int>(item % view.tree.faces);
  block_place<dim> there = view.tree.place[node];
  if (there.level < 0) return;
  int step[dim] = {};
  step[face / 2] = face % 2 == 0 ? -1 : 1;
  int found = no_neighbor;
  if (view.tree.move(there, step)) {
    found = view.tree.find(there);
    if (view.tree.place[found].level < there.level) found = coarser_neighbor;
  }
  view.tree.neighbor[item] = found;
}

/// Returns the sum of the counts of the threads before this one; sets `total` to the sum in the
/// block. All threads must call it.
__device__ inline unsigned sum_before(unsigned count, unsigned& total) {
  using scan = block_scan<unsigned, order_threads>;
  __shared__ typename scan::TempStorage storage;
  unsigned before = 0;
  scan(storage).ExclusiveSum(count, before, total);
  __syncthreads();  // the storage is used again
  return before;
}

/// Builds the lists of a tree whose neighbors are linked. All threads of the block must call its
/// functions, in the order of their declaration.
template <class View>
struct list_builder {
  const View& view;
  const mesh_tree<View::dim>& tree = view.tree;
  const block_lists& lists = view.lists;
  mesh_state& mesh = view.state->mesh;

  /// Lists the nodes level by level. The root blocks are in the list already, in Morton order;
  /// children follow in the order of their parents, so the nodes of each level are in Morton order,
  /// too.
  __device__ void list_nodes() const {
    unsigned begin = 0;
    unsigned end = tree.root_count();
    for (int level = 0; level <= tree.max_level; ++level) {
      if (threadIdx.x == 0) {
        mesh.level_begin[level] = begin;
        mesh.level_begin[level + 1] = end;
      }
      unsigned next = end;
      for (unsigned first = begin; first < end; first += order_threads) {
        const unsigned i = first + threadIdx.x;
        const bool inner = i < end && !tree.is_leaf(lists.nodes[i]);
        unsigned families = 0;
        const unsigned before = sum_before(inner ? 1u : 0u, families);
        for (int child = 0; inner && child < tree.siblings; ++child) {
          lists.nodes[next + before * tree.siblings + unsigned(child)] =
              tree.first_child[lists.nodes[i]] + child;
        }
        next += families * tree.siblings;
      }
      __syncthreads();
      begin = end;
      end = next;
    }
  }

  /// Counts the leaves below each node, from the finest level up.
  __device__ void count_leaves() const {
    for (int level = tree.max_level; level >= 0; --level) {
      for_each_node(level, [&](int node) {
        unsigned count = tree.is_leaf(node) ? 1 : 0;
        for (int child = 0; !tree.is_leaf(node) && child < tree.siblings; ++child) {
          count += lists.leaf_counts[tree.first_child[node] + child];
        }
        lists.leaf_counts[node] = count;
      });
    }
  }

  /// Lists the leaves: an exclusive sum of the counts, from the roots down.
  __device__ void list_leaves() const {
    if (threadIdx.x < max_levels) mesh.leaves_of_level[threadIdx.x] = 0;
    unsigned leaves = 0;
    for (unsigned first = 0; first < tree.root_count(); first += order_threads) {
      const unsigned i = first + threadIdx.x;
      const bool is_root = i < tree.root_count();
      unsigned below = 0;
      const unsigned before = sum_before(is_root ? lists.leaf_counts[lists.nodes[i]] : 0, below);
      if (is_root) lists.first_leaf[lists.nodes[i]] = leaves + before;
      leaves += below;
    }
    if (threadIdx.x == 0) mesh.leaves = leaves;
    __syncthreads();
    for (int level = 0; level <= tree.max_level; ++level) {
      for_each_node(level, [&](int node) {
        unsigned leaf = lists.first_leaf[node];
        if (tree.is_leaf(node)) {
          lists.leaves[leaf] = node;
          atomicAdd(&mesh.leaves_of_level[level], 1u);
          return;
        }
        for (int child = 0; child < tree.siblings; ++child) {
          const int below = tree.first_child[node] + child;
          lists.first_leaf[below] = leaf;
          leaf += lists.leaf_counts[below];
        }
      });
    }
  }

  /// Lists the nodes on the coarse side of coarse-fine faces: inner nodes that share a face with a
  /// leaf of their own level, and these leaves.
  __device__ void list_interface() const {
    unsigned inner_nodes = 0;
    unsigned leaves = 0;
    for (int level = 0; level <= tree.max_level; ++level) {
      if (threadIdx.x == 0) mesh.coarse_leaves_begin[level] = leaves;
      const unsigned end = mesh.level_begin[level + 1];
      for (unsigned first = mesh.level_begin[level]; first < end; first += order_threads) {
        const unsigned i = first + threadIdx.x;
        const int node = i < end ? lists.nodes[i] : -1;
        const bool found = node >= 0 && is_at_interface(node);
        append(lists.interface_nodes, inner_nodes, node, found && !tree.is_leaf(node));
        append(lists.coarse_leaves, leaves, node, found && tree.is_leaf(node));
      }
    }
    if (threadIdx.x != 0) return;
    mesh.coarse_leaves_begin[tree.max_level + 1] = leaves;
    mesh.interface_nodes = inner_nodes;
    const unsigned nodes = mesh.level_begin[tree.max_level + 1];
    if (nodes > mesh.peak_blocks) mesh.peak_blocks = nodes;
  }

 private:
  /// Returns whether a node shares a face with a node of its level, of which one has children and
  /// the other has none.
  [[nodiscard]] __device__ bool is_at_interface(int node) const {
    bool found = false;
    for (int face = 0; face < tree.faces; ++face) {
      const int neighbor = tree.neighbor[node * tree.faces + face];
      found = found || (neighbor >= 0 && tree.is_leaf(neighbor) != tree.is_leaf(node));
    }
    return found;
  }

  /// Appends the nodes of the threads for which `wanted` is true to a list with `count` entries.
  __device__ void append(int* list, unsigned& count, int node, bool wanted) const {
    unsigned appended = 0;
    const unsigned before = sum_before(wanted ? 1u : 0u, appended);
    if (wanted) list[count + before] = node;
    count += appended;
  }

  /// Calls use(node) for the nodes of a level, one thread per node. The block waits for it.
  template <class Use>
  __device__ void for_each_node(int level, Use use) const {
    const unsigned end = mesh.level_begin[level + 1];
    for (unsigned i = mesh.level_begin[level] + threadIdx.x; i < end; i += order_threads) {
      use(lists.nodes[i]);
    }
    __syncthreads();
  }
};

/// Builds the lists of nodes, leaves and interface nodes, in a grid of one block: this needs many
/// barriers, and is little work because a node has about a thousand cells.
template <class View>
__global__ void order_blocks(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  const list_builder<View> builder{view};
  builder.list_nodes();
  builder.count_leaves();
  builder.list_leaves();
  builder.list_interface();
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
