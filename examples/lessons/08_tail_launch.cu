// SPDX-License-Identifier: BSD-3-Clause
// Lesson 8: the tail launch, which joins all children.
//
// You will see   eight blocks that launch a child each, a tail launch that adds up what the children
//                found, and one behind it that divides the sum by their number.
// The rule       A grid in cudaStreamTailLaunch begins when the grid that launched it has ended, in
//                all its blocks, and all its other children are complete, with all that they
//                launched. Several tail launches run one after another, in the order of launching.
// The catch      A kernel cannot wait for its children and go on. What is to happen with their
//                results must be another kernel, and knows only what its arguments tell. It is the
//                launch that costs most, too: on an H200 11.8 us in one thread, others 6.5.
// Try            In step 2, write `fire_and_forget()`. The sum waits for nobody any more, and may
//                lack what children have not found yet.
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
  // 1. One thread of the whole grid launches what is to run once.
  if (blockIdx.x == 0) {
    // 2. It does not matter that no child has been launched yet, nor that other blocks launch them.
    const auto sum = launch(add_up, {1, 1}, tail_launch(), t);
    if (!sum) atomicAdd(&t->failures, 1);
    // 3. Behind the sum, and sees what it wrote.
    const auto mean = launch(divide, {1, 1}, tail_launch(), t);
    if (!mean) atomicAdd(&t->failures, 1);
  }
  // 4. The children: a thread of each block launches one.
  const auto number = static_cast<int>(blockIdx.x);
  const auto launched = launch(square, {1, 1}, fire_and_forget(), t, number);
  if (!launched) atomicAdd(&t->failures, 1);
}

int main() {
  return lesson::run([] {
    const lesson::numbers<table> memory(1);
    check(launch(parent, {children, 1}, nullptr, memory.data()).code(), "launching the parent");
    const table t = memory.read()[0];
    std::cout << "sum of the squares of 0 to 7: " << t.sum << '\n'
              << "their mean, rounded down:     " << t.mean << '\n'
              << "launches that failed:         " << t.failures << '\n';
  });
}
