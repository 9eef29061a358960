// SPDX-License-Identifier: BSD-3-Clause
// Lesson 17e: a stream for each thread of the host.
//
// Read first     Lesson 17a.
// You will see   two threads of the host that each launch a kernel. Each kernel waits until the
//                other one runs, but for 200 ms at most. They meet in the threads' own streams, and
//                not in the NULL stream.
// The rule       All threads of the host share the NULL stream, so their kernels run one after
//                another. cudaStreamPerThread is another stream in each thread. It is a blocking
//                stream: it and the NULL stream wait for each other.
// The pitfall    `nvcc --default-stream per-thread` changes what a launch without a stream means,
//                for the files that it compiles only. Work that one thread has put into its stream
//                is not ordered before work of another thread: wait for it, or use an event.
// Plain CUDA     meet<<<1, 1, 0, stream>>>(memory.data(), 2u, ms)
// Try            In step 3, write `nullptr` instead of `cudaStreamPerThread`. One of the two
//                kernels then waits in vain, as in step 2.
#include <future>

#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("on the CPU executor every call of the host waits"); }
#else

#include "spin.hpp"

using namespace ramify;

constexpr unsigned ms = 200;

struct counters {
  unsigned begun;
  unsigned alone;  // kernels that waited in vain
};

__global__ void meet(counters* counts, unsigned kernels, unsigned milliseconds) {
  atomicAdd(&counts->begun, 1u);
  const auto begin = lesson::now();
  while (atomicAdd(&counts->begun, 0u) < kernels) {
    if (lesson::now() - begin < milliseconds * 1'000'000ull) continue;
    atomicAdd(&counts->alone, 1u);
    return;
  }
}

// 1. Two threads launch a kernel each into the stream that `stream` names for them. Returns
//    how many kernels waited in vain.
unsigned kernels_alone(cudaStream_t stream) {
  const lesson::device_array<counters> memory(1);
  check(cudaDeviceSynchronize(), "waiting for the cleared counters");
  const auto launch_one = [&] {
    check(launch(meet, {1, 1}, stream, memory.data(), 2u, ms).code(), "launching a kernel");
    check(cudaStreamSynchronize(stream), "waiting for the kernel");
  };
  auto first = std::async(std::launch::async, launch_one);
  auto second = std::async(std::launch::async, launch_one);
  first.get();
  second.get();
  return memory.read()[0].alone;
}

int main() {
  return lesson::run([] {
    const lesson::device_array<counters> memory(1);
    check(launch(meet, {1, 1}, nullptr, memory.data(), 1u, 0u).code(), "loading the kernel");
    check(cudaDeviceSynchronize(), "waiting for the device");
    // 2. Both threads use the NULL stream.
    std::cout << "the NULL stream of all threads:   " << kernels_alone(nullptr)
              << " of 2 kernels waited in vain\n";
    // 3. Each thread uses its own stream.
    const unsigned alone = kernels_alone(cudaStreamPerThread);
    std::cout << "the stream that each thread has:  " << alone << " of 2 kernels waited in vain\n";
  });
}
#endif
