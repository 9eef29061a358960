// SPDX-License-Identifier: BSD-3-Clause
// Exercise 17: rounds (lesson 8).
//
// Given      Four blocks run a round of a computation: each writes its cell from the cells that
//            all blocks wrote in the round before. A block cannot wait for the other blocks.
// Task       Let each round launch the next one, {blocks, 1}, until `rounds` rounds have run.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned blocks = 4;
constexpr unsigned rounds = 5;

struct results {
  unsigned cells[rounds + 1][blocks];
  unsigned blocks_of[4 * rounds];  // blocks that ran in each round
  unsigned failures;
};

__global__ void step(unsigned round, results* r) {
  atomicAdd(&r->blocks_of[round < 4 * rounds ? round : 0], 1u);
  if (round <= rounds) {
    unsigned sum = blockIdx.x;
    for (const unsigned cell : r->cells[round - 1]) sum += cell;
    r->cells[round][blockIdx.x] = sum;
  }
  // HOLE: the next round is `step` with round + 1.
  // END OF HOLE
}

void test() {
  const exercise::device_array<results> memory(1);
  check(launch(step, {blocks, 1}, nullptr, 1u, memory.data()).code(), "launching round 1");
  const results r = memory.read()[0];
  unsigned sum = 0;  // of the cells of the last round
  for (unsigned round = 1; round <= rounds; ++round) sum = 4 * sum + 6;
  unsigned found = 0;
  for (const unsigned cell : r.cells[rounds]) found += cell;
  for (unsigned round = 1; round <= rounds; ++round) {
    const std::string name = "round " + std::to_string(round);
    expect(r.blocks_of[round] != 0, name + " did not run");
    expect(r.blocks_of[round] == blocks,
           name + " ran with " + exercise::counted(r.blocks_of[round], "block") +
               ", not 4: one thread of the whole grid launches the next round");
  }
  expect(r.blocks_of[rounds + 1] == 0, "round 6 ran, but there are 5");
  expect(found == sum, "the cells are wrong: a round began before all blocks of the round before " +
                           std::string("had ended"));
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test, 6); }  // the deepest level is 4
