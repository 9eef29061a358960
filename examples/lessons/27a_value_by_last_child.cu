// SPDX-License-Identifier: BSD-3-Clause
// Lesson 27a: a recursion that returns a value, joined by the last child.
//
// Read first     Lesson 9.
// You will see   a binary tree of grids in which each inner node computes a value from the values
//                of its two children, in 20 runs with different orders. No grid waits, and no grid
//                is launched for the join. In a third of the executor's runs, writes reach other
//                grids late: without one of the fences, some of them find another value.
// The rule       A node has a counter in global memory. Each finished child adds one to it. The
//                last child to arrive combines the values of both children. The parent is then
//                finished, so the same thread continues with the parent's parent. The children's
//                places in memory are fixed, so the value does not depend on which child is last.
// The pitfall    The counter alone is not enough. A fence before the addition makes the child's
//                value visible to the thread that arrives last; a fence after it keeps this thread
//                from reading the values too early. The way up is a loop, because a recursive
//                function would need a stack as deep as the tree.
// Plain CUDA     solve<<<1, 1, 0, cudaStreamFireAndForget>>>(child, t)
// Try            In step 3, write `!= 0`. The first child then combines, without its sibling's
//                value.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned first_leaf = 16;  // nodes 16 to 31 are leaves; node v has children 2v and 2v + 1

// The data that a recursive function on a CPU keeps on the stack for one call.
struct call {
  int value;         // the result
  unsigned arrived;  // children that have finished
};

struct tree {
  call calls[2 * first_leaf];
  unsigned grids;
  unsigned failures;
};

__host__ __device__ int leaf(unsigned node) { return static_cast<int>(node % 5); }
__host__ __device__ int combine(int left, int right) { return 2 * left - right; }

__device__ void join(unsigned node, tree* t) {
  while (node > 1) {
    const unsigned parent = node / 2;
    // 3. Join: the last child to arrive continues. The other one returns.
    __threadfence();
    if (atomicAdd(&t->calls[parent].arrived, 1u) != 1) return;
    __threadfence();
    t->calls[parent].value = combine(t->calls[2 * parent].value, t->calls[2 * parent + 1].value);
    node = parent;
  }
}

__global__ void solve(unsigned node, tree* t) {
  atomicAdd(&t->grids, 1u);
  if (node >= first_leaf) {
    // 1. Base case: a leaf has its value at once.
    t->calls[node].value = leaf(node);
    join(node, t);
    return;
  }
  // 2. Recurse: one grid for each child.
  for (unsigned child = 2 * node; child <= 2 * node + 1; ++child) {
    if (!launch(solve, {1, 1}, fire_and_forget(), child, t)) atomicAdd(&t->failures, 1u);
  }
}

int value_on_host(unsigned node) {
  if (node >= first_leaf) return leaf(node);
  return combine(value_on_host(2 * node), value_on_host(2 * node + 1));
}

int main() {
  return lesson::run([] {
    constexpr unsigned runs = 20;
    unsigned right = 0, grids = 0, failures = 0;
    lesson::repeat(runs, [&] {
      const lesson::device_array<tree> memory(1);
      check(launch(solve, {1, 1}, nullptr, 1u, memory.data()).code(), "launching the root");
      const tree t = memory.read()[0];
      right += t.calls[1].value == value_on_host(1) ? 1 : 0;
      grids = t.grids;
      failures += t.failures;
    });
    std::cout << "the value of the root, by a function on the host: " << value_on_host(1) << '\n'
              << "runs in which the grids find the same value:      " << right << " of " << runs
              << '\n'
              << "grids of a run:                                   " << grids << '\n'
              << "launches that failed:                             " << failures << '\n';
  });
}
