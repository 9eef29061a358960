// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16a: one grid per task. The first of four versions of one program.
//
// Read first     Lessons 9 and 10.
// You will see   an irregular tree of tasks. Each task that has children launches one grid for
//                them, with one block for each child. The four versions visit the same tasks and
//                print the same sum, with different launches. `diff` shows what each version
//                changes:
//                  16a  one grid for the children of each task
//                  16b  threshold: a small task runs in the thread that holds it
//                  16c  coarsening: one block runs several tasks, one after another
//                  16d  aggregation: the launches of all threads of a block become one grid
//                (After Olabi, Gomez-Luna, Mutlu, Hwu and El Hajj, "A Compiler Framework for
//                Optimizing Dynamic Parallelism on GPUs", CGO 2022.)
// The rule       A launch from the device costs microseconds: 6.1 for one thread on an H200
//                (benchmarks/launches.md). A grid should contain more work than its launch costs.
// The pitfall    Here most grids contain almost no work, as in most recursions: most nodes of a
//                tree are near its leaves.
// Plain CUDA     run_children<<<blocks, 1, 0, cudaStreamFireAndForget>>>(mine, out)
// Try            In step 2, write `below / 2 + 1`. The first children take more nodes, so tasks
//                have fewer children, and there are more grids with fewer blocks each. (The tree is
//                then another one, with another sum.)
#include "lesson.hpp"

using namespace ramify;

// 1. A task is the root of a tree of `size` nodes. The seed determines the whole tree.
struct task {
  unsigned seed;
  unsigned size;
};

// 2. Child `which` of a task: each child takes a random share of the remaining nodes. A result of
//    size 0 means that the child does not exist.
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

__global__ void run_children(task parent, results* out);

__device__ void run_task(task mine, results* out) {
  visit(mine, out);
  if (mine.size == 1) return;  // 3. Base case: a leaf.
  // 4. Recurse: launch one grid for the children of this task.
  const unsigned blocks = children_of(mine);
  const auto launched = launch(run_children, {blocks, 1}, fire_and_forget(), mine, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  if (launched) atomicAdd(&out->blocks, blocks);
}

// 5. Block i runs child i of `parent`. (A block is one thread, for brevity.)
__global__ void run_children(task parent, results* out) {
  run_task(child_of(parent, blockIdx.x), out);
}

int main() {
  return lesson::run([] {
    const lesson::device_array<results> memory(1);
    // 6. All grids together need less than a quarter of the pending-launch pool.
    const task root{2022, 1000};
    const unsigned blocks = children_of(root);
    check(launch(run_children, {blocks, 1}, nullptr, root, memory.data()).code(), "launching");
    const results out = memory.read()[0];
    std::cout << "tasks below the root: " << out.tasks << ", sum " << out.sum << '\n'
              << "launched by kernels:  " << out.grids << " grids, " << out.blocks << " blocks\n"
              << "failed launches:      " << out.failed << '\n';
  });
}
