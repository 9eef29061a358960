// SPDX-License-Identifier: BSD-3-Clause
// Lesson 19: a persistent kernel.
//
// You will see   a binary tree of 255 tasks, done by one grid of eight blocks that stay: they take
//                tasks from a queue in global memory and put new ones there. Beside it the same
//                tasks with a grid for each.
// The rule       A block may wait only for what a running block will do. A task that is neither in
//                the queue nor finished is in the hands of a running block, so it comes, however
//                few of the eight blocks run at a time.
// The catch      An empty queue is not the end: count the tasks that are not finished. And do not
//                wait for all blocks of a grid: some may not begin before others end. (A grid-wide
//                barrier in a child grid, sized by the occupancy API, hung an H200.)
// Try            Write `blocks = 1`. It does all the work: no block ever needs another one.
#include "lesson.hpp"

#if RAMIFY_ON_CUDA
#include <cuda/atomic>
namespace order = cuda;
template <class T>
using atomic_ref = cuda::atomic_ref<T, cuda::thread_scope_device>;
#else
#include <atomic>
namespace order = std;
using std::atomic_ref;
#endif

using namespace ramify;

constexpr unsigned blocks = 8;
constexpr unsigned levels = 8;
constexpr unsigned capacity = (1u << levels) - 1;  // all tasks that there will ever be

// A task is the number of levels of its tree, so it is never 0.
struct queue {
  unsigned taken;                // slots whose tasks were taken, from the front
  unsigned given;                // slots that were given away for tasks
  unsigned unfinished;           // tasks
  unsigned slots[capacity + 1];  // 0: the task is not there yet; in the last one it never is
};

struct results {
  unsigned work;     // by threads
  unsigned grids;    // that did it
  unsigned workers;  // blocks of the persistent grid that found a task
  unsigned failed;   // launches
};

// 1. Put: a slot of one's own, then the task. Who sees it sees all that was written before it.
__device__ void put(queue* q, unsigned task) {
  const unsigned slot = atomic_ref<unsigned>(q->given).fetch_add(1, order::memory_order_relaxed);
  atomic_ref<unsigned>(q->slots[slot]).store(task, order::memory_order_release);
}

// 2. Take: the front task if it is there, else 0. If another block was quicker, the exchange fails
//    and tells the new front.
__device__ unsigned take(queue* q) {
  atomic_ref<unsigned> taken(q->taken);
  unsigned front = taken.load(order::memory_order_relaxed);
  unsigned task = 0;
  do {
    task = atomic_ref<unsigned>(q->slots[front]).load(order::memory_order_acquire);
  } while (task != 0 &&
           !taken.compare_exchange_weak(front, front + 1, order::memory_order_relaxed));
  return task;
}

__global__ void put_root(queue* q) {
  q->unfinished = 1;
  put(q, levels);
}

// 3. The blocks that stay.
__global__ void persist(queue* q, results* out) {
  __shared__ unsigned task;
  __shared__ bool over;
  atomic_ref<unsigned> unfinished(q->unfinished);
  unsigned done = 0;
  for (;;) {
    __syncthreads();  // all have read `task`; also where the CPU executor lets other blocks run
    if (threadIdx.x == 0) {
      task = take(q);
      over = task == 0 && unfinished.load(order::memory_order_acquire) == 0;
    }
    __syncthreads();
    if (over) break;
    if (task == 0) continue;
    atomicAdd(&out->work, 1u);  // every thread has its share
    if (threadIdx.x != 0) continue;
    ++done;
    // 4. This task is finished and makes two, or none. First the count, then the tasks: the other
    //    way round it could reach 0 with tasks in hand.
    if (task > 1) {
      unfinished.fetch_add(1, order::memory_order_relaxed);
      for (int child = 0; child < 2; ++child) put(q, task - 1);
    } else {
      unfinished.fetch_sub(1, order::memory_order_release);
    }
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(&out->grids, 1u);
  if (done > 0) atomicAdd(&out->workers, 1u);
}

// 5. The same tasks, a grid for each.
__global__ void launching(unsigned task, results* out) {
  atomicAdd(&out->work, 1u);
  if (threadIdx.x != 0) return;
  atomicAdd(&out->grids, 1u);
  for (int child = 0; task > 1 && child < 2; ++child) {
    if (!launch(launching, {1, 32}, fire_and_forget(), task - 1, out)) atomicAdd(&out->failed, 1u);
  }
}

int main() {
  return lesson::run([] {
    const lesson::numbers<queue> q(1);
    const lesson::numbers<results> out(2);
    check(launch(put_root, {1, 1}, nullptr, q.data()).code(), "launching");
    check(launch(persist, {blocks, 32}, nullptr, q.data(), out.data()).code(), "launching");
    check(launch(launching, {1, 32}, nullptr, levels, out.data() + 1).code(), "launching");
    const auto seen = out.read();
    const queue after = q.read()[0];
    std::cout << "blocks that stay: " << seen[0].work << " = 255 x 32 threads' work, "
              << seen[0].grids << " grid\n"
              << "a grid for each:  " << seen[1].work << " = 255 x 32 threads' work, "
              << seen[1].grids << " grids, failed launches: " << seen[1].failed << '\n'
              << "the queue: " << after.given << " tasks put, " << after.taken << " taken, "
              << after.unfinished << " unfinished\n"
              << "blocks that found a task: " << seen[0].workers << " of " << blocks << '\n';
  });
}
