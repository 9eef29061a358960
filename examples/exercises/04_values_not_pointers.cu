// SPDX-License-Identifier: BSD-3-Clause
// Exercise 4: arguments of a child (lesson 3).
//
// Given      Each thread of a block has a local number, `mine`, and the block has a sum in shared
//            memory.
// Task       Each of the four threads launches a child, {1, 1}, fire_and_forget(). The child of
//            thread i receives the number of thread i, and the sum. Its arguments are yours to
//            choose: `global` is a free word in global memory.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

struct results {
  int numbers[4];
  int sums[4];
  int failures;
};

__global__ void by_value(int thread, int number, int sum, results* r) {
  r->numbers[thread] = number;
  r->sums[thread] = sum;
}

__global__ void by_pointer(int thread, const int* number, const int* sum, results* r) {
  r->numbers[thread] = *number;
  r->sums[thread] = *sum;
}

__global__ void parent([[maybe_unused]] int* global, results* r) {
  __shared__ int sum;
  const int mine = 10 + static_cast<int>(threadIdx.x);
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, mine);
  __syncthreads();
  [[maybe_unused]] const int thread = static_cast<int>(threadIdx.x);
  // HOLE: launch `by_value` or `by_pointer`.
  // END OF HOLE
}

void test() {
  const exercise::device_array<int> global(1);
  const exercise::device_array<results> memory(1);
  check(launch(parent, {1, 4}, nullptr, global.data(), memory.data()).code(), "launching");
  const results r = memory.read()[0];
  exercise::with_grids([](const auto& seen) {
    const auto children = seen.count("by_value") + seen.count("by_pointer");
    expect(children == 4, exercise::counted(children, "grid") + " launched by the parent, not 4");
  });
  for (int i = 0; i < 4; ++i) {
    expect(r.numbers[i] == 10 + i, "the child of thread " + std::to_string(i) + " received " +
                                       std::to_string(r.numbers[i]) + ", not " +
                                       std::to_string(10 + i));
    expect(r.sums[i] == 46, "the child of thread " + std::to_string(i) + " received the sum " +
                                std::to_string(r.sums[i]) + ", not 46");
  }
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
