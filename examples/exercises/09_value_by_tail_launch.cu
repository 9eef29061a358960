// SPDX-License-Identifier: BSD-3-Clause
// Exercise 9: a recursion with a value (lessons 22 and 27b).
//
// Given      The function int sum_from(level) { return level + sum_from(level + 1); } as grids:
//            the result of a level is in sums[level], and sums[levels] is 0. In `sum_from` the
//            addition would come too early, so it is in the kernel `add`.
// Task       A grid launches the next level and the addition of its own level, in an order in
//            which each addition finds the result of the next level.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned levels = 10;

struct results {
  unsigned sums[levels + 1];
  unsigned additions;
  unsigned failures;
};

__global__ void add(unsigned level, results* r) {
  atomicAdd(&r->additions, 1u);
  r->sums[level] = level + r->sums[level + 1];
}

__global__ void sum_from(unsigned level, results* r) {
  if (level == levels) return;
  // HOLE: two launches, {1, 1}. Which stream has which?
  // END OF HOLE
}

void test() {
  const exercise::device_array<results> memory(1);
  check(launch(sum_from, {1, 1}, nullptr, 0u, memory.data()).code(), "launching the root");
  const results r = memory.read()[0];
  exercise::with_grids([](const auto& seen) {
    expect(seen.count("sum_from") == levels + 1, exercise::counted(seen.count("sum_from"), "grid") +
                                                     " of sum_from ran, not " +
                                                     std::to_string(levels + 1));
  });
  expect(r.additions == levels,
         exercise::counted(r.additions, "addition") + " ran, not one for each of the ten levels");
  expect(r.sums[0] == 45, "sums[0] is " + std::to_string(r.sums[0]) +
                              ", not 45: an addition began before the next level was complete");
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
