// SPDX-License-Identifier: BSD-3-Clause
// Lesson 3: a child grid must not receive pointers to local or shared memory.
//
// Read first     Lesson 2.
// You will see   two numbers passed to a child correctly, and the report of two wrong ways by the
//                CPU executor, or by a GPU if the lesson is compiled with -DRAMIFY_CHECK=1.
// The rule       Pass a child values, and pointers to global memory.
// The pitfall    Local memory belongs to one thread and shared memory to one block. In the child
//                the same address refers to other memory, or to none. The parent may have ended.
//                On a GPU the behavior is undefined: the result may be a wrong number without an
//                error. nvcc warns if it sees that a local pointer is passed, as in step 4; of a
//                shared pointer, as in step 3, it does not warn. The same rule holds for
//                cudaMemcpyAsync and cudaMemsetAsync in a kernel.
// Plain CUDA     child<<<1, 1, 0, cudaStreamFireAndForget>>>(local, global, received)
// Try            In step 4, pass `global` instead of `&mine`. The CPU executor reports no
//                violation.
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
    // 1. Pass the local number by value: a launch copies its arguments.
    // 2. Copy the shared number to global memory first.
    *global = shared;
    const auto launched = launch(child, {1, 1}, fire_and_forget(), local, global, received);
    if (!launched) atomicAdd(failures, 1);
  }
}

#if !RAMIFY_ON_CUDA || RAMIFY_CHECK
// Only the CPU executor and kernels with checks may run the wrong ways. launch() then checks every
// argument before the child runs, also inside structs.

__global__ void passes_shared(int* global, int* received) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = *global;
  __syncthreads();
  if (threadIdx.x == 5) {
    // 3. The value of `mine` is allowed as an argument. Its address is not.
    const auto launched = launch(child, {1, 1}, fire_and_forget(), mine, &mine, received);
    if (!launched) *received = -1;
  }
}

__global__ void passes_local(int* global, int* received) {
  const int mine = *global;
  if (threadIdx.x == 5) {
    // 4. The same holds for a thread's local memory.
    const auto launched = launch(child, {1, 1}, fire_and_forget(), mine, &mine, received);
    if (!launched) *received = -1;
  }
}
#endif

int main() {
  return lesson::run([] {
    const lesson::device_array<int> global(1);
    const lesson::device_array<int> received(2);
    const lesson::device_array<int> failures(1);
    check(launch(right, {1, 32}, nullptr, global.data(), received.data(), failures.data()).code(),
          "launching");
    const auto got = received.read();
    std::cout << "the local number, by value:               " << got[0] << " (10 + 5)\n"
              << "the shared number, through global memory: " << got[1] << " (10 + 11 + ... + 41)\n"
              << "launches that failed:                     " << failures.read()[0] << '\n';
#if RAMIFY_ON_CUDA && !RAMIFY_CHECK
    std::cout << "the wrong ways are undefined behavior; the CPU executor reports them\n";
#else
    // The message names rule, kernel, block and thread. On the CPU executor, the host's launch
    // throws it. On a GPU, the launch of the child fails, and check_rules() throws the message.
    for (const auto kernel : {passes_shared, passes_local}) {
      lesson::show_violation([&] {
        const lesson::device_array<int> one(1);
        const lesson::device_array<int> two(2);
        check(launch(kernel, {1, 32}, nullptr, one.data(), two.data()).code(), "launching");
      });
    }
#endif
  });
}
