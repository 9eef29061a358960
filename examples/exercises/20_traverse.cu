// SPDX-License-Identifier: BSD-3-Clause
// Exercise 20: a traversal with your own functors (algorithms/ramify/traverse/README.md).
//
// Given      Ten numbers. Each node of a tree decides about the next number: taken or not. The
//            root has decided about none, and its sum is 0.
// Task       Count the subsets whose sum is `target`, each once. traverse() visits all nodes and
//            launches all grids. Write its functors: degree(), the number of children, child(), and
//            the value of a visit. A node whose sum is more than `target` needs no children.
#include <ramify/traverse.cuh>

#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned numbers = 10;
constexpr unsigned target = 50;

__host__ __device__ unsigned number(unsigned i) { return 3 + i * 7 % 19; }

struct choice {
  unsigned decided;  // numbers before this one are decided
  unsigned sum;      // of those that are taken
};

struct counts {
  unsigned subsets;
  unsigned nodes;
};

struct expand {
  // HOLE: the children of a choice
  __device__ unsigned degree(const choice& c) const { return 0; }
  __device__ choice child(const choice& c, unsigned i) const { return c; }
};

// The number of subsets that this node stands for: 1 or 0.
__device__ unsigned subsets_at(const choice& c, unsigned degree) {
  return 0;
  // END OF HOLE
}

struct visit {
  __device__ counts operator()(const choice& c, unsigned degree) const {
    return {subsets_at(c, degree), 1};
  }
};
struct add {
  __device__ counts operator()(const counts& a, const counts& b) const {
    return {a.subsets + b.subsets, a.nodes + b.nodes};
  }
};

// Counts on the host: the subsets of all, and the nodes that the traversal must visit.
counts count_on_host(choice c) {
  if (c.decided == numbers) return {c.sum == target ? 1u : 0u, 1};
  if (c.sum > target) return {0, 1};
  const counts without = count_on_host({c.decided + 1, c.sum});
  const counts with = count_on_host({c.decided + 1, c.sum + number(c.decided)});
  return {without.subsets + with.subsets, 1 + without.nodes + with.nodes};
}

void test() {
  const counts found = traverse(choice{0, 0}, expand{}, visit{}, add{}, counts{0, 0}).value;
  const counts right = count_on_host({0, 0});
  const std::string nodes = std::to_string(found.nodes);
  expect(found.nodes > 1, "the root was the only node: it has no children");
  expect(found.nodes <= right.nodes, nodes + " nodes were visited, not " +
                                         std::to_string(right.nodes) +
                                         " or less: sums above the target have children");
  expect(found.subsets <= right.subsets,
         std::to_string(found.subsets) + " subsets were counted, not " +
             std::to_string(right.subsets) + ": several nodes stand for the same subset, or the " +
             "sum of a node is not the target");
  expect(found.subsets == right.subsets,
         std::to_string(found.subsets) + " subsets were counted, not " +
             std::to_string(right.subsets) + ": a child is missing, or has a wrong sum");
}

int main() { return exercise::run(test); }
