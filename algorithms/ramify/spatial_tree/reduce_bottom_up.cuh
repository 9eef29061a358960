// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// reduce_bottom_up(): computes one value for each node of a tree, from its points and its
/// children. Public: users and other families may include this header.
///
///     a leaf         combines of_point(p) of its points, in the tree's order
///     an inner node  combines the values of its children, in order
///
/// Children are complete before their parent, without a launch in between: the last child to arrive
/// continues with the parent (Karras, 2012). Each node is always combined in the same order, so
/// floating-point sums have the same bits in every run.

#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/detail/result_types.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <type_traits>
#include <utility>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

inline constexpr unsigned reduce_threads = RAMIFY_ON_CUDA ? 256 : 1024;

/// Computes the fold of a leaf, and those of the ancestors at which the thread arrives last.
/// `arrived` counts the complete children of each node. It must be 0, and is 0 again after calls
/// for all leaves.
template <class Real, int dim, class Fold>
__device__ void reduce_from_leaf(const spatial_tree_view<Real, dim>& tree, const Fold& fold,
                                 unsigned* arrived, std::uint32_t node) {
  // 1. The leaf: combine its points.
  const auto& leaf = tree.nodes[node];
  auto sum = fold.of_point(leaf.begin);
  for (std::uint32_t i = leaf.begin + 1; i < leaf.end; ++i) {
    sum = fold.combine(sum, fold.of_point(i));
  }
  fold.at(node) = sum;

  // 2. Move up while this thread is the last to arrive at the parent. Join: each thread writes its
  //    value before its fence and atomic; the last thread reads the values after its own.
  while (node != 0) {
    node = tree.parents[node];
    const std::uint32_t first = tree.nodes[node].first_child;
    const unsigned children = tree.nodes[node].children;
    __threadfence();
    if (atomicAdd(&arrived[node], 1u) != children - 1) return;
    arrived[node] = 0;
    __threadfence();
    sum = fold.at(first);
    auto next = fold.at(first + 1);
    for (unsigned c = 2; c < children; ++c) {
      const auto child = next;
      next = fold.at(first + c);  // loaded while the sum is calculated
      sum = fold.combine(sum, child);
    }
    sum = fold.combine(sum, next);
    fold.at(node) = sum;
  }
}

/// Computes the fold of each node, from each leaf up.
template <class Real, int dim, class Fold>
__global__ void reduce_nodes(spatial_tree_view<Real, dim> tree, Fold fold, unsigned* arrived,
                             trace_ticket trace) {
  const traced here(trace, __func__);
  runtime::for_each_item(tree.nodes_built(), [&](unsigned long long i) {
    const auto node = static_cast<std::uint32_t>(i);
    if (tree.nodes[node].is_leaf()) reduce_from_leaf(tree, fold, arrived, node);
  });
}

/// Launches reduce_nodes() over n > 0 nodes. Asynchronous. \throws cuda_error
template <class Real, int dim, class Fold>
void launch_reduction(const spatial_tree_view<Real, dim>& tree, const runtime::element_count& n,
                      const Fold& fold, unsigned* arrived, cudaStream_t stream,
                      const trace_ticket& trace) {
  runtime::launch_each<reduce_threads>(reduce_nodes<Real, dim, Fold>, n, stream,
                                       "reducing a tree bottom-up", tree, fold, arrived, trace);
}

/// The type of the sums: what of_point() returns.
template <class Fold>
using fold_value = std::remove_cvref_t<decltype(std::declval<const Fold&>().of_point(0u))>;

/// States which requirements a fold meets.
template <class Fold>
struct fold_types {
  static constexpr bool has_values = requires(const Fold& fold, std::uint32_t i) {
    fold.at(i) = fold.of_point(i);
  };
  static constexpr bool combines = requires(const Fold& fold, std::uint32_t i) {
    fold.at(i) = fold.combine(fold.at(i), fold.at(i));
  };
  static constexpr bool holds_sums =
      !has_values || !combines || requires(const Fold& fold, const fold_value<Fold>& sum) {
    requires holds_numbers_of<decltype(fold.combine(sum, sum)),
                              typename promoted<fold_value<Fold>>::type>;
    requires holds_numbers_of < fold_value<Fold>,
    decltype(fold.at(0u)) > ;
  };
  static constexpr bool are_valid = has_values && combines && holds_sums;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <class Fold>
struct checked_fold : fold_types<Fold> {
  static_assert(fold_types<Fold>::has_values,
                "reduce_bottom_up: Fold needs Value of_point(std::uint32_t) const and Value& "
                "at(std::uint32_t) const");
  static_assert(!fold_types<Fold>::has_values || fold_types<Fold>::combines,
                "reduce_bottom_up: Fold needs Value combine(Value, Value) const");
  static_assert(fold_types<Fold>::holds_sums,
                "reduce_bottom_up: what of_point() returns decides the type of the sums, which "
                "must hold what combine() returns; at() must refer to that type");
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Computes the values of all nodes. Asynchronous: the grid is ordered in `stream`.
///
/// Fold is a struct of device functions, copied bit by bit to the kernel. combine() must be
/// associative up to the rounding that the caller accepts.
///
///     struct fold {
///       mass_and_center of_point(std::uint32_t position) const;  // position in the tree's order
///       mass_and_center combine(mass_and_center a, mass_and_center b) const;
///       mass_and_center& at(std::uint32_t node) const;           // device memory, one per node
///     };
///
/// \param trace     the grid is recorded there; by default nowhere
/// \param counters  scratch memory: tree.node_count zeros in device memory, which are 0 again
///                  afterwards; null: from the stream-ordered pool
/// \return the number of grids launched: 1, or 0 for an empty tree
/// Complexity: O(points + nodes). \throws cuda_error
template <class Real, int dim, class Fold>
unsigned reduce_bottom_up(const spatial_tree_view<Real, dim>& tree, const Fold& fold,
                          cudaStream_t stream, const trace_ticket& trace = {},
                          unsigned* counters = nullptr) {
  if (tree.node_count == 0) return 0;
  const device_buffer<unsigned> own(counters == nullptr ? tree.node_count : 0, stream);
  if (counters == nullptr) {
    counters = own.data();
    clear_memory(counters, own.size(), stream, "clearing the nodes' counters");
  }
  if constexpr (detail::spatial_tree::checked_fold<Fold>::are_valid) {
    detail::spatial_tree::launch_reduction(tree, std::size_t{tree.node_count}, fold, counters,
                                           stream, trace);
  }
  return 1;
}

}  // namespace ramify::inline RAMIFY_BUILD
