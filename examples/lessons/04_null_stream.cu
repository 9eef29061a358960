// SPDX-License-Identifier: BSD-3-Clause
// Lesson 4: the NULL stream of a block.
//
// Read first     Lesson 1.
// You will see   20 runs of two blocks of four threads. Every thread launches a child into the NULL
//                stream. A child writes "(" when it begins, and a child of its own writes ")".
// The rule       The threads of a block share one NULL stream. Children in it run one after
//                another: each begins after the previous one and all grids that it launched are
//                complete.
// The pitfall    A launch that names no stream uses the NULL stream, so children run one after
//                another even where the algorithm does not need that. The NULL stream orders
//                nothing else: the order of the threads is unspecified, and children in the NULL
//                streams of two blocks may run at the same time.
// Try            In step 3, let both blocks write into the log of block 0: `log = logs`. Now up to
//                two children are open at a time, one of each block, because there are two NULL
//                streams. (On a GPU this order is possible but not certain. The CPU executor tries
//                a random order in each run, as RAMIFY_CPU_SCHEDULE=random does for all programs.)
#include "lesson.hpp"

using namespace ramify;
using lesson::letter_log;

__global__ void end(letter_log* log) { lesson::write(log, ')'); }

__global__ void child(letter_log* log) {
  lesson::write(log, '(');
  // 1. The child is complete when its own child is complete. So its ")" comes before the "(" of the
  //    next child in the same stream.
  if (!launch(end, {1, 1}, fire_and_forget(), log)) lesson::write(log, '!');
}

__global__ void parent(letter_log* logs) {
  // 2. Every thread of both blocks launches. In plain CUDA this is child<<<1, 1>>>(log).
  // 3. Each block has a letter_log.
  letter_log* const log = logs + blockIdx.x;
  if (!launch(child, {1, 1}, null_stream(), log)) lesson::write(log, '!');
}

// Returns the maximum number of children that were open at the same time.
int most_at_a_time(const std::string& written) {
  int open = 0;
  int most = 0;
  for (const char c : written) {
    open += c == '(' ? 1 : -1;
    most = std::max(most, open);
  }
  return most;
}

int main() {
  return lesson::run([] {
    std::string written[2];
    int most[2] = {0, 0};
    lesson::repeat(20, [&] {
      const lesson::device_array<letter_log> logs(2);
      check(launch(parent, {2, 4}, nullptr, logs.data()).code(), "launching the parent");
      const auto both = logs.read();
      for (int block = 0; block < 2; ++block) {
        written[block] = lesson::text(both[block]);
        most[block] = std::max(most[block], most_at_a_time(written[block]));
      }
    });
    for (int block = 0; block < 2; ++block) {
      std::cout << "log " << block << ": '" << written[block] << "', at most " << most[block]
                << " open at a time in all runs\n";
    }
  });
}
