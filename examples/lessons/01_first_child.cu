// SPDX-License-Identifier: BSD-3-Clause
// Lesson 1: a kernel launches a kernel.
//
// Read first     No lesson. You have launched a CUDA kernel from the host before.
// You will see   a parent grid of two blocks. In each block one thread launches a child grid.
// The rule       Threads launch grids; blocks do not. If all 32 threads of a block execute a
//                launch, it happens 32 times. So one thread of the block is elected to launch.
// The pitfall    A launch can fail, and no exception or host error reports it. Check the status of
//                every launch.
// Try            In step 1, write `threadIdx.x < 32`. Now there are 64 children.
#include "lesson.hpp"

using namespace ramify;

__global__ void child(int* threads_of_children) { atomicAdd(threads_of_children, 1); }

__global__ void parent(int* threads_of_children, int* failures) {
  // 1. One thread of the block launches.
  if (threadIdx.x == 0) {
    // 2. Launch a grid of one block of four threads. In plain CUDA this is
    //        child<<<1, 4, 0, cudaStreamFireAndForget>>>(threads_of_children);
    //    The child may begin at once or later. The parent does not wait for it.
    const auto launched = launch(child, {1, 4}, fire_and_forget(), threads_of_children);
    // 3. Check the status of the launch.
    if (!launched) atomicAdd(failures, 1);
  }
}

int main() {
  return lesson::run([] {
    const lesson::device_array<int> counts(2);
    // The host launches the parent like any other kernel; nullptr is the host's NULL stream. A grid
    // is complete when its children are complete, so a wait for the parent covers all of them.
    check(launch(parent, {2, 32}, nullptr, counts.data(), counts.data() + 1).code(),
          "launching the parent");
    const auto seen = counts.read();
    std::cout << "threads of children that ran: " << seen[0] << " (each child has 4)\n"
              << "launches that failed:         " << seen[1] << '\n';
  });
}
