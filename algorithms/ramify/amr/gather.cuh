// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The leaves, as the host asks for them: packed, in Morton order.

#include <ramify/amr/adapt.cuh>
#include <ramify/amr/view.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A leaf's place and how often it has said that it may be coarsened.
template <int dim>
struct leaf_record {
  block_place<dim> place;
  unsigned idle;
};

/// Copies leaves [first, first + grid), a block each. `values`: [leaf][variable][cell], or null.
template <class View>
__global__ void gather_leaves(View view, unsigned first, leaf_record<View::dim>* records,
                              typename View::real* values) {
  const traced here(view.trace, __func__);
  constexpr int all = View::physics_type::variables * View::cells::count;
  const int node = view.lists.leaves[first + blockIdx.x];
  if (threadIdx.x == 0) records[blockIdx.x] = {view.tree.place[node], view.lists.idle[node]};
  if (values == nullptr) return;
  const typename View::real* from = view.now.data + view.now.offset(node, 0, 0);
  for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) {
    values[static_cast<std::size_t>(blockIdx.x) * all + static_cast<unsigned>(i)] = from[i];
  }
}

/// The inverse, for nodes that are given.
template <class View>
__global__ void scatter_leaves(View view, const int* nodes, const typename View::real* values) {
  const traced here(view.trace, __func__);
  constexpr int all = View::physics_type::variables * View::cells::count;
  typename View::real* to = view.now.data + view.now.offset(nodes[blockIdx.x], 0, 0);
  for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) {
    to[i] = values[static_cast<std::size_t>(blockIdx.x) * all + static_cast<unsigned>(i)];
  }
}

struct plus {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// The sum over a leaf's cells, not weighted by their volume. `sums`: [leaf][variable].
template <class View>
__global__ void sum_leaves(View view, double* sums) {
  const traced here(view.trace, __func__);
  using reduce = block_reduce<double, adapt_threads>;
  __shared__ typename reduce::TempStorage storage;
  constexpr int variables = View::physics_type::variables;
  const int node = view.lists.leaves[blockIdx.x];
  for (int v = 0; v < variables; ++v) {
    double sum = 0;
    for (int cell = static_cast<int>(threadIdx.x); cell < View::cells::count;
         cell += adapt_threads) {
      sum += static_cast<double>(view.now.data[view.now.offset(node, v, cell)]);
    }
    sum = reduce(storage).Reduce(sum, plus{});
    if (threadIdx.x == 0) sums[static_cast<std::size_t>(blockIdx.x) * variables + v] = sum;
    __syncthreads();  // the storage is used again
  }
}

/// Fills the root blocks, a block each, and makes them the tree.
template <class View, class Fill>
__global__ void plant_roots(View view, Fill fill) {
  const traced here(view.trace, __func__);
  const int node = static_cast<int>(blockIdx.x);
  const block_place<View::dim> place = view.tree.place_of_root(blockIdx.x);
  for (int cell = static_cast<int>(threadIdx.x); cell < View::cells::count; cell += adapt_threads) {
    int at[View::dim];
    View::cells::position(cell, at);
    view.now.store(node, cell, fill.at(view, place, at));
  }
  if (threadIdx.x != 0) return;
  view.tree.place[node] = place;
  view.tree.parent[node] = -1;
  view.tree.first_child[node] = no_children;
  view.lists.is_marked[node] = 0;
  view.lists.idle[node] = 0;
}

}  // namespace ramify::inline RAMIFY_BUILD
