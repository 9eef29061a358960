// SPDX-License-Identifier: BSD-3-Clause
// Lesson 17a: the host's streams, and which of them wait for which.
//
// Read first     Lesson 4.
// You will see   a kernel that runs for 100 ms in one stream, and whether the NULL stream waits for
//                it.
// The rule       The NULL stream and the blocking streams wait for one another. A non-blocking
//                stream (cudaStreamNonBlocking) waits for no other stream, unless the host makes it
//                wait for an event (lesson 17b). cudaStreamPerThread is a blocking stream that each
//                thread of the host has for itself; `nvcc --default-stream per-thread` makes it the
//                stream of launches that name none.
// The pitfall    cudaStreamCreate() makes a blocking stream. One launch into the NULL stream then
//                runs between the grids of all such streams, and they no longer overlap.
// Try            In step 2, write `blocking` instead of `stream.get()` in `launch_spin`. The NULL
//                stream then waits.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("on the CPU executor every call of the host waits"); }
#else

#include "spin.hpp"

using namespace ramify;
using lesson::is_busy, lesson::launch_spin;

constexpr unsigned ms = 100;

int main() {
  return lesson::run([] {
    cudaStream_t blocking = nullptr;
    check(cudaStreamCreate(&blocking), "creating a blocking stream");
    const host_stream stream;  // a non-blocking stream
    launch_spin(nullptr, 0);   // the first launch of a kernel loads it
    check(cudaDeviceSynchronize(), "waiting for the device");

    // 1. Launch a kernel in the NULL stream after a long one in a blocking stream.
    launch_spin(blocking, ms);
    launch_spin(nullptr, 0);
    check(cudaStreamSynchronize(nullptr), "waiting for the NULL stream");
    std::cout << "the NULL stream waits for a blocking stream:     "
              << lesson::yes_or_no(!is_busy(blocking)) << '\n';

    // 2. Do the same with a non-blocking stream.
    launch_spin(stream.get(), ms);
    launch_spin(nullptr, 0);
    check(cudaStreamSynchronize(nullptr), "waiting for the NULL stream");
    const bool waited = !is_busy(stream.get()) && !is_busy(blocking);
    std::cout << "the NULL stream waits for a non-blocking stream: " << lesson::yes_or_no(waited)
              << '\n';
    stream.synchronize();
    check(cudaStreamDestroy(blocking), "destroying a stream");
  });
}
#endif
