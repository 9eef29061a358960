// SPDX-License-Identifier: BSD-3-Clause
// Exercise 3: what a child sees (lesson 2).
//
// Given      A block of 128 threads writes 128 numbers. A child adds them up.
// Task       One thread launches the child such that it sees the numbers of all threads.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned threads = 128;

struct memory {
  int numbers[threads];
  int sum;
  int children;
  int failures;
};

__global__ void child(memory* m) {
  m->children += 1;
  for (const int number : m->numbers) m->sum += number;
}

__global__ void parent(memory* m) {
  m->numbers[threadIdx.x] = 1;
  // HOLE: thread 0 launches the child, {1, 1}, fire_and_forget(). What must happen before?
  // END OF HOLE
}

void test() {
  const exercise::device_array<memory> memory_of_device(1);
  check(launch(parent, {1, threads}, nullptr, memory_of_device.data()).code(), "launching");
  const memory m = memory_of_device.read()[0];
  exercise::with_grids([](const auto& seen) {
    expect(seen.count("child") != 0, "no child ran");
    expect(seen.count("child") == 1, exercise::counted(seen.count("child"), "child", "children") +
                                         " ran: one thread of the block launches");
  });
  expect(m.sum != 32,
         "the child saw 32 of 128 numbers: the launching thread waited for the threads "
         "of its warp only");
  expect(m.sum == 128, "the child saw " + std::to_string(m.sum) +
                           " of 128 numbers: the launching thread had not waited for the other "
                           "threads of its block");
  expect(m.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
