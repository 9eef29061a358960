// SPDX-License-Identifier: BSD-3-Clause
// Lesson 5: named streams.
//
// Read first     Lesson 4.
// You will see   a thread that launches children A and B into one stream, C and D into another. A
//                child writes its letter when it begins, and a child of its own writes the
//                lower-case letter. On the CPU executor, 20 runs with other orders show that the
//                two streams do not wait for each other.
// The rule       Children in one stream run one after another. Two streams are independent. In a
//                kernel a stream must be created with cudaStreamNonBlocking.
// The pitfall    All threads of the grid that created a stream may use it, and no other grid may.
//                In a child its use is undefined behavior; the CPU executor reports it. Named
//                streams also cost time: 132 blocks on an H200 launched 4.3 million grids a second
//                with fire-and-forget (lesson 6), and 1.6 million into named streams
//                (benchmarks/launches.md).
// Plain CUDA     child<<<1, 1, 0, first.get()>>>(log, 'B')
// Try            In step 3, launch B into `second`. Now A and B have no order.
#include "lesson.hpp"

using namespace ramify;
using lesson::letter_log;

__global__ void end(letter_log* log, char name) { lesson::write(log, name); }

__global__ void child(letter_log* log, char name) {
  lesson::write(log, name);
  // 1. This grid is complete only after its own child is complete.
  const char lower_case = static_cast<char>(name - 'A' + 'a');
  if (!launch(end, {1, 1}, fire_and_forget(), log, lower_case)) lesson::write(log, '!');
}

__global__ void parent(letter_log* log) {
  // 2. The constructor calls cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking). The
  //    destructor calls cudaStreamDestroy, which releases the handle; the work in the stream still
  //    completes.
  const device_stream first;
  const device_stream second;
  // 3. A runs before B, and C before D. There is no other order.
  bool good = bool(launch(child, {1, 1}, first.get(), log, 'A'));
  good = launch(child, {1, 1}, first.get(), log, 'B') && good;
  good = launch(child, {1, 1}, second.get(), log, 'C') && good;
  good = launch(child, {1, 1}, second.get(), log, 'D') && good;
  if (!good) lesson::write(log, '!');
}

#if !RAMIFY_ON_CUDA
// Only the CPU executor may run the wrong way.
__global__ void uses(cudaStream_t stream, letter_log* log) {
  if (!launch(end, {1, 1}, stream, log, 'X')) lesson::write(log, '!');
}
__global__ void passes_its_stream(letter_log* log) {
  const device_stream mine;
  if (!launch(uses, {1, 1}, fire_and_forget(), mine.get(), log)) lesson::write(log, '!');
}
#endif

// Returns the letters that the grids of one parent wrote.
std::string run_parent() {
  const lesson::device_array<letter_log> log(1);
  check(launch(parent, {1, 1}, nullptr, log.data()).code(), "launching");
  return lesson::text(log.read()[0]);
}

// Returns those of the letters that are in `chosen`.
std::string only(std::string_view chosen, std::string letters) {
  std::erase_if(letters, [&](char letter) { return chosen.find(letter) == chosen.npos; });
  return letters;
}

int main() {
  return lesson::run([] {
    const std::string written = run_parent();
    std::cout << "A and B: " << only("AaBb!", written) << '\n'
              << "C and D: " << only("CcDd!", written) << '\n';
#if !RAMIFY_ON_CUDA
    // 4. In some run the second stream begins before the first has ended.
    bool overlap = false;
    lesson::repeat(20, [&] {
      const std::string letters = run_parent();
      overlap = overlap || letters.find('C') < letters.find('b');
    });
    std::cout << "C began before B was complete, in some run: " << lesson::yes_or_no(overlap)
              << '\n';
    const lesson::device_array<letter_log> logs(1);
    std::cout << "a stream passed to a child: " << lesson::violation([&] {
      check(launch(passes_its_stream, {1, 1}, nullptr, logs.data()).code(), "launching");
    }) << '\n';
#endif
  });
}
