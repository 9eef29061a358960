// SPDX-License-Identifier: BSD-3-Clause
// Lesson 3: no pointers to local or shared memory for a child grid.
//
// You will see   two numbers handed to a child in the right way, and what the CPU executor says of
//                two wrong ways.
// The rule       Hand a child values, and pointers to global memory.
// The catch      Local memory is a thread's own and shared memory a block's own. In the child the
//                same address means something else, or nothing, and the parent may be gone. On a GPU
//                that is undefined: it may be a wrong number and no error. nvcc warns where it can
//                tell. The same holds for cudaMemcpyAsync and cudaMemsetAsync in a kernel.
// Try            In step 4, hand over `global` instead of `&mine`. There is nothing to complain of.
#include "lesson.hpp"

using namespace ramify;

__global__ void child(int value, const int* from, int* received) {
  received[0] = value;
  received[1] = *from;
}

__global__ void right(int* global, int* received, int* failures) {
  // Every thread has a local number, and the block has a shared one.
  const int local = 10 + static_cast<int>(threadIdx.x);
  __shared__ int shared;
  if (threadIdx.x == 0) shared = 0;
  __syncthreads();
  atomicAdd(&shared, local);
  __syncthreads();
  if (threadIdx.x == 5) {
    // 1. What is local goes by value: a launch copies its arguments.
    // 2. What is shared is copied to global memory first.
    *global = shared;
    const auto launched = launch(child, {1, 1}, fire_and_forget(), local, global, received);
    if (!launched) atomicAdd(failures, 1);
  }
}

#if !RAMIFY_ON_CUDA
// The wrong ways, which only the CPU executor may run: it looks at every argument of a launch, and
// inside structs too, before the child can do harm.

__global__ void hands_shared(int* global, int* received) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = *global;
  __syncthreads();
  if (threadIdx.x == 5) {
    // 3. The value of `mine` is welcome in the child, its address is not.
    const auto launched = launch(child, {1, 1}, fire_and_forget(), mine, &mine, received);
    if (!launched) *received = -1;
  }
}

__global__ void hands_local(int* global, int* received) {
  const int mine = *global;
  if (threadIdx.x == 5) {
    // 4. The same with a thread's own memory.
    const auto launched = launch(child, {1, 1}, fire_and_forget(), mine, &mine, received);
    if (!launched) *received = -1;
  }
}
#endif

int main() {
  return lesson::run([] {
    const lesson::numbers<int> global(1);
    const lesson::numbers<int> received(2);
    const lesson::numbers<int> failures(1);
    check(launch(right, {1, 32}, nullptr, global.data(), received.data(), failures.data()).code(),
          "launching");
    const auto got = received.read();
    std::cout << "the local number, by value:               " << got[0] << " (10 + 5)\n"
              << "the shared number, through global memory: " << got[1] << " (10 + 11 + ... + 41)\n"
              << "launches that failed:                     " << failures.read()[0] << '\n';
#if RAMIFY_ON_CUDA
    std::cout << "the wrong ways are undefined on a GPU; run this lesson on the CPU executor\n";
#else
    // A broken rule ends the host's launch with an exception. It names rule, kernel, block and thread.
    for (const auto kernel : {hands_shared, hands_local}) {
      std::cout << "the CPU executor complains of: " << lesson::complaint([&] {
        check(launch(kernel, {1, 32}, nullptr, global.data(), received.data()).code(), "launching");
      }) << '\n';
    }
#endif
  });
}
