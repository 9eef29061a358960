// SPDX-License-Identifier: BSD-3-Clause
// Lesson 11: the pool of pending launches, and a quota that never exhausts it.
//
// Read first     Lessons 6 and 10.
// You will see   1000 tasks that each request a child grid, and a pool of 256 slots. A quota allows
//                at most 128 of them to be pending at a time. The other tasks go into an overflow
//                list, which a later grid processes. No task is lost.
// The rule       A grid that was launched from the device occupies a slot of a pool until it is
//                complete (cudaLimitDevRuntimePendingLaunchCount, 2048 unless set). When the pool
//                is full, a launch fails. The device runtime then returns error 69,
//                cudaErrorLaunchPendingCountExceeded. The table of limits in the CUDA Programming
//                Guide names another error for this case, cudaErrorLaunchOutOfResources.
// The pitfall    A full pool can also hang the GPU: launches by 32 threads of each block into a
//                full pool have hung an H200. So do not launch until an error comes; count before
//                each launch. The driver may also grant another limit than requested. Read it back.
//                The children here launch nothing, so each may return its slot at its end. In a
//                recursion a grid must keep it longer: lesson 35.
// Plain CUDA     child<<<1, 1, 0, cudaStreamFireAndForget>>>(task, s)
// Try            Write `wanted_limit = 4096`. The quota now exceeds the number of tasks, so no task
//                goes into the list.
#include <ramify/runtime/limits.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned tasks = 1000;
constexpr std::size_t wanted_limit = 256;

struct state {
  unsigned in_use;       // slots of the quota in use
  unsigned most_in_use;  // maximum of in_use
  unsigned grids;        // child grids that ran
  unsigned failed;       // launches that failed
  int first_error;       // first error of a launch
  unsigned listed;       // length of the list
  unsigned list[tasks];  // tasks that found no slot
  unsigned done[tasks];  // how often each task was done
};

__global__ void child(unsigned task, state* s) {
  atomicAdd(&s->grids, 1u);
  atomicAdd(&s->done[task], 1u);
  atomicSub(&s->in_use, 1u);  // 1. The last step returns the slot: this grid launches nothing.
}

// One block of one thread for each task: one launching thread per block suffices.
__global__ void parent(unsigned quota, state* s) {
  const unsigned task = blockIdx.x;
  // 2. Acquire a slot first. The thread has one if the counter was below the quota.
  const unsigned before = atomicAdd(&s->in_use, 1u);
  if (before < quota) {
    const auto launched = launch(child, {1, 1}, fire_and_forget(), task, s);
    if (launched) {
      atomicMax(&s->most_in_use, before + 1);
      return;
    }
    atomicAdd(&s->failed, 1u);
    atomicCAS(&s->first_error, 0, static_cast<int>(launched.code()));
  }
  // 3. No slot, or the launch failed: undo the count and append the task to the list.
  atomicSub(&s->in_use, 1u);
  s->list[atomicAdd(&s->listed, 1u)] = task;
}

// 4. The later grid has a fixed size, processes a list of any length, and launches nothing.
__global__ void process_list(state* s) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < s->listed; i += threads) {
    atomicAdd(&s->done[s->list[i]], 1u);
  }
}

void show(const char* name, unsigned quota) {
  const lesson::device_array<state> memory(1);
  check(launch(parent, {tasks, 1}, nullptr, quota, memory.data()).code(), "launching");
  // 5. The next grid in the stream begins after the parent and all its children are complete.
  check(launch(process_list, {4, 32}, nullptr, memory.data()).code(), "launching");
  const state s = memory.read()[0];
  unsigned once = 0;
  for (const unsigned times : s.done) once += times == 1 ? 1 : 0;
  std::cout << name << ", " << quota << ":\n"
            << "  child grids " << s.grids << ", tasks in the list " << s.listed << '\n'
            << "  together: " << s.grids + s.listed << ", done once: " << once << '\n'
            << "  never more slots in use than the quota: "
            << (s.most_in_use <= quota ? "yes" : "no") << '\n'
            << "  failed launches: " << s.failed << ", first error: " << s.first_error << '\n';
}

int main() {
  return lesson::run([] {
    const launch_limits limits({.pending_launches = wanted_limit});  // put back at the end
    const std::size_t granted = *limits.granted().pending_launches;
    std::cout << "limit requested: " << wanted_limit << ", granted: " << granted << '\n';
    // 6. Half of the pool: a child returns its slot shortly before its place in the pool is free.
    show("a quota of half the limit", static_cast<unsigned>(granted / 2));
#if !RAMIFY_ON_CUDA
    // 7. Not on a GPU: a quota that never refuses, and children that begin only after their parents
    //    have ended. The pool is full after as many launches as the limit allows. On the CPU
    //    executor a failed launch is only an error: its task goes into the list and is not lost.
    const cpu::scoped_executor_config late({.order = cpu::schedule::late});
    show("a quota of everything", tasks);
#endif
  });
}
