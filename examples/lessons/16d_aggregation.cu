// SPDX-License-Identifier: BSD-3-Clause
// Lesson 16d: aggregation. The last of four versions of one program; see 16a.
//
// Read first     Lesson 16b.
// You will see   the tasks and the sum of 16b, with far fewer grids. Changed from 16b: a block has
//                32 threads, and each runs a task. The block collects its large tasks (parents) and
//                launches one grid for the children of all of them.
// The rule       The grids that the threads of a block would launch can be one grid. A scan over
//                the block gives each parent its first child's number in that grid. One thread
//                launches. Each thread of the new grid finds its parent by a binary search in these
//                numbers.
// The pitfall    The scan and the search have a cost, and the children of all parents wait for the
//                slowest task of the block. The launches of a whole grid can be aggregated as well,
//                as Ramify's granularity::per_grid does: then the tasks are in global memory, and
//                the last block of the grid launches.
// Plain CUDA     run_children<<<blocks, threads, 0, cudaStreamFireAndForget>>>(large, out)
// Try            Write `threads = 64`. Larger blocks launch fewer grids.
#include <ramify/runtime/collectives.cuh>

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

constexpr unsigned threads = 32;  // of a block; each runs a task

// One task of each thread, and the number of its first child among the children of the block. The
// struct is passed to the child grid by value.
struct parents {
  task of[threads];
  unsigned first[threads];
  unsigned children;  // of all of them
};

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

// Returns child `which` of the group: binary search for the last parent whose first child is not
// after it. (A task without children has the same number as the next one, so it is not the last.)
__device__ task child_of(const parents& group, unsigned which) {
  if (which >= group.children) return {0, 0};
  unsigned parent = 0;
  for (unsigned step = threads / 2; step > 0; step /= 2) {
    if (group.first[parent + step] <= which) parent += step;
  }
  return child_of(group.of[parent], which - group.first[parent]);
}

__global__ void run_children(parents group, results* out);

// Runs a task, or visits only its root. Returns the number of children that are left to launch.
__device__ unsigned run_task(task mine, results* out) {
  if (mine.size < threshold) {  // 3. Base case: a small task.
    if (mine.size > 0) run_in_place(mine, out);
    return 0;
  }
  visit(mine, out);
  return children_of(mine);
}

// 4. Recurse: launch one grid for the children of all tasks of the block.
__device__ void launch_children(const parents& large, results* out) {
  const unsigned blocks = (large.children + threads - 1) / threads;
  const auto launched = launch(run_children, {blocks, threads}, fire_and_forget(), large, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  if (launched) atomicAdd(&out->blocks, blocks);
}

// 5. Thread i of block b runs child b * threads + i of the group.
__global__ void run_children(parents group, results* out) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage scan_memory;
  __shared__ parents large;
  const task mine = child_of(group, blockIdx.x * threads + threadIdx.x);
  const unsigned children = run_task(mine, out);
  large.of[threadIdx.x] = mine;
  unsigned all = 0;
  scan(scan_memory).ExclusiveSum(children, large.first[threadIdx.x], all);
  if (threadIdx.x == 0) large.children = all;
  __syncthreads();  // makes `large` complete for thread 0
  if (threadIdx.x == 0 && all > 0) launch_children(large, out);
}

int main() {
  return lesson::run([] {
    const lesson::device_array<results> memory(1);
    // 6. All grids together need less than a quarter of the pending-launch pool. The root is the
    //    only parent of the first group; the others have no children.
    const task root{2022, 1000};
    parents group{};
    group.of[0] = root;
    group.children = children_of(root);
    for (unsigned i = 1; i < threads; ++i) group.first[i] = group.children;
    const unsigned blocks = (group.children + threads - 1) / threads;
    check(launch(run_children, {blocks, threads}, nullptr, group, memory.data()).code(),
          "launching");
    const results out = memory.read()[0];
    std::cout << "tasks below the root: " << out.tasks << ", sum " << out.sum << '\n'
              << "launched by kernels:  " << out.grids << " grids, " << out.blocks << " blocks\n"
              << "failed launches:      " << out.failed << '\n';
  });
}
