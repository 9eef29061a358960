// SPDX-License-Identifier: BSD-3-Clause
// Exercise 13: a quota in a recursion (lesson 35).
//
// Given      A chain: each link launches the next one, 100 in all. The pool has 64 places, and a
//            quota of 16 allows that many links at a time. Without a slot, a link counts the rest
//            of the chain itself.
// Task       The link that has launched another one must return the slot of that link, but when?
//            The kernel `give_back` returns it. Launch `give_back`, {1, 1}, into the right stream.
#include <ramify/runtime/limits.cuh>

#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned quota = 16;
constexpr unsigned links = 100;

struct results {
  unsigned in_use;
  unsigned counted;  // links that ran, or were counted by another one
  unsigned by_grids;
  unsigned failures;
};

__global__ void give_back(results* r) { atomicSub(&r->in_use, 1u); }

__global__ void link(unsigned left, results* r) {
  atomicAdd(&r->by_grids, 1u);
  atomicAdd(&r->counted, 1u);
  if (left == 0) return;
  if (atomicAdd(&r->in_use, 1u) >= quota) {
    atomicSub(&r->in_use, 1u);
    atomicAdd(&r->counted, left);  // no slot: the rest of the chain runs in place
    return;
  }
  if (!launch(link, {1, 1}, fire_and_forget(), left - 1, r)) atomicAdd(&r->failures, 1u);
  // HOLE: return the slot after the link and all its descendants are complete.
  // END OF HOLE
}

void test() {
  const launch_limits limits({.pending_launches = 64});
  const exercise::device_array<results> memory(1);
  check(launch(link, {1, 1}, nullptr, links - 1, memory.data()).code(), "launching the chain");
  const results r = memory.read()[0];
  expect(r.by_grids <= quota + 1, std::to_string(r.by_grids) + " grids ran, not 17, and " +
                                      exercise::counted(r.failures, "launch", "launches") +
                                      " failed: a slot was returned before the descendants of " +
                                      "its grid were complete");
  expect(r.in_use == 0 || r.in_use > links, exercise::counted(r.in_use, "slot") + " not returned");
  expect(r.in_use == 0, "a slot was returned twice");
  expect(r.failures == 0, "a launch failed");
  expect(r.counted == links, std::to_string(r.counted) + " of 100 links were counted");
}

int main() { return exercise::run(test); }
