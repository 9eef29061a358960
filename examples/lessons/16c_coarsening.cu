// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16c: coarsening. The third of four versions of one program; see 16a.
//
// Read first     Lesson 16b.
// You will see   the tasks, the sum and the grids of 16b, and about a quarter of its blocks.
//                Changed from 16b: blocks_for(), its two calls, and step 5, where a block runs four
//                tasks, one after another. The lesson also prints how many tasks a block ran.
// The rule       A block has a cost too: it is scheduled, it starts, it loads its arguments. A
//                block that runs several tasks pays this cost once.
// The pitfall    Tasks that follow one another in a block no longer run in parallel.
// Plain CUDA     run_children<<<blocks, 1, 0, cudaStreamFireAndForget>>>(mine, out)
// Try            Write `coarsening = 1`. That is 16b again: almost four times as many blocks, and
//                each runs one task.
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

// The number of tasks that a block runs, one after another.
constexpr unsigned coarsening = 4;

__host__ __device__ unsigned blocks_for(task parent) {
  return (children_of(parent) + coarsening - 1) / coarsening;
}

struct results {
  unsigned tasks;
  unsigned sum;
  unsigned grids;  // launched by kernels
  unsigned blocks;
  unsigned failed;
  unsigned most_tasks;  // maximum number of tasks that one block ran
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
  const unsigned blocks = blocks_for(mine);
  const auto launched = launch(run_children, {blocks, 1}, fire_and_forget(), mine, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  if (launched) atomicAdd(&out->blocks, blocks);
}

// 5. A block runs up to `coarsening` children of `parent`. (A block is one thread, for brevity.)
__global__ void run_children(task parent, results* out) {
  unsigned tasks = 0;
  for (unsigned i = 0; i < coarsening; ++i) {
    const task mine = child_of(parent, blockIdx.x * coarsening + i);
    if (mine.size == 0) break;  // the parent has no more children
    run_task(mine, out);
    ++tasks;
  }
  atomicMax(&out->most_tasks, tasks);
}

int main() {
  return lesson::run([] {
    const lesson::device_array<results> memory(1);
    // 6. All grids together need less than a quarter of the pending-launch pool.
    const task root{2022, 1000};
    const unsigned blocks = blocks_for(root);
    check(launch(run_children, {blocks, 1}, nullptr, root, memory.data()).code(), "launching");
    const results out = memory.read()[0];
    std::cout << "tasks below the root: " << out.tasks << ", sum " << out.sum << '\n'
              << "launched by kernels:  " << out.grids << " grids, " << out.blocks << " blocks\n"
              << "failed launches:      " << out.failed << '\n'
              << "tasks of a block:     at most " << out.most_tasks << ", one after another\n";
  });
}
