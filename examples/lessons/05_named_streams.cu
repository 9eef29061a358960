// SPDX-License-Identifier: BSD-3-Clause
// Lesson 5: named streams.
//
// You will see   a thread that puts children A and B into one stream, C and D into another. A child
//                writes its letter when it begins, and a child of its own writes the small letter.
// The rule       Children in one stream run one after another; two streams do not wait for each
//                other. In a kernel a stream must be made with cudaStreamNonBlocking.
// The catch      A stream belongs to the grid that made it: to all its threads, and to nobody else.
//                Handed to a child it is undefined; the CPU executor says who did it. Nor is a stream
//                free: 132 blocks on an H200 launched 3.2 to 4.9 million grids a second without
//                order (lesson 6), and 1.2 million into named streams.
// Try            In step 3, launch B into `second`. Nothing orders A and B any more.
#include "lesson.hpp"

using namespace ramify;
using lesson::diary;

__global__ void end(diary* d, char name) { lesson::write(d, name); }

__global__ void child(diary* d, char name) {
  lesson::write(d, name);
  // 1. Not complete before this one is.
  const char small = static_cast<char>(name - 'A' + 'a');
  if (!launch(end, {1, 1}, fire_and_forget(), d, small)) lesson::write(d, '!');
}

__global__ void parent(diary* ab, diary* cd) {
  // 2. cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), and cudaStreamDestroy at the end of
  //    the scope, which takes the handle; the work in the stream goes on.
  const device_stream first;
  const device_stream second;
  // 3. A before B, C before D, and no more than that.
  if (!launch(child, {1, 1}, first.get(), ab, 'A')) lesson::write(ab, '!');
  if (!launch(child, {1, 1}, first.get(), ab, 'B')) lesson::write(ab, '!');
  if (!launch(child, {1, 1}, second.get(), cd, 'C')) lesson::write(cd, '!');
  if (!launch(child, {1, 1}, second.get(), cd, 'D')) lesson::write(cd, '!');
}

#if !RAMIFY_ON_CUDA
// The wrong way, which only the CPU executor may run.
__global__ void uses(cudaStream_t stream, diary* d) {
  if (!launch(end, {1, 1}, stream, d, 'X')) lesson::write(d, '!');
}
__global__ void gives_its_stream_away(diary* d) {
  const device_stream mine;
  if (!launch(uses, {1, 1}, fire_and_forget(), mine.get(), d)) lesson::write(d, '!');
}
#endif

int main() {
  return lesson::run([] {
    const lesson::numbers<diary> diaries(2);
    check(launch(parent, {1, 1}, nullptr, diaries.data(), diaries.data() + 1).code(), "launching");
    const auto written = diaries.read();
    std::cout << "A and B: " << lesson::text(written[0]) << '\n'
              << "C and D: " << lesson::text(written[1]) << '\n';
#if !RAMIFY_ON_CUDA
    std::cout << "a stream given to a child: " << lesson::complaint([&] {
      check(launch(gives_its_stream_away, {1, 1}, nullptr, diaries.data()).code(), "launching");
    }) << '\n';
#endif
  });
}
