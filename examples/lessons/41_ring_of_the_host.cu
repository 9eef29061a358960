// SPDX-License-Identifier: BSD-3-Clause
// Lesson 41: a queue that the host fills while a running kernel empties it.
//
// Read first     Lessons 11 and 38.
// You will see   100 tasks that the host puts into a ring of eight slots in pinned memory. Two
//                blocks of one kernel take them and launch a grid for each. So the host starts 101
//                grids by one launch, and never waits for more than a free slot.
// The rule       Each number has one writer: `sent` and the tasks are the host's, `taken` is the
//                kernel's. A slot is used again when its `freed` says that its task was read. Flags
//                have system scope (lesson 38). Among the blocks of the kernel, device scope is
//                enough: an atomicCAS() decides which block takes a task.
// The pitfall    "Nothing there" is not the end: the host says that no task will follow. A block
//                reads this before it reads `sent`. In the other order it could miss the last
//                tasks. And a ring does not limit the launches: here 100 grids are below the limit
//                of the pool, but in general a block must take a place of a quota, too (lesson 11).
// Plain CUDA     run_task<<<1, threads, 0, cudaStreamFireAndForget>>>(c)
// Try            Write `tasks = 1000`. The ring still has eight slots.
#include <chrono>
#include <future>

#include "system_flag.hpp"

using namespace ramify;
using lesson::read_flag;
using lesson::write_flag;

constexpr unsigned tasks = 100;
constexpr unsigned slots = 8;

// In pinned memory. The numbers only grow.
struct ring {
  unsigned sent;          // by the host: tasks so far
  unsigned closed;        // by the host: 1 if no task will follow
  unsigned task[slots];   // by the host: task n is in slot n % slots
  unsigned freed[slots];  // by the kernel: n + 1 if it has read task n of this slot
};

// In device memory.
struct counters {
  unsigned taken;  // tasks that blocks of the kernel took
  unsigned grids;
  unsigned threads;
  unsigned failed;  // launches
};

// A task: a grid with as many threads as the task says.
__global__ void run_task(counters* c) {
  if (threadIdx.x == 0) atomicAdd(&c->grids, 1u);
  atomicAdd(&c->threads, 1u);
}

// Each block has one thread.
__global__ void dispatch(ring* r, counters* c) {
  for (;;) {
    __syncthreads();  // the CPU executor switches blocks here
    // 1. Read `closed` first: if it is set, the number of tasks that is read next is the last one.
    const bool closed = read_flag(r->closed) == 1;
    const unsigned sent = read_flag(r->sent);
    const unsigned next = atomicAdd(&c->taken, 0u);
    if (next >= sent) {
      if (closed) return;
      continue;
    }
    // 2. Take the task, unless the other block does.
    if (atomicCAS(&c->taken, next, next + 1) != next) continue;
    const unsigned slot = next % slots;
    const unsigned threads = r->task[slot];
    // 3. The task has been read, so the host may use the slot again.
    write_flag(r->freed[slot], next + 1);
    // 4. No join: the host waits for this kernel, which includes all grids that it launched.
    if (!launch(run_task, {1, threads}, fire_and_forget(), c)) atomicAdd(&c->failed, 1u);
  }
}

int main() {
  return lesson::run([] {
    const host_stream stream;
    pinned_buffer<ring> shared(1);
    ring& r = shared[0];
    r = {};
    const lesson::device_array<counters> memory(1, stream.get());
    // 5. On the CPU executor a launch returns when the grid is complete, so a second thread of the
    //    host launches.
    std::future<void> kernel = std::async(std::launch::async, [&] {
      check(launch(dispatch, {2, 1}, stream.get(), shared.data(), memory.data()).code(),
            "launching");
      stream.synchronize();
    });
    const auto has_ended = [&] {
      return kernel.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    unsigned threads = 0;
    for (unsigned n = 0; n < tasks; ++n) {
      // 6. Wait until the former task of the slot has been read, unless the launch has failed.
      const unsigned slot = n % slots;
      const unsigned former = n < slots ? 0 : n - slots + 1;
      while (read_flag(r.freed[slot]) != former && !has_ended()) continue;
      r.task[slot] = 1 + n % 32;
      threads += r.task[slot];
      write_flag(r.sent, n + 1);
    }
    write_flag(r.closed, 1);
    kernel.get();  // throws if the launch has failed
    const counters seen = memory.read()[0];
    std::cout << "tasks that the kernel took: " << seen.taken << " of " << tasks << '\n'
              << "grids that it launched:     " << seen.grids << ", failed " << seen.failed << '\n'
              << "threads of these grids:     " << seen.threads << " of " << threads << '\n';
  });
}
