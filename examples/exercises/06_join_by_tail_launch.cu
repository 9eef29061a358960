// SPDX-License-Identifier: BSD-3-Clause
// Exercise 6: a join (lesson 8).
//
// Given      Each of eight blocks launches a child that squares a number.
// Task       Let `add_up` add the results of all children, once, after they are complete.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned blocks = 8;

struct table {
  int squares[blocks];
  int sum;
  int failures;
};

__global__ void square(table* t, int number) { t->squares[number] = number * number; }

__global__ void add_up(table* t) {
  for (const int found : t->squares) t->sum += found;
}

__global__ void parent(table* t) {
  const auto number = static_cast<int>(blockIdx.x);
  if (!launch(square, {1, 1}, fire_and_forget(), t, number)) atomicAdd(&t->failures, 1);
  // HOLE: launch `add_up`, {1, 1}. A kernel cannot wait for its children. Which stream does?
  // END OF HOLE
}

void test() {
  const exercise::device_array<table> memory(1);
  check(launch(parent, {blocks, 1}, nullptr, memory.data()).code(), "launching the parent");
  const table t = memory.read()[0];
  exercise::with_grids([](const auto& seen) {
    const auto joins = seen.count("add_up");
    expect(joins != 0, "add_up did not run");
    expect(joins == 1, "add_up ran " + exercise::counted(joins, "time") +
                           ": one thread of the whole grid launches it");
    expect(seen.in_order("square", "add_up"), "add_up began before all children were complete");
  });
  expect(t.sum == 140, "the sum is " + std::to_string(t.sum) + ", not 140");
  expect(t.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
