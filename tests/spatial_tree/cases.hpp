// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the header templates spatial_tree.cuh and spatial_queries.cuh are asked to do in tests;
/// compiled for both backends.

#include <cstdint>
#include <ramify/spatial_tree.hpp>
#include <string>
#include <vector>

#include "clouds.hpp"

namespace tests {

/// A tree, brought to the host.
template <class Real, int dim>
struct built_tree {
  struct node {
    coordinates<Real, dim> lower;
    coordinates<Real, dim> upper;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t first_child;
    std::uint32_t children;
    std::uint32_t level;
    std::uint32_t parent;
    std::uint64_t summary;  ///< of summary_of() and summary_of_both()
    bool operator==(const node&) const = default;
  };
  std::vector<node> nodes;
  point_list<Real, dim> points;
  std::vector<std::uint32_t> ids;
  ramify::spatial_tree_report report;
};

/// A summary whose value tells in which order a node's points came together: a polynomial in the
/// points' ids, and its factor, in 32 bits each. Combining is associative, so that it does not
/// matter how they came together.
constexpr std::uint64_t summary_of(std::uint32_t id) {
  return std::uint64_t{0x9e3779b9u} << 32 | (id + 1u);
}
constexpr std::uint64_t summary_of_both(std::uint64_t a, std::uint64_t b) {
  const auto high = [](std::uint64_t s) { return static_cast<std::uint32_t>(s >> 32); };
  const auto low = [](std::uint64_t s) { return static_cast<std::uint32_t>(s); };
  const std::uint32_t factor = high(a) * high(b);
  const std::uint32_t value = low(a) * high(b) + low(b);
  return std::uint64_t{factor} << 32 | value;
}

template <class Real, int dim>
struct tree_builder {
  built_tree<Real, dim> (*build)(const point_list<Real, dim>&, const ramify::spatial_tree_config&,
                                 std::size_t pending_launches);
};

/// The piece that an error is provoked with.
enum class bad_tree_argument {
  null_points,
  too_many_points,
  host_memory,
  null_queries,
  null_counts,
  null_ids,
  null_distances,
  large_k,
};

struct spatial_cases {
  tree_builder<float, 2> f2;
  tree_builder<float, 3> f3;
  tree_builder<double, 2> d2;
  tree_builder<double, 3> d3;
  void (*provoke)(bad_tree_argument);
  /// Launch slots in use when nothing runs.
  unsigned (*slots_in_use)();
  /// Builds while somebody else has all launch slots.
  built_tree<float, 3> (*without_slots)(const point_list<float, 3>&,
                                        const ramify::spatial_tree_config&);
  /// What is wrong with a tree that is moved, or was moved from, if anything.
  std::string (*moved_tree)(const point_list<float, 3>&);
  /// scan_counts().
  std::vector<std::uint64_t> (*offsets_of)(const std::vector<std::uint32_t>&);
};

/// Null if the backend was not built.
[[nodiscard]] const spatial_cases* spatial_cases_on_cpu();
[[nodiscard]] const spatial_cases* spatial_cases_on_cuda();

}  // namespace tests
