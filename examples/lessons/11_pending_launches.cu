// SPDX-License-Identifier: BSD-3-Clause
// Lesson 11: the pool of pending launches, and how never to run dry.
//
// You will see   1000 tasks that want a child grid each, and a pool with room for 256. A quota lets
//                at most 128 of them out at a time; the rest goes into a list, which a later grid
//                works off. No task is lost.
// The rule       A grid that was launched from the device holds a place in a pool until it is
//                complete (cudaLimitDevRuntimePendingLaunchCount, 2048 unless set). When the pool is
//                full, a launch fails with error 69, cudaErrorLaunchPendingCountExceeded.
// The catch      The error is the better case: launches into a full pool, by 32 threads of each
//                block, have hung an H200. So do not try until it fails: count, before you launch.
//                The driver may also grant another limit than was asked for. Read it back.
// Try            Write `wanted_limit = 4096`. The quota is now larger than all tasks: none waits.
#include <ramify/runtime/limits.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned tasks = 1000;
constexpr std::size_t wanted_limit = 256;

struct board {
  unsigned in_use;       // slots of the quota
  unsigned most_in_use;  // at a time
  unsigned grids;        // child grids that ran
  unsigned failed;       // launches
  int first_error;       // of those
  unsigned listed;       // length of the list
  unsigned list[tasks];  // tasks that found no slot
  unsigned done[tasks];  // how often each task was done
};

__global__ void child(unsigned task, board* b) {
  atomicAdd(&b->grids, 1u);
  atomicAdd(&b->done[task], 1u);
  atomicSub(&b->in_use, 1u);  // 1. The last step: the slot is free for another launch.
}

// One block of one thread for each task. One launching thread a block is enough for any kernel.
__global__ void parent(unsigned quota, board* b) {
  const unsigned task = blockIdx.x;
  // 2. A slot first. Whoever counts up from less than the quota has one.
  const unsigned before = atomicAdd(&b->in_use, 1u);
  if (before < quota) {
    const auto launched = launch(child, {1, 1}, fire_and_forget(), task, b);
    if (launched) {
      atomicMax(&b->most_in_use, before + 1);
      return;
    }
    atomicAdd(&b->failed, 1u);
    atomicCAS(&b->first_error, 0, static_cast<int>(launched.code()));
  }
  // 3. No slot, or no grid: what was counted is taken back, and the task waits in the list.
  atomicSub(&b->in_use, 1u);
  b->list[atomicAdd(&b->listed, 1u)] = task;
}

// 4. The later grid: of a fixed size, for a list of any length, without launches.
__global__ void work_off(board* b) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < b->listed; i += threads) {
    atomicAdd(&b->done[b->list[i]], 1u);
  }
}

void show(const char* name, unsigned quota) {
  const lesson::numbers<board> memory(1);
  check(launch(parent, {tasks, 1}, nullptr, quota, memory.data()).code(), "launching");
  // 5. Behind the parent in the stream: it begins when the parent and all children are complete.
  check(launch(work_off, {4, 32}, nullptr, memory.data()).code(), "launching");
  const board b = memory.read()[0];
  unsigned once = 0;
  for (const unsigned times : b.done) once += times == 1 ? 1 : 0;
  std::cout << name << ", " << quota << ":\n"
            << "  child grids " << b.grids << ", tasks in the list " << b.listed << '\n'
            << "  together: " << b.grids + b.listed << ", done once: " << once << '\n'
            << "  most slots in use at a time: " << b.most_in_use << '\n'
            << "  failed launches: " << b.failed << ", first error: " << b.first_error << '\n';
}

int main() {
  return lesson::run([] {
    const launch_limits limits({.pending_launches = wanted_limit});  // put back at the end
    const std::size_t granted = *limits.granted().pending_launches;
    std::cout << "limit asked for: " << wanted_limit << ", granted: " << granted << '\n';
    // 6. Half of the pool: a child gives its slot back a little before its place there is free.
    show("a quota of half the limit", static_cast<unsigned>(granted / 2));
#if !RAMIFY_ON_CUDA
    // 7. Not on a GPU: no quota worth the name, and children that all wait until their parents have
    //    ended. The pool takes as many as the limit says. No task is lost here either: a launch
    //    that fails is only an error on the CPU executor, and its task goes into the list.
    const cpu::scoped_executor_config late({.order = cpu::schedule::late});
    show("a quota of everything", tasks);
#endif
  });
}
