// SPDX-License-Identifier: BSD-3-Clause
// Lesson 31: how many blocks of a child grid a multiprocessor runs at a time.
//
// Read first     Lesson 6.
// You will see   the same grid launched by the host and by a kernel. From the host, each
//                multiprocessor runs as many blocks as its registers, threads and shared memory
//                allow. From a kernel it runs one, or about half as many.
// The rule       A multiprocessor divides one memory into L1 cache and shared memory. For a grid
//                from the host, the driver chooses the division by the occupancy. For a grid from a
//                kernel, the shared memory is that of (maximum threads of the kernel) / (threads of
//                a block) blocks. The maximum is an attribute of the kernel: the number in
//                __launch_bounds__, or else what the registers allow, at most 1,024.
// The pitfall    __launch_bounds__(threads), which is a good habit elsewhere. The maximum is then
//                one block. A child grid whose blocks use shared memory runs one block at a time.
// Plain CUDA     bounded_child<<<blocks, threads, 0, cudaStreamFireAndForget>>>(of_all)
// Try            In the definition of bounded_child(), write 512 instead of `threads`. The shared
//                memory is then that of at least two blocks.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no multiprocessors"); }
#else

#include <ramify/runtime/residency.cuh>

using namespace ramify;

constexpr unsigned threads = 256;
constexpr unsigned blocks = 1 << 13;  // several for each place of a large GPU
constexpr unsigned multiprocessors = 1024;
constexpr unsigned shared_words = 20 * 1024 / sizeof(unsigned);

// The blocks that run on each multiprocessor, and the most that ran on one at a time.
struct counts {
  unsigned running[multiprocessors];
  unsigned most;
};

// Counts the block while it runs. It runs long enough for the others to start. PTX calls %smid
// volatile: a block that is preempted may go on on another multiprocessor, and the counts would be
// wrong. Nothing preempts the grid here.
__device__ void count_block(counts* of_all, volatile unsigned* tile) {
  unsigned here = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
  tile[threadIdx.x] = here;  // volatile, or the compiler would remove the tile
  if (threadIdx.x == 0) {
    atomicMax(&of_all->most, atomicAdd(&of_all->running[here], 1u) + 1);
    __nanosleep(20'000);
    atomicSub(&of_all->running[here], 1u);
  }
  __syncthreads();  // the block needs all its threads until its end
}

__global__ void __launch_bounds__(threads) bounded_child(counts* of_all) {
  __shared__ unsigned tile[shared_words];
  count_block(of_all, tile);
}

// The registers are limited as above. The maximum number of threads is not.
__global__ void __maxnreg__(max_registers(threads)) unbounded_child(counts* of_all) {
  __shared__ unsigned tile[shared_words];
  count_block(of_all, tile);
}

__global__ void parent(bool bounded, counts* of_all, int* failures) {
  const bool launched =
      bounded ? bool(launch(bounded_child, {blocks, threads}, fire_and_forget(), of_all))
              : bool(launch(unbounded_child, {blocks, threads}, fire_and_forget(), of_all));
  if (!launched) *failures += 1;
}

int main() {
  return lesson::run([] {
    lesson::device_array<int> failures{1};
    // Launches the grid and returns the most blocks that ran on a multiprocessor.
    const auto run_with = [&](const auto& start) {
      const lesson::device_array<counts> of_all{1};
      start(of_all.data());
      return of_all.read()[0].most;
    };
    // 1. From the host.
    const unsigned from_host = run_with([](counts* of_all) {
      check(launch(bounded_child, {blocks, threads}, nullptr, of_all).code(), "launching the grid");
    });
    // 2. From a kernel, with and without __launch_bounds__.
    const auto from_kernel = [&](bool bounded) {
      return run_with([&](counts* of_all) {
        check(launch(parent, {1, 1}, nullptr, bounded, of_all, failures.data()).code(),
              "launching the parent");
      });
    };
    const unsigned of_bounded = from_kernel(true);
    const unsigned of_unbounded = from_kernel(false);
    // 3. What the registers, threads and shared memory of a block allow.
    int allowed = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&allowed, bounded_child, threads, 0),
          "querying the occupancy");
    std::cout << "blocks of a multiprocessor at a time\n"
              << "from the host:                        " << from_host << '\n'
              << "from a kernel, __launch_bounds__:     " << of_bounded << '\n'
              << "from a kernel, __maxnreg__:           " << of_unbounded << '\n'
              << "from the host as many as the occupancy allows, from a kernel not more: "
              << lesson::yes_or_no(from_host == static_cast<unsigned>(allowed) &&
                                   std::max(of_bounded, of_unbounded) <= from_host)
              << '\n'
              << "the bound halves the blocks at least: "
              << lesson::yes_or_no(2 * of_bounded <= of_unbounded) << '\n'
              << "launches that failed: " << failures.read()[0] << '\n';
  });
}
#endif
