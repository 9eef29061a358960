// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 9: the library. The same node, and functors that return its children, the value of a node,
/// and the sum of two results.
///
/// Changed      Rounds again, because no block of a library should occupy an SM until the last node
///              is counted. They improve on rung 7. Warps traverse, not blocks, so no barriers of a
///              block are needed. While there are few nodes, one warp for each quarter of an SM
///              works, and warps exchange nodes as the blocks of rung 8 do; but a warp waits for a
///              limited time, and then ends. A stack holds ranges of children, so a node of any
///              degree takes one entry. Memory is needed for the stacks and not for the tree; if a
///              list fills up, the traversal visits fewer children at a time. Rounds are launched
///              fire-and-forget, nested, which takes 12 us instead of 16 (H200). There is also a
///              flat route.
/// Launch tree  A chain of rounds, the steps of a launch chain.
/// Join         None: the host's stream waits for the chain.
/// Cost         See algorithms/ramify/traverse/README.md and benchmarks/traverse.md.

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
  const auto found =
      traverse(root, children{}, one{}, sum{}, std::uint64_t{0},
               {.stream = run.stream(), .route = route::device, .trace = run.trace()});
  run.set_report(found.report);
  return found.value;
}

}  // namespace ladder::rung_9
