// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 9: the library. The same node, and functors that compute its children, visit a node, and reduce the
/// results.
///
/// Changed      against rung 8: rounds again, so that no block waits; those of rung 7, improved. The workers are
///              warps, which need no barriers of a block. A stack holds ranges of children, so a node of any degree
///              takes one entry, and the memory is that of the stacks and not that of the tree. If a list is nearly
///              full, a warp visits fewer children at a time. Rounds are launched fire-and-forget, nested, which
///              takes 12 us instead of 16 (H200). There is also a flat route.
/// Launch tree  a chain of rounds, the steps of a launch chain.
/// Join         none: the host's stream waits for the chain.
/// Cost         see algorithms/ramify/traverse/README.md and benchmarks/README.md.

#include <ramify/traverse.cuh>

#include "tree_run.cuh"

namespace ladder::rung_9 {

struct children {
  __host__ __device__ unsigned degree(const node& n) const { return ladder::degree(n); }
  __host__ __device__ node child(const node& n, unsigned i) const { return ladder::child(n, i); }
};
struct one {
  __host__ __device__ std::uint64_t operator()(const node&, unsigned) const { return 1; }
};
struct sum {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a + b;
  }
};

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  traverse_config config;
  config.route = route::device;
  config.trace = run.trace();
  const auto found =
      traverse(root, children{}, one{}, sum{}, std::uint64_t{0}, run.stream(), config);
  run.did(found.report);
  return found.value;
}

}  // namespace ladder::rung_9
