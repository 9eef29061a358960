// SPDX-License-Identifier: BSD-3-Clause
// Exercise 1: a kernel launches a kernel (lesson 1).
//
// Given      Two blocks of 32 threads run `parent`.
// Task       Each block launches one grid of `child`, with one block of four threads, into
//            fire_and_forget(). A launch that fails is counted in `failures`.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

struct counts {
  int threads_of_children;
  int failures;
};

__global__ void child(counts* c) { atomicAdd(&c->threads_of_children, 1); }

__global__ void parent(counts* c) {
  // HOLE: which threads launch? Which status does a launch return?
  // END OF HOLE
}

counts run_parent() {
  const exercise::device_array<counts> memory(1);
  check(launch(parent, {2, 32}, nullptr, memory.data()).code(), "launching the parent");
  return memory.read()[0];
}

void test() {
  const counts c = run_parent();
  expect(c.threads_of_children != 0, "no child ran");
  expect(c.threads_of_children != 2 * 32 * 4,
         "64 children ran: all 32 threads of each block launched one");
  expect(c.threads_of_children != 4, "one child ran, but there are two blocks");
  expect(c.threads_of_children == 8,
         exercise::counted(c.threads_of_children, "thread") + " of children ran, not 2 x 4");
  exercise::with_grids([](const auto& seen) {
    for (const auto& g : seen.of("child")) {
      expect(g.threads[0] == 4, "a child has " + exercise::counted(g.blocks[0], "block") + " of " +
                                    exercise::counted(g.threads[0], "thread") +
                                    ": the shape is {blocks, threads per block}");
    }
  });
  expect(c.failures == 0, "failures were counted, but no launch failed");
  // A pool without a free place: both launches fail.
  exercise::with_full_pool(1, [] {
    expect(run_parent().failures == 2, "two launches failed, and `failures` is not 2");
  });
}

int main() { return exercise::run(test); }
