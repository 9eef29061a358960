// SPDX-License-Identifier: BSD-3-Clause
// Lesson 1: a kernel launches a kernel.
//
// You will see   a parent grid of two blocks; in each, one thread launches a child grid.
// The rule       Threads launch, not blocks: what all 32 threads of a block do is done 32 times. So
//                one thread is elected to launch.
// The catch      A launch can fail, and a kernel has nobody to tell. Look at every launch's status.
// Try            In step 1, write `threadIdx.x < 32`. Now there are 64 children.
#include "lesson.hpp"

using namespace ramify;

__global__ void child(int* threads_of_children) { atomicAdd(threads_of_children, 1); }

__global__ void parent(int* threads_of_children, int* failures) {
  // 1. One thread of the block launches.
  if (threadIdx.x == 0) {
    // 2. A grid of one block of four threads: what CUDA itself spells
    //        child<<<1, 4, 0, cudaStreamFireAndForget>>>(threads_of_children);
    //    It may begin at once or later; nobody waits for it here.
    const auto launched = launch(child, {1, 4}, fire_and_forget(), threads_of_children);
    // 3. Did it go well?
    if (!launched) atomicAdd(failures, 1);
  }
}

int main() {
  return lesson::run([] {
    const lesson::numbers<int> counts(2);
    // The host launches the parent like any kernel; nullptr is its NULL stream. A grid is complete
    // when its children are, so whoever waits for the parent waits for all of them.
    check(launch(parent, {2, 32}, nullptr, counts.data(), counts.data() + 1).code(),
          "launching the parent");
    const auto seen = counts.read();
    std::cout << "threads of children that ran: " << seen[0] << " (each child has 4)\n"
              << "launches that failed:         " << seen[1] << '\n';
  });
}
