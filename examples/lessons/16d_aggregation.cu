// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16d: aggregation. The last of four versions of one program; see 16a.
//
// You will see   the tasks and the sum of 16c, with fewer grids. Changed against 16c: a grid is
//                launched for all large tasks of a block (parents), when it has met them all.
// The rule       Grids that one block would launch can be one grid. Each of its blocks finds out
//                which parent's child it has to do.
// The catch      That search costs something, and the first task's children wait for the last task.
//                Whole grids can be gathered as well, as Ramify's granularity::per_grid does: then
//                the tasks lie in global memory, and the last block of the grid launches.
// Try            Write `coarsening = 16`. More tasks in a block, fewer grids, fewer blocks.
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

// What a grid is launched for: all tasks of one block that have children to launch.
struct parents {
  task of[coarsening];
  unsigned count;
};

__host__ __device__ unsigned blocks_for(const parents& group) {
  unsigned children = 0;
  for (unsigned p = 0; p < group.count; ++p) children += children_of(group.of[p]);
  return (children + coarsening - 1) / coarsening;
}

// Child `which` of all of them together: first come those of the first parent.
__host__ __device__ task child_of(const parents& group, unsigned which) {
  for (unsigned p = 0; p < group.count; ++p) {
    const unsigned children = children_of(group.of[p]);
    if (which < children) return child_of(group.of[p], which);
    which -= children;
  }
  return {0, 0};
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

__global__ void do_children(parents group, results* out);

__device__ void do_task(task mine, parents& large, results* out) {
  if (mine.size < threshold) {  // 3. Base case: a small task.
    finish_in_place(mine, out);
    return;
  }
  visit(mine, out);
  large.of[large.count++] = mine;
}

// 4. Recurse: one grid for the children of all of a block's tasks.
__device__ void launch_children(const parents& large, results* out) {
  const unsigned blocks = blocks_for(large);
  const auto launched = launch(do_children, {blocks, 1}, fire_and_forget(), large, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  if (launched) atomicAdd(&out->blocks, blocks);
}

// 5. A block does up to `coarsening` children of the group. (A block is one thread, for brevity.)
__global__ void do_children(parents group, results* out) {
  parents large{};
  for (unsigned i = 0; i < coarsening; ++i) {
    const task mine = child_of(group, blockIdx.x * coarsening + i);
    if (mine.size > 0) do_task(mine, large, out);
  }
  if (large.count > 0) launch_children(large, out);
}

int main() {
  return lesson::run([] {
    const lesson::numbers<results> memory(1);
    // 6. So few tasks that all grids together need less than a quarter of the pending-launch pool.
    const parents root{{{2022, 1000}}, 1};
    const unsigned blocks = blocks_for(root);
    check(launch(do_children, {blocks, 1}, nullptr, root, memory.data()).code(), "launching");
    const results out = memory.read()[0];
    std::cout << "tasks below the root: " << out.tasks << ", sum " << out.sum << '\n'
              << "launched by kernels:  " << out.grids << " grids, " << out.blocks << " blocks\n"
              << "failed launches:      " << out.failed << '\n';
  });
}
