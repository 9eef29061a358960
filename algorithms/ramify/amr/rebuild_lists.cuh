// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels that run after the mesh has changed: they find neighbors, and put the lists of
/// blocks in Morton order.

#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/prefix_sum.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Threads of the block of order_blocks(). On the CPU executor a core runs all of them.
inline constexpr int order_threads = RAMIFY_ON_CUDA ? 1024 : 128;

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

/// Finds the faces of all nodes at coarse-fine interfaces. One thread per node.
template <class View>
__global__ void find_interface(View view, unsigned nodes) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  const unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || view.state->fault.code != fault::none) return;
  if (view.tree.place[node].level < 0) return;
  view.tree.at_interface[node] = view.tree.interface_faces_of(static_cast<int>(node));
}

/// The shared memory of the scans of order_blocks().
template <class Count>
using scan_storage = typename block_scan<Count, order_threads>::TempStorage;

/// Returns the sum of the counts of the threads before this one; sets `total` to the sum in the
/// block. All threads must call it.
template <class Count>
__device__ Count sum_before(scan_storage<Count>& storage, Count count, Count& total) {
  Count before = 0;
  block_scan<Count, order_threads>(storage).ExclusiveSum(count, before, total);
  __syncthreads();  // the storage is used again
  return before;
}

/// Three counts below 2^21 in one number, so that one scan adds all of them.
struct packed_counts {
  static constexpr int bits = 21;
  unsigned long long all;

  [[nodiscard]] __device__ static packed_counts of(unsigned first, unsigned second,
                                                   unsigned third) {
    return {first | 1ull * second << bits | 1ull * third << 2 * bits};
  }
  [[nodiscard]] __device__ unsigned operator[](int i) const {
    return static_cast<unsigned>(all >> i * bits & ((1ull << bits) - 1));
  }
};

/// Builds the lists of a tree whose neighbors and interface are known. All threads of the block
/// must call its functions, in the order of their declaration.
template <class View>
struct list_builder {
  const View& view;
  scan_storage<unsigned>& scan_of_counts;
  scan_storage<unsigned long long>& scan_of_packed_counts;
  const mesh_tree<View::dim>& tree = view.tree;
  const block_lists& lists = view.lists;
  mesh_state& mesh = view.state->mesh;

  /// Lists the nodes level by level, and leaves next to finer blocks. The root blocks are in the
  /// list already, in Morton order; children follow in the order of their parents, so the nodes of
  /// each level are in Morton order, too.
  __device__ void list_nodes() const {
    unsigned begin = 0;
    unsigned end = tree.root_count();
    unsigned averaged = 0;
    unsigned corrected = 0;
    for (int level = 0; level <= tree.max_level; ++level) {
      if (threadIdx.x == 0) {
        mesh.level_begin[level] = begin;
        mesh.level_begin[level + 1] = end;
        mesh.corrected_begin[level] = corrected;
      }
      unsigned next = end;
      for (unsigned first = begin; first < end; first += order_threads) {
        const unsigned i = first + threadIdx.x;
        const int node = i < end ? lists.nodes[i] : -1;
        const int children = node >= 0 ? tree.first_child[node] : no_children;
        const interface_faces faces = node >= 0 ? tree.at_interface[node] : interface_faces{};
        const bool is_averaged = faces.to_coarse != 0 && faces.to_fine != 0;
        packed_counts total{};
        const packed_counts counts =
            packed_counts::of(children >= 0 ? 1 : 0, is_averaged ? 1 : 0, count(faces.to_fine));
        const packed_counts before{sum_before(scan_of_packed_counts, counts.all, total.all)};
        for (int child = 0; children >= 0 && child < tree.siblings; ++child) {
          lists.nodes[next + before[0] * tree.siblings + unsigned(child)] = children + child;
        }
        if (is_averaged) lists.averaged_leaves[averaged + before[1]] = node;
        list_faces(lists.corrected_faces + corrected + before[2], node, faces.to_fine);
        next += total[0] * tree.siblings;
        averaged += total[1];
        corrected += total[2];
      }
      __syncthreads();
      begin = end;
      end = next;
    }
    if (threadIdx.x == 0) {
      mesh.averaged_leaves = averaged;
      mesh.corrected_begin[tree.max_level + 1] = corrected;
      if (begin > mesh.peak_blocks) mesh.peak_blocks = begin;
    }
    __syncthreads();
  }

  /// Counts the leaves below each inner node, from the finest level up.
  __device__ void count_leaves() const {
    for (int level = tree.max_level - 1; level >= 0; --level) {
      for_each_family(level, [&](int parent, int first) {
        unsigned count = 0;
        for (int child = first; child < first + tree.siblings; ++child) {
          count += tree.is_leaf(child) ? 1 : lists.leaf_counts[child];
        }
        lists.leaf_counts[parent] = count;
      });
    }
  }

  /// Lists the leaves: an exclusive sum of the counts, from the roots down.
  __device__ void list_leaves() const {
    unsigned leaves = 0;
    for (unsigned first = 0; first < tree.root_count(); first += order_threads) {
      const unsigned i = first + threadIdx.x;
      const int root = i < tree.root_count() ? lists.nodes[i] : -1;
      const bool is_leaf = root >= 0 && tree.is_leaf(root);
      const unsigned count = root < 0 ? 0 : is_leaf ? 1 : lists.leaf_counts[root];
      unsigned all = 0;
      const unsigned before = leaves + sum_before(scan_of_counts, count, all);
      if (root >= 0) place_node(root, is_leaf, before);
      leaves += all;
    }
    if (threadIdx.x == 0) mesh.leaves = leaves;
    __syncthreads();
    for (int level = 0; level < tree.max_level; ++level) {
      for_each_family(level, [&](int parent, int first) {
        unsigned leaf = lists.first_leaf[parent];
        for (int child = first; child < first + tree.siblings; ++child) {
          const bool is_leaf = tree.is_leaf(child);
          place_node(child, is_leaf, leaf);
          leaf += is_leaf ? 1 : lists.leaf_counts[child];
        }
      });
    }
  }

  /// Counts the leaves of each level: the nodes that are not parents of nodes of the next level.
  __device__ void count_leaves_of_levels() const {
    for (int level = static_cast<int>(threadIdx.x); level <= tree.max_level;
         level += order_threads) {
      const unsigned nodes = mesh.level_begin[level + 1] - mesh.level_begin[level];
      const unsigned parents =
          level == tree.max_level
              ? 0
              : (mesh.level_begin[level + 2] - mesh.level_begin[level + 1]) / tree.siblings;
      mesh.leaves_of_level[level] = nodes - parents;
    }
  }

 private:
  /// Returns the number of faces in a mask.
  [[nodiscard]] __device__ static unsigned count(unsigned faces) {
    unsigned found = 0;
    for (int face = 0; face < mesh_tree<View::dim>::faces; ++face) found += faces >> face & 1;
    return found;
  }
  __device__ void list_faces(int* list, int node, unsigned faces) const {
    for (int face = 0; face < tree.faces; ++face) {
      if ((faces >> face & 1) != 0) *list++ = node * tree.faces + face;
    }
  }
  /// Puts a leaf into the list, or notes where the leaves below an inner node begin.
  __device__ void place_node(int node, bool is_leaf, unsigned leaf) const {
    if (is_leaf) {
      lists.leaves[leaf] = node;
    } else {
      lists.first_leaf[node] = leaf;
    }
  }

  /// Calls use(parent, first child) for the parents of a level, one thread each. The block waits
  /// for it.
  template <class Use>
  __device__ void for_each_family(int level, Use use) const {
    const unsigned end = mesh.level_begin[level + 2];
    for (unsigned i = mesh.level_begin[level + 1] + threadIdx.x * tree.siblings; i < end;
         i += order_threads * tree.siblings) {
      const int first = lists.nodes[i];
      use(tree.parent[first], first);
    }
    __syncthreads();
  }
};

/// Builds the lists of nodes, leaves, and faces at coarse-fine interfaces, in a grid of one block:
/// the lists need many barriers, and they are short because a node has hundreds of cells.
template <class View>
__global__ void __launch_bounds__(order_threads) order_blocks(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  if (view.state->fault.code != fault::none) return;
  __shared__ scan_storage<unsigned> counts;
  __shared__ scan_storage<unsigned long long> packed;
  const list_builder<View> builder{view, counts, packed};
  builder.list_nodes();
  builder.count_leaves();
  builder.list_leaves();
  builder.count_leaves_of_levels();
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
