// SPDX-License-Identifier: BSD-3-Clause
// Exercise 2: launches that fail (lesson 10).
//
// Given      One thread runs `parent`. Each of its three launches may fail, and the host gets no
//            error of a launch by a kernel.
// Task       Store the error of the first launch that fails in `first_error`, and the number of
//            launches that failed in `failed`.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

struct results {
  int ran;
  int failed;
  int first_error;  // 0 is cudaSuccess
};

__global__ void child(results* r) { atomicAdd(&r->ran, 1); }

__global__ void parent(results* r, unsigned threads) {
  // A block has at most 1024 threads, and so the shapes may be invalid.
  for (unsigned i = 0; i < 3; ++i) {
    const auto launched = launch(child, {1, threads + 500 * i}, fire_and_forget(), r);
    // HOLE: a launch that fails is counted; the first error is kept.
    static_cast<void>(launched);
    // END OF HOLE
  }
}

results run_parent(unsigned threads) {
  const exercise::device_array<results> memory(1);
  check(launch(parent, {1, 1}, nullptr, memory.data(), threads).code(), "launching the parent");
  return memory.read()[0];
}

void test() {
  const results good = run_parent(1);
  expect(good.failed == 0, exercise::counted(good.failed, "launch", "launches") +
                               " counted as failed, but " + "1, 501 and 1001 threads are valid");
  expect(good.first_error == 0, "an error is stored, but no launch failed");
  expect(good.ran == 1 + 501 + 1001, "not all children ran");
  const results one = run_parent(100);  // 100, 600, 1100
  expect(one.failed == 1, "a launch with 1100 threads per block fails, and `failed` is " +
                              std::to_string(one.failed));
  expect(one.first_error == cudaErrorInvalidConfiguration,
         "`first_error` is " + std::to_string(one.first_error) +
             ", not that of the launch, cudaErrorInvalidConfiguration");
  // The first launch, with 1000 threads, finds no place in the pool; the others are invalid.
  exercise::with_full_pool(1, [] {
    const results all = run_parent(1000);
    expect(all.failed == 3, "three launches fail, and `failed` is " + std::to_string(all.failed));
    expect(all.first_error == cudaErrorLaunchPendingCountExceeded,
           "`first_error` has been replaced by a later error");
  });
}

int main() { return exercise::run(test); }
