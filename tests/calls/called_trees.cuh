// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Many numberings and folds of forests, which the threads of a kernel call, and their check.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/rooted_tree.cuh>
#include <ramify/runtime/call_arena.cuh>
#include <random>
#include <vector>

#include "../rooted_tree/rooted_tree_checks.cuh"
#include "called_sorts.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace calls {

using common::forest_kind;
using trees = rooted_tree_calls<affine, compose>;
using numberings = rooted_tree_calls<>;
using tree_plans = call_plans<trees, numberings, sorts>;
using tree_environment = kernel_environment<tree_plans>;

/// One call: a range of nodes of the arrays of all calls.
struct called_range {
  std::size_t begin;
  std::size_t nodes;
  bool by_order;   ///< requests the outputs that depend on the order of siblings
  bool has_folds;  ///< requests folds
};

/// The arrays of all calls.
struct tree_arrays {
  const std::int32_t* parents;
  const affine* values;
  tree_number_arrays numbers;
  affine* leaffix;
  affine* rootfix;
};

/// Checks that the level of each node is one more than that of its parent: the continuation of a
/// call, with any number of threads.
template <class Index>
__global__ void check_levels(const Index* parents, const Index* levels, std::size_t nodes,
                             call_log* log) {
  for (std::size_t v = threadIdx.x; v < nodes; v += blockDim.x) {
    const Index above = parents[v] == -1 ? -1 : levels[parents[v]];
    if (levels[v] != above + 1) atomicAdd(&log->faults, 1u);
  }
  if (threadIdx.x == 0) atomicAdd(&log->runs, 1u);
}

/// Makes each call once; a thread makes every so many.
template <class Environment>
__global__ void call_trees(tree_arrays to, const called_range* ranges, unsigned count,
                           call_log* logs, bool refuses, Environment calls) {
  const traced here(calls.trace, __func__);
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const called_range range = ranges[i];
    const std::size_t at = range.begin;
    const std::int32_t* const parents = to.parents + at;
    tree_number_arrays numbers{to.numbers.levels + at, to.numbers.subtree_sizes + at, nullptr,
                               nullptr};
    if (range.by_order) {
      numbers.preorder = to.numbers.preorder + at;
      numbers.postorder = to.numbers.postorder + at;
    }
    const auto how = refuses ? calls.or_refuse() : calls;
    const auto next = how.then(check_levels<std::int32_t>, {1, 64}, parents, numbers.levels,
                               range.nodes, logs + i);
    const tree_folds<affine, compose> folds{
        to.values + at, {}, range.by_order ? to.leaffix + at : nullptr, to.rootfix + at};
    const call_status status = range.has_folds
                                   ? ramify::rooted_tree(parents, range.nodes, numbers, folds, next)
                                   : ramify::rooted_tree(parents, range.nodes, numbers, next);
    logs[i].status = static_cast<unsigned>(status) + 1;
  }
}

inline tree_arrays arrays_of(const device_buffer<std::int32_t>& parents,
                             const device_buffer<affine>& values, const device_results& outputs) {
  return {parents.data(),
          values.data(),
          {outputs.levels.data(), outputs.subtree_sizes.data(), outputs.preorder.data(),
           outputs.postorder.data()},
          outputs.leaffix.data(),
          outputs.rootfix.data()};
}

/// The forests of many calls, with their results.
class called_trees {
 public:
  called_trees(const std::vector<std::size_t>& sizes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    parent_array parents;
    std::vector<affine> values;
    for (const std::size_t n : sizes) {
      const auto kind = static_cast<forest_kind>(random() % 6);
      auto forest = common::make_parents(kind, n, random());
      if (random() % 2 == 0) forest = common::relabeled(forest, random());
      const auto index = ranges_.size();
      ranges_.push_back({parents.size(), n, index % 2 == 0, index % 3 != 0});
      expected_.emplace_back(forest);
      parents.insert(parents.end(), forest.begin(), forest.end());
      const auto& own = expected_.back().values;
      values.insert(values.end(), own.begin(), own.end());
    }
    parents.push_back(-1);  // no array is empty
    values.push_back({});
    parents_ = upload(parents);
    values_ = upload(values);
    device_ranges_ = upload(ranges_);
    outputs_.emplace(all_outputs(parents.size()));
    logs_ = zeros<call_log>(ranges_.size());
  }

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(ranges_.size()); }

  /// The arguments of call_trees().
  [[nodiscard]] tree_arrays arrays() const { return arrays_of(parents_, values_, *outputs_); }
  [[nodiscard]] const called_range* ranges() const { return device_ranges_.data(); }
  [[nodiscard]] call_log* logs() const { return logs_.data(); }

  void call(const tree_environment& environment, bool refuses = false,
            cudaStream_t stream = nullptr) const {
    check(launch(call_trees<tree_environment>, {4, 32}, stream, arrays(), ranges(), count(), logs(),
                 refuses, environment)
              .code(),
          "launching the kernel that calls");
  }

  /// Overwrites the outputs that all calls request, and what happened to the calls, in the order of
  /// the stream.
  void forget(cudaStream_t stream) const {
    const auto overwrite = [&](const auto& array) {
      check(cudaMemsetAsync(array.data(), 0, array.size() * sizeof *array.data(), stream),
            "overwriting an array");
    };
    overwrite(outputs_->levels);
    overwrite(outputs_->subtree_sizes);
    overwrite(logs_);
  }

  /// Returns how many calls have each status, after a check of the results of all calls.
  std::vector<unsigned> check_all() const {
    tree_results all = all_outputs(parents_.size());
    outputs_->copy_to(all);
    const std::vector<call_log> log = download(logs_);
    std::vector<unsigned> statuses(3);
    for (unsigned i = 0; i < count(); ++i) {
      const bool refused = count_status(log[i], statuses);
      BOOST_TEST(log[i].runs == (refused ? 0u : 1u));
      BOOST_TEST(log[i].faults == 0u);
      BOOST_TEST_CONTEXT("call " << i << " of " << ranges_[i].nodes << " nodes") {
        check_call(i, refused, all);
      }
    }
    return statuses;
  }

 private:
  /// Checks that a call has written the requested outputs, and no other one.
  void check_call(unsigned i, bool refused, const tree_results& all) const {
    const called_range& range = ranges_[i];
    tree_results results;
    const auto cut = [&](bool requested, const auto& from, auto& to) {
      const auto first = from.begin() + std::ptrdiff_t(range.begin);
      const auto last = first + std::ptrdiff_t(range.nodes);
      if (requested && !refused) {
        to.assign(first, last);
      } else {
        const auto unchanged = typename std::remove_cvref_t<decltype(to)>::value_type(wrong_of(to));
        BOOST_TEST(std::count(first, last, unchanged) == last - first);
      }
    };
    cut(true, all.levels, results.levels);
    cut(true, all.subtree_sizes, results.subtree_sizes);
    cut(range.by_order, all.preorder, results.preorder);
    cut(range.by_order, all.postorder, results.postorder);
    cut(range.by_order && range.has_folds, all.leaffix, results.leaffix);
    cut(range.has_folds, all.rootfix, results.rootfix);
    BOOST_TEST(expected_[i].check(results) == "");
  }
  static std::int32_t wrong_of(const std::vector<std::int32_t>&) { return -7; }
  static affine wrong_of(const std::vector<affine>&) { return {7, 7}; }

  std::vector<called_range> ranges_;
  std::vector<oracle> expected_;
  device_buffer<std::int32_t> parents_;
  device_buffer<affine> values_;
  device_buffer<called_range> device_ranges_;
  std::optional<device_results> outputs_;
  device_buffer<call_log> logs_;
};

/// Sizes at the boundaries of the kinds of sorts and of lists, and random ones.
inline std::vector<std::size_t> mixed_sizes(unsigned count, std::size_t largest,
                                            std::uint64_t seed) {
  constexpr std::size_t list = ramify::detail::rooted_tree::tuning::block_list_capacity / 2;
  std::vector<std::size_t> sizes{0, 1, 2, 3, list - 1, list, list + 1, 17 * list, largest};
  std::mt19937_64 random(seed);
  std::shuffle(sizes.begin(), sizes.end(), random);
  while (sizes.size() < count) sizes.push_back(random() % (random() % 10 == 0 ? largest : 300));
  sizes.resize(count);
  for (std::size_t& n : sizes) n = std::min(n, largest);
  return sizes;
}

inline tree_plans plans_for(std::size_t n) {
  return tree_plans(trees(n), numberings(n), sorts(30'000));
}

/// Calls all trees, completes and checks them. Returns the report, whose counts it compares with
/// the statuses that the callers have read.
inline call_report expect_called_trees(const called_trees& calls, call_arena<tree_plans>& arena,
                                       bool refuses = false) {
  calls.call(arena.environment(), refuses);
  arena.complete_async();
  const std::vector<unsigned> statuses = calls.check_all();
  const call_report report = expect_report(arena, statuses);
  BOOST_TEST(report.faulty == 0u);
  return report;
}

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD
