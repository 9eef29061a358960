// SPDX-License-Identifier: BSD-3-Clause
// Exercise 18: the best result so far (lesson 29).
//
// Given      64 grids, one for each candidate. A bound is cheap, the value is expensive, and no
//            value exceeds its bound.
// Task       Find the largest value. Skip a candidate that cannot be better than the best value so
//            far, which all grids share in `best`. Else evaluate it and update `best`.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr int candidates = 64;

struct results {
  int best;
  int evaluated;
  int failures;
};

__host__ __device__ int bound(int candidate) { return 200 - 3 * candidate; }
__host__ __device__ int value(int candidate) { return bound(candidate) - candidate * 5 % 17 - 20; }

__device__ int evaluate(int candidate, results* r) {
  atomicAdd(&r->evaluated, 1);
  return value(candidate);
}

__global__ void search(int candidate, results* r) {
  const int best_so_far = atomicAdd(&r->best, 0);  // may be replaced by another grid at any time
  // HOLE: bound(candidate), evaluate(candidate, r), r->best
  // END OF HOLE
}

__global__ void parent(results* r) {
  const auto candidate = static_cast<int>(threadIdx.x);
  if (!launch(search, {1, 1}, fire_and_forget(), candidate, r)) atomicAdd(&r->failures, 1);
}

void test() {
  const exercise::device_array<results> memory(1);
  check(launch(parent, {1, candidates}, nullptr, memory.data()).code(), "launching the parent");
  const results r = memory.read()[0];
  int best = 0;
  for (int i = 0; i < candidates; ++i) best = std::max(best, value(i));
  expect(r.evaluated > 0, "no candidate was evaluated");
  expect(r.best <= best,
         "the best value is " + std::to_string(r.best) + ", a bound, which no candidate has");
  expect(r.best == best, "the best value is " + std::to_string(r.best) + ", not " +
                             std::to_string(best) +
                             ": a smaller value has replaced it, or its candidate was skipped");
  // Here candidate 0 comes first. Its value is 180, so 57 others cannot be better.
  expect(!exercise::children_begin_late() || r.evaluated < candidates,
         "all 64 candidates were evaluated: none was skipped");
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
