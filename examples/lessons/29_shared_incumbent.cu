// SPDX-License-Identifier: BSD-3-Clause
// Lesson 29: an incumbent that grids share: branch and bound.
//
// Read first     Lesson 16b.
// You will see   the best items for a knapsack, found by a tree of grids in 10 runs with different
//                orders. Each grid searches one part of the choices. All grids share the incumbent,
//                which is the best choice found so far. A part whose bound, the value that it can
//                reach at most, is below the incumbent's is pruned.
// The rule       Only atomicMax changes the incumbent. So it only grows, and it is always a real
//                choice. A grid may read a stale incumbent, which another grid has already
//                replaced. A stale value is too small and never too large: the grid prunes less,
//                but it prunes no part with a better choice. So the read needs no fence and no
//                order. It must be atomic, though: ThreadSanitizer reports a plain read as a data
//                race. Value and items are one integer, so they always belong together.
// The pitfall    The number of visited nodes depends on the order, the result must not. Therefore
//                parts whose bound equals the incumbent's value are searched, too: of several best
//                choices, every run finds the one with the largest number.
// Plain CUDA     search<<<1, 1, 0, cudaStreamFireAndForget>>>(child, k, out)
// Try            In step 3, read `0u` instead of the incumbent, which is as stale as possible. The
//                result is the same, but nothing is pruned.
#include <ramify/runtime/residency.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned items = 16;
constexpr unsigned grid_depth = 5;  // parts with fewer decisions than this get a grid each

struct knapsack {
  unsigned weight[items];
  unsigned value[items];  // sorted: the first item has the largest value per weight
  unsigned capacity;
};

// A part of the choices: items before `next` are decided. Bit i of `chosen` stands for item i.
struct part {
  unsigned next, value, capacity, chosen;
};

struct results {
  unsigned best;  // the incumbent: value << 16 | chosen
  unsigned nodes;
  unsigned grids;
  unsigned failed;
};

// 1. The bound: the next items fill the remaining capacity, the last of them in part.
__device__ unsigned bound(part p, const knapsack& k) {
  unsigned capacity = p.capacity;
  unsigned value = p.value;
  for (unsigned i = p.next; i < items; ++i) {
    if (k.weight[i] > capacity) return value + k.value[i] * capacity / k.weight[i];
    capacity -= k.weight[i];
    value += k.value[i];
  }
  return value;
}

__global__ void search(part root, knapsack k, results* out) {
  part stack[items + 1] = {root};
  for (unsigned count = 1; count > 0;) {
    const part p = stack[--count];
    atomicAdd(&out->nodes, 1u);
    // 2. The items chosen so far are a choice. It replaces the incumbent if it is better.
    atomicMax(&out->best, p.value << 16 | p.chosen);
    // 3. Bound: read the incumbent, which may be stale.
    const unsigned incumbent = load_relaxed(out->best);
    if (p.next == items || bound(p, k) < incumbent >> 16) continue;
    // 4. Branch: without the next item, and with it if it fits. Near the root each part gets a
    //    grid; other parts, and those whose launch fails, stay in this thread.
    const unsigned weight = k.weight[p.next];
    const part without{p.next + 1, p.value, p.capacity, p.chosen};
    const part with{p.next + 1, p.value + k.value[p.next], p.capacity - weight,
                    p.chosen | 1u << p.next};
    for (const part& child : {without, with}) {
      if (child.chosen != p.chosen && weight > p.capacity) continue;
      bool is_launched = false;
      if (p.next < grid_depth) {
        const auto launched = launch(search, {1, 1}, fire_and_forget(), child, k, out);
        is_launched = bool(launched);
        atomicAdd(is_launched ? &out->grids : &out->failed, 1u);
      }
      if (!is_launched) stack[count++] = child;
    }
  }
}

// Tries all choices. Returns the best one as value << 16 | chosen.
unsigned search_on_host(const knapsack& k) {
  unsigned best = 0;
  for (unsigned chosen = 0; chosen < 1u << items; ++chosen) {
    unsigned weight = 0, value = 0;
    for (unsigned i = 0; i < items; ++i) {
      weight += (chosen >> i & 1) * k.weight[i];
      value += (chosen >> i & 1) * k.value[i];
    }
    if (weight <= k.capacity) best = std::max(best, value << 16 | chosen);
  }
  return best;
}

int main() {
  return lesson::run([] {
    knapsack k{{}, {}, 0};
    // Two items each have the same weight and value. The capacity is the weight of the first eleven
    // items, so there are two best choices, with item 10 or 11, and both reach their bound.
    for (unsigned i = 0; i < items; ++i) {
      const unsigned pair = i / 2;
      k.weight[i] = 30 + pair * 37 % 50;
      k.value[i] = k.weight[i] * (40 - 2 * pair) / 20;
      if (i <= 10) k.capacity += k.weight[i];
    }
    const unsigned expected = search_on_host(k);
    constexpr unsigned runs = 10;
    unsigned right = 0, pruned = 0, grids = 0, failed = 0;
    lesson::repeat(runs, [&] {
      const lesson::device_array<results> memory(1);
      const part all{0, 0, k.capacity, 0};
      check(launch(search, {1, 1}, nullptr, all, k, memory.data()).code(), "launching");
      const results out = memory.read()[0];
      right += out.best == expected ? 1 : 0;
      pruned += out.nodes < (2u << items) / 10 ? 1 : 0;
      grids += out.grids;
      failed += out.failed;
    });
    std::cout << "the best value, by trying all choices:           " << (expected >> 16) << '\n'
              << "runs that find it, and the same items:           " << right << " of " << runs
              << '\n'
              << "runs that visit less than a tenth of the nodes:  " << pruned << " of " << runs
              << '\n'
              << "grids are launched by kernels:                   " << lesson::yes_or_no(grids > 0)
              << "; failed: " << failed << '\n';
  });
}
