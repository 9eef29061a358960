// SPDX-License-Identifier: BSD-3-Clause
// Exercise 10: a join by the last child (lesson 27a).
//
// Given      A binary tree of grids. Leaves have values; the value of an inner node is 2 * left -
//            right. Each node has a counter of children that have finished.
// Task       `join` is called by the thread that has finished a node. Walk up the tree: the last
//            of two children to arrive computes the parent's value, and has then finished the
//            parent. No other grid may be launched.
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned first_leaf = 16;  // node v has children 2v and 2v + 1; node 1 is the root

struct tree {
  int values[2 * first_leaf];
  unsigned arrived[2 * first_leaf];   // children that have finished
  unsigned computed[2 * first_leaf];  // how often combine() was called
  unsigned failures;
};

// Computes the value of an inner node.
__device__ void combine(unsigned node, tree* t) {
  atomicAdd(&t->computed[node], 1u);
  t->values[node] = 2 * t->values[2 * node] - t->values[2 * node + 1];
}

__device__ void join(unsigned node, tree* t) {
  // HOLE: from `node` up to the root. atomicAdd() returns the value before the addition.
  // END OF HOLE
}

__global__ void solve(unsigned node, tree* t) {
  if (node >= first_leaf) {
    t->values[node] = static_cast<int>(node % 5);
    join(node, t);
    return;
  }
  for (unsigned child = 2 * node; child <= 2 * node + 1; ++child) {
    if (!launch(solve, {1, 1}, fire_and_forget(), child, t)) atomicAdd(&t->failures, 1u);
  }
}

int value_on_host(unsigned node) {
  if (node >= first_leaf) return static_cast<int>(node % 5);
  return 2 * value_on_host(2 * node) - value_on_host(2 * node + 1);
}

void test() {
  const exercise::device_array<tree> memory(1);
  check(launch(solve, {1, 1}, nullptr, 1u, memory.data()).code(), "launching the root");
  const tree t = memory.read()[0];
  for (unsigned node = first_leaf - 1; node >= 1; --node) {
    const std::string name = "node " + std::to_string(node);
    expect(t.computed[node] != 0, name + " was not computed: the walk ends before the root, or " +
                                      "no child was the last one");
    expect(t.computed[node] == 1, name + " was computed " + std::to_string(t.computed[node]) +
                                      " times: only the last child to arrive may do it");
    expect(t.values[node] == value_on_host(node),
           name + " has a wrong value: the first child has computed it, without its sibling, or " +
               "its value was not visible yet");
  }
  expect(t.failures == 0, "a launch failed");
}

int main() { return exercise::run(test); }
