// SPDX-License-Identifier: BSD-3-Clause
// Lesson 17: the host's streams, and which of them wait for which.
//
// You will see   a kernel that runs for 100 ms in one stream, and which other work waits for it.
// The rule       The NULL stream and the blocking streams wait for one another. A non-blocking
//                stream waits only for events that it was created to wait for. The priority of a
//                stream decides whose blocks start first when blocks have to wait for an SM.
// The pitfall    An "async" copy from or to pageable memory may block the calling thread. Only
//                copies of pinned memory return at once.
// Try            In step 3, record `end` in `other.get()`. That stream then waits only for itself,
//                and both answers of this step are "no".
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("on the CPU executor every call of the host waits"); }
#else

using namespace ramify;

__device__ unsigned long long nanoseconds() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
// Runs for the given time, independent of all other work.
__global__ void spin(unsigned milliseconds) {
  const auto begin = nanoseconds();
  while (nanoseconds() - begin < milliseconds * 1'000'000ull) {
  }
}

constexpr unsigned ms = 100;

void launch_spin(cudaStream_t stream, unsigned milliseconds, unsigned blocks = 1) {
  check(launch(spin, {blocks, 1024}, stream, milliseconds).code(), "launching a kernel");
}
bool is_busy(cudaStream_t stream) {
  const cudaError_t status = cudaStreamQuery(stream);
  if (status != cudaErrorNotReady) check(status, "querying a stream");
  return status == cudaErrorNotReady;
}
void report(const char* what, bool yes) { std::cout << what << (yes ? "yes" : "no") << '\n'; }

int main() {
  return lesson::run([] {
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "querying priorities");
    cudaStream_t blocking = nullptr, low = nullptr, high = nullptr;
    check(cudaStreamCreate(&blocking), "creating a blocking stream");
    check(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, lowest), "creating a stream");
    check(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, highest), "creating a stream");
    const host_stream stream, other;  // non-blocking streams
    launch_spin(nullptr, 0);          // the first launch of a kernel loads it
    check(cudaDeviceSynchronize(), "waiting for the device");

    // 1. Launch a kernel in the NULL stream after a long one in a blocking stream.
    launch_spin(blocking, ms);
    launch_spin(nullptr, 0);
    check(cudaStreamSynchronize(nullptr), "waiting for the NULL stream");
    report("the NULL stream waits for a blocking stream:     ", !is_busy(blocking));

    // 2. Do the same with a non-blocking stream.
    launch_spin(stream.get(), ms);
    launch_spin(nullptr, 0);
    check(cudaStreamSynchronize(nullptr), "waiting for the NULL stream");
    report("the NULL stream waits for a non-blocking stream: ", !is_busy(stream.get()));
    stream.synchronize();

    // 3. An event marks a point in a stream. Another stream can wait for it, and it has a time.
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin), "creating an event");
    check(cudaEventCreate(&end), "creating an event");
    check(cudaEventRecord(begin, stream.get()), "recording an event");
    launch_spin(stream.get(), ms);
    check(cudaEventRecord(end, stream.get()), "recording an event");
    check(cudaStreamWaitEvent(other.get(), end, 0), "making a stream wait for an event");
    launch_spin(other.get(), 0);
    other.synchronize();
    report("a stream waits for an event of another stream:   ", !is_busy(stream.get()));
    stream.synchronize();
    float between = 0;
    check(cudaEventElapsedTime(&between, begin, end), "reading a time");
    report("the events' time covers the kernel between them: ", between > 0.9F * ms);
    check(cudaEventDestroy(begin), "destroying an event");
    check(cudaEventDestroy(end), "destroying an event");

    // 4. Launch more blocks of 1 ms than fit on the GPU, then one block of higher priority.
    launch_spin(low, 1, 16'384);
    launch_spin(high, 0);
    check(cudaStreamSynchronize(high), "waiting for the stream of high priority");
    report("a stream of higher priority goes first:          ", is_busy(low) && highest < lowest);
    check(cudaStreamSynchronize(low), "waiting for the stream of low priority");

    // 5. Copy after a long kernel. Does the host wait, or only the stream?
    constexpr std::size_t bytes = 1 << 20;
    const lesson::device_array<char> memory(bytes);
    const pinned_buffer<char> pinned(bytes);
    std::vector<char> pageable(bytes);
    check(cudaDeviceSynchronize(), "waiting for the device");
    const auto copy_blocks_host = [&](char* to) {
      launch_spin(stream.get(), ms);
      check(cudaMemcpyAsync(to, memory.data(), bytes, cudaMemcpyDeviceToHost, stream.get()),
            "copying");
      const bool waited = !is_busy(stream.get());
      stream.synchronize();
      return waited;
    };
    report("a copy to pinned memory blocks the host:         ", copy_blocks_host(pinned.data()));
    report("a copy to pageable memory blocks the host:       ", copy_blocks_host(pageable.data()));

    for (const cudaStream_t created : {blocking, low, high}) {
      check(cudaStreamDestroy(created), "destroying a stream");
    }
  });
}
#endif
