// SPDX-License-Identifier: BSD-3-Clause
// Lesson 8: the tail launch, which joins all children.
//
// Read first     Lesson 6.
// You will see   20 runs of eight blocks that launch one child each, a tail launch that adds up the
//                results of the children, and a second tail launch that divides the sum by their
//                number.
// The rule       A grid in cudaStreamTailLaunch begins after the grid that launched it has ended,
//                in all its blocks, and all other children of that grid are complete, with all that
//                they launched. Several tail launches run one after another, in launch order.
// The pitfall    A kernel cannot wait for its children and then continue. (The default device
//                runtime since CUDA 12, CDP2, has no such wait. CDP1 can still be forced below
//                compute capability 9.0 with -DCUDA_FORCE_CDP1_IF_SUPPORTED; Ramify does not
//                support it.) The code that uses the children's results is another kernel, and it
//                receives its state through its arguments. A tail launch also costs the most: on an
//                H200 one thread needs 10.7 us for each, and 6.1 to 6.5 us for other launches
//                (benchmarks/launches.md).
// Plain CUDA     add_up<<<1, 1, 0, cudaStreamTailLaunch>>>(t)
// Try            In step 2, write `fire_and_forget()`. The sum then waits for no child and may miss
//                some of their results. (On a GPU this order is possible but not certain. The CPU
//                executor tries a random order in each run, as RAMIFY_CPU_SCHEDULE=random does for
//                all programs.)
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned children = 8;

struct table {
  int found[children];
  int sum;
  int mean;
  int failures;
};

__global__ void square(table* t, int number) { t->found[number] = number * number; }

__global__ void add_up(table* t) {
  t->sum = 0;
  for (const int found : t->found) t->sum += found;
}

__global__ void divide(table* t) { t->mean = t->sum / static_cast<int>(children); }

__global__ void parent(table* t) {
  // 1. One thread of the whole grid makes the launches that happen once.
  if (blockIdx.x == 0) {
    // 2. The tail launch also waits for children that are launched later or by other blocks.
    const auto sum = launch(add_up, {1, 1}, tail_launch(), t);
    if (!sum) atomicAdd(&t->failures, 1);
    // 3. The second tail launch runs after the first and sees what it wrote.
    const auto mean = launch(divide, {1, 1}, tail_launch(), t);
    if (!mean) atomicAdd(&t->failures, 1);
  }
  // 4. One thread of each block launches a child.
  const auto number = static_cast<int>(blockIdx.x);
  const auto launched = launch(square, {1, 1}, fire_and_forget(), t, number);
  if (!launched) atomicAdd(&t->failures, 1);
}

int main() {
  return lesson::run([] {
    constexpr unsigned runs = 20;
    unsigned right_sums = 0, right_means = 0;
    int failures = 0;
    lesson::repeat(runs, [&] {
      const lesson::device_array<table> memory(1);
      check(launch(parent, {children, 1}, nullptr, memory.data()).code(), "launching the parent");
      const table t = memory.read()[0];
      right_sums += t.sum == 140 ? 1 : 0;
      right_means += t.mean == 140 / 8 ? 1 : 0;
      failures += t.failures;
    });
    std::cout << "runs in which the sum of the squares of 0 to 7 is 140: " << right_sums << " of "
              << runs << '\n'
              << "runs in which their mean, rounded down, is 17:         " << right_means << " of "
              << runs << '\n'
              << "launches that failed:                                  " << failures << '\n';
  });
}
