// SPDX-License-Identifier: BSD-3-Clause
// Lesson 36: a recursion whose grids have dynamic shared memory.
//
// Read first     Lesson 9.
// You will see   256 numbers brought into bit-reversed order, as a Fourier transform needs them:
//                the numbers at even places first, those at odd places after them, and the same in
//                each half. Each grid has half the threads and half the shared memory of its
//                parent.
// The rule       The launch states the bytes of dynamic shared memory of each block of the child.
//                The memory is the child's own and is not initialized: a child gets nothing of its
//                parent's shared memory. So a parent writes to global memory what its children
//                need, and all its threads have written before one of them launches.
// The pitfall    A kernel that uses more bytes than its launch states has undefined behavior. A
//                launch of more than 48 KiB fails unless the host has allowed it for this kernel
//                (cudaFuncAttributeMaxDynamicSharedMemorySize); a kernel cannot.
// Plain CUDA     reverse<<<1, half, half * sizeof(unsigned), cudaStreamFireAndForget>>>(half,
//                first, out)
// Try            Write `count = 1024`. Two levels more, four times as many grids.
#include <ramify/runtime/shared.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned count = 256;  // a power of two, at most 1024: the threads of a block

struct results {
  unsigned grids;
  unsigned failed;
  unsigned most_bytes;   // of dynamic shared memory
  unsigned least_bytes;  // of dynamic shared memory
};

__global__ void reverse(unsigned n, unsigned* numbers, results* out) {
  // 1. Dynamic shared memory: in plain CUDA `extern __shared__ unsigned tile[];`. It has n numbers.
  unsigned* const tile = &dynamic_shared<unsigned>();
  const unsigned i = threadIdx.x;  // n threads
  // 2. Even places first. All threads have read before one writes.
  tile[i] = numbers[i];
  __syncthreads();
  const unsigned half = n / 2;
  numbers[i] = i < half ? tile[2 * i] : tile[2 * (i - half) + 1];
  // 3. All threads have written before thread 0 launches: its children see the writes of the block.
  __syncthreads();
  if (i != 0) return;
  const auto bytes = static_cast<unsigned>(n * sizeof(unsigned));
  atomicAdd(&out->grids, 1u);
  atomicMax(&out->most_bytes, bytes);
  atomicMin(&out->least_bytes, bytes);
  if (half < 2) return;  // base case: a half of one number
  // 4. Recurse. No join: the halves are independent, and the host waits for all.
  for (unsigned* const first : {numbers, numbers + half}) {
    const auto launched =
        launch(reverse, {1, half, half * sizeof(unsigned)}, fire_and_forget(), half, first, out);
    if (!launched) atomicAdd(&out->failed, 1u);
  }
}

unsigned bits_reversed(unsigned place) {
  unsigned reversed = 0;
  for (unsigned bit = 0; 1u << bit < count; ++bit) reversed = reversed << 1 | (place >> bit & 1u);
  return reversed;
}

int main() {
  return lesson::run([] {
    std::vector<unsigned> numbers(count);
    for (unsigned i = 0; i < count; ++i) numbers[i] = i;
    const lesson::device_array<unsigned> memory(numbers);
    const lesson::device_array<results> out(std::vector<results>{{0, 0, 0, ~0u}});
    check(launch(reverse, {1, count, count * sizeof(unsigned)}, nullptr, count, memory.data(),
                 out.data())
              .code(),
          "launching");
    numbers = memory.read();
    const results seen = out.read()[0];
    unsigned right = 0;
    for (unsigned i = 0; i < count; ++i) right += numbers[i] == bits_reversed(i) ? 1 : 0;
    std::cout << "numbers in bit-reversed order: " << right << " of " << count << '\n'
              << "grids:                         " << seen.grids << ", failed launches "
              << seen.failed << '\n'
              << "bytes of shared memory:        " << seen.most_bytes << " of the first grid, "
              << seen.least_bytes << " of the last ones\n";
  });
}
