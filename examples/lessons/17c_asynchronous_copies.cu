// SPDX-License-Identifier: BSD-3-Clause
// Lesson 17c: asynchronous copies, and which of them block the host.
//
// Read first     Lesson 17a.
// You will see   a kernel that runs for 100 ms, and a copy after it in the same stream: to pinned
//                memory, and to ordinary memory.
// The rule       A copy between the device and pinned memory is asynchronous: the call returns, and
//                the copy runs in its stream. Other calls, after the reference of the CUDA runtime:
//                  - cudaMemcpy() returns when the host may use its memory again; it does not wait
//                    for a copy from device to device
//                  - a copy from host to host blocks the host, also by cudaMemcpyAsync()
//                  - cudaMemset() does not wait, unless the memory is pinned or managed
// The pitfall    The call cudaMemcpyAsync() does not make a copy asynchronous. If the host's memory
//                is ordinary (pageable) memory, the call may wait for the stream.
// Try            In step 2, copy to `pinned.data()` too. Then no copy blocks the host.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("on the CPU executor every call of the host waits"); }
#else

#include "spin.hpp"

using namespace ramify;

constexpr unsigned ms = 100;
constexpr std::size_t bytes = 1 << 20;

int main() {
  return lesson::run([] {
    const host_stream stream;
    const lesson::device_array<char> memory(bytes);
    const pinned_buffer<char> pinned(bytes);
    std::vector<char> pageable(bytes);
    lesson::launch_spin(nullptr, 0);  // the first launch of a kernel loads it
    check(cudaDeviceSynchronize(), "waiting for the device");

    // Returns whether the copy's call returned only after the kernel before it was complete.
    const auto copy_blocks_host = [&](char* to) {
      lesson::launch_spin(stream.get(), ms);
      check(cudaMemcpyAsync(to, memory.data(), bytes, cudaMemcpyDeviceToHost, stream.get()),
            "copying");
      const bool waited = !lesson::is_busy(stream.get());
      stream.synchronize();
      return lesson::yes_or_no(waited);
    };
    // 1. Only the stream waits.
    std::cout << "a copy to pinned memory blocks the host:   " << copy_blocks_host(pinned.data());
    // 2. The host waits, too.
    std::cout << "\na copy to pageable memory blocks the host: "
              << copy_blocks_host(pageable.data());
    std::cout << '\n';
  });
}
#endif
