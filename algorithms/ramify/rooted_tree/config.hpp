// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a rooted tree is given as, what can be asked of it, and what a run tells; plain C++.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

/// A forest of n nodes in one of two forms. It only refers to the arrays.
///
///     0 ─ 1 ─ 3      parents   <-- [-1, 0, 0, 1, -1]
///       └ 2          offsets   <-- [0, 2, 3, 3, 3, 3]     (children of v: from offsets[v] on)
///     4              children  <-- [1, 2, 3]
struct tree_shape {
  /// parents[v] is the parent of v, or -1 if v is a root. Children come in the order of their index.
  [[nodiscard]] static tree_shape of_parents(std::span<const std::int32_t> parents) {
    return {parents.size(), parents, {}, {}};
  }
  /// Node v has the children [offsets[v], offsets[v + 1]) of `children`, in that order; a node that
  /// is nobody's child is a root. offsets has n + 1 elements. \throws std::invalid_argument if it is
  /// empty
  [[nodiscard]] static tree_shape of_children(std::span<const std::int32_t> offsets,
                                              std::span<const std::int32_t> children) {
    if (offsets.empty()) throw std::invalid_argument("tree_shape: offsets must not be empty");
    return {offsets.size() - 1, {}, offsets, children};
  }

  std::size_t nodes;
  std::span<const std::int32_t> parents;   ///< empty if given by children
  std::span<const std::int32_t> offsets;   ///< empty if given by parents
  std::span<const std::int32_t> children;  ///< likewise
};

/// Most nodes of a tree.
inline constexpr std::size_t most_tree_nodes = (std::size_t{1} << 31) - 2;

struct rooted_tree_config {
  ramify::route route = ramify::route::automatic;
  bool single_root = false;  ///< a second root is an error
  /// Where the run's grids are to be added, when the run is over; null: nowhere.
  launch_trace* trace = nullptr;
};

/// \throws std::invalid_argument naming the field and its range
inline void validate(const rooted_tree_config& config) {
  if (to_string(config.route) == "?") {
    throw std::invalid_argument("rooted_tree_config.route is none of the enumerators");
  }
}

/// That a forest of this size can be worked on. \throws std::invalid_argument
inline void check_tree_sizes(const tree_shape& shape, const rooted_tree_config& config) {
  const auto fail = [](const std::string& what) {
    throw std::invalid_argument("rooted_tree: " + what);
  };
  if (shape.nodes > most_tree_nodes) {
    fail(std::to_string(shape.nodes) + " nodes; there can be at most " +
         std::to_string(most_tree_nodes));
  }
  const bool by_parents = shape.offsets.empty() && shape.children.empty();
  if (by_parents ? shape.parents.size() != shape.nodes
                 : !shape.parents.empty() || shape.offsets.size() != shape.nodes + 1) {
    fail("the shape has " + std::to_string(shape.nodes) + " nodes, " +
         std::to_string(shape.parents.size()) + " parents and " +
         std::to_string(shape.offsets.size()) +
         " offsets; make it by tree_shape::of_parents() or of_children()");
  }
  if (shape.children.size() > shape.nodes) {
    fail(std::to_string(shape.children.size()) + " children of only " +
         std::to_string(shape.nodes) + " nodes: one must be a child twice");
  }
  if (shape.nodes == 0 && config.single_root) fail("single_root is set, and there are no nodes");
}

/// The arrays of a call, to see that no output shares memory with another array.
class tree_arrays {
 public:
  void add(const void* data, std::size_t bytes, std::string name, bool is_output) {
    const auto* begin = static_cast<const std::byte*>(data);
    all_.push_back({begin, begin + bytes, std::move(name), is_output});
  }
  /// \throws std::invalid_argument naming two that overlap
  void check_overlap() const {
    const std::less<const std::byte*> before;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const array& a = all_[j];
        const array& b = all_[i];
        if ((a.is_output || b.is_output) && before(a.begin, b.end) && before(b.begin, a.end)) {
          throw std::invalid_argument("rooted_tree: " + a.name + " and " + b.name + " overlap");
        }
      }
    }
  }

 private:
  struct array {
    const std::byte* begin;
    const std::byte* end;
    std::string name;
    bool is_output;
  };
  std::vector<array> all_;
};

struct rooted_tree_report : run_report {
  std::uint64_t nodes = 0;
  std::uint32_t ranking_levels = 0;  ///< of the list ranking; 1: the tour was ranked by one block
  std::uint32_t rootfix_rounds = 0;  ///< of pointer doubling
};

/// One "name: value" line a field.
inline std::ostream& operator<<(std::ostream& out, const rooted_tree_report& r) {
  return out << "nodes: " << r.nodes << '\n'
             << static_cast<const run_report&>(r) << "levels of list ranking: " << r.ranking_levels
             << '\n'
             << "rounds of pointer doubling: " << r.rootfix_rounds << '\n';
}

}  // namespace ramify
