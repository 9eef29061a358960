// SPDX-License-Identifier: BSD-3-Clause
// Lesson 34: a recursion whose steps are whole algorithms.
//
// Read first     Lessons 9 and 32.
// You will see   the order of a k-d tree. A sort orders all points along x. Its continuation splits
//                them at the median, and calls a sort of each half along y. The continuations of
//                these sorts split the halves, and call sorts of the quarters along x, and so on.
//                The host starts the first sort, and waits in get(), after all levels.
// The rule       A continuation may call, and may name itself as the next continuation: then
//                lesson 32 becomes a recursion. A continuation sees the results of its own call,
//                while other parts are still being sorted. Join: what follows complete_async() in
//                the stream sees the whole tree.
// The pitfall    A continuation that has not begun has a record of the arena, and so has a call
//                that is kept. The recursion doubles them at each level. Without a free record a
//                call is refused, and its part of the tree stays as it is.
// Plain CUDA     begin<<<1, 1>>>(part{all.data(), points, 0}, sorts_of_level.data(),
//                arena.environment())
// Try            Let `records` be 4. How many calls are refused depends on which continuations
//                have begun: the number differs from run to run and by schedule, and may be 0. The
//                parts below a refused sort are never called.
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

__global__ void split(part sorted, unsigned* sorts_of_level, call_environment calls);

/// Calls a sort of a part, and after it split(). Counts the sort, unless it is refused.
__device__ void sort_and_split(const part& p, unsigned* sorts_of_level,
                               const call_environment& calls) {
  const call_status status = quicksort(p.first, p.count, before_along{p.level % 2},
                                       calls.then(split, {1, 2}, p, sorts_of_level, calls));
  if (status != call_status::refused) atomicAdd(&sorts_of_level[p.level], 1u);
}

/// Splits a part at its median. One of two threads continues with each half.
__global__ void split(part sorted, unsigned* sorts_of_level, call_environment calls) {
  const unsigned half = sorted.count / 2;
  const part mine = threadIdx.x == 0
                        ? part{sorted.first, half, sorted.level + 1}
                        : part{sorted.first + half, sorted.count - half, sorted.level + 1};
  // Base case: a small part is a leaf of the tree.
  if (mine.count > leaf_size) sort_and_split(mine, sorts_of_level, calls);
}

__global__ void begin(part all, unsigned* sorts_of_level, call_environment calls) {
  sort_and_split(all, sorts_of_level, calls);
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
    const lesson::device_array<unsigned> sorts_of_level(levels);

    call_arena arena(sorts(points), {.kept_calls = records});
    check(launch(begin, {1, 1}, nullptr, part{all.data(), points, 0}, sorts_of_level.data(),
                 arena.environment())
              .code(),
          "launching the kernel that calls first");
    arena.complete_async();
    const call_report report = arena.get();  // waits, and throws if a launch or a kernel has failed

    const std::vector<unsigned> seen = sorts_of_level.read();
    for (unsigned level = 0; level < levels; ++level) {
      std::cout << "sorts along "
                << "xy"[level % 2] << " on level " << level << ": " << seen[level] << '\n';
    }
    std::cout << "refused: " << report.refused
              << "; the order is that of a tree: " << lesson::yes_or_no(is_tree(all.read()))
              << '\n';
  });
}
