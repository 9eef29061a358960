// SPDX-License-Identifier: BSD-3-Clause
// Lesson 43: which settings of the host a child has.
//
// Read first     Lessons 9 and 36.
// You will see   a chain of three grids that read the stack size and the size of the heap, before
//                and after the host has changed them, and a child with 64 KiB of dynamic shared
//                memory.
// The rule       Limits belong to the device, not to a grid: the host sets them, and all grids have
//                them, at any depth. The permission for more than 48 KiB of shared memory belongs
//                to the kernel: the host gives it, and it also holds for launches by kernels.
// The pitfall    No kernel can set a limit. A grid that needs more stack than its parent, such as
//                one with a recursive device function, needs the limit before the host's first
//                launch. Not inherited: streams and events of the parent (lesson 5), its shared
//                memory (lesson 3), and the error of its last call.
// Plain CUDA     read_settings<<<1, 1, 0, cudaStreamFireAndForget>>>(level + 1, out)
// Try            In step 3, write `stack = 8 << 10`. All grids read 8192 bytes afterwards.
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/shared.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned depth = 3;
constexpr unsigned words = (64u << 10) / sizeof(unsigned);

struct settings {
  std::size_t stack, heap;
};

struct results {
  settings of_grid[depth];
  unsigned sum;
  int failures;
};

// 1. Each grid reads the limits and launches the next one.
__global__ void read_settings(unsigned level, results* out) {
  settings& mine = out->of_grid[level];
  if (cudaDeviceGetLimit(&mine.stack, cudaLimitStackSize) != cudaSuccess) out->failures += 1;
  if (cudaDeviceGetLimit(&mine.heap, cudaLimitMallocHeapSize) != cudaSuccess) out->failures += 1;
  if (level + 1 == depth) return;
  if (!launch(read_settings, {1, 1}, fire_and_forget(), level + 1, out)) out->failures += 1;
}

// 2. The host allows 64 KiB for this kernel; a parent launches it.
__global__ void use_shared(results* out) {
  unsigned* const tile = &dynamic_shared<unsigned>();
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) tile[i] = 1;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) sum += tile[words - 1 - i];
  atomicAdd(&out->sum, sum);
}
__global__ void parent(results* out) {
  const launch_shape shape{1, 64, words * sizeof(unsigned)};
  if (!launch(use_shared, shape, fire_and_forget(), out)) out->failures += 1;
}

settings of_host() {
  settings s{};
  check(cudaDeviceGetLimit(&s.stack, cudaLimitStackSize), "reading the stack size");
  check(cudaDeviceGetLimit(&s.heap, cudaLimitMallocHeapSize), "reading the heap's size");
  return s;
}

void show(const lesson::device_array<results>& memory) {
  check(launch(read_settings, {1, 1}, nullptr, 0u, memory.data()).code(), "launching");
  const results seen = memory.read()[0];
  const settings expected = of_host();
  bool same = true;
  for (const settings& s : seen.of_grid) {
    same = same && s.stack == expected.stack && s.heap == expected.heap;
  }
  std::cout << "stack " << expected.stack << " bytes, heap " << (expected.heap >> 20)
            << " MiB; three grids read the same: " << lesson::yes_or_no(same) << '\n';
}

int main() {
  return lesson::run([] {
    const lesson::device_array<results> memory(1);
    show(memory);
    {
      // 3. launch_limits calls cudaDeviceSetLimit(), and restores the old values at its end.
      constexpr std::size_t stack = 4 << 10;
      const launch_limits limits({.stack_bytes = stack});
      show(memory);
    }
    show(memory);
    set_max_dynamic_shared(use_shared, words * sizeof(unsigned));
    check(launch(parent, {1, 1}, nullptr, memory.data()).code(), "launching");
    const results seen = memory.read()[0];
    std::cout << "numbers in 64 KiB of shared memory of a child: " << seen.sum
              << "\nlaunches and calls that failed: " << seen.failures << '\n';
  });
}
