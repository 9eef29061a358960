// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The trees of Unbalanced Tree Search, and their counts; plain C++.

#include <array>
#include <cmath>
#include <cstdint>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// The distribution of the number of children. A node's state is its random number.
enum class uts_type {
  binomial,   ///< `branches` children with probability `probability`, else none
  geometric,  ///< a geometric distribution; its average depends on the depth
  hybrid,     ///< geometric at depths less than shift * depth, binomial at others
};

/// The average number of children as a function of the depth, in a geometric tree.
enum class uts_shape {
  linear,       ///< decreases linearly to 0 at `depth`
  exponential,  ///< decreases as depth^(-ln b / ln d)
  cyclic,       ///< oscillates with the period `depth`; 0 after five periods
  fixed,        ///< constant; 0 from `depth` on
};

/// The parameters of a tree. Comments give their names in the literature.
struct uts_parameters {
  uts_type type = uts_type::geometric;  ///< of the random process
  uts_shape shape = uts_shape::linear;  ///< how the branching factor depends on the depth
  unsigned depth = 6;                   ///< d: the depth of a geometric tree
  /// b: the number of children of a binomial root (rounded down), or the average of a geometric
  /// root
  double root_branches = 4;
  double probability = 15.0 / 64.0;  ///< q: that a binomial node has children
  unsigned branches = 4;             ///< m: children of a binomial node that has any
  double shift = 0.5;                ///< f: where a hybrid tree becomes binomial, as a share of d
  std::uint32_t seed = 0;            ///< r: the seed of the root
};

/// Returns the name of the enumerator, or "?" if `t` is none.
[[nodiscard]] constexpr std::string_view to_string(uts_type t) {
  return choice_name(t, {"binomial", "geometric", "hybrid"});
}

/// Returns the name of the enumerator, or "?" if `s` is none.
[[nodiscard]] constexpr std::string_view to_string(uts_shape s) {
  return choice_name(s, {"linear", "exponential", "cyclic", "fixed"});
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline uts_type parse_uts_type(std::string_view text) {
  return parse_choice<uts_type>("type", text);
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline uts_shape parse_uts_shape(std::string_view text) {
  return parse_choice<uts_shape>("shape", text);
}

/// Checks parameters. Refuses binomial trees that are infinite with a high probability.
/// \throws std::invalid_argument naming the field and its range
inline void validate(const uts_parameters& tree) {
  const auto require = [](bool holds, const char* field, double value, const char* range) {
    std::string number = std::to_string(value);
    if (std::isfinite(value) && value == std::floor(value)) number.resize(number.find('.'));
    detail::check_field(holds, "uts_parameters." + std::string(field), number, range);
  };
  check_enumerator(tree.type, "uts_parameters.type");
  check_enumerator(tree.shape, "uts_parameters.shape");
  const double b = tree.root_branches;
  if (tree.type == uts_type::binomial) {
    require(b >= 0 && b <= 1e9, "root_branches", b, "in [0, 1e9]");
  } else {
    require(b >= 0 && b <= 100, "root_branches", b, "in [0, 100]");
    require(tree.depth >= 1 && tree.depth <= 1'000'000, "depth", tree.depth, "in [1, 1000000]");
    if (tree.shape == uts_shape::exponential) {
      require(tree.depth >= 2, "depth", tree.depth, "at least 2 in an exponential tree");
      require(b > 1, "root_branches", b, "more than 1 in an exponential tree");
    }
  }
  if (tree.type == uts_type::hybrid) {
    require(tree.shift >= 0 && tree.shift <= 1, "shift", tree.shift, "in [0, 1]");
  }
  if (tree.type != uts_type::geometric) {
    const double q = tree.probability;
    require(q >= 0 && q <= 1, "probability", q, "in [0, 1]");
    // The published tree T3L exceeds 1 by 0.007 % and happens to be finite.
    require(q * tree.branches <= 1.001 && (tree.branches == 0 || q <= 1 - 0x1p-31), "probability",
            q, "less than 1 and at most 1.001 / branches, or the tree would not end");
  }
}

/// The counts of a tree.
struct uts_counts {
  std::uint64_t nodes;   ///< of the tree
  std::uint64_t leaves;  ///< nodes without children
  std::uint64_t depth;   ///< of the deepest node; the root's is 0

  /// Compares all members.
  friend constexpr bool operator==(const uts_counts&, const uts_counts&) = default;
};

/// A published tree: its parameters and its counts.
struct uts_named_tree {
  std::string_view name;      ///< as in the publication
  uts_parameters parameters;  ///< of the tree
  uts_counts counts;          ///< as published
};

/// Returns the published trees, of about 4, 100 and 1,600 to 4,200 million nodes, and a small one.
[[nodiscard]] inline std::span<const uts_named_tree> uts_trees() {
  constexpr auto geometric = [](uts_shape shape, unsigned depth, double b, std::uint32_t seed) {
    return uts_parameters{uts_type::geometric, shape, depth, b, {}, {}, {}, seed};
  };
  constexpr auto binomial = [](double b, double q, unsigned m, std::uint32_t seed) {
    return uts_parameters{uts_type::binomial, {}, {}, b, q, m, {}, seed};
  };
  using enum uts_shape;
  constexpr uts_parameters hybrid{uts_type::hybrid, linear, 16, 6, 0.234375, 4, 0.5, 1};
  static constexpr std::array trees{
      uts_named_tree{"small", geometric(linear, 6, 4, 0), {1'732, 1'050, 6}},
      uts_named_tree{"T1", geometric(fixed, 10, 4, 19), {4'130'071, 3'305'118, 10}},
      uts_named_tree{"T2", geometric(cyclic, 16, 6, 502), {4'117'769, 2'342'762, 81}},
      uts_named_tree{"T3", binomial(2000, 0.124875, 8, 42), {4'112'897, 3'599'034, 1'572}},
      uts_named_tree{"T4", hybrid, {4'132'453, 3'108'986, 134}},
      uts_named_tree{"T5", geometric(linear, 20, 4, 34), {4'147'582, 2'181'318, 20}},
      uts_named_tree{"T1L", geometric(fixed, 13, 4, 29), {102'181'082, 81'746'377, 13}},
      uts_named_tree{"T2L", geometric(cyclic, 23, 7, 220), {96'793'510, 53'791'152, 67}},
      uts_named_tree{"T3L", binomial(2000, 0.200014, 5, 7), {111'345'631, 89'076'904, 17'844}},
      uts_named_tree{"T1XL", geometric(fixed, 15, 4, 29), {1'635'119'272, 1'308'100'063, 15}},
      uts_named_tree{
          "T3XXL", binomial(2000, 0.499995, 2, 316), {2'793'220'501, 1'396'611'250, 99'049}},
      uts_named_tree{"T1XXL", geometric(fixed, 15, 4, 19), {4'230'646'601, 3'384'495'738, 15}},
  };
  return trees;
}

/// Returns the published tree of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline uts_parameters parse_uts_tree(std::string_view name) {
  std::string names;
  for (const uts_named_tree& tree : uts_trees()) {
    if (tree.name == name) return tree.parameters;
    names += (names.empty() ? "" : ", ") + std::string(tree.name);
  }
  throw std::invalid_argument("tree '" + std::string(name) + "' is none of " + names);
}

}  // namespace ramify::inline RAMIFY_ABI
