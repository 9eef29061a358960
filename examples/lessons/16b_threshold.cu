// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16b: threshold. The second of four versions of one program; see 16a.
//
// Read first     Lesson 16a.
// You will see   the tasks and the sum of 16a, with far fewer grids. Changed from 16a: the base
//                case in step 3, and the function that it calls. Tasks of fewer than 16 nodes run
//                in place.
// The rule       Launch only tasks that are large enough to be worth a launch. The base case need
//                not be a leaf; it may be any task that runs without a launch.
// The pitfall    One thread visits all nodes of a small task, one after another, and its block runs
//                as long. If the threshold is too high, most of the GPU has no work. Measure.
// Plain CUDA     run_children<<<blocks, 1, 0, cudaStreamFireAndForget>>>(mine, out)
// Try            Write `threshold = 64`. There are even fewer grids, and one thread may run tasks
//                of up to 63 nodes in place, not 15.
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

// Tasks with fewer nodes than this launch nothing.
constexpr unsigned threshold = 16;

// Visits all nodes of a small task in this thread. The stack never holds more nodes than the task.
__device__ void run_in_place(task small, results* out) {
  task stack[threshold] = {small};
  for (unsigned count = 1; count > 0;) {
    const task t = stack[--count];
    visit(t, out);
    for (unsigned i = 0; child_of(t, i).size > 0; ++i) stack[count++] = child_of(t, i);
  }
}

__global__ void run_children(task parent, results* out);

__device__ void run_task(task mine, results* out) {
  if (mine.size < threshold) {  // 3. Base case: a small task.
    run_in_place(mine, out);
    return;
  }
  visit(mine, out);
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
