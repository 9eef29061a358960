// SPDX-License-Identifier: BSD-3-Clause
// Lesson 22: from cudaDeviceSynchronize() in a kernel to a tail launch (CDP1 to CDP2).
//
// Read first     Lesson 8.
// You will see   a recursion over 30 levels. Each level adds its number to the result of the next
//                level. The old version waits in the kernel; the new one launches the addition.
// The rule       Split the kernel at the call of cudaDeviceSynchronize(). The code after the call
//                becomes a second kernel, which the first one launches into the tail stream. Local
//                variables that the second kernel needs become its arguments; shared memory that it
//                needs is first copied to global memory.
// The pitfall    Old programs do not compile: with CDP2, the default since CUDA 12, kernels have no
//                cudaDeviceSynchronize(). -DCUDA_FORCE_CDP1_IF_SUPPORTED selects CDP1, but only
//                below compute capability 9.0. What else CDP2 changes, after the CUDA Programming
//                Guide:
//                  - CDP1 saved waiting kernels in memory, for 24 levels at most. This limit
//                    (cudaLimitDevRuntimeSyncDepth) is gone: CUDA refuses it.
//                  - CDP1 kept launches beyond the pool of pending launches in a second, slower
//                    pool. CDP2 has none: such a launch fails (lesson 11). Each level of this
//                    recursion occupies two places of the pool until the levels below are complete:
//                    its grid and its tail launch. So 1,024 levels need all 2,048 places that a
//                    pool has unless the host sets the limit.
//                  - There are at most twice as many events at a time as places in the pool.
//                  - A stream belongs to a grid, not to a block: all its blocks may use it.
//                  - The streams of fire-and-forget and tail launches are new.
// Plain CUDA     add<<<1, 1, 0, cudaStreamTailLaunch>>>(level, sums)
// Try            Write `levels = 1025`. Launches fail for want of a place in the pool, and the sum
//                is wrong. (With schedule `eager` of the CPU executor a tail launch may begin so
//                early that none fails.)
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned levels = 30;

#if defined(WAIT_IN_KERNEL)
// 1. The old version. `nvcc -DWAIT_IN_KERNEL` reports that the host's function cannot be called.
__global__ void sum_from(unsigned level, unsigned* sums, int* failures) {
  if (level == levels) return;
  sum_from<<<1, 1>>>(level + 1, sums, failures);
  if (cudaDeviceSynchronize() != cudaSuccess) *failures += 1;
  sums[level] = level + sums[level + 1];
}
#else
// 2. The new version. This kernel contains the code after the wait.
__global__ void add(unsigned level, unsigned* sums) { sums[level] = level + sums[level + 1]; }

__global__ void sum_from(unsigned level, unsigned* sums, int* failures) {
  if (level == levels) return;  // sums[levels] is 0
  if (!launch(sum_from, {1, 1}, fire_and_forget(), level + 1, sums, failures)) {
    atomicAdd(failures, 1);
  }
  // 3. Join: the addition begins after the next level is complete, with its own tail launch.
  if (!launch(add, {1, 1}, tail_launch(), level, sums)) atomicAdd(failures, 1);
}
#endif

int main() {
  return lesson::run([] {
    const lesson::device_array<unsigned> sums(levels + 1);
    const lesson::device_array<int> failures(1);
    check(launch(sum_from, {1, 1}, nullptr, 0u, sums.data(), failures.data()).code(), "launching");
    std::cout << "sum of the numbers of all levels: " << sums.read()[0] << '\n'
              << "launches that failed:             " << failures.read()[0] << '\n';
    // 4. The limit of CDP1.
    std::size_t depth = 0;
    const cudaError_t limit = cudaDeviceGetLimit(&depth, cudaLimitDevRuntimeSyncDepth);
    std::cout << "the limit of waiting levels:      " << cudaGetErrorName(limit) << '\n';
  });
}
