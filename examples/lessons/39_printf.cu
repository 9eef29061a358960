// SPDX-License-Identifier: BSD-3-Clause
// Lesson 39: printf in kernels, and in which order its lines appear.
//
// Read first     Lesson 8.
// You will see   "hello" of a parent, "dynamic" of two children, "world" of its tail launch, and
//                the line of the host, in this order. The children's lines may change places.
// The rule       printf() in a kernel writes to a buffer of the device. The host prints what is in
//                it when it waits for the device. The lines of grids that are ordered, by a stream
//                or by a tail launch, appear in that order. The lines of other grids, blocks and
//                warps have no order.
// The pitfall    The lines show one possible order. A program that prints the expected lines may
//                still lack a join. The buffer has 1 MiB unless the host sets
//                cudaLimitPrintfFifoSize; what exceeds it replaces older lines without an error.
// Plain CUDA     child<<<1, 1, 0, cudaStreamFireAndForget>>>(i)
// Try            In step 3, write `fire_and_forget()`, and move the line before step 2. Nothing
//                then orders "world" after the children.
#include <cstdio>

#include "lesson.hpp"

using namespace ramify;

__global__ void child(unsigned number) { printf("  dynamic %u\n", number); }
__global__ void world() { printf("world\n"); }

__global__ void parent(int* failures) {
  // 1. A line of a parent appears before those of its children if it is printed before the launch.
  printf("hello\n");
  // 2. Two children without an order.
  for (unsigned i = 0; i < 2; ++i) {
    if (!launch(child, {1, 1}, fire_and_forget(), i)) atomicAdd(failures, 1);
  }
  // 3. Join: this grid begins after both children are complete.
  if (!launch(world, {1, 1}, tail_launch())) atomicAdd(failures, 1);
}

int main() {
  return lesson::run([] {
    const lesson::device_array<int> failures(1);
    check(launch(parent, {1, 1}, nullptr, failures.data()).code(), "launching the parent");
    const int failed = failures.read()[0];  // waits, so the lines of the kernels appear first
    std::cout << "launches that failed: " << failed << '\n';
  });
}
