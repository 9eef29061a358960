// SPDX-License-Identifier: BSD-3-Clause
// Lesson 19: a persistent kernel.
//
// Read first     Lesson 9.
// You will see   a binary tree of 255 tasks, run by one grid of eight persistent blocks, in 10 runs
//                with different orders. They dequeue tasks from a queue in global memory and
//                enqueue new ones. For comparison, the same tasks run with one grid each.
// The rule       A block may wait only for progress of a block that is running. A task that is
//                neither in the queue nor finished is held by a running block, so it makes
//                progress, however few of the eight blocks are resident.
// The pitfall    An empty queue is not the end: count the unfinished tasks. The count must grow
//                before the queue does, and what a task needs must be written before the task
//                enters the queue: by release and acquire, because relaxed operations order no
//                other writes. Do not wait for all blocks of a grid, because some may not begin
//                before others end. (A grid-wide barrier in a child grid, sized by the occupancy
//                API, hung an H200.)
// Plain CUDA     launching<<<1, 32, 0, cudaStreamFireAndForget>>>(task - 1, out)
// Try            Write `blocks = 1`. One block runs all tasks: no block depends on another one.
#include "atomic_ref.hpp"
#include "lesson.hpp"

using namespace ramify;
namespace order = lesson::order;
template <class T>
using atomic_ref = lesson::device_atomic<T>;

constexpr unsigned blocks = 8;
constexpr unsigned levels = 8;
constexpr unsigned capacity = (1u << levels) - 1;  // the number of all tasks

// A task is the number of levels of its tree, so it is never 0.
struct queue {
  unsigned head;                 // tasks dequeued so far
  unsigned tail;                 // slots reserved for tasks so far
  unsigned unfinished;           // tasks that are not finished
  unsigned slots[capacity + 1];  // 0: not written yet; the last slot is never written
  unsigned nodes[capacity + 1];  // of each task: its number in the tree, in ordinary memory
};

struct results {
  unsigned work;           // threads that ran a task
  unsigned grids;          // grids that ran tasks
  unsigned active_blocks;  // blocks of the persistent grid that found a task
  unsigned failed;         // launches that failed
  unsigned nodes;          // the sum of the numbers of all nodes
  unsigned finished;       // tasks that the persistent grid has finished
  unsigned left_early;     // blocks that ended before all tasks were finished
};

// 1. Enqueue: reserve a slot, then store the task. A block that reads the task also sees all
//    earlier writes of this thread (release and acquire), such as the number of the node.
__device__ void enqueue(queue* q, unsigned task, unsigned node) {
  const unsigned slot = atomic_ref<unsigned>(q->tail).fetch_add(1, order::memory_order_relaxed);
  q->nodes[slot] = node;
  atomic_ref<unsigned>(q->slots[slot]).store(task, order::memory_order_release);
}

// 2. Dequeue: return the first task and its node, or 0 if there is none. If another block dequeues
//    it first, the exchange fails and loads the new head.
__device__ unsigned dequeue(queue* q, unsigned* node) {
  atomic_ref<unsigned> head(q->head);
  unsigned front = head.load(order::memory_order_relaxed);
  unsigned task = 0;
  do {
    task = atomic_ref<unsigned>(q->slots[front]).load(order::memory_order_acquire);
  } while (task != 0 && !head.compare_exchange_weak(front, front + 1, order::memory_order_relaxed));
  if (task != 0) *node = q->nodes[front];
  return task;
}

__global__ void enqueue_root(queue* q, unsigned tree_levels) {
  q->unfinished = 1;
  enqueue(q, tree_levels, 1);
}

// 3. The persistent blocks.
__global__ void persist(queue* q, unsigned tasks, results* out) {
  __shared__ unsigned task;
  __shared__ bool over;
  atomic_ref<unsigned> unfinished(q->unfinished);
  unsigned done = 0;
  unsigned node = 0;
  for (;;) {
    __syncthreads();  // all have read `task`; the CPU executor switches blocks here
    if (threadIdx.x == 0) {
      task = dequeue(q, &node);
      over = task == 0 && unfinished.load(order::memory_order_acquire) == 0;
    }
    __syncthreads();
    if (over) break;
    if (task == 0) continue;
    atomicAdd(&out->work, 1u);  // every thread does its part
    if (threadIdx.x != 0) continue;
    ++done;
    atomicAdd(&out->nodes, node);
    atomicAdd(&out->finished, 1u);
    // 4. The task is finished and creates two tasks or none. Update the count before the queue:
    //    in the other order the count could reach 0 while tasks are unfinished.
    if (task > 1) {
      unfinished.fetch_add(1, order::memory_order_relaxed);
      for (unsigned child = 0; child < 2; ++child) enqueue(q, task - 1, 2 * node + child);
    } else {
      unfinished.fetch_sub(1, order::memory_order_release);
    }
  }
  if (threadIdx.x == 0 && atomicAdd(&out->finished, 0u) < tasks) atomicAdd(&out->left_early, 1u);
  if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(&out->grids, 1u);
  if (done > 0) atomicAdd(&out->active_blocks, 1u);
}

// 5. The same tasks with one grid each.
__global__ void launching(unsigned task, results* out) {
  atomicAdd(&out->work, 1u);
  if (threadIdx.x != 0) return;
  atomicAdd(&out->grids, 1u);
  for (int child = 0; task > 1 && child < 2; ++child) {
    if (!launch(launching, {1, 32}, fire_and_forget(), task - 1, out)) atomicAdd(&out->failed, 1u);
  }
}

struct outcome {
  results seen;
  queue after;
};

// Runs a tree by persistent blocks.
outcome run_persistent(unsigned tree_levels) {
  const lesson::device_array<queue> q(1);
  const lesson::device_array<results> out(1);
  const unsigned tasks = (1u << tree_levels) - 1;
  check(launch(enqueue_root, {1, 1}, nullptr, q.data(), tree_levels).code(), "launching");
  check(launch(persist, {blocks, 32}, nullptr, q.data(), tasks, out.data()).code(), "launching");
  return {out.read()[0], q.read()[0]};
}

int main() {
  return lesson::run([] {
    unsigned left_early = 0, right = 0;
    outcome last{};  // of the last run of the tree with 255 tasks
    lesson::repeat(10, [&] {
      last = run_persistent(levels);
      left_early += last.seen.left_early;
      right += last.seen.nodes == capacity * (capacity + 1) / 2 ? 1 : 0;
    });
    // A tree of three tasks, whose count would be 0 too early if it followed the queue.
    lesson::repeat(300, [&] { left_early += run_persistent(2).seen.left_early; });
    const lesson::device_array<results> launched(1);
    check(launch(launching, {1, 32}, nullptr, levels, launched.data()).code(), "launching");
    const results by_launches = launched.read()[0];
    std::cout << "persistent blocks: " << last.seen.work << " = 255 x 32 threads' work, "
              << last.seen.grids << " grid\n"
              << "a grid per task:   " << by_launches.work << " = 255 x 32 threads' work, "
              << by_launches.grids << " grids, failed launches: " << by_launches.failed << '\n'
              << "the queue: " << last.after.tail << " tasks enqueued, " << last.after.head
              << " dequeued, " << last.after.unfinished << " unfinished\n"
              << "blocks that found a task: " << last.seen.active_blocks << " of " << blocks << '\n'
              << "runs in which each task had its node: " << right << " of 10\n"
              << "blocks that ended before the last task did: " << left_early << '\n';
  });
}
