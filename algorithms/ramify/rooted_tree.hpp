// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rooted trees and forests for plain C++: compiled code behind std::span, on whatever machine runs it.
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
/// Values    double or std::int64_t, with sum, minimum, maximum. For other types and any associative
///           operator there is the header template <ramify/rooted_tree.cuh>. A sum of integers wraps
///           around.
/// Memory    ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back. Outputs must not overlap the input or one
///           another.
/// Waits     until the outputs are written.
/// Errors    std::invalid_argument for a bad argument or a faulty forest, naming the smallest node or
///           index, and unavailable for a backend or a route that this machine or this build cannot
///           run; then no output is written. cuda_error, device_launch_error.
/// Cost      as <ramify/rooted_tree.cuh>; on the CUDA backend host memory adds the copies.

#include <concepts>
#include <cstdint>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/options.hpp>
#include <span>

namespace ramify {

struct rooted_tree_options : run_options {
  bool single_root = false;  ///< a second root is an error
};

/// Arrays for what is asked for: of n elements, or empty if it is not wanted.
struct tree_number_spans {
  std::span<std::int32_t> levels{};         ///< 0 for a root
  std::span<std::int32_t> subtree_sizes{};  ///< 1 for a leaf
  std::span<std::int32_t> preorder{};       ///< from 0 on, roots in order of their index
  std::span<std::int32_t> postorder{};
};

enum class tree_operator { sum, minimum, maximum };

/// The types that the facade is compiled for.
template <class T>
concept tree_facade_value = std::same_as<T, double> || std::same_as<T, std::int64_t>;

/// Numbers a forest.
rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_spans& numbers,
                               const rooted_tree_options& options = {});

/// folds[v]: the values of v and all its descendants, folded.
template <tree_facade_value T>
rooted_tree_report leaffix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options = {});

/// folds[v]: the values of all nodes from the root down to v, folded.
template <tree_facade_value T>
rooted_tree_report rootfix(const tree_shape& shape, std::span<const T> values, std::span<T> folds,
                           tree_operator combine, const rooted_tree_options& options = {});

}  // namespace ramify
