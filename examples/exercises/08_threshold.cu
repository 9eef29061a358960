// SPDX-License-Identifier: BSD-3-Clause
// Exercise 8: small tasks run in place (lessons 16a and 16b).
//
// Given      `add` adds up the numbers [begin, end) to the sum, with one grid for each number: 511
//            grids for 256 numbers. Most of them add one number, which is less work than a launch.
// Task       A grid with at most 16 numbers adds them itself and launches nothing. Other grids
//            launch one grid for each half.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned count = 256;
constexpr unsigned threshold = 16;

struct results {
  unsigned sum;
  unsigned grids;
  unsigned failures;
};

__global__ void add(const unsigned* numbers, unsigned begin, unsigned end, results* r) {
  atomicAdd(&r->grids, 1u);
  // HOLE: the base case of this recursion is a single number. Change it.
  if (end - begin == 1) {
    atomicAdd(&r->sum, numbers[begin]);
    return;
  }
  const unsigned middle = begin + (end - begin) / 2;
  if (!launch(add, {1, 1}, fire_and_forget(), numbers, begin, middle, r)) {
    atomicAdd(&r->failures, 1u);
  }
  if (!launch(add, {1, 1}, fire_and_forget(), numbers, middle, end, r)) {
    atomicAdd(&r->failures, 1u);
  }
  // END OF HOLE
}

void test() {
  std::vector<unsigned> numbers(count);
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i) sum += numbers[i] = i % 7;
  const exercise::device_array<unsigned> input(numbers);
  const exercise::device_array<results> memory(1);
  const unsigned* const first = input.data();
  check(launch(add, {1, 1}, nullptr, first, 0u, count, memory.data()).code(), "launching");
  const results r = memory.read()[0];
  expect(r.grids != 511, "511 grids ran: one for each number, as before");
  expect(r.grids != 1, "one grid ran: a task with more than 16 numbers launches two");
  expect(r.sum != 5 * sum, "each number was added once on each level: a grid that launches must " +
                               std::string("not add"));
  expect(r.sum == sum, "the sum is " + std::to_string(r.sum) + ", not " + std::to_string(sum) +
                           ": some numbers are missing");
  expect(r.grids == 31, std::to_string(r.grids) + " grids ran, not 31: a task of exactly 16 " +
                            "numbers runs in place");
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
