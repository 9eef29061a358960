// SPDX-License-Identifier: BSD-3-Clause
// Lesson 17d: stream priorities.
//
// Read first     Lesson 17a.
// You will see   a long grid in a stream of the lowest priority, a small grid launched after it in
//                a stream of the highest priority, and which of them is complete first.
// The rule       The lower number is the higher priority: cudaDeviceGetStreamPriorityRange()
//                returns 0 and a negative number. When blocks wait for a place on a multiprocessor,
//                the blocks of the highest priority get the next place.
// The pitfall    A priority stops no block that runs: the small grid waits until some block of the
//                long one ends. Priorities do not order grids, and do not apply to copies. A kernel
//                cannot create a stream with a priority.
// Try            In step 2, create `high` with `lowest`. The small grid then waits for almost all
//                blocks of the long one.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no priorities"); }
#else

#include "spin.hpp"

using namespace ramify;
using lesson::launch_spin;

int main() {
  return lesson::run([] {
    // 1. The range of priorities of this GPU.
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "querying priorities");
    std::cout << "lowest priority " << lowest << ", highest " << highest << '\n';

    // 2. Two streams.
    cudaStream_t low = nullptr, high = nullptr;
    check(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, lowest), "creating a stream");
    check(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, highest), "creating a stream");
    launch_spin(nullptr, 0);  // the first launch of a kernel loads it
    check(cudaDeviceSynchronize(), "waiting for the device");

    // 3. Launch more blocks of 1 ms than fit on the GPU, then one block in the other stream.
    host_event begin, low_is_complete, high_is_complete;
    begin.record(low);
    launch_spin(low, 1, 16'384);
    low_is_complete.record(low);
    launch_spin(high, 0);
    high_is_complete.record(high);

    // 4. Compare the times on the device.
    const double low_ms = low_is_complete.milliseconds_since(begin);
    const double high_ms = high_is_complete.milliseconds_since(begin);
    std::cout << "the small grid is complete in the first half of the long one: "
              << lesson::yes_or_no(high_ms < low_ms / 2) << '\n';
    check(cudaStreamDestroy(low), "destroying a stream");
    check(cudaStreamDestroy(high), "destroying a stream");
  });
}
#endif
