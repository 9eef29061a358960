// SPDX-License-Identifier: BSD-3-Clause
// Lesson 4: the NULL stream of a block.
//
// You will see   two blocks of four threads; every thread launches a child into the NULL stream. A
//                child writes "(" when it begins, and a child of its own writes ")".
// The rule       A block has one NULL stream for all its threads. Children in it run one after
//                another: each begins when the one before it is complete, with all that it launched.
// The catch      It is what a launch gets that names no stream, so children wait for one another
//                where nobody needs it. And it orders no more than that: which thread comes first is
//                open, and children in the NULL stream of another block do not wait at all.
// Try            In step 3, let both blocks write into `diaries`. Now up to two children are open at
//                a time, one of each block. Never more: there are two NULL streams.
#include "lesson.hpp"

using namespace ramify;
using lesson::diary;

__global__ void end(diary* d) { lesson::write(d, ')'); }

__global__ void child(diary* d) {
  lesson::write(d, '(');
  // 1. The child is complete when its own child is. So a ")" comes before whatever waits for it.
  if (!launch(end, {1, 1}, fire_and_forget(), d)) lesson::write(d, '!');
}

__global__ void parent(diary* diaries) {
  // 2. What CUDA spells child<<<1, 1>>>(...), in every thread of both blocks.
  // 3. Each block has a diary.
  diary* const d = diaries + blockIdx.x;
  if (!launch(child, {1, 1}, null_stream(), d)) lesson::write(d, '!');
}

// How many children are open at a time, at most.
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
    const lesson::numbers<diary> diaries(2);
    check(launch(parent, {2, 4}, nullptr, diaries.data()).code(), "launching the parent");
    int block = 0;
    for (const diary& d : diaries.read()) {
      const std::string written = lesson::text(d);
      std::cout << "diary " << block++ << ": '" << written << "', at most "
                << most_at_a_time(written) << " open at a time\n";
    }
  });
}
