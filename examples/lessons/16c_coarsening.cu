// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16c: coarsening. The third of four versions of one program; see 16a.
//
// You will see   the tasks, the sum and the grids of 16b, and about a quarter of its blocks.
//                Changed against 16b: blocks_for(), the two places that ask it, and step 5, where a
//                block does four tasks, one after another.
// The rule       A block costs something too: it is scheduled, it starts, it fetches its arguments.
//                A block that does several tasks pays once for them.
// The catch      Tasks that follow one another in a block no longer run side by side.
// Try            Write `coarsening = 1`. That is 16b again.
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

// Tasks that a block does, one after another.
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
  const unsigned blocks = blocks_for(mine);
  const auto launched = launch(do_children, {blocks, 1}, fire_and_forget(), mine, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  if (launched) atomicAdd(&out->blocks, blocks);
}

// 5. A block does up to `coarsening` children of `parent`. (A block is one thread, for brevity.)
__global__ void do_children(task parent, results* out) {
  for (unsigned i = 0; i < coarsening; ++i) {
    const task mine = child_of(parent, blockIdx.x * coarsening + i);
    if (mine.size > 0) do_task(mine, out);
  }
}

int main() {
  return lesson::run([] {
    const lesson::numbers<results> memory(1);
    // 6. So few tasks that all grids together need less than a quarter of the pending-launch pool.
    const task root{2022, 1000};
    const unsigned blocks = blocks_for(root);
    check(launch(do_children, {blocks, 1}, nullptr, root, memory.data()).code(), "launching");
    const results out = memory.read()[0];
    std::cout << "tasks below the root: " << out.tasks << ", sum " << out.sum << '\n'
              << "launched by kernels:  " << out.grids << " grids, " << out.blocks << " blocks\n"
              << "failed launches:      " << out.failed << '\n';
  });
}
