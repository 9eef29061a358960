// SPDX-License-Identifier: BSD-3-Clause
// Exercise 12: a quota of launches (lesson 11).
//
// Given      100 blocks have a task each, and the pool has room for 32 pending launches. A full
//            pool may hang a GPU, so a block counts before it launches: at most `quota` slots, 16,
//            are in use at a time. The child returns its slot at its end.
// Task       Acquire a slot. With a slot, launch `child` for the task. Without one, do the task
//            here. No slot may be lost.
#include <ramify/runtime/limits.cuh>

#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned tasks = 100;
constexpr unsigned quota = 16;

struct results {
  unsigned in_use;       // slots in use
  unsigned most_in_use;  // when a child began
  unsigned by_children;
  unsigned failures;
  unsigned done[tasks];
};

__device__ void do_task(unsigned task, results* r) { atomicAdd(&r->done[task], 1u); }

__global__ void child(unsigned task, results* r) {
  atomicMax(&r->most_in_use, atomicAdd(&r->in_use, 0u));
  atomicAdd(&r->by_children, 1u);
  do_task(task, r);
  atomicSub(&r->in_use, 1u);  // returns the slot
}

__global__ void parent(results* r) {
  const unsigned task = blockIdx.x;
  // HOLE: atomicAdd(&r->in_use, 1u) returns the number of slots that were in use before.
  // END OF HOLE
}

void test() {
  const launch_limits limits({.pending_launches = 2 * quota});
  const exercise::device_array<results> memory(1);
  check(launch(parent, {tasks, 1}, nullptr, memory.data()).code(), "launching the parent");
  const results r = memory.read()[0];
  expect(r.failures == 0,
         exercise::counted(r.failures, "launch", "launches") + " failed: the pool was full");
  for (const unsigned times : r.done) {
    expect(times == 1, "a task was done " + exercise::counted(times, "time"));
  }
  expect(r.by_children > 0, "no child ran");
  expect(r.in_use <= tasks, "more slots were returned than acquired");
  expect(r.in_use == 0, exercise::counted(r.in_use, "slot") +
                            " not returned: a block without a launch must return its slot");
  // Under this schedule all blocks have ended when the first child begins, so no count is undone.
  expect(!exercise::children_begin_late() || r.most_in_use <= quota,
         std::to_string(r.most_in_use) + " slots were in use at a time, and the quota is 16");
  expect(!exercise::children_begin_late() || r.by_children == quota,
         std::to_string(r.by_children) + " children ran, but there were 16 slots");
}

int main() { return exercise::run(test); }
