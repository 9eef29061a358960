// SPDX-License-Identifier: BSD-3-Clause
// Lesson 7: events between the streams of a kernel.
//
// You will see   a diamond of four children in two streams: A, then B and C side by side, then D.
//
//                     left:   A --- B --- D
//                              \         /
//                     right:    --- C ---
//
// The rule       An event marks what is in a stream so far. A stream that waits for it holds up what
//                is put into it later, not the kernel that asks.
// The catch      Events of a kernel order and do nothing else: they must be made with
//                cudaEventDisableTiming, cannot be waited for by a thread, and belong to their grid
//                like streams do. An event that nobody recorded holds up nothing, so record first.
// Try            In step 3, let `left` wait for A instead of `right`. C no longer waits for A.
#include "lesson.hpp"

using namespace ramify;
using lesson::diary;

__global__ void end(diary* d, char name) { lesson::write(d, name); }

// Writes its letter when it begins; a child of its own writes the small letter.
__global__ void child(diary* d, char name) {
  lesson::write(d, name);
  const char small = static_cast<char>(name - 'A' + 'a');
  if (!launch(end, {1, 1}, fire_and_forget(), d, small)) lesson::write(d, '!');
}

__global__ void parent(diary* d) {
  const device_stream left;
  const device_stream right;
  // 1. cudaEventCreateWithFlags(&event, cudaEventDisableTiming)
  const device_event a_is_complete;
  const device_event c_is_complete;

  // 2. A, and a mark behind it.
  bool good = bool(launch(child, {1, 1}, left.get(), d, 'A'));
  good = good && a_is_complete.record(left) == cudaSuccess;
  // 3. C waits for the mark. B is behind A anyway.
  good = good && right.wait(a_is_complete.get()) == cudaSuccess;
  good = good && launch(child, {1, 1}, right.get(), d, 'C');
  good = good && launch(child, {1, 1}, left.get(), d, 'B');
  // 4. D is behind B, and waits for a mark behind C.
  good = good && c_is_complete.record(right) == cudaSuccess;
  good = good && left.wait(c_is_complete.get()) == cudaSuccess;
  good = good && launch(child, {1, 1}, left.get(), d, 'D');
  if (!good) lesson::write(d, '!');
}

int main() {
  return lesson::run([] {
    const lesson::numbers<diary> d(1);
    check(launch(parent, {1, 1}, nullptr, d.data()).code(), "launching the parent");
    const std::string written = lesson::text(d.read()[0]);
    // One is complete (small letter) before the other begins (capital letter).
    const auto before = [&](char first, char second) {
      return written.find(first) < written.find(second) ? "yes" : "no";
    };
    std::cout << "letters written:  " << written.size() << " (of 8)\n"
              << "A before B:       " << before('a', 'B') << '\n'
              << "A before C:       " << before('a', 'C') << '\n'
              << "B before D:       " << before('b', 'D') << '\n'
              << "C before D:       " << before('c', 'D') << '\n';
  });
}
