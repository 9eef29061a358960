// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 9: the library. The same node, and functors that tell its children, what to do at a node, and how the
/// results come together.
///
/// Changed      against rung 8: rounds again, for nobody is to hold a place and wait; rung 7's are made better. The
///              walkers are warps, which need no barriers of a block; a stack holds ranges of children, so that a
///              node of any degree takes one place; memory for the stacks and not for the tree; a walk whose list
///              fills up gets narrow instead; rounds are launched fire-and-forget, nested, which takes 12 us
///              instead of 16 (H200). And there is a flat route.
/// Launch tree  a chain of rounds.
/// Join         none: the host's stream waits for the chain.
/// Cost         see algorithms/README.md and benchmarks/README.md.

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
