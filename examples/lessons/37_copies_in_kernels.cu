// SPDX-License-Identifier: BSD-3-Clause
// Lesson 37: a kernel that starts copies and clears memory.
//
// Read first     Lessons 5 and 11.
// You will see   a kernel that clears a histogram, copies the numbers, launches a child that counts
//                the copy, and then copies the histogram: four operations in one stream. The kernel
//                itself touches none of this memory.
// The rule       cudaMemcpyAsync() and cudaMemsetAsync() work in kernels. Like a launch, each is
//                put into a stream of the kernel, takes a place in the pool of pending launches
//                (lesson 11), and returns a status. In one stream they run one after another.
// The pitfall    In a kernel only copies within device memory are allowed, neither from nor to
//                local or shared memory (lesson 3). No thread can wait for them: what needs the
//                result follows in the stream. And cudaMemsetAsync() of a kernel wrote zeros on an
//                H200 (CUDA 13.0), whatever the value was: only clear with it.
// Plain CUDA     count<<<(numbers + 127) / 128, 128, 0, stream.get()>>>(a)
// Try            In step 2, launch the child into fire_and_forget(). Nothing then orders it after
//                the clearing and the copy, nor the last copy after it.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned numbers = 1000;
constexpr unsigned bins = 4;

struct arrays {
  const unsigned* numbers;
  unsigned* copy;
  unsigned* histogram;
  unsigned* result;
};

__global__ void count(arrays a) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < numbers) atomicAdd(&a.histogram[a.copy[i] % bins], 1u);
}

__global__ void parent(arrays a, int* failures) {
  const device_stream stream;
  // 1. Clear, and copy. Both calls return before the work is done.
  bool good = cudaMemsetAsync(a.histogram, 0, bins * sizeof(unsigned), stream.get()) == cudaSuccess;
  good = cudaMemcpyAsync(a.copy, a.numbers, numbers * sizeof(unsigned), cudaMemcpyDeviceToDevice,
                         stream.get()) == cudaSuccess &&
         good;
  // 2. The child begins after both are complete.
  good = launch(count, {(numbers + 127) / 128, 128}, stream.get(), a) && good;
  // 3. This copy begins after the child is complete.
  good = cudaMemcpyAsync(a.result, a.histogram, bins * sizeof(unsigned), cudaMemcpyDeviceToDevice,
                         stream.get()) == cudaSuccess &&
         good;
  if (!good) *failures += 1;
}

int main() {
  return lesson::run([] {
    std::vector<unsigned> values(numbers);
    for (unsigned i = 0; i < numbers; ++i) values[i] = i * i;  // modulo 4: 0 or 1
    const lesson::device_array<unsigned> from(values);
    const lesson::device_array<unsigned> copy(numbers);
    const lesson::device_array<unsigned> histogram(std::vector<unsigned>(bins, 7));  // not cleared
    const lesson::device_array<unsigned> result(bins);
    const lesson::device_array<int> failures(1);
    const arrays a{from.data(), copy.data(), histogram.data(), result.data()};
    check(launch(parent, {1, 1}, nullptr, a, failures.data()).code(), "launching the parent");
    std::cout << "the numbers modulo 4:";
    for (const unsigned bin : result.read()) std::cout << ' ' << bin;
    std::cout << "\noperations that failed: " << failures.read()[0] << '\n';
  });
}
