// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Helpers of the tests of rooted trees: values that form a noncommutative monoid, an oracle that
/// traverses a forest serially, and one call of the header template on the backend of this build.

#include <cstdint>
#include <ramify/rooted_tree.cuh>
#include <ramify/rooted_tree.hpp>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device_vectors.cuh"
#include "effort.hpp"
#include "forests.hpp"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace tests {

using parent_array = std::vector<std::int32_t>;

inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

/// The map x -> a x + b of the integers modulo 2^32. Composition is associative, but not
/// commutative.
struct affine {
  std::uint32_t a;
  std::uint32_t b;
  friend bool operator==(const affine&, const affine&) = default;
};

/// Composition: applies `first`, then `second`.
struct compose {
  __host__ __device__ affine operator()(const affine& first, const affine& second) const {
    return {second.a * first.a, second.a * first.b + second.b};
  }
};

inline std::vector<affine> values_for(std::size_t n) {
  std::mt19937 random(7);
  std::vector<affine> values(n);
  for (affine& v : values) v = {std::uint32_t(random() | 1), std::uint32_t(random())};
  return values;
}

inline ramify::rooted_tree_options options_for(ramify::route taken) {
  ramify::rooted_tree_options options;
  options.backend = backend_under_test();
  options.route = taken;
  return options;
}

/// All outputs of rooted_tree(), with affine maps as values. An empty array is not requested.
struct tree_results {
  std::vector<std::int32_t> levels{}, subtree_sizes{}, preorder{}, postorder{};
  std::vector<affine> leaffix{}, rootfix{};
  friend bool operator==(const tree_results&, const tree_results&) = default;
};

/// Returns arrays for all outputs of n nodes, filled with wrong results.
inline tree_results all_outputs(std::size_t n) {
  const parent_array number(n, -7);
  const std::vector<affine> fold(n, affine{7, 7});
  return {number, number, number, number, fold, fold};
}

/// Returns arrays for the outputs that do not depend on the order of siblings and need no sort.
inline tree_results orderless_outputs(std::size_t n) {
  tree_results all = all_outputs(n);
  all.preorder = all.postorder = {};
  all.leaffix = {};
  return all;
}

/// A forest and its correct results, by a serial traversal.
struct oracle {
  explicit oracle(parent_array p) : oracle(p, common::child_lists_of(p)) {}
  oracle(parent_array p, common::child_lists l)
      : parents(std::move(p)),
        lists(std::move(l)),
        values(values_for(parents.size())),
        numbers(common::serial_numbers(lists, parents)),
        leaffix(common::serial_leaffix(lists, parents, values, compose{})),
        rootfix(common::serial_rootfix(lists, parents, values, compose{})) {}

  /// Returns an empty string if all results that are not empty are correct, else the first faults.
  [[nodiscard]] std::string check(const tree_results& results) const {
    const auto wrong = [](const auto& result, const auto& expected, const char* name) {
      if (result.empty()) return std::string();
      for (std::size_t v = 0; v < expected.size(); ++v) {
        if (!(result[v] == expected[v])) return name + (" of node " + std::to_string(v));
      }
      return std::string();
    };
    return wrong(results.levels, numbers.levels, "level") +
           wrong(results.subtree_sizes, numbers.subtree_sizes, "subtree size") +
           wrong(results.preorder, numbers.preorder, "preorder number") +
           wrong(results.postorder, numbers.postorder, "postorder number") +
           wrong(results.leaffix, leaffix, "leaffix") + wrong(results.rootfix, rootfix, "rootfix");
  }

  parent_array parents;
  common::child_lists lists;
  std::vector<affine> values;
  common::forest_numbers numbers;
  std::vector<affine> leaffix, rootfix;
};

/// Device copies of the arrays of tree_results.
struct device_results {
  explicit device_results(const tree_results& host)
      : levels(upload(host.levels)),
        subtree_sizes(upload(host.subtree_sizes)),
        preorder(upload(host.preorder)),
        postorder(upload(host.postorder)),
        leaffix(upload(host.leaffix)),
        rootfix(upload(host.rootfix)) {}

  void copy_to(tree_results& host) const {
    download(levels, host.levels);
    download(subtree_sizes, host.subtree_sizes);
    download(preorder, host.preorder);
    download(postorder, host.postorder);
    download(leaffix, host.leaffix);
    download(rootfix, host.rootfix);
  }

  ramify::device_buffer<std::int32_t> levels, subtree_sizes, preorder, postorder;
  ramify::device_buffer<affine> leaffix, rootfix;
};

/// Calls the header template rooted_tree() for a forest in host memory, with exactly as much
/// scratch memory as rooted_tree_scratch_bytes() returns. Fills the arrays of `results` that are
/// not empty, also if the call throws, so that a test can check that they are unchanged.
inline ramify::rooted_tree_report run_tree(const ramify::tree_shape& shape,
                                           const std::vector<affine>& values, tree_results& results,
                                           const ramify::rooted_tree_options& options) {
  // While this lease is held, only the runs themselves release slots.
  static const ramify::slot_lease lease(2048);
  const auto limits = scoped_limit(options.pending_launches);
  const auto input = [](std::span<const std::int32_t> array) {
    return upload(std::vector<std::int32_t>(array.begin(), array.end()));
  };
  const auto parents = input(shape.parents);
  const auto offsets = input(shape.offsets);
  const auto children = input(shape.children);
  const auto on_device = [](const ramify::device_buffer<std::int32_t>& array) {
    return std::span<const std::int32_t>(array.data(), array.size());
  };
  const auto device_values = upload(values);
  const device_results outputs(results);
  const ramify::tree_shape device_shape{shape.nodes, on_device(parents), on_device(offsets),
                                        on_device(children)};
  const ramify::tree_number_arrays numbers{outputs.levels.data(), outputs.subtree_sizes.data(),
                                           outputs.preorder.data(), outputs.postorder.data()};
  const auto folds = ramify::make_tree_folds<affine>(
      device_values.data(), compose{}, outputs.leaffix.data(), outputs.rootfix.data());
  const std::size_t bytes = ramify::rooted_tree_scratch_bytes(device_shape, numbers, folds);
  const ramify::device_buffer<std::byte> scratch(bytes, nullptr);
  ramify::rooted_tree_report report;
  try {
    report = ramify::rooted_tree(device_shape, numbers, folds, nullptr, options,
                                 {scratch.data(), bytes});
  } catch (...) {
    outputs.copy_to(results);
    throw;
  }
  outputs.copy_to(results);
  return report;
}

/// Returns the scratch memory of the levels of a parent array of n nodes.
inline std::size_t scratch_bytes_of_parents(std::size_t n) {
  return ramify::rooted_tree_scratch_bytes(
      ramify::tree_shape::of_parents({static_cast<const std::int32_t*>(nullptr), n}));
}

}  // namespace tests
