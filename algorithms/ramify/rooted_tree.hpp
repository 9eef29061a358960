// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rooted trees and forests for plain C++: a compiled facade over std::span.
///
///     std::vector<std::int32_t> parents = {-1, 0, 0, 1}, levels(4), sizes(4);
///     const auto shape = ramify::tree_shape::of_parents(parents);  // or of_children
///     std::cout << ramify::rooted_tree(shape, {.levels = levels, .subtree_sizes = sizes});
///     levels --> [0, 1, 1, 2];  sizes --> [4, 2, 1, 1]
///
///     std::vector<double> lengths = {0, 3, 1, 2}, distances(4);
///     ramify::rootfix<double>(shape, lengths, distances, ramify::tree_operator::sum);
///     distances --> [0, 3, 1, 5]
///
/// Values    double or std::int64_t, with sum, minimum, maximum. A sum of integers wraps around.
///           The header template <ramify/rooted_tree.cuh> accepts other types and any associative
///           operator.
/// Memory    ordinary host memory; on the CUDA backend also pinned, managed or device memory. On
///           the CUDA backend host memory is copied to the device and back. Outputs must not
///           overlap the input or one another.
/// Stream    A call is ordered after earlier work in environment::stream, by default the legacy
///           default stream.
/// Waits     A call returns after the outputs are written, except functions whose names end in
///           _async: work that enters the stream after such a call sees the outputs, and get() of
///           the run waits. On the CUDA backend their arrays must be in device, managed or pinned
///           memory, and exist until get() has returned. The CPU executor completes them before
///           they return.
/// Capture   A graph can capture the _async functions. Arrays and run must exist as long as the
///           graph may be launched. If no memory is handed in, the run has memory of its own.
/// Errors    std::invalid_argument for a bad argument or a faulty forest, naming the smallest node
///           or index; unavailable for a backend or a route that this machine or this build cannot
///           run; then no output is written. cuda_error, device_launch_error: after these the
///           outputs are undefined.
/// Cost      as <ramify/rooted_tree.cuh>; on the CUDA backend host memory adds the copies.

#include <ramify/runtime/detail/requirements.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <span>

namespace ramify::inline RAMIFY_ABI {

/// Output arrays of n elements each. An empty array is not computed.
struct tree_number_spans {
  std::span<std::int32_t> levels{};         ///< distance to the root: 0 for a root
  std::span<std::int32_t> subtree_sizes{};  ///< number of nodes: 1 for a leaf
  std::span<std::int32_t> preorder{};       ///< from 0 on; roots are in order of their index
  std::span<std::int32_t> postorder{};      ///< from 0 on; roots are in order of their index
};

/// The operators of leaffix() and rootfix().
enum class tree_operator { sum, minimum, maximum };

/// Returns the name of the enumerator, or "?" if `o` is none.
[[nodiscard]] constexpr std::string_view to_string(tree_operator o) {
  return choice_name(o, {"sum", "minimum", "maximum"});
}

/// The value types of leaffix() and rootfix().
template <class T>
concept tree_facade_value = std::same_as<T, double> || std::same_as<T, std::int64_t>;

/// Computes the requested numbers of a forest. If all arrays are empty, it only checks the forest.
/// \param env  its memory: rooted_tree_scratch_bytes() of <ramify/rooted_tree.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_spans& numbers,
                               const rooted_tree_options& options, const environment& env = {});
/// Overload with the default options.
inline rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_spans& numbers,
                                      const environment& env = {}) {
  return rooted_tree(shape, numbers, rooted_tree_options{}, env);
}
/// Starts rooted_tree(), and does not wait. \throws as rooted_tree(); get() throws for a faulty
/// forest
async_run<rooted_tree_report> rooted_tree_async(const tree_shape& shape,
                                                const tree_number_spans& numbers,
                                                const rooted_tree_options& options,
                                                const environment& env = {});
/// Overload with the default options.
inline async_run<rooted_tree_report> rooted_tree_async(const tree_shape& shape,
                                                       const tree_number_spans& numbers,
                                                       const environment& env = {}) {
  return rooted_tree_async(shape, numbers, rooted_tree_options{}, env);
}

/// Computes the fold of each subtree: folds[v] combines the values of v and of all its descendants.
///
/// \param values  n elements, one for each node
/// \param folds   n elements; must not overlap the values
/// \param env     its memory: rooted_tree_scratch_bytes() of <ramify/rooted_tree.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <tree_facade_value T>
rooted_tree_report leaffix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options,
                           const environment& env = {});
/// Overload with the default options.
template <tree_facade_value T>
rooted_tree_report leaffix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const environment& env = {}) {
  return leaffix<T>(shape, values, folds, combine, rooted_tree_options{}, env);
}
/// Starts leaffix(), and does not wait. \throws as leaffix(); get() throws for a faulty forest
template <tree_facade_value T>
async_run<rooted_tree_report> leaffix_async(const tree_shape& shape, std::span<const T> values,
                                            std::span<T> folds, tree_operator combine,
                                            const rooted_tree_options& options,
                                            const environment& env = {});
/// Overload with the default options.
template <tree_facade_value T>
async_run<rooted_tree_report> leaffix_async(const tree_shape& shape, std::span<const T> values,
                                            std::span<T> folds, tree_operator combine,
                                            const environment& env = {}) {
  return leaffix_async<T>(shape, values, folds, combine, rooted_tree_options{}, env);
}

/// Computes the fold of each path from a root: folds[v] combines the values of v and of all its
/// ancestors.
///
/// \param values  n elements, one for each node
/// \param folds   n elements; must not overlap the values
/// \param env     its memory: rooted_tree_scratch_bytes() of <ramify/rooted_tree.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <tree_facade_value T>
rooted_tree_report rootfix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options,
                           const environment& env = {});
/// Overload with the default options.
template <tree_facade_value T>
rooted_tree_report rootfix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const environment& env = {}) {
  return rootfix<T>(shape, values, folds, combine, rooted_tree_options{}, env);
}
/// Starts rootfix(), and does not wait. \throws as rootfix(); get() throws for a faulty forest
template <tree_facade_value T>
async_run<rooted_tree_report> rootfix_async(const tree_shape& shape, std::span<const T> values,
                                            std::span<T> folds, tree_operator combine,
                                            const rooted_tree_options& options,
                                            const environment& env = {});
/// Overload with the default options.
template <tree_facade_value T>
async_run<rooted_tree_report> rootfix_async(const tree_shape& shape, std::span<const T> values,
                                            std::span<T> folds, tree_operator combine,
                                            const environment& env = {}) {
  return rootfix_async<T>(shape, values, folds, combine, rooted_tree_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
