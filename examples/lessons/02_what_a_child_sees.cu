// SPDX-License-Identifier: BSD-3-Clause
// Lesson 2: which memory a child grid sees, and when.
//
// Read first     Lesson 1.
// You will see   a block of 128 threads that writes 128 numbers, and a child that reads them.
// The rule       A child sees the global memory that its launching thread sees at the launch: the
//                writes of this thread before the launch, and writes of other threads that a
//                barrier or a fence made visible to this thread.
//                A grid that is ordered after the child sees all writes of the child: the next
//                child in the same stream (lessons 4 and 5), a child whose stream waits for an
//                event after it (lesson 7), a tail launch (lesson 8), and the next operation in the
//                host's stream.
// The pitfall    After the launch, parent and child run without any order. The child may or may not
//                see what is written after the launch. The parent may or may not see what the child
//                writes, and cannot wait for it.
// Plain CUDA     child<<<1, threads>>>(m, seen)
// Try            In step 2, write `__syncwarp()`, a barrier for the 32 threads of a warp. On the
//                CPU executor a child that begins at once then sees 32 numbers.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned threads = 128;

struct memory {
  int before[threads];  // the parent writes it before the launch
  int after;            // the parent writes it after the launch
  int result;           // the child writes it
  int failures;
};

struct observations {
  int before, after, result_by_parent, result_by_sibling, result_by_next;
};

__global__ void child(memory* m, observations* seen) {
  atomicAdd(&seen->before, m->before[threadIdx.x]);
  // The parent may write the word at the same time, so the read is atomic. A plain read would be a
  // data race.
  if (threadIdx.x == 0) seen->after = atomicAdd(&m->after, 0);
  if (threadIdx.x == 0) atomicExch(&m->result, 1);
}

// This child follows the first one in the same stream.
__global__ void sibling(memory* m, observations* seen) { seen->result_by_sibling = m->result; }

__global__ void parent(memory* m, observations* seen) {
  // 1. Every thread writes its number.
  m->before[threadIdx.x] = 1;
  // 2. The barrier makes all 128 numbers visible to thread 0, and therefore to its child.
  __syncthreads();
  if (threadIdx.x != 0) return;
  // 3. The launch is the only point at which the child is sure to see what its parent sees.
  if (!launch(child, {1, threads}, null_stream(), m, seen)) atomicAdd(&m->failures, 1);
  // 4. The sibling begins after the child is complete, because both are in the same stream.
  if (!launch(sibling, {1, 1}, null_stream(), m, seen)) atomicAdd(&m->failures, 1);
  // 5. The child may miss this write, and this read may miss what the child wrote.
  atomicExch(&m->after, 1);
  seen->result_by_parent = atomicAdd(&m->result, 0);
}

__global__ void next(memory* m, observations* seen) { seen->result_by_next = m->result; }

void show() {
  const lesson::device_array<memory> m(1);
  const lesson::device_array<observations> seen(1);
  check(launch(parent, {1, threads}, nullptr, m.data(), seen.data()).code(), "launching parent");
  // 6. The next grid in the host's stream begins after the parent and its child are complete.
  check(launch(next, {1, 1}, nullptr, m.data(), seen.data()).code(), "launching next");
  const observations s = seen.read()[0];
  std::cout << "  numbers written before the launch, seen by the child:  " << s.before << '\n'
            << "  word written after the launch, seen by the child:      " << s.after << '\n'
            << "  word written by the child, seen by its parent:         " << s.result_by_parent
            << '\n'
            << "  word written by the child, seen by its sibling:        " << s.result_by_sibling
            << '\n'
            << "  word written by the child, seen by the next grid:      " << s.result_by_next
            << '\n'
            << "  launches that failed:                                  " << m.read()[0].failures
            << '\n';
}

int main() {
  return lesson::run([] {
#if RAMIFY_ON_CUDA
    std::cout << "on a GPU, where the second and the third number may be 0 or 1:\n";
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
