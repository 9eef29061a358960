// SPDX-License-Identifier: BSD-3-Clause
// Lesson 21: measure, then choose.
//
// You will see   one recursion over a tree of 255 nodes, done three ways: a grid for each node,
//                launched by kernels (device route); a grid for each level, launched by the host
//                (flat route); and a function on the CPU. Each is timed, and the quickest chosen.
// The rule       Dynamic parallelism is a means. For a small problem the CPU may be done before the
//                first grid begins, and for a regular one the host knows the next level without
//                asking. Time all that you could do instead, up to the result in the host's hands.
// The catch      The first run is not like the others: the driver sets up the pool of pending
//                launches then. Take the best of several runs, or their median, never the first.
//                (Without a GPU the grids are the CPU executor's, and so are their times.)
// Try            Write `rounds = 5000`: more work in each node, and on a GPU another choice, maybe.
#include <algorithm>
#include <chrono>
#include <functional>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned levels = 8;
constexpr unsigned end = 1u << levels;  // nodes are 1 to 255; the children of n are 2 n and 2 n + 1
constexpr unsigned rounds = 50;         // of work in each node

__host__ __device__ unsigned work(unsigned node) {
  unsigned x = node;
  for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  return x >> 16;
}

struct result {
  unsigned sum;
  unsigned failed;  // launches
};

// 1. Device route: the tree is found out by the grids.
__global__ void visit(unsigned node, result* out) {
  atomicAdd(&out->sum, work(node));
  for (unsigned child = 2 * node; child < end && child <= 2 * node + 1; ++child) {
    if (!launch(visit, {1, 1}, fire_and_forget(), child, out)) atomicAdd(&out->failed, 1u);
  }
}
void device_route(result* out) {
  check(launch(visit, {1, 1}, nullptr, 1u, out).code(), "launching the root");
}

// 2. Flat route: the host knows how many nodes a level has.
__global__ void visit_level(unsigned first, result* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < first) atomicAdd(&out->sum, work(first + i));
}
void flat_route(result* out) {
  for (unsigned first = 1; first < end; first *= 2) {
    const unsigned blocks = (first + 31) / 32;
    check(launch(visit_level, {blocks, 32}, nullptr, first, out).code(), "launching a level");
  }
}

// 3. No grids at all.
unsigned on_the_cpu(unsigned node) {
  return node < end ? work(node) + on_the_cpu(2 * node) + on_the_cpu(2 * node + 1) : 0;
}

struct outcome {
  const char* name;
  unsigned sum;
  double us;  // the best of ten runs after one that does not count
};

outcome measure(const char* name, const std::function<result()>& run) {
  using clock = std::chrono::steady_clock;
  outcome best{name, 0, 1e30};
  for (int i = 0; i <= 10; ++i) {
    const auto begin = clock::now();
    const result r = run();
    const std::chrono::duration<double, std::micro> took = clock::now() - begin;
    if (i > 0) best.us = std::min(best.us, took.count());
    best.sum = r.sum + r.failed;  // a launch that failed is a wrong sum
  }
  std::cout << name << ": " << best.us << " us, sum " << best.sum << '\n';
  return best;
}

int main() {
  return lesson::run([] {
    // 4. Memory to begin with and the result at the end are part of what it costs.
    const auto on_grids = [](void (*route)(result*)) {
      return [route] {
        const lesson::numbers<result> memory(1);
        route(memory.data());
        return memory.read()[0];
      };
    };
    const outcome all[] = {
        measure("a grid for each node", on_grids(device_route)),
        measure("a grid for each level", on_grids(flat_route)),
        measure("a function on the CPU",
                [] {
                  return result{on_the_cpu(1), 0};
                }),
    };
    const bool same = all[0].sum == all[1].sum && all[1].sum == all[2].sum;
    // 5. Choose. Ramify's automatic route does so without a trial: it knows what launches cost on
    //    this GPU (route_plan.hpp), and how many each route takes.
    const auto& best = *std::ranges::min_element(all, {}, &outcome::us);
    std::cout << "same sum three times: " << (same ? "yes" : "no") << '\n'
              << "on this machine, take: " << best.name << '\n';
  });
}
