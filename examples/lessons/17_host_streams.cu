// SPDX-License-Identifier: BSD-3-Clause
// Lesson 17: the host's streams: who waits for whom.
//
// You will see   a kernel that takes 100 ms in one stream, and what else waits for it meanwhile.
// The rule       The NULL stream and the blocking streams wait for one another; non-blocking streams
//                wait for nobody but an event that they are told to wait for. A stream's priority
//                says whose blocks go first where blocks have to queue.
// The catch      An "async" copy from or to pageable memory may wait in the call. Only copies of
//                pinned memory leave the host free.
// Try            In step 3, record `end` in `other.get()`. That stream then waits for itself only, and
//                both answers of this step are "no".
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
// Takes a time, and ends then whatever happens elsewhere.
__global__ void take(unsigned milliseconds) {
  const auto begin = nanoseconds();
  while (nanoseconds() - begin < milliseconds * 1'000'000ull) {
  }
}

constexpr unsigned ms = 100;

void put(cudaStream_t stream, unsigned milliseconds, unsigned blocks = 1) {
  check(launch(take, {blocks, 1024}, stream, milliseconds).code(), "launching a kernel");
}
bool is_busy(cudaStream_t stream) {
  const cudaError_t status = cudaStreamQuery(stream);
  if (status != cudaErrorNotReady) check(status, "asking a stream");
  return status == cudaErrorNotReady;
}
void say(const char* what, bool so) { std::cout << what << (so ? "yes" : "no") << '\n'; }

int main() {
  return lesson::run([] {
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for priorities");
    cudaStream_t blocking = nullptr, low = nullptr, high = nullptr;
    check(cudaStreamCreate(&blocking), "making a blocking stream");
    check(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, lowest), "making a stream");
    check(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, highest), "making a stream");
    const host_stream stream, other;  // these are non-blocking, too
    put(nullptr, 0);                  // a kernel's first launch loads it, which may wait for others
    check(cudaDeviceSynchronize(), "waiting for the device");

    // 1. A kernel in the NULL stream, behind a long one in a blocking stream.
    put(blocking, ms);
    put(nullptr, 0);
    check(cudaStreamSynchronize(nullptr), "waiting for the NULL stream");
    say("the NULL stream waits for a blocking stream:     ", !is_busy(blocking));

    // 2. The same with a non-blocking stream.
    put(stream.get(), ms);
    put(nullptr, 0);
    check(cudaStreamSynchronize(nullptr), "waiting for the NULL stream");
    say("the NULL stream waits for a non-blocking stream: ", !is_busy(stream.get()));
    stream.synchronize();

    // 3. An event is a mark in a stream. Another stream can wait for it, and it has a time.
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin), "making an event");
    check(cudaEventCreate(&end), "making an event");
    check(cudaEventRecord(begin, stream.get()), "recording an event");
    put(stream.get(), ms);
    check(cudaEventRecord(end, stream.get()), "recording an event");
    check(cudaStreamWaitEvent(other.get(), end, 0), "making a stream wait");
    put(other.get(), 0);
    other.synchronize();
    say("a stream waits for another one's event:          ", !is_busy(stream.get()));
    stream.synchronize();
    float between = 0;
    check(cudaEventElapsedTime(&between, begin, end), "reading a time");
    say("two events are as far apart as what is between:  ", between > 0.9F * ms);
    check(cudaEventDestroy(begin), "destroying an event");
    check(cudaEventDestroy(end), "destroying an event");

    // 4. More blocks than the GPU has room for, of 1 ms each, and then one that may go before them.
    put(low, 1, 16'384);
    put(high, 0);
    check(cudaStreamSynchronize(high), "waiting for the stream of high priority");
    say("a stream of higher priority overtakes:           ", is_busy(low) && highest < lowest);
    check(cudaStreamSynchronize(low), "waiting for the stream of low priority");

    // 5. Copies behind a long kernel. Who has to wait: the host, or only the stream?
    constexpr std::size_t bytes = 1 << 20;
    const lesson::numbers<char> memory(bytes);
    const pinned_buffer<char> pinned(bytes);
    std::vector<char> pageable(bytes);
    check(cudaDeviceSynchronize(), "waiting for the device");
    const auto call_waits = [&](char* to) {
      put(stream.get(), ms);
      check(cudaMemcpyAsync(to, memory.data(), bytes, cudaMemcpyDeviceToHost, stream.get()),
            "copying");
      const bool waited = !is_busy(stream.get());
      stream.synchronize();
      return waited;
    };
    say("a copy to pinned memory waits in the call:       ", call_waits(pinned.data()));
    say("a copy to pageable memory waits in the call:     ", call_waits(pageable.data()));

    for (const cudaStream_t made : {blocking, low, high}) {
      check(cudaStreamDestroy(made), "destroying a stream");
    }
  });
}
#endif
