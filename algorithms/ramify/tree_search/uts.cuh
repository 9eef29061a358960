// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The nodes of Unbalanced Tree Search (Olivier et al., LCPC 2006), and its functors for
/// traverse().

#include <cmath>
#include <ramify/runtime/cuda.hpp>
#include <ramify/tree_search/parameters.hpp>
#include <ramify/tree_search/sha1.cuh>

namespace ramify::detail::tree_search::inline RAMIFY_BUILD {

/// A node is a random state and a depth. The children's states are digests of the state; the last
/// word of the state determines their number.
struct uts_node {
  sha1_digest state;
  unsigned depth;
};

/// Returns the root of a tree: the digest of its seed.
[[nodiscard]] inline uts_node uts_root(const uts_parameters& tree) {
  return {sha1_of_words<5>({0, 0, 0, 0, tree.seed}), 0};
}

/// Computes the children of a node.
struct uts_expand {
  uts_parameters tree;
  double fixed_scale;  ///< 1 / log(1 - p) of a tree whose average does not depend on the depth

  explicit uts_expand(const uts_parameters& parameters)
      : tree(parameters), fixed_scale(1 / std::log(1 - 1 / (1 + parameters.root_branches))) {}

  [[nodiscard]] __host__ __device__ uts_node child(const uts_node& parent, unsigned i) const {
    const auto& w = parent.state.word;
    return {sha1_of_words<6>({w[0], w[1], w[2], w[3], w[4], i}), parent.depth + 1};
  }

  [[nodiscard]] __host__ __device__ unsigned degree(const uts_node& node) const {
    const bool is_binomial =
        tree.type == uts_type::binomial ||
        (tree.type == uts_type::hybrid && node.depth >= tree.shift * tree.depth);
    return is_binomial ? binomial_degree(node) : geometric_degree(node);
  }

 private:
  // Returns the node's random number, uniform in [0, 1), with 31 bits.
  [[nodiscard]] static __host__ __device__ double random_number(const uts_node& node) {
    return (node.state.word[4] & 0x7fffffffu) / 2147483648.0;
  }

  [[nodiscard]] __host__ __device__ unsigned binomial_degree(const uts_node& node) const {
    if (node.depth == 0) return static_cast<unsigned>(tree.root_branches);
    return random_number(node) < tree.probability ? tree.branches : 0;
  }

  [[nodiscard]] __host__ __device__ unsigned geometric_degree(const uts_node& node) const {
    constexpr unsigned max_degree = 100;
    const double average = average_degree(node.depth);
    if (!(average > 0)) return 0;
    const double scale =
        tree.shape == uts_shape::fixed ? fixed_scale : 1 / log(1 - 1 / (1 + average));
    const double degree = floor(log(1 - random_number(node)) * scale);
    return degree < max_degree ? static_cast<unsigned>(degree) : max_degree;
  }

  [[nodiscard]] __host__ __device__ double average_degree(unsigned at_depth) const {
    const double b = tree.root_branches;
    const double d = tree.depth;
    const double h = at_depth;
    if (at_depth == 0) return b;
    switch (tree.shape) {
      case uts_shape::linear: return b * (1 - h / d);
      case uts_shape::exponential: return b * pow(h, -log(b) / log(d));
      case uts_shape::cyclic: return h > 5 * d ? 0 : pow(b, sin(2 * 3.141592653589793 * h / d));
      case uts_shape::fixed: return h < d ? b : 0;
    }
    return 0;
  }
};

/// Counts one node.
struct uts_visit {
  [[nodiscard]] __host__ __device__ uts_counts operator()(const uts_node& node,
                                                          unsigned degree) const {
    return {1, degree == 0, node.depth};
  }
};

/// Adds the counts of two sets of nodes.
struct uts_reduce {
  [[nodiscard]] __host__ __device__ uts_counts operator()(const uts_counts& a,
                                                          const uts_counts& b) const {
    return {a.nodes + b.nodes, a.leaves + b.leaves, a.depth > b.depth ? a.depth : b.depth};
  }
};

}  // namespace ramify::detail::tree_search::inline RAMIFY_BUILD
