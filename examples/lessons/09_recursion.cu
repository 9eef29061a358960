// SPDX-License-Identifier: BSD-3-Clause
// Lesson 9: a kernel launches itself.
//
// Read first     Lesson 6.
// You will see   a binary tree of grids. Each grid launches two more grids of its own kernel, down
//                to level 4. The host waits once and finds all 31 grids complete.
// The rule       A grid is complete when all grids that it launched are complete, and theirs, and
//                so on (nested completion). A wait for the root is a wait for the whole tree.
// The pitfall    A recursion without a base case does not end. A recursion with a base case may
//                still be too wide: a launch needs a slot in a pool of 2048 (lesson 11), and the
//                width of this tree doubles with each level.
// Try            In step 3, write `child < 3`. Now there are 1, 3, 9, 27 and 81 grids.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned last_level = 4;

struct counts {
  unsigned grids[last_level + 1];  // grids on each level; the root is level 0
  unsigned deepest;                // deepest level that was reached
  unsigned failed;                 // launches that failed
};

// A node of the tree is a grid of one thread, so no thread is elected. Its state is its level.
__global__ void visit(unsigned level, counts* seen) {
  atomicAdd(&seen->grids[level], 1u);
  atomicMax(&seen->deepest, level);
  // 1. Base case: launch nothing. Without it the recursion would not end.
  if (level == last_level) return;
  // 2. Split: the work below this node is two independent subtrees. Their grids may run at the
  //    same time, in any order.
  // 3. Recurse: launch a grid for each subtree. A kernel can name itself. In plain CUDA this is
  //        visit<<<1, 1, 0, cudaStreamFireAndForget>>>(level + 1, seen);
  for (unsigned child = 0; child < 2; ++child) {
    const auto launched = launch(visit, {1, 1}, fire_and_forget(), level + 1, seen);
    if (!launched) atomicAdd(&seen->failed, 1u);
  }
  // 4. Join: none. A recursive function returns to its caller; a grid does not. This thread ends
  //    now, possibly before its descendants begin.
}

int main() {
  return lesson::run([] {
    const lesson::device_array<counts> memory(1);
    // 5. The host launches one grid, the root.
    check(launch(visit, {1, 1}, nullptr, 0u, memory.data()).code(), "launching the root");
    // 6. The host waits for one grid, the root: read() waits for the stream.
    const counts seen = memory.read()[0];

    unsigned grids = 0;
    for (unsigned level = 0; level <= last_level; ++level) {
      std::cout << "grids on level " << level << ": " << seen.grids[level] << '\n';
      grids += seen.grids[level];
    }
    std::cout << "all of them:      " << grids << ", of which the host launched 1\n"
              << "deepest level:    " << seen.deepest << '\n'
              << "failed launches:  " << seen.failed << '\n';
  });
}
