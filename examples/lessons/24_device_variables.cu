// SPDX-License-Identifier: BSD-3-Clause
// Lesson 24: __device__ variables as storage for children, and __isGlobal().
//
// Read first     Lesson 3.
// You will see   two blocks that pass their children an element of a __device__ array. On a GPU,
//                __isGlobal() also tests four pointers.
// The rule       A __device__ variable is global memory that exists as long as the program. A child
//                may get a pointer to it, or use it by its name. __isGlobal(p) returns whether p
//                points to global memory, that is, whether a child may get it.
// The pitfall    There is one variable on the device, not one for each grid. Parents that run at
//                the same time must use different elements. A second call of the algorithm, in
//                another stream, uses the same variable; memory that the caller passes is safer.
// Plain CUDA     child<<<1, 4, 0, cudaStreamFireAndForget>>>(slot, value)
// Try            In step 2, write `slots` instead of `slots + blockIdx.x`. The children of both
//                blocks then add to the same element.
#include "lesson.hpp"

using namespace ramify;

// 1. Set to zero when the program starts.
__device__ int slots[2];

struct results {
  int slots[2];
  int is_global[4];  // a __device__ variable, an argument's memory, shared memory, local memory
  int failures;
};

__global__ void child(int* slot, int value) { atomicAdd(slot, value); }

__global__ void parent(results* out) {
  // 2. Each block has an element. A pointer to it may be passed to a child.
  int* const slot = slots + blockIdx.x;
  const int value = static_cast<int>(blockIdx.x) + 1;
  if (!launch(child, {1, 4}, fire_and_forget(), slot, value)) atomicAdd(&out->failures, 1);
#if RAMIFY_ON_CUDA
  // 3. The test of the address. The CPU executor has no such function; its rule checker tests the
  //    arguments of each launch (lesson 3).
  __shared__ int shared;
  int local = value;
  const void* const pointers[] = {slot, out, &shared, &local};
  for (int i = 0; i < 4; ++i) out->is_global[i] = __isGlobal(pointers[i]) != 0 ? 1 : 0;
#endif
}

// 4. Kernels use the variable by its name. The host cannot: on a GPU it calls
//    cudaMemcpyFromSymbol().
__global__ void copy_slots(results* out) {
  for (int i = 0; i < 2; ++i) out->slots[i] = slots[i];
}

int main() {
  return lesson::run([] {
    const lesson::device_array<results> memory(1);
    check(launch(parent, {2, 1}, nullptr, memory.data()).code(), "launching the parent");
    check(launch(copy_slots, {1, 1}, nullptr, memory.data()).code(), "launching the copy");
    const results r = memory.read()[0];
    std::cout << "children of block 0: " << r.slots[0] << " (4 x 1)\n"
              << "children of block 1: " << r.slots[1] << " (4 x 2)\n"
              << "launches that failed: " << r.failures << '\n';
#if RAMIFY_ON_CUDA
    const char* const kinds[] = {"a __device__ variable", "allocated memory", "shared memory",
                                 "local memory"};
    for (int i = 0; i < 4; ++i) {
      std::cout << "global memory: " << kinds[i] << ": " << lesson::yes_or_no(r.is_global[i] == 1)
                << '\n';
    }
#endif
  });
}
