// SPDX-License-Identifier: BSD-3-Clause
// Lesson 34: a recursion whose steps are whole algorithms.
//
// You will see   the order of a k-d tree. A sort orders all points along x. Its continuation splits
//                them at the median, and calls a sort of each half along y. The continuations of
//                these sorts split the halves, and call sorts of the quarters along x, and so on.
//                The host starts the first sort, and waits once.
// The rule       A continuation may call, and may name itself as the next continuation: then
//                lesson 32 becomes a recursion. A continuation sees the results of its own call,
//                while other parts are still being sorted. Join: what follows complete_async() in
//                the stream sees the whole tree.
// The pitfall    A continuation that has not begun has a record of the arena, and so has a call
//                that is kept. The recursion doubles them at each level. Without a free record a
//                call is refused, and its part of the tree stays as it is.
// Try            Let `records` be 4.
#include <ramify/quicksort.cuh>
#include <ramify/runtime/call_arena.cuh>
#include <random>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned points = 8'192;
constexpr unsigned leaf_size = 512;
constexpr unsigned levels = 4;
constexpr unsigned records = 64;

struct position {
  float x[2];
};

struct before_along {
  unsigned axis;
  __host__ __device__ bool operator()(const position& a, const position& b) const {
    return a.x[axis] < b.x[axis];
  }
};

using sorts = quicksort_calls<position, no_value, before_along>;
using call_environment = kernel_environment<sorts>;

/// A part of the points: a node of the tree.
struct part {
  position* first;
  unsigned count;
  unsigned level;
};

struct counts {
  unsigned sorts[levels];
  unsigned refused;
};

__global__ void split(part sorted, counts* to, call_environment calls);

/// Calls a sort of a part, and after it split().
__device__ void sort_and_split(const part& p, counts* to, const call_environment& calls) {
  atomicAdd(&to->sorts[p.level], 1u);
  const call_status status = quicksort(p.first, p.count, before_along{p.level % 2},
                                       calls.then(split, {1, 2}, p, to, calls));
  if (status == call_status::refused) atomicAdd(&to->refused, 1u);
}

/// Splits a part at its median. One of two threads continues with each half.
__global__ void split(part sorted, counts* to, call_environment calls) {
  const unsigned half = sorted.count / 2;
  const part mine = threadIdx.x == 0
                        ? part{sorted.first, half, sorted.level + 1}
                        : part{sorted.first + half, sorted.count - half, sorted.level + 1};
  // Base case: a small part is a leaf of the tree.
  if (mine.count > leaf_size) sort_and_split(mine, to, calls);
}

__global__ void begin(part all, counts* to, call_environment calls) {
  sort_and_split(all, to, calls);
}

/// Returns whether no point of the first half is after one of the second half, in each part.
bool is_tree(std::vector<position> all, unsigned level = 0) {
  if (all.size() <= leaf_size) return true;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  const before_along order{level % 2};
  return !order(*std::min_element(middle, all.end(), order),
                *std::max_element(all.begin(), middle, order)) &&
         is_tree({all.begin(), middle}, level + 1) && is_tree({middle, all.end()}, level + 1);
}

int main() {
  return lesson::run([] {
    std::vector<position> random(points);
    std::minstd_rand next;
    for (position& p : random) {
      for (float& x : p.x) x = static_cast<float>(next() % 10'000);
    }
    const lesson::device_array<position> all(random);
    const lesson::device_array<counts> memory(1);

    call_arena arena(sorts(points), {.kept_calls = records});
    check(launch(begin, {1, 1}, nullptr, part{all.data(), points, 0}, memory.data(),
                 arena.environment())
              .code(),
          "launching the kernel that calls first");
    arena.complete_async();

    const counts seen = memory.read()[0];
    for (unsigned level = 0; level < levels; ++level) {
      std::cout << "sorts along "
                << "xy"[level % 2] << " on level " << level << ": " << seen.sorts[level] << '\n';
    }
    std::cout << "refused: " << seen.refused
              << "; the order is that of a tree: " << lesson::yes_or_no(is_tree(all.read()))
              << '\n';
    static_cast<void>(arena.get());
  });
}
