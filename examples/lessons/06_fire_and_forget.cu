// SPDX-License-Identifier: BSD-3-Clause
// Lesson 6: fire and forget.
//
// You will see   a hundred parents, one after another. Each launches A and B, then writes its own P;
//                behind each one the host puts Z. In how many orders do the letters come?
// The rule       A child in cudaStreamFireAndForget may begin at once, waits for nobody, and has no
//                order among its siblings. (A GPU need not show every order that it is free to take.)
// The catch      No event can mark it, so no stream can wait for it. Only the completion of its
//                parent waits, and with it all that comes after the parent: Z is always last.
//                What does not wait is cheap: on an H200 a binary tree of 32,767 grids took 12.8 ms
//                so, and 507 ms through NULL streams.
// Try            In step 1, write `null_stream()`. B never comes before A: three orders at most.
#include <algorithm>
#include <set>

#include "lesson.hpp"

using namespace ramify;
using lesson::diary;

__global__ void child(diary* d, char name) { lesson::write(d, name); }

__global__ void parent(diary* d) {
  for (const char name : {'A', 'B'}) {
    // 1. What CUDA spells child<<<1, 1, 0, cudaStreamFireAndForget>>>(d, name).
    const auto launched = launch(child, {1, 1}, fire_and_forget(), d, name);
    if (!launched) lesson::write(d, '!');
  }
  // 2. The parent goes on. Its children may have begun or not.
  lesson::write(d, 'P');
}

std::string one_run([[maybe_unused]] unsigned number) {
#if !RAMIFY_ON_CUDA
  // The CPU executor draws when grids begin, of what the rules allow; the same for the same seed.
  const cpu::scoped_executor_config config({.order = cpu::schedule::random, .seed = number});
#endif
  const lesson::numbers<diary> d(1);
  check(launch(parent, {1, 1}, nullptr, d.data()).code(), "launching the parent");
  // 3. Behind the parent in the host's stream, so behind its children too.
  check(launch(child, {1, 1}, nullptr, d.data(), 'Z').code(), "launching Z");
  return lesson::text(d.read()[0]);
}

int main() {
  return lesson::run([] {
    std::set<std::string> orders;
    bool all_came = true;
    bool z_was_last = true;
    for (unsigned run = 0; run < 100; ++run) {
      const std::string written = one_run(run);
      orders.insert(written);
      std::string sorted = written;
      std::ranges::sort(sorted);
      all_came = all_came && sorted == "ABPZ";
      z_was_last = z_was_last && written.ends_with('Z');
    }
    std::cout << "A, B, P and Z came in each run: " << (all_came ? "yes" : "no") << '\n'
              << "Z was the last in each run:     " << (z_was_last ? "yes" : "no") << '\n'
              << "orders of A, B and P seen:      " << orders.size() << " (of 6)\n";
  });
}
