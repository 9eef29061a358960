// SPDX-License-Identifier: BSD-3-Clause
// Exercise 16: a diamond of four children (lesson 7).
//
// Given      `a` makes a number, `b` and `c` each compute from it, and `d` adds their results.
//            Each of them computes in a grid of its own, which it launches.
// Task       b and c run after a, and have no order; d runs after both. Use two streams and
//            events.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

struct results {
  int number, left, right, sum;
  int failures;
};

// Counts a call that failed.
__device__ void count(const launch_status& launched, results* r) {
  if (!launched) atomicAdd(&r->failures, 1);
}
__device__ void count(cudaError_t error, results* r) {
  if (error != cudaSuccess) atomicAdd(&r->failures, 1);
}

__global__ void compute(int* to, const int* one, const int* other, int more) {
  *to = *one + *other + more;
}
__device__ void start(int* to, const int* one, const int* other, int more, results* r) {
  count(launch(compute, {1, 1}, fire_and_forget(), to, one, other, more), r);
}
__global__ void a(results* r) { start(&r->number, &r->number, &r->number, 5, r); }
__global__ void b(results* r) { start(&r->left, &r->number, &r->number, 0, r); }
__global__ void c(results* r) { start(&r->right, &r->number, &r->number, 1, r); }
__global__ void d(results* r) { start(&r->sum, &r->left, &r->right, 0, r); }

__global__ void parent(results* r) {
  const device_stream one;
  const device_stream other;
  const device_event first;
  const device_event second;
  // HOLE: count(launch(a, {1, 1}, one.get(), r), r), ...; first.record(one) marks the work in `one`
  // so far, and other.wait(first.get()) lets later work in `other` wait for it.
  // END OF HOLE
}

void test() {
  const exercise::device_array<results> memory(1);
  check(launch(parent, {1, 1}, nullptr, memory.data()).code(), "launching the parent");
  const results r = memory.read()[0];
  exercise::with_grids([](const auto& seen) {
    for (const char* const kernel : {"a", "b", "c", "d"}) {
      expect(seen.count(kernel) == 1, std::string("kernel ") + kernel + " ran " +
                                          exercise::counted(seen.count(kernel), "time") +
                                          ", not once");
    }
    const char* const order[][2] = {{"a", "b"}, {"a", "c"}, {"b", "d"}, {"c", "d"}};
    for (const auto& [before, after] : order) {
      expect(seen.in_order(before, after),
             std::string(after) + " began before " + before + " was complete");
    }
    expect(!exercise::children_begin_late() || seen.overlap("b", "c"),
           "b and c wait for each other");
  });
  expect(r.sum == 21, "the sum is " + std::to_string(r.sum) + ", not 10 + 11");
  expect(r.failures == 0, "a call failed");
}

int main() { return exercise::run(test); }
