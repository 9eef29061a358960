// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// query_setup: the beginning of a call over many queries, which checks its arguments.

#include <cstddef>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/spatial_tree/query_checks.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The beginning of a call over n queries among the points of a tree: the checks of its arguments.
template <class Real, int dim>
struct query_setup : run_setup {
  spatial_tree_view<Real, dim> tree;
  std::size_t n;                 ///< queries, or their upper bound
  runtime::element_count count;  ///< of queries
  spatial_query_options options;

  /// \throws std::invalid_argument for a bad field of `options` or `env`, or for a period if the
  ///         host has not read the tree; unavailable; cuda_error
  query_setup(const char* name, const spatial_tree_view<Real, dim>& searched,
              const runtime::element_count& queries, const spatial_query_options& of_call,
              const environment& env)
      : run_setup(name, env),
        tree(searched),
        n(queries.upper_bound),
        count(queries),
        options(of_call) {
    validate(options);
    check_count(count);
    if (count.on_device() && n == 0) fail("the upper bound of n is 0; it must be 1 or more");
    if (n >> 32 != 0) fail("n must be less than 2^32");
    if (tree.built != nullptr && options.period != periods{}) require_complete_tree();
    check_periods(options.period, tree.bounds, algorithm);
  }

  /// Returns whether the grids in the stream must complete the results. The host does not have the
  /// bounds of a tree before it has read it.
  [[nodiscard]] bool is_in_stream() const {
    return captured || completion == completion::in_stream || tree.built != nullptr;
  }
  /// Returns the number of points of the tree.
  [[nodiscard]] static runtime::element_count points_of(const spatial_tree_view<Real, dim>& tree) {
    if (tree.built == nullptr) return std::size_t{tree.point_count};
    return device_count(&tree.built->points, tree.point_count);
  }
  /// Requires a tree that the host has read.
  void require_complete_tree() const {
    if (tree.built != nullptr) fail("the build of the tree may be incomplete: call get() first");
  }

  /// Requires a number of queries that the host has.
  void require_number() const {
    if (count.on_device()) fail("n must be a number of the host");
  }
  /// Requires options without periods. `reason` ends the message.
  void refuse_periods(const char* reason) const {
    if (options.period != periods{}) fail(std::string("options.period must be 0: ") + reason);
  }
  void check_radius(Real radius) const {
    if (!(radius >= 0)) fail("radius is " + std::to_string(radius) + "; it must be 0 or more");
  }
  /// Checks the number of elements of a row of a result.
  void check_row(const char* field, std::size_t k) const {
    if (k != 0 && k >> 31 == 0) return;
    fail(std::string(field) + " is " + std::to_string(k) + "; it must be in [1, 2^31 - 1]");
  }
  /// Checks an array that has elements for each query.
  template <class T>
  void check_array(const T* array, const char* field) const {
    if (n > 0) check_device_access(array, (std::string(algorithm) + ": " + field).c_str());
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(std::string(algorithm) + ": " + what);
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
