// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20a: where data can be: device, managed, pinned and ordinary memory.
//
// Read first     Lesson 1.
// You will see   the time that the same parent and child need for 64 MiB in each of four kinds of
//                memory.
// The rule       Kernels can access device, managed and pinned memory, and pass pointers to all of
//                them to their children. They can access ordinary memory from malloc() only if the
//                system can map it for the GPU.
// The pitfall    Accessible memory is not always fast. Each read of pinned memory crosses the link.
//                Managed memory moves page by page when it is touched, unless it was prefetched.
// Plain CUDA     child<<<n / 256, 256, 0, cudaStreamFireAndForget>>>(data)
// Try            In step 3, prefetch to `host()`. The memory then moves to the GPU when the child
//                touches it, and the child takes more than three times as long.
#include "lesson.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has one kind of memory"); }
#else

#include "managed.hpp"

using namespace ramify;
using lesson::attribute, lesson::device, lesson::host, lesson::prefetch;

constexpr unsigned n = 1 << 24;
constexpr std::size_t bytes = n * sizeof(unsigned);

__global__ void child(unsigned* data) { data[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
__global__ void parent(unsigned* data, int* failures) {
  if (!launch(child, {n / 256, 256}, fire_and_forget(), data)) *failures += 1;
}

// Doubles numbers in memory of each kind.
struct experiment {
  lesson::device_array<int> failures{1};
  bool all_right = true;
  double device_ms = 0;  // the time in device memory

  static void fill(unsigned* data) { std::iota(data, data + n, 0u); }

  // Runs the parent. Returns the milliseconds until its child is complete.
  double run_parent(unsigned* data) {
    host_event begin, end;
    begin.record();
    check(launch(parent, {1, 1}, nullptr, data, failures.data()).code(), "launching the parent");
    end.record();
    return end.milliseconds_since(begin);
  }
  // Checks the numbers after the parent has run.
  void check_numbers(const unsigned* data) {
    for (unsigned i = 0; i < n; ++i) all_right = all_right && data[i] == 2 * i;
  }
  void print(const char* kind, double ms) const {
    std::cout << kind << ms << " ms, more than three times as long as in device memory: "
              << lesson::yes_or_no(ms > 3 * device_ms) << '\n';
  }
};

int main() {
  return lesson::run([] {
    experiment e;
    // 1. The host cannot access device memory, so it copies to it and from it. The first run does
    //    not count: it loads the kernels.
    const lesson::device_array<unsigned> on_device(n);
    std::vector<unsigned> numbers(n);
    experiment::fill(numbers.data());
    e.run_parent(on_device.data());
    check(cudaMemcpy(on_device.data(), numbers.data(), bytes, cudaMemcpyDefault), "copying");
    e.device_ms = e.run_parent(on_device.data());
    e.check_numbers(on_device.read().data());
    std::cout << "device memory:   " << e.device_ms << " ms\n";

    // 2. Pinned memory stays on the host. Kernels read and write it there.
    const pinned_buffer<unsigned> pinned(n);
    experiment::fill(pinned.data());
    e.print("pinned memory:   ", e.run_parent(pinned.data()));
    e.check_numbers(pinned.data());

    // 3. Managed memory moves to the processor that touches it. A prefetch moves it in advance; it
    //    needs a system where host and device may access the memory at the same time.
    unsigned* managed = nullptr;
    check(cudaMallocManaged(&managed, bytes), "allocating managed memory");
    experiment::fill(managed);
    if (attribute(cudaDevAttrConcurrentManagedAccess) != 0) {
      check(prefetch(managed, bytes, device()), "prefetching");
      check(cudaDeviceSynchronize(), "waiting for the prefetch");
      e.print("managed memory:  ", e.run_parent(managed));
    } else {
      e.run_parent(managed);
      std::cout << "managed memory:  prefetches are not possible here\n";
    }
    e.check_numbers(managed);
    check(cudaFree(managed), "freeing managed memory");

    // 4. If the GPU cannot map ordinary memory, a kernel that touches it fails. No CUDA call works
    //    afterwards, so this comes last.
    const int failures = e.failures.read()[0];
    const std::unique_ptr<unsigned, void (*)(void*)> ordinary(
        static_cast<unsigned*>(std::malloc(bytes)), std::free);
    if (ordinary == nullptr) throw std::bad_alloc();
    experiment::fill(ordinary.get());
    if (attribute(cudaDevAttrPageableMemoryAccess) != 0) {
      std::cout << "ordinary memory: " << e.run_parent(ordinary.get()) << " ms\n";
      e.check_numbers(ordinary.get());
    } else {
      check(launch(parent, {1, 1}, nullptr, ordinary.get(), e.failures.data()).code(), "launching");
      std::cout << "ordinary memory: the system cannot map it; a kernel that touches it fails: "
                << lesson::yes_or_no(cudaDeviceSynchronize() == cudaErrorIllegalAddress) << '\n';
    }
    std::cout << "all numbers are right: " << lesson::yes_or_no(e.all_right)
              << ", launches that failed: " << failures << '\n';
  });
}
#endif
