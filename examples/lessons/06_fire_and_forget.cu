// SPDX-License-Identifier: BSD-3-Clause
// Lesson 6: fire-and-forget launches.
//
// Read first     Lesson 4.
// You will see   a hundred runs. In each the host launches a parent and then Z; the parent launches
//                A and B, and writes P itself. The lesson counts the orders in which the letters
//                come.
// The rule       A child in cudaStreamFireAndForget may begin at once, waits for no other grid, and
//                has no order among its siblings. (A GPU need not show every allowed order.)
// The pitfall    No event can mark such a child, so no stream can wait for it alone. Only the
//                completion of its parent includes it. So Z, which follows the parent in the host's
//                stream, is always last. These launches are cheap: on an H200 a binary tree of
//                8,191 grids took 2.66 ms, and 74.6 ms through NULL streams
//                (benchmarks/launches.md).
// Try            In step 1, write `null_stream()`. B never comes before A: three orders at most.
#include <algorithm>
#include <set>

#include "lesson.hpp"

using namespace ramify;
using lesson::letter_log;

__global__ void child(letter_log* log, char name) { lesson::write(log, name); }

__global__ void parent(letter_log* log) {
  for (const char name : {'A', 'B'}) {
    // 1. In plain CUDA: child<<<1, 1, 0, cudaStreamFireAndForget>>>(log, name).
    const auto launched = launch(child, {1, 1}, fire_and_forget(), log, name);
    if (!launched) lesson::write(log, '!');
  }
  // 2. The parent continues. Its children may or may not have begun.
  lesson::write(log, 'P');
}

std::string one_run() {
  const lesson::device_array<letter_log> log(1);
  check(launch(parent, {1, 1}, nullptr, log.data()).code(), "launching the parent");
  // 3. Z follows the parent in the host's stream, and so it also follows the parent's children.
  check(launch(child, {1, 1}, nullptr, log.data(), 'Z').code(), "launching Z");
  return lesson::text(log.read()[0]);
}

int main() {
  return lesson::run([] {
    std::set<std::string> orders;
    bool all_came = true;
    bool z_was_last = true;
    lesson::repeat(100, [&] {
      const std::string written = one_run();
      orders.insert(written);
      std::string sorted = written;
      std::ranges::sort(sorted);
      all_came = all_came && sorted == "ABPZ";
      z_was_last = z_was_last && written.ends_with('Z');
    });
    std::cout << "A, B, P and Z came in each run: " << (all_came ? "yes" : "no") << '\n'
              << "Z was the last in each run:     " << (z_was_last ? "yes" : "no") << '\n'
              << "orders of A, B and P seen:      " << orders.size() << " (of 6)\n";
  });
}
