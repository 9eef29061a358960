// SPDX-License-Identifier: BSD-3-Clause
// Lesson 21: measure, then choose.
//
// Read first     Lessons 9 and 16a.
// You will see   one recursion over a tree of 255 nodes in three versions: one grid per node,
//                launched by kernels (device route); one grid per level, launched by the host (flat
//                route); and a function on the CPU. The lesson times each and chooses the fastest.
// The rule       Dynamic parallelism is one option among several. For a small problem the CPU may
//                finish before the first grid begins. For a regular problem the host can compute
//                the next level itself. Time all alternatives, up to the result in host memory.
// The pitfall    The first run is slower: the driver then sets up the pool of pending launches.
//                Take the best of several runs, or their median, never the first. (Without a GPU
//                the times are those of the CPU executor.)
// Plain CUDA     visit<<<1, 1, 0, cudaStreamFireAndForget>>>(child, out)
// Try            Write `rounds = 20000`. Each node then has more work. On a GPU the function on the
//                CPU is then no longer the fastest: the nodes of a level run at the same time.
#include <algorithm>
#include <chrono>
#include <functional>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned levels = 8;
constexpr unsigned end = 1u << levels;  // nodes are 1 to 255; the children of n are 2 n and 2 n + 1
constexpr unsigned rounds = 5;          // iterations of work in each node

__host__ __device__ unsigned work(unsigned node) {
  unsigned x = node;
  for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  return x >> 16;
}

struct result {
  unsigned sum;
  unsigned failed;  // launches
};

// 1. Device route: the grids discover the tree.
__global__ void visit(unsigned node, result* out) {
  atomicAdd(&out->sum, work(node));
  for (unsigned child = 2 * node; child < end && child <= 2 * node + 1; ++child) {
    if (!launch(visit, {1, 1}, fire_and_forget(), child, out)) atomicAdd(&out->failed, 1u);
  }
}
void device_route(result* out) {
  check(launch(visit, {1, 1}, nullptr, 1u, out).code(), "launching the root");
}

// 2. Flat route: the host computes the number of nodes of each level.
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

// 3. On the CPU, without grids.
unsigned on_the_cpu(unsigned node) {
  return node < end ? work(node) + on_the_cpu(2 * node) + on_the_cpu(2 * node + 1) : 0;
}

struct outcome {
  const char* name;
  unsigned sum;
  double us;  // the best of ten runs, after one warm-up run
};

outcome measure(const char* name, const std::function<result()>& run) {
  using clock = std::chrono::steady_clock;
  outcome best{name, 0, 1e30};
  for (int i = 0; i <= 10; ++i) {
    const auto begin = clock::now();
    const result r = run();
    const std::chrono::duration<double, std::micro> elapsed = clock::now() - begin;
    if (i > 0) best.us = std::min(best.us, elapsed.count());
    best.sum = r.sum + r.failed;  // a failed launch makes the sum wrong
  }
  std::cout << name << ": " << best.us << " us, sum " << best.sum << '\n';
  return best;
}

int main() {
  return lesson::run([] {
    // 4. The time includes the allocation of memory and the copy of the result.
    const auto on_grids = [](void (*route)(result*)) {
      return [route] {
        const lesson::device_array<result> memory(1);
        route(memory.data());
        return memory.read()[0];
      };
    };
    const outcome all[] = {
        measure("one grid per node", on_grids(device_route)),
        measure("one grid per level", on_grids(flat_route)),
        measure("a function on the CPU",
                [] {
                  return result{on_the_cpu(1), 0};
                }),
    };
    const bool same = all[0].sum == all[1].sum && all[1].sum == all[2].sum;
    // 5. Choose. Ramify's automatic route chooses without a trial run: it multiplies the number of
    //    launches of each route by their measured cost on this GPU (route_plan.hpp).
    const auto& best = *std::ranges::min_element(all, {}, &outcome::us);
    const auto is_slower = [&](const outcome& o) { return o.name == best.name || o.us > best.us; };
    std::cout << "all three sums are equal: " << (same ? "yes" : "no") << '\n'
              << "the fastest on this machine: " << best.name << '\n'
              << "the others are slower: " << lesson::yes_or_no(std::ranges::all_of(all, is_slower))
              << '\n';
  });
}
