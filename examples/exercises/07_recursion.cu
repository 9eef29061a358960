// SPDX-License-Identifier: BSD-3-Clause
// Exercise 7: a kernel launches itself (lesson 9).
//
// Given      A binary tree: the children of node v are 2v and 2v + 1, and nodes from `first_leaf`
//            on have none. The host launches `visit` for node 1.
// Task       Each grid launches a grid of `visit`, {1, 1}, fire_and_forget(), for each child of
//            its node.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned first_leaf = 16;
constexpr unsigned nodes = 2 * first_leaf;

struct results {
  unsigned visits[nodes];
  unsigned beyond;  // visits of nodes that do not exist
  unsigned failures;
};

__global__ void visit(unsigned node, results* r) {
  atomicAdd(node < nodes ? &r->visits[node] : &r->beyond, 1u);
  // HOLE: the base case first, then the recursion.
  // END OF HOLE
}

void test() {
  const exercise::device_array<results> memory(1);
  check(launch(visit, {1, 1}, nullptr, 1u, memory.data()).code(), "launching the root");
  const results r = memory.read()[0];
  unsigned visited = 0;
  for (unsigned node = 1; node < nodes; ++node) {
    expect(r.visits[node] < 2, "node " + std::to_string(node) + " was visited " +
                                   exercise::counted(r.visits[node], "time"));
    visited += r.visits[node];
  }
  expect(r.beyond == 0, exercise::counted(r.beyond, "node") + " visited that do not exist: the " +
                            "leaves have launched grids, too");
  expect(visited != 1, "only the root was visited");
  expect(visited != first_leaf - 1,
         "15 of 31 nodes were visited: the parents of the leaves have "
         "launched nothing");
  expect(visited == nodes - 1,
         std::to_string(visited) + " of 31 nodes were visited: does each " + "grid launch two?");
  expect(r.failures == 0, "a launch failed");
}

int main() { return exercise::run(test, 8); }  // the deepest level is 4
