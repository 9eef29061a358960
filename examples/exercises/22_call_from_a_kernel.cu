// SPDX-License-Identifier: BSD-3-Clause
// Exercise 22: a kernel calls an algorithm (lesson 32).
//
// Given      Eight rows with different numbers of keys. `smallest_two` adds the first two keys of a
//            sorted row. `add_pairs` has a block for each row.
// Task       Let one thread of the block call quicksort() for the row, with `smallest_two`, {1, 1},
//            as the continuation: the kernel that runs when the sort is complete. Count a call
//            that is refused in r->refused.
#include <ramify/quicksort.cuh>
#include <ramify/runtime/call_arena.cuh>

#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned rows = 8;
constexpr unsigned max_keys = 100;

struct row {
  int keys[max_keys];
  unsigned count;
  int pair;        // the sum of the two smallest keys
  unsigned pairs;  // how often it was computed
};

struct results {
  row all[rows];
  unsigned refused;
};

using sorts = quicksort_calls<int>;
using call_environment = kernel_environment<sorts>;

__global__ void smallest_two(row* r) {
  r->pair = r->keys[0] + r->keys[1];
  atomicAdd(&r->pairs, 1u);
}

__global__ void add_pairs(results* r, call_environment calls) {
  row& mine = r->all[blockIdx.x];
  // HOLE: quicksort(keys, count, ascending{}, calls.then(kernel, {blocks, threads}, arguments...))
  // END OF HOLE
}

void test() {
  std::vector<results> numbers(1);
  int expected[rows];
  for (unsigned i = 0; i < rows; ++i) {
    row& r = numbers[0].all[i];
    r.count = max_keys - 7 * i;
    for (unsigned k = 0; k < max_keys; ++k) r.keys[k] = static_cast<int>((k * 37 + i * 11) % 101);
    for (unsigned k = r.count; k < max_keys; ++k) r.keys[k] = -1;  // after the last key
    std::vector<int> sorted(r.keys, r.keys + r.count);
    std::ranges::sort(sorted);
    expected[i] = sorted[0] + sorted[1];
  }
  const exercise::device_array<results> memory(numbers);
  call_arena arena(sorts(max_keys), {.launch_slots = 8});
  check(launch(add_pairs, {rows, 32}, nullptr, memory.data(), arena.environment()).code(),
        "launching the kernel that calls");
  arena.complete_async();
  const results r = memory.read()[0];
  const call_report report = arena.get();
  for (unsigned i = 0; i < rows; ++i) {
    const std::string name = "row " + std::to_string(i);
    expect(r.all[i].pairs != 0, name + " has no pair: its continuation did not run");
    expect(r.all[i].pairs == 1, "the pair of " + name + " was computed " +
                                    std::to_string(r.all[i].pairs) + " times, not once");
    expect(r.all[i].pair == expected[i],
           "the pair of " + name +
               " is wrong: it was computed before the row was sorted, or keys after the row were");
  }
  expect(report.started + report.kept == rows, "the kernel made another number of calls than 8");
  expect(r.refused == 0, "a call was refused");
}

int main() { return exercise::run(test); }
