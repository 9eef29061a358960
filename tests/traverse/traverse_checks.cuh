// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Trees whose nodes are numbers, and traversals that check that each node is visited once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <ramify/traverse.cuh>
#include <string>
#include <vector>

#include "device_vectors.cuh"
#include "printing.hpp"
#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

/// Returns the configuration with this schedule and two resident blocks, on machines with any
/// number of cores: the sizes of rounds, and of the shortest lists, depend on the number of blocks.
inline ramify::cpu::executor_config two_workers(const std::string& schedule) {
  auto config = ramify::cpu::parse_executor_config(schedule);
  config.workers = 2;
  return config;
}

/// An implicit tree whose nodes are the numbers from 0 to nodes() - 1; 0 is the root.
struct numbered_tree {
  enum class shape {
    path,         ///< each node has one child
    star,         ///< all nodes but the root are its children
    complete,     ///< each node has `arity` children
    caterpillar,  ///< each node of a path also has a leaf, as its second child
    combs,        ///< `arity` paths below the root; their nodes have 39 leaves after the child
  };
  shape kind;
  unsigned n;  ///< nodes; of combs, nodes of one path without its leaves
  unsigned arity = 1;

  [[nodiscard]] std::size_t nodes() const {
    return kind == shape::combs ? 1 + std::size_t{arity} * n * 40 : n;
  }

  [[nodiscard]] __host__ __device__ unsigned degree(unsigned node) const {
    switch (kind) {
      case shape::path: return node + 1 < n ? 1 : 0;
      case shape::star: return node == 0 ? n - 1 : 0;
      case shape::complete: {
        const unsigned long long first = 1ull * arity * node + 1;
        return first >= n ? 0 : (n - first < arity ? unsigned(n - first) : arity);
      }
      case shape::caterpillar: {  // the first half is the path, the second half the leaves
        const unsigned half = (n + 1) / 2;
        return node >= half ? 0 : (node + 1 < half) + (node + half < n);
      }
      case shape::combs: {  // node 1 + 40 i is on a path, and the 39 nodes after it are its leaves
        if (node == 0) return arity;
        const unsigned index = (node - 1) / 40;
        return (node - 1) % 40 != 0 ? 0 : index % n + 1 < n ? 40 : 39;
      }
    }
    return 0;
  }

  [[nodiscard]] __host__ __device__ unsigned child(unsigned node, unsigned i) const {
    switch (kind) {
      case shape::path: return node + 1;
      case shape::star: return i + 1;
      case shape::complete: return arity * node + 1 + i;
      case shape::caterpillar: {
        const unsigned half = (n + 1) / 2;
        return i == 0 && node + 1 < half ? node + 1 : node + half;
      }
      case shape::combs: {
        if (node == 0) return 1 + 40 * n * i;
        const bool has_next = (node - 1) / 40 % n + 1 < n;
        return has_next && i == 0 ? node + 40 : node + i + (has_next ? 0 : 1);
      }
    }
    return 0;
  }
};

/// A tree in which warps donate late, so that no round is thin.
struct late_tree : numbered_tree {
  static constexpr bool donates_late = true;
};

/// Counts the visits of each node.
struct mark_visit {
  unsigned* visits;
  __device__ unsigned operator()(unsigned node, unsigned /*degree*/) const {
    atomicAdd(&visits[node], 1u);
    return 1;
  }
};

struct sum {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct traverse_setting {
  traverse_options options{};
  environment env{};
};

/// Returns a setting for each strategy and granularity.
inline std::vector<traverse_setting> all_settings(route taken, std::size_t pending_launches = 0) {
  const environment env{.route = taken, .pending_launches = pending_launches};
  std::vector<traverse_setting> all{{.env = env}};
  for (const auto grain : {granularity::per_task, granularity::per_block, granularity::per_grid}) {
    all.push_back({.options = {.capacity = 1 << 18,
                               .strategy = traverse_strategy::task_per_node,
                               .launches = {grain, 0, 2}},
                   .env = env});
  }
  return all;
}

/// Traverses a tree and sets `visits` to the number of visits of each node. If the reduction is not
/// the number of nodes, `visits` is empty.
template <class Tree = numbered_tree>
traverse_report mark(const Tree& tree, const traverse_setting& setting,
                     std::vector<unsigned>& visits) {
  visits.assign(tree.nodes(), 0);
  const auto on_device = upload(visits);
  const auto found = ramify::traverse(0u, tree, mark_visit{on_device.data()}, sum{}, 0u,
                                      setting.options, setting.env);
  download(on_device, visits);
  if (found.value != tree.nodes()) visits.clear();
  return found.report;
}

template <class Tree = numbered_tree>
traverse_report expect_each_visited_once(const Tree& tree, const traverse_setting& setting) {
  std::vector<unsigned> visits;
  const traverse_report report = with_grids_counted([&] { return mark(tree, setting, visits); });
  BOOST_TEST(visits.size() == tree.nodes());
  BOOST_TEST(std::ranges::all_of(visits, [](unsigned v) { return v == 1; }));
  return report;
}

/// The type of the runs of mark().
using mark_run = async_run<traverse_result<unsigned>>;

/// Returns the memory of a traversal by mark().
inline std::size_t mark_scratch_bytes(const traverse_options& options) {
  return traverse_scratch_bytes<unsigned, numbered_tree, mark_visit, sum, unsigned>(options);
}

/// Starts a traversal of a path of ten nodes.
inline mark_run start_path(unsigned* visits, const traverse_setting& setting) {
  return traverse_async(0u, numbered_tree{numbered_tree::shape::path, 10}, mark_visit{visits},
                        sum{}, 0u, setting.options, setting.env);
}

}  // namespace tests::inline RAMIFY_BUILD
