// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16a: one grid a task. The first of four versions of one program.
//
// You will see   an irregular tree of tasks. Each task that has children launches a grid for them,
//                with a block for each child. The four versions visit the same tasks and print the
//                same sum; what they launch for it differs. `diff` shows what each changes:
//                  16a  a grid for the children of each task
//                  16b  threshold: a small task is finished in place, by who has it
//                  16c  coarsening: one block does several tasks, one after another
//                  16d  aggregation: what the tasks of a block want to launch becomes one grid
//                (After Olabi, Gomez-Luna, Mutlu, Hwu and El Hajj, "A Compiler Framework for
//                Optimizing Dynamic Parallelism on GPUs", CGO 2022.)
// The rule       A launch from the device costs microseconds: 6.5 for one thread on an H200. A grid
//                should have more to do than its launch costs.
// The catch      Here most grids have next to nothing to do, as in most recursions: most of a tree
//                is near its leaves.
// Try            In step 2, write `below / 2 + 1`: the first children take more, so tasks have
//                fewer children, and there are more grids, with fewer blocks each. (It is another
//                tree then, with another sum.)
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

__global__ void do_children(task parent, results* out);

__device__ void do_task(task mine, results* out) {
  visit(mine, out);
  if (mine.size == 1) return;  // 3. Base case: a leaf.
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
