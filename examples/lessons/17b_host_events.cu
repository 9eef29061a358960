// SPDX-License-Identifier: BSD-3-Clause
// Lesson 17b: the host's events, which order streams and measure time.
//
// Read first     Lesson 17a.
// You will see   a kernel that runs for 100 ms between two events, and a second stream that waits
//                for the second event.
// The rule       An event marks the work that is in a stream so far. Another stream can wait for
//                it, the host can wait for it, and two events have a time between them. An event
//                that only orders is cheaper if it is created with cudaEventDisableTiming.
// The pitfall    cudaStreamWaitEvent() waits for the last record before the call. If the event was
//                not recorded yet, the stream waits for nothing, and no error is returned.
// Try            In step 2, record `end` in `other.get()`. That stream then waits only for itself,
//                and both answers are "no".
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
    const host_stream stream, other;
    launch_spin(nullptr, 0);  // the first launch of a kernel loads it
    check(cudaDeviceSynchronize(), "waiting for the device");
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin), "creating an event");
    check(cudaEventCreate(&end), "creating an event");

    // 1. Record an event, launch the kernel, and record the second event after it.
    check(cudaEventRecord(begin, stream.get()), "recording an event");
    launch_spin(stream.get(), ms);
    // 2. The second event marks the end of the kernel, because it is in the same stream.
    check(cudaEventRecord(end, stream.get()), "recording an event");

    // 3. The other stream waits for the event. The host does not.
    check(cudaStreamWaitEvent(other.get(), end, 0), "making a stream wait for an event");
    launch_spin(other.get(), 0);
    other.synchronize();
    std::cout << "a stream waits for an event of another stream:   "
              << lesson::yes_or_no(!is_busy(stream.get())) << '\n';

    // 4. The time between the events is measured on the device.
    stream.synchronize();
    float between = 0;
    check(cudaEventElapsedTime(&between, begin, end), "reading a time");
    std::cout << "the events' time covers the kernel between them: "
              << lesson::yes_or_no(between > 0.9F * ms) << '\n';
    check(cudaEventDestroy(begin), "destroying an event");
    check(cudaEventDestroy(end), "destroying an event");
  });
}
#endif
