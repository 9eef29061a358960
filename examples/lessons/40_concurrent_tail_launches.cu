// SPDX-License-Identifier: BSD-3-Clause
// Lesson 40: two joins that run at the same time.
//
// Read first     Lesson 8.
// You will see   20 runs in which four children write numbers, and two grids read all of them: one
//                adds them up, the other one finds the largest. First both are tail launches: the
//                second one never begins before the first is complete. Then one tail launch, a
//                relay, launches both, and in some runs they run at the same time.
// The rule       Tail launches of a grid run one after another. A grid that a tail launch launches
//                begins after the join, too, and may be launched into any stream. What follows the
//                parent in its stream still waits for all of them.
// The pitfall    The relay's grids have no order. What needs both results is a tail launch of the
//                relay, not a second tail launch of the parent, unless it may also wait for more.
//                The relay is one launch more, 6.1 us on an H200 (benchmarks/launches.md), so it
//                pays only if the grids after the join take longer.
// Plain CUDA     relay<<<1, 1, 0, cudaStreamTailLaunch>>>(r)
// Try            In step 3, launch `largest` into tail_launch(). It then waits for `sum` again.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned children = 4;
constexpr unsigned runs = 20;

struct results {
  unsigned numbers[children];
  unsigned sum;
  unsigned largest;
  unsigned clock;     // counts begins and ends of the two grids
  unsigned begin[2];  // of `sum` and of `largest`, by this clock
  unsigned end[2];    // of both
  unsigned failures;
};

__global__ void child(unsigned i, results* r) { r->numbers[i] = i * i; }

// 1. The grids after the join. Their threads meet between begin and end.
__device__ void begin(unsigned which, results* r) {
  if (threadIdx.x == 0) r->begin[which] = atomicAdd(&r->clock, 1u);
  __syncthreads();
}
__device__ void end(unsigned which, results* r) {
  __syncthreads();
  if (threadIdx.x == 0) r->end[which] = atomicAdd(&r->clock, 1u);
}
__global__ void sum(results* r) {
  begin(0, r);
  atomicAdd(&r->sum, r->numbers[threadIdx.x]);
  end(0, r);
}
__global__ void largest(results* r) {
  begin(1, r);
  atomicMax(&r->largest, r->numbers[threadIdx.x]);
  end(1, r);
}

// 2. The relay runs after the join. It only launches.
__global__ void relay(results* r) {
  if (!launch(sum, {1, children}, fire_and_forget(), r)) atomicAdd(&r->failures, 1u);
  // 3. Into the same stream, or into another one: fire-and-forget grids have no order.
  if (!launch(largest, {1, children}, fire_and_forget(), r)) atomicAdd(&r->failures, 1u);
}

__global__ void parent(bool with_relay, results* r) {
  for (unsigned i = 0; i < children; ++i) {
    if (!launch(child, {1, 1}, fire_and_forget(), i, r)) atomicAdd(&r->failures, 1u);
  }
  // 4. Join: tail launches begin after all children are complete.
  if (with_relay) {
    if (!launch(relay, {1, 1}, tail_launch(), r)) atomicAdd(&r->failures, 1u);
    return;
  }
  if (!launch(sum, {1, children}, tail_launch(), r)) atomicAdd(&r->failures, 1u);
  if (!launch(largest, {1, children}, tail_launch(), r)) atomicAdd(&r->failures, 1u);
}

void show(const char* name, bool with_relay) {
  unsigned right = 0;
  unsigned together = 0;
  unsigned failures = 0;
  lesson::repeat(runs, [&] {
    const lesson::device_array<results> memory(1);
    check(launch(parent, {1, 1}, nullptr, with_relay, memory.data()).code(), "launching");
    const results r = memory.read()[0];
    right += r.sum == 0 + 1 + 4 + 9 && r.largest == 9 ? 1 : 0;
    together += r.begin[0] < r.end[1] && r.begin[1] < r.end[0] ? 1 : 0;
    failures += r.failures;
  });
  std::cout << name << ":\n"
            << "  runs with the right sum and the right largest number: " << right << '\n'
            << "  runs in which both grids ran at the same time:        " << together << '\n'
            << "  launches that failed:                                 " << failures << '\n';
}

int main() {
  return lesson::run([] {
    show("two tail launches", false);
    show("one tail launch, a relay", true);
  });
}
