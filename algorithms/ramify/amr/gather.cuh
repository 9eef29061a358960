// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Kernels that pack leaves for copies to the host, and that sum over their cells.

#include <ramify/amr/leaves.cuh>
#include <ramify/amr/physics/derived_fields.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/collectives.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr int gather_threads = 128;

/// A leaf's place, and the number of regrids in a row in which the criterion allowed coarsening it.
template <int dim>
struct leaf_record {
  block_place<dim> place;
  unsigned idle;
};

/// Copies the leaves from `first` on, in Morton order. One block per leaf. `values` has the layout
/// [leaf][variable][cell], or is null.
template <class View>
__global__ void gather_leaves(View view, unsigned first, leaf_record<View::dim>* records,
                              typename View::real* values) {
  const traced here(view.trace, __func__);
  constexpr int all = View::physics_type::variables * View::cells::count;
  const int node = view.lists.leaves[first + blockIdx.x];
  if (threadIdx.x == 0) records[blockIdx.x] = {view.tree.place[node], view.lists.idle[node]};
  if (values == nullptr) return;
  const typename View::real* from = view.u_new.data + view.u_new.offset(node, 0, 0);
  for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) {
    values[static_cast<std::size_t>(blockIdx.x) * all + static_cast<unsigned>(i)] = from[i];
  }
}

/// Computes a derived field in the leaves from `first` on. One block per leaf. `values` has the
/// layout [leaf][cell].
template <class Leaves>
__global__ void gather_derived(Leaves leaves, unsigned first, derived_field f,
                               typename Leaves::real* values) {
  const unsigned leaf = first + blockIdx.x;
  typename Leaves::real edges[Leaves::dim];
  for (int axis = 0; axis < Leaves::dim; ++axis) edges[axis] = leaves.width(leaf, axis);
  for (int cell = static_cast<int>(threadIdx.x); cell < Leaves::cells; cell += gather_threads) {
    values[std::size_t{blockIdx.x} * Leaves::cells + static_cast<unsigned>(cell)] =
        field_of_cell(leaves.physics(), f, leaves.stencil(leaf, cell), edges);
  }
}

/// Sums over the cells of each leaf, without weights. One block per leaf. `sums` has the layout
/// [leaf][variable].
template <class View>
__global__ void sum_leaves(View view, double* sums) {
  const traced here(view.trace, __func__);
  using reduce = block_reduce<double, gather_threads>;
  __shared__ typename reduce::TempStorage storage;
  constexpr int variables = View::physics_type::variables;
  const int node = view.lists.leaves[blockIdx.x];
  for (int v = 0; v < variables; ++v) {
    double sum = 0;
    for (int cell = static_cast<int>(threadIdx.x); cell < View::cells::count;
         cell += gather_threads) {
      sum += static_cast<double>(view.u_new.data[view.u_new.offset(node, v, cell)]);
    }
    sum = reduce(storage).Reduce(sum, plus{});
    if (threadIdx.x == 0) sums[std::size_t{blockIdx.x} * variables + std::size_t(v)] = sum;
    __syncthreads();  // the storage is used again
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
