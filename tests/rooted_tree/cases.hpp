// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the header template rooted_tree.cuh is asked to do in tests; compiled for both backends.

#include <cstdint>
#include <ramify/rooted_tree.hpp>
#include <vector>

namespace tests {

/// The map x -> a x + b of the integers modulo 2^32. Composition is associative and does not
/// commute.
struct affine {
  std::uint32_t a;
  std::uint32_t b;
  friend bool operator==(const affine&, const affine&) = default;
};

/// First `first`, then `second`.
[[nodiscard]] constexpr affine composed(const affine& first, const affine& second) {
  return {second.a * first.a, second.a * first.b + second.b};
}

/// The piece that an error is provoked with.
enum class bad_tree_argument {
  null_values,
  overlap,
  output_is_input,
  scratch_too_small,
  scratch_misaligned,
  host_memory,
};

/// Everything that can be asked for, of values that are affine maps.
struct tree_results {
  std::vector<std::int32_t> levels{}, subtree_sizes{}, preorder{}, postorder{};
  std::vector<affine> leaffix{}, rootfix{};
  friend bool operator==(const tree_results&, const tree_results&) = default;
};

struct rooted_tree_cases {
  /// Fills the arrays of `results` that are not empty.
  ramify::rooted_tree_report (*run)(const ramify::tree_shape&, const std::vector<affine>& values,
                                    tree_results& results, const ramify::rooted_tree_options&);
  /// Does the same while somebody else has all launch slots.
  ramify::rooted_tree_report (*without_slots)(const ramify::tree_shape&,
                                              const std::vector<affine>& values,
                                              tree_results& results,
                                              const ramify::rooted_tree_options&);
  void (*provoke)(bad_tree_argument);
  /// Launch slots in use when nothing runs.
  unsigned (*slots_in_use)();
  /// Of a parent array of n nodes, for its levels.
  std::size_t (*scratch_bytes)(std::size_t n);
};

/// Null if the backend was not built.
[[nodiscard]] const rooted_tree_cases* rooted_tree_cases_on_cpu();
[[nodiscard]] const rooted_tree_cases* rooted_tree_cases_on_cuda();

}  // namespace tests
