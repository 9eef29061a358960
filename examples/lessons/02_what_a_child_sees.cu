// SPDX-License-Identifier: BSD-3-Clause
// Lesson 2: what memory a child grid sees, and when.
//
// You will see   a block of 128 threads that writes 128 numbers, and a child that reads them.
// The rule       A child sees the global memory that its launching thread sees at the launch: what
//                this thread wrote before, and what others wrote before a barrier or a fence that
//                hands it over to this thread.
// The catch      From then on nothing is certain between the two. The child may or may not see what
//                is written after the launch. The parent may or may not see what the child writes,
//                and cannot wait for it. Only who comes after the parent sees all that the child
//                wrote: the next in the host's stream, or a tail launch (lesson 8).
// Try            In step 2, write `__syncwarp()`: a barrier for the 32 threads of a warp. On the CPU
//                executor a child that begins at once then sees 32 numbers.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned threads = 128;

struct memory {
  int before[threads];  // the parent writes this before the launch
  int after;            // and this after it
  int result;           // the child writes this
  int failures;
};

struct sightings {
  int before, after, result_by_parent, result_by_next;
};

__global__ void child(memory* m, sightings* seen) {
  atomicAdd(&seen->before, m->before[threadIdx.x]);
  // An atomic read: without it, reading what another grid may be writing would be a data race.
  if (threadIdx.x == 0) seen->after = atomicAdd(&m->after, 0);
  if (threadIdx.x == 0) atomicExch(&m->result, 1);
}

__global__ void parent(memory* m, sightings* seen) {
  // 1. Every thread writes its number.
  m->before[threadIdx.x] = 1;
  // 2. The barrier makes all 128 numbers visible to thread 0, and so to its child.
  __syncthreads();
  if (threadIdx.x != 0) return;
  // 3. The launch: the one moment at which parent and child agree on memory.
  const auto launched = launch(child, {1, threads}, fire_and_forget(), m, seen);
  if (!launched) atomicAdd(&m->failures, 1);
  // 4. Too late to be sure that the child sees it, too early to be sure to see what the child wrote.
  atomicExch(&m->after, 1);
  seen->result_by_parent = atomicAdd(&m->result, 0);
}

__global__ void next(memory* m, sightings* seen) { seen->result_by_next = m->result; }

void show() {
  const lesson::numbers<memory> m(1);
  const lesson::numbers<sightings> seen(1);
  check(launch(parent, {1, threads}, nullptr, m.data(), seen.data()).code(), "launching parent");
  // 5. In the same stream of the host: it begins when the parent and its child are complete.
  check(launch(next, {1, 1}, nullptr, m.data(), seen.data()).code(), "launching next");
  const sightings s = seen.read()[0];
  std::cout << "  numbers written before the launch, seen by the child:  " << s.before << '\n'
            << "  word written after the launch, seen by the child:      " << s.after << '\n'
            << "  word written by the child, seen by its parent:         " << s.result_by_parent
            << '\n'
            << "  word written by the child, seen by the host's next:    " << s.result_by_next
            << '\n'
            << "  launches that failed:                                  " << m.read()[0].failures
            << '\n';
}

int main() {
  return lesson::run([] {
#if RAMIFY_ON_CUDA
    std::cout << "on a GPU, where the second and the third number are a matter of luck:\n";
    show();
#else
    {
      std::cout << "if a child begins at once (the CPU executor's schedule eager):\n";
      const cpu::scoped_executor_config eager({.order = cpu::schedule::eager});
      show();
    }
    std::cout << "if a child begins when its parent's block has ended (schedule late):\n";
    const cpu::scoped_executor_config late({.order = cpu::schedule::late});
    show();
#endif
  });
}
