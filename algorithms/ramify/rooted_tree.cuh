// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// rooted_tree() for CUDA code: levels, subtree sizes, preorder and postorder numbers, and folds of
/// subtrees and of paths, of a forest in device memory. The time hardly depends on the forest's
/// shape.
///
///     0 ─ 1 ─ 3      parents        <-- [-1, 0, 0, 1, -1]       values  <-- [a, b, c, d, e]
///       └ 2          levels         --> [0, 1, 1, 2, 0]         leaffix --> [abdc, bd, c, d, e]
///     4              subtree_sizes  --> [4, 2, 1, 1, 1]         rootfix --> [a, ab, ac, abd, e]
///                    preorder       --> [0, 1, 3, 2, 4]
///                    postorder      --> [3, 1, 2, 0, 4]
///
///     const auto shape = ramify::tree_shape::of_parents({parents, 5});  // or of_children
///     ramify::rooted_tree(shape, {.levels = levels, .subtree_sizes = sizes}, {.stream = stream});
///     ramify::rooted_tree(shape, {}, ramify::make_tree_folds(values, plus, leaffix, rootfix));
///
/// Compiled by nvcc it runs on the GPU, compiled by a C++ compiler on the CPU executor. For host
/// memory, and for code that nvcc does not compile, use the facade <ramify/rooted_tree.hpp>.
///
/// Input         see tree_shape; at most 2^31 - 2 nodes. Device, managed or pinned memory.
/// Sizes         n is the size of the input or, for tree_shape::of_parents(parents, device_count),
///               a number in device memory. Outputs, scratch memory and the sort then have the size
///               of its upper bound. One grid more reads the number.
/// Outputs       n elements each; a null output is not computed. Outputs must not overlap the input
///               or one another.
/// Folds         leaffix: a node's value, then the folds of its children in their order. rootfix:
///               the values from the root down to the node. Combine is a device functor
///               T combine(const T&, const T&), copied bit by bit. It must be associative; it need
///               not be commutative. T is any trivially copyable and default-constructible type.
///               Floating-point sums are rounded in an unspecified order, the same in every run.
/// Scratch       about 33 bytes per node for levels and sizes, up to 62 for orders, leaffix and
///               child lists. Folds of large types need more: 2 T for leaffix, 2 (T and an index)
///               for rootfix. The memory comes from Ramify's stream-ordered pool, or from the
///               caller; rooted_tree_scratch_bytes() returns the size.
/// Stream        ordered with the work before and after in the stream. rooted_tree() waits for its
///               stream. rooted_tree_async() does not wait, except that the first automatic route
///               on a GPU measures launches (see choose_route()). Work that enters the stream after
///               it sees the complete outputs: what kernels could not launch is done by grids that
///               follow in the stream, and by a loop in a graph. get() waits, reports, and throws
///               for a faulty forest. Where the stream cannot complete a run
///               (environment::completion), the call waits. With completion::by_get, get() launches
///               what is left, and the outputs are complete when it returns.
/// Capture       a graph can capture rooted_tree_async() if memory is handed in. Each launch of the
///               graph completes the run. A graph with a WHILE node, from the loop of a sort or of
///               rootfix, cannot be a child graph; on the device route with completion::by_get
///               there is none. The run must exist as long as the graph may be launched. get() may
///               be called after each launch. The flat route cannot be captured with
///               flat_loop::host.
/// Loop          of the flat route: it launches the rounds of rootfix after the first ten. It is a
///               loop in a graph for rooted_tree_async() and in a captured stream, and for
///               rooted_tree() with flat_loop::graph. Otherwise it is the host.
/// Launches      a chain of at most 12 grids; the last block of each grid launches the next. Folds
///               add a second chain, of at most 5 grids and one grid for each doubling of the
///               depth. For orders and for leaffix, a sort of the parent array runs first.
/// Errors        std::length_error if a device_count exceeds its upper bound.
///               std::invalid_argument for a bad argument, for a parent, an offset or a child out
///               of range, a node that is a child twice, a second root with single_root, and a
///               cycle. The message names the smallest node or index, and no output is written.
///               unavailable if the device route is requested without -rdc=true. cuda_error and
///               device_launch_error: after these the outputs are undefined.
/// Complexity    levels and sizes: O(n) work, about 3 n reads and writes at random addresses, in
///               expected O(log n) steps for every shape; node numbers chosen against the hash that
///               selects the splitters can break that expectation. Orders: a sort of n keys in
///               addition. leaffix: O(n + sum of log(size)). rootfix: O(n log(depth)); only this
///               part depends on the depth.
/// In kernels    A thread of a kernel calls rooted_tree(parents, n, numbers, folds, calls) with a
///               kernel_environment instead of an environment. The call does not wait; see
///               rooted_tree/calls.cuh and <ramify/runtime/call_arena.cuh>.
/// Sources       Euler tours: Tarjan and Vishkin (1985); list ranking: Wyllie (1979), Reid-Miller
///               (1996), Helman and JaJa (2001), Wei and JaJa (2010).
/// Not for       trees of a few thousand nodes, where a loop on the host is faster; an array in
///               preorder with sizes, where a scan is enough; a tree that changes between calls.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <ramify/rooted_tree/calls.cuh>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/run.cuh>

namespace ramify::inline RAMIFY_BUILD {

// Functions are templates even without a type of the caller among their arguments: so a program
// compiles the kernels only of the functions that it calls.

/// Returns the scratch memory of a call with these arguments, in bytes of device memory. It reads
/// no element of an array and launches nothing.
template <class Folds = no_folds>
[[nodiscard]] std::size_t rooted_tree_scratch_bytes(const tree_shape& shape,
                                                    const tree_number_arrays& numbers = {},
                                                    const Folds& folds = {}) {
  return detail::rooted_tree::scratch_bytes(shape, numbers, folds);
}

/// Starts to compute the requested numbers and folds of a forest. Work that enters the stream after
/// the call sees the complete outputs; see Stream above. If no output is requested, it only checks
/// the forest.
///
/// \param numbers  device arrays of n elements each; null: not computed
/// \param folds    values and results, in device memory; make_tree_folds() deduces its types
/// \param env      its memory: rooted_tree_scratch_bytes(shape, numbers, folds)
/// \throws std::invalid_argument, unavailable, cuda_error; see Errors above
template <class T, class Combine>
detail::run_if<detail::rooted_tree::argument_types<T, Combine>, async_run<rooted_tree_report>>
rooted_tree_async(const tree_shape& shape, const tree_number_arrays& numbers,
                  const tree_folds<T, Combine>& folds, const rooted_tree_options& options,
                  const environment& env = {}) {
  if constexpr (detail::rooted_tree::checked_types<T, Combine>::are_valid) {
    return detail::rooted_tree::start_tree(shape, numbers, folds, options, env);
  }
}
/// Overload with the default options.
template <class T, class Combine>
auto rooted_tree_async(const tree_shape& shape, const tree_number_arrays& numbers,
                       const tree_folds<T, Combine>& folds, const environment& env = {}) {
  return rooted_tree_async(shape, numbers, folds, rooted_tree_options{}, env);
}
/// Starts to compute the requested numbers of a forest, without folds; see the function with folds.
/// \param env  its memory: rooted_tree_scratch_bytes(shape, numbers)
/// \throws std::invalid_argument, unavailable, cuda_error; see Errors above
template <class = void>
async_run<rooted_tree_report> rooted_tree_async(const tree_shape& shape,
                                                const tree_number_arrays& numbers,
                                                const rooted_tree_options& options,
                                                const environment& env = {}) {
  return rooted_tree_async(shape, numbers, no_folds{}, options, env);
}
/// Overload with the default options.
template <class = void>
async_run<rooted_tree_report> rooted_tree_async(const tree_shape& shape,
                                                const tree_number_arrays& numbers,
                                                const environment& env = {}) {
  return rooted_tree_async(shape, numbers, no_folds{}, rooted_tree_options{}, env);
}

/// Computes the requested numbers and folds of a forest and waits for them: rooted_tree_async() and
/// get().
/// \param env  its memory: rooted_tree_scratch_bytes(shape, numbers, folds)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <class T, class Combine>
rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                               const tree_folds<T, Combine>& folds,
                               const rooted_tree_options& options, const environment& env = {}) {
  if constexpr (detail::rooted_tree::checked_types<T, Combine>::are_valid) {
    return rooted_tree_async(shape, numbers, folds, options, detail::waiting(env)).get();
  }
}
/// Overload with the default options.
template <class T, class Combine>
rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                               const tree_folds<T, Combine>& folds, const environment& env = {}) {
  return rooted_tree(shape, numbers, folds, rooted_tree_options{}, env);
}
/// Computes the requested numbers of a forest, without folds, and waits for them.
/// \param env  its memory: rooted_tree_scratch_bytes(shape, numbers)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <class = void>
rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                               const rooted_tree_options& options, const environment& env = {}) {
  return rooted_tree_async(shape, numbers, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class = void>
rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                               const environment& env = {}) {
  return rooted_tree_async(shape, numbers, detail::waiting(env)).get();
}

}  // namespace ramify::inline RAMIFY_BUILD
