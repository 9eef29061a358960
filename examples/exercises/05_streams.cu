// SPDX-License-Identifier: BSD-3-Clause
// Exercise 5: two chains of children (lessons 4 and 5).
//
// Given      `a` launches a grid that writes a number, and `b` doubles it. `c` launches a grid
//            that writes another number, and `d` triples it.
// Task       One thread launches a, b, c and d, each {1, 1}. b runs after a, and d after c.
//            Neither chain waits for the other one.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

struct results {
  int left;
  int right;
  int failures;
};

// Counts a launch that failed.
__device__ void count(const launch_status& launched, results* r) {
  if (!launched) atomicAdd(&r->failures, 1);
}

__global__ void write(int* to, int number) { *to = number; }
__global__ void a(results* r) { count(launch(write, {1, 1}, fire_and_forget(), &r->left, 5), r); }
__global__ void b(results* r) { r->left *= 2; }
__global__ void c(results* r) { count(launch(write, {1, 1}, fire_and_forget(), &r->right, 7), r); }
__global__ void d(results* r) { r->right *= 3; }

__global__ void parent([[maybe_unused]] results* r) {
  // HOLE: four times count(launch(a, {1, 1}, STREAM, r), r). A `device_stream` is a new stream of
  // this kernel; its member get() returns what launch() needs.
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
    expect(seen.in_order("a", "b"), "b began before a was complete");
    expect(seen.in_order("c", "d"), "d began before c was complete");
    expect(!exercise::children_begin_late() || seen.overlap("a", "c"),
           "the chains wait for each other: a and c are in one stream");
  });
  expect(r.left == 10, "left is " + std::to_string(r.left) + ", not 5 x 2");
  expect(r.right == 21, "right is " + std::to_string(r.right) + ", not 7 x 3");
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
