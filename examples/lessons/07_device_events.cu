// SPDX-License-Identifier: BSD-3-Clause
// Lesson 7: events between the streams of a kernel.
//
// Read first     Lesson 5.
// You will see   a diamond of four children in two streams: A, then B and C side by side, then D.
//
//                     left:   A --- B --- D
//                              \         /
//                     right:    --- C ---
//
// The rule       An event marks the work that is in a stream so far. A stream that waits for an
//                event delays the work that is submitted to it later. The kernel itself does not
//                wait.
// The pitfall    Events of a kernel only order work. They must be created with
//                cudaEventDisableTiming, no thread can wait for them, and only the grid that
//                created them may use them. A wait for an event that was never recorded has no
//                effect, so record first.
// Plain CUDA     child<<<1, 1, 0, left.get()>>>(log, 'A')
// Try            In step 3, let `left` wait for A instead of `right`. C no longer waits for A.
#include "lesson.hpp"

using namespace ramify;
using lesson::letter_log;

__global__ void end(letter_log* log, char name) { lesson::write(log, name); }

// Writes its letter when it begins. A child of its own writes the lower-case letter.
__global__ void child(letter_log* log, char name) {
  lesson::write(log, name);
  const char lower_case = static_cast<char>(name - 'A' + 'a');
  if (!launch(end, {1, 1}, fire_and_forget(), log, lower_case)) lesson::write(log, '!');
}

__global__ void parent(letter_log* log) {
  const device_stream left;
  const device_stream right;
  // 1. cudaEventCreateWithFlags(&event, cudaEventDisableTiming)
  const device_event a_is_complete;
  const device_event c_is_complete;

  // 2. Launch A and record an event after it.
  bool good = bool(launch(child, {1, 1}, left.get(), log, 'A'));
  good = good && a_is_complete.record(left) == cudaSuccess;
  // 3. C waits for the event. B follows A in the same stream.
  good = good && right.wait(a_is_complete.get()) == cudaSuccess;
  good = good && launch(child, {1, 1}, right.get(), log, 'C');
  good = good && launch(child, {1, 1}, left.get(), log, 'B');
  // 4. D follows B in the same stream, and waits for an event after C.
  good = good && c_is_complete.record(right) == cudaSuccess;
  good = good && left.wait(c_is_complete.get()) == cudaSuccess;
  good = good && launch(child, {1, 1}, left.get(), log, 'D');
  if (!good) lesson::write(log, '!');
}

// Returns the letters that the grids of one parent wrote.
std::string run_parent() {
  const lesson::device_array<letter_log> log(1);
  check(launch(parent, {1, 1}, nullptr, log.data()).code(), "launching the parent");
  return lesson::text(log.read()[0]);
}

int main() {
  return lesson::run([] {
    const std::string written = run_parent();
    // Returns whether one child was complete (lower case) before another began (upper case).
    const auto before = [&](char first, char second) {
      return written.find(first) < written.find(second) ? "yes" : "no";
    };
    std::cout << "letters written:  " << written.size() << " (of 8)\n"
              << "A before B:       " << before('a', 'B') << '\n'
              << "A before C:       " << before('a', 'C') << '\n'
              << "B before D:       " << before('b', 'D') << '\n'
              << "C before D:       " << before('c', 'D') << '\n';
#if !RAMIFY_ON_CUDA
    // 5. B and C have no order: on the CPU executor, 20 runs show both.
    bool b_first = false, c_first = false;
    lesson::repeat(20, [&] {
      const std::string letters = run_parent();
      b_first = b_first || letters.find('B') < letters.find('C');
      c_first = c_first || letters.find('C') < letters.find('B');
    });
    std::cout << "B or C first:     " << (b_first ? "B" : "") << (c_first ? "C" : "") << '\n';
#endif
  });
}
