// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16b: threshold. The second of four versions of one program; see 16a.
//
// You will see   the tasks and the sum of 16a, with far fewer grids. Changed against 16a: the base
//                case in step 3, and what it calls. Tasks of fewer than 16 nodes are done in place.
// The rule       Launch only what is large enough to be worth a launch. What the base case does is
//                up to you; it need not be a leaf.
// The catch      One thread does all of a small task, one node after another, and its block lasts
//                as long. Too high a threshold leaves most of the GPU without work. Measure.
// Try            Write `threshold = 64`. Fewer grids still; and what one thread does in place may
//                have 63 nodes, not 15.
#include "lesson.hpp"

using namespace ramify;

// 1. A task is a tree of `size` nodes, itself among them. From its seed all below it follows.
struct task {
  unsigned seed;
  unsigned size;
};

// 2. Child `which`: it takes a random share of the nodes that are left. Of size 0: there is no such
//    child.
__host__ __device__ task child_of(task parent, unsigned which) {
  unsigned below = parent.size - 1;
  for (unsigned i = 0; below > 0; ++i) {
    unsigned seed = (parent.seed + i) * 0x9e3779b9u;
    seed = (seed ^ seed >> 15) * 0x2c1b3c6du;
    seed ^= seed >> 13;
    const unsigned size = 1 + seed % (below / 4 + 1);
    if (i == which) return {seed, size};
    below -= size;
  }
  return {0, 0};
}

__host__ __device__ unsigned children_of(task parent) {
  unsigned count = 0;
  while (child_of(parent, count).size > 0) ++count;
  return count;
}

struct results {
  unsigned tasks;
  unsigned sum;
  unsigned grids;  // launched by kernels
  unsigned blocks;
  unsigned failed;
};

__device__ void visit(task t, results* out) {
  atomicAdd(&out->tasks, 1u);
  atomicAdd(&out->sum, t.seed % 10);
}

// Tasks with fewer nodes than this launch nothing.
constexpr unsigned threshold = 16;

// All of a small task, by this thread alone. Never do more nodes wait than it has.
__device__ void finish_in_place(task small, results* out) {
  task waiting[threshold] = {small};
  for (unsigned count = 1; count > 0;) {
    const task t = waiting[--count];
    visit(t, out);
    for (unsigned i = 0; child_of(t, i).size > 0; ++i) waiting[count++] = child_of(t, i);
  }
}

__global__ void do_children(task parent, results* out);

__device__ void do_task(task mine, results* out) {
  if (mine.size < threshold) {  // 3. Base case: a small task.
    finish_in_place(mine, out);
    return;
  }
  visit(mine, out);
  // 4. Recurse: one grid for the children of this task.
  const unsigned blocks = children_of(mine);
  const auto launched = launch(do_children, {blocks, 1}, fire_and_forget(), mine, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  if (launched) atomicAdd(&out->blocks, blocks);
}

// 5. Block i does child i of `parent`. (A block is one thread, for brevity.)
__global__ void do_children(task parent, results* out) {
  do_task(child_of(parent, blockIdx.x), out);
}

int main() {
  return lesson::run([] {
    const lesson::numbers<results> memory(1);
    // 6. So few tasks that all grids together need less than a quarter of the pending-launch pool.
    const task root{2022, 1000};
    const unsigned blocks = children_of(root);
    check(launch(do_children, {blocks, 1}, nullptr, root, memory.data()).code(), "launching");
    const results out = memory.read()[0];
    std::cout << "tasks below the root: " << out.tasks << ", sum " << out.sum << '\n'
              << "launched by kernels:  " << out.grids << " grids, " << out.blocks << " blocks\n"
              << "failed launches:      " << out.failed << '\n';
  });
}
