// SPDX-License-Identifier: BSD-3-Clause
// Exercise 15: one grid for the launches of a block (lesson 16d).
//
// Given      Each of 64 threads of a block has made `wanted[thread]` tasks, 0 to 3. One grid for
//            each thread would be 64 launches. In the kernel `run_tasks`, block b finds its
//            thread: it is the last one whose `begin` is at most b.
// Task       Compute begin[thread], the number of tasks of all threads before it, and launch one
//            grid with one block for each task.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned threads = 64;

struct results {
  unsigned begin[threads];
  unsigned done[threads];  // tasks of each thread that were done
  unsigned failures;
};

__host__ __device__ unsigned wanted(unsigned thread) { return thread * 7 % 4; }

__global__ void run_tasks(results* r) {
  unsigned thread = 0;
  while (thread + 1 < threads && r->begin[thread + 1] <= blockIdx.x) ++thread;
  atomicAdd(&r->done[thread], 1u);
}

__global__ void parent(results* r) {
  __shared__ unsigned counts[threads];
  counts[threadIdx.x] = wanted(threadIdx.x);
  __syncthreads();
  // HOLE: r->begin, and launch(run_tasks, {tasks, 1}, fire_and_forget(), r) with all tasks
  // END OF HOLE
}

void test() {
  const exercise::device_array<results> memory(1);
  check(launch(parent, {1, threads}, nullptr, memory.data()).code(), "launching the parent");
  const results r = memory.read()[0];
  exercise::with_grids([](const auto& seen) {
    const auto grids = seen.of("run_tasks");
    expect(!grids.empty(), "no grid of run_tasks ran");
    expect(grids.size() == 1, exercise::counted(grids.size(), "grid") +
                                  " of run_tasks ran, not one for the whole block");
    expect(grids[0].blocks[0] == 96, "the grid has " +
                                         exercise::counted(grids[0].blocks[0], "block") +
                                         ", but there are 96 tasks");
  });
  unsigned before = 0;
  for (unsigned t = 0; t < threads; ++t) {
    expect(r.begin[t] != before + wanted(t) || wanted(t) == 0,
           "begin[" + std::to_string(t) + "] counts the tasks of the thread itself, too");
    expect(r.begin[t] == before, "begin[" + std::to_string(t) + "] is " +
                                     std::to_string(r.begin[t]) + ", not " +
                                     std::to_string(before));
    before += wanted(t);
  }
  for (unsigned t = 0; t < threads; ++t) {
    expect(r.done[t] == wanted(t), std::to_string(r.done[t]) + " tasks of thread " +
                                       std::to_string(t) + " were done, not " +
                                       std::to_string(wanted(t)) +
                                       ": the grid began before all of `begin` was written");
  }
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
