// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Helpers of the tests of rooted trees: values with a noncommutative operator, an oracle that
/// traverses a forest serially, and one call of the header template on the backend of this build.

#include <cstdint>
#include <optional>
#include <ramify/rooted_tree.cuh>
#include <ramify/rooted_tree.hpp>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device_vectors.cuh"
#include "effort.hpp"
#include "printing.hpp"
#include "rooted_tree/forests.hpp"
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

/// Returns an environment of the backend of this build.
inline ramify::environment on_route(ramify::route taken) {
  return {.backend = backend_under_test(), .route = taken};
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

  /// Checks the results that are not empty. Returns the first fault of each, or an empty string.
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

/// A forest, values and outputs in device memory, with exactly as much scratch memory as
/// rooted_tree_scratch_bytes() returns.
class device_call {
 public:
  /// Copies a forest in host memory to the device. The outputs have the sizes and the contents of
  /// the arrays of `results`.
  device_call(const ramify::tree_shape& shape, const std::vector<affine>& values,
              const tree_results& results)
      : nodes_(shape.nodes),
        parents_(input(shape.parents)),
        offsets_(input(shape.offsets)),
        children_(input(shape.children)),
        values_(upload(values)),
        outputs_(results),
        scratch_(ramify::rooted_tree_scratch_bytes(this->shape(), numbers(), folds()), nullptr) {}

  /// Replaces the input by a forest in the same form and with the same sizes, and the contents of
  /// the outputs. The addresses of the arrays do not change.
  void copy_input(const ramify::tree_shape& shape, const tree_results& results) {
    copy(shape.parents, parents_);
    copy(shape.offsets, offsets_);
    copy(shape.children, children_);
    copy<std::int32_t>(results.levels, outputs_.levels);
    copy<std::int32_t>(results.subtree_sizes, outputs_.subtree_sizes);
    copy<std::int32_t>(results.preorder, outputs_.preorder);
    copy<std::int32_t>(results.postorder, outputs_.postorder);
    copy<affine>(results.leaffix, outputs_.leaffix);
    copy<affine>(results.rootfix, outputs_.rootfix);
  }
  /// Makes later calls read the number of nodes from device memory.
  void nodes_are_in(const ramify::device_count& count) { count_ = count; }
  void copy_outputs_to(tree_results& results) const { outputs_.copy_to(results); }

  [[nodiscard]] ramify::tree_shape shape() const {
    const auto span = [](const ramify::device_buffer<std::int32_t>& array) {
      return std::span<const std::int32_t>(array.data(), array.size());
    };
    return {nodes_, span(parents_), span(offsets_), span(children_), count_};
  }
  [[nodiscard]] ramify::tree_number_arrays numbers() const {
    return {outputs_.levels.data(), outputs_.subtree_sizes.data(), outputs_.preorder.data(),
            outputs_.postorder.data()};
  }
  [[nodiscard]] ramify::tree_folds<affine, compose> folds() const {
    return ramify::make_tree_folds<affine>(values_.data(), compose{}, outputs_.leaffix.data(),
                                           outputs_.rootfix.data());
  }
  [[nodiscard]] ramify::memory_ref scratch() const { return scratch_; }
  /// Starts a run in the environment, with the scratch memory of this object.
  [[nodiscard]] auto start(ramify::environment env,
                           const ramify::rooted_tree_options& options = {}) const {
    env.memory = scratch_;
    return ramify::rooted_tree_async(shape(), numbers(), folds(), options, env);
  }

 private:
  static ramify::device_buffer<std::int32_t> input(std::span<const std::int32_t> array) {
    return upload(std::vector<std::int32_t>(array.begin(), array.end()));
  }
  template <class T>
  static void copy(std::span<const T> from, const ramify::device_buffer<T>& to) {
    ramify::check(
        cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice, nullptr),
        "replacing the input");
  }

  std::size_t nodes_;
  std::optional<ramify::device_count> count_;
  ramify::device_buffer<std::int32_t> parents_, offsets_, children_;
  ramify::device_buffer<affine> values_;
  device_results outputs_;
  ramify::device_buffer<std::byte> scratch_;
};

/// Calls the header template rooted_tree() for a forest in host memory. Fills the arrays of
/// `results` that are not empty, also if the call throws, so that a test can check that they are
/// unchanged.
inline ramify::rooted_tree_report run_tree(const ramify::tree_shape& shape,
                                           const std::vector<affine>& values, tree_results& results,
                                           const ramify::environment& env,
                                           const ramify::rooted_tree_options& options = {}) {
  // While this lease is held, only the runs themselves release slots.
  static const ramify::slot_lease lease(2048);
  const device_call call(shape, values, results);
  ramify::rooted_tree_report report;
  try {
    report = call.start(env, options).get();
  } catch (...) {
    call.copy_outputs_to(results);
    throw;
  }
  call.copy_outputs_to(results);
  return report;
}

/// Returns the scratch memory of the levels of a parent array of n nodes.
inline std::size_t scratch_bytes_of_parents(std::size_t n) {
  return ramify::rooted_tree_scratch_bytes(
      ramify::tree_shape::of_parents({static_cast<const std::int32_t*>(nullptr), n}));
}

}  // namespace tests
