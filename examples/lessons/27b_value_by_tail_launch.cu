// SPDX-License-Identifier: BSD-3-Clause
// Lesson 27b: a recursion that returns a value, joined by tail launches.
//
// Read first     Lessons 8 and 27a.
// You will see   the tree of lesson 27a. Each inner node launches its two children and, as a tail
//                launch, a grid that combines their values: 15 more grids.
// The rule       A tail launch begins when its parent grid has ended and all other children of this
//                grid are complete, with all their descendants and tail launches. The values of
//                both children are then in memory, so the join needs no counter and no fence.
// The pitfall    Each node keeps its slot in the pool of pending launches until its whole subtree
//                is complete, and an inner node needs a second slot for its tail launch (lesson
//                11). If a child finds no slot and its task is put into a list, the grid that later
//                runs the task is not a child grid, and the tail launch does not wait for it.
//                Therefore fork_join() (ramify/fork_join.cuh) joins by the last child.
// Plain CUDA     combine_children<<<1, 1, 0, cudaStreamTailLaunch>>>(node, t)
// Try            In step 3, write `fire_and_forget()`. The combination then waits for no child.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned first_leaf = 16;  // nodes 16 to 31 are leaves; node v has children 2v and 2v + 1

struct tree {
  int values[2 * first_leaf];
  unsigned grids;
  unsigned failures;
};

__host__ __device__ int leaf(unsigned node) { return static_cast<int>(node % 5); }
__host__ __device__ int combine(int left, int right) { return 2 * left - right; }

__global__ void combine_children(unsigned node, tree* t) {
  atomicAdd(&t->grids, 1u);
  t->values[node] = combine(t->values[2 * node], t->values[2 * node + 1]);
}

__global__ void solve(unsigned node, tree* t) {
  atomicAdd(&t->grids, 1u);
  if (node >= first_leaf) {
    // 1. Base case: a leaf has its value at once.
    t->values[node] = leaf(node);
    return;
  }
  // 2. Recurse: one grid for each child.
  for (unsigned child = 2 * node; child <= 2 * node + 1; ++child) {
    if (!launch(solve, {1, 1}, fire_and_forget(), child, t)) atomicAdd(&t->failures, 1u);
  }
  // 3. Join: by a tail launch, which waits for both subtrees.
  if (!launch(combine_children, {1, 1}, tail_launch(), node, t)) atomicAdd(&t->failures, 1u);
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
      right += t.values[1] == value_on_host(1) ? 1 : 0;
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
