// SPDX-License-Identifier: BSD-3-Clause
// Exercise 11: a launch finds no place in the pool (lesson 11).
//
// Given      Each of 16 blocks has a task. A launch can fail, because all places in the pool of
//            pending launches are in use.
// Task       Launch `child` for the task of this block. No task may be lost: if the launch fails,
//            this thread does the task itself.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned tasks = 16;

struct results {
  unsigned done[tasks];  // how often each task was done
  unsigned by_children;
};

__device__ void do_task(unsigned task, results* r) { atomicAdd(&r->done[task], 1u); }

__global__ void child(unsigned task, results* r) {
  atomicAdd(&r->by_children, 1u);
  do_task(task, r);
}

__global__ void parent(results* r) {
  const unsigned task = blockIdx.x;
  // HOLE: {1, 1}, fire_and_forget()
  // END OF HOLE
}

void run_parent(unsigned places) {
  const exercise::device_array<results> memory(1);
  check(launch(parent, {tasks, 1}, nullptr, memory.data()).code(), "launching the parent");
  const results r = memory.read()[0];
  unsigned lost = 0;
  for (const unsigned times : r.done) {
    expect(times < 2, "a task was done " + std::to_string(times) +
                          " times: by a child and by its " + "parent, or by two children");
    lost += times == 0 ? 1 : 0;
  }
  expect(lost == 0, exercise::counted(lost, "task") + " of 16 not done, with a pool of " +
                        exercise::counted(places, "place"));
  expect(r.by_children == places, std::to_string(r.by_children) + " tasks were done by children, " +
                                      "but the pool had " + exercise::counted(places, "place"));
}

void test() {
  run_parent(tasks);
  exercise::with_full_pool(5, [] { run_parent(4); });
}

int main() { return exercise::run(test); }
