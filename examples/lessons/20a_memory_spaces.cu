// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20a: where data can lie: device, managed, pinned and ordinary memory.
//
// You will see   the same parent and child working on four kinds of memory, and advice about one.
// The rule       Kernels reach device, managed and pinned memory, and hand pointers to all of them to
//                their children. Ordinary memory from malloc() they reach only where the system can
//                map it for the GPU.
// The catch      Reachable is not fast. Pinned memory is read over the link each time; managed memory
//                moves page by page when it is touched, unless it was prefetched.
// Try            In step 3, prefetch to `host()`. The output says so; the kernels are right all the
//                same, but now the memory goes to the GPU only when they touch it.
#include "lesson.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has one kind of memory"); }
#else

using namespace ramify;

constexpr int n = 1024;
constexpr std::size_t bytes = n * sizeof(int);

__global__ void child(int* data) { data[threadIdx.x] *= 2; }
__global__ void parent(int* data) {
  data[0] += 1;
  if (!launch(child, {1, n}, fire_and_forget(), data)) data[0] = -1;
}

// What the host writes before the parent runs, and what it expects afterwards.
void fill(int* data) { std::iota(data, data + n, 0); }
int* run_parent(int* data) {
  check(launch(parent, {1, 1}, nullptr, data).code(), "launching the parent");
  check(cudaDeviceSynchronize(), "waiting for kernels");
  return data;
}
void look_at(const char* kind, const int* data) {
  bool right = data[0] == 2;
  for (int i = 1; i < n; ++i) right = right && data[i] == 2 * i;
  std::cout << kind << (right ? "right" : "wrong") << '\n';
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "asking for an attribute");
  return value;
}

// CUDA 13 says places in a struct; before, a device had a number, and the host was one of them.
#if CUDART_VERSION >= 13000
cudaMemLocation place(cudaMemLocationType type) { return {type, 0}; }
cudaMemLocation device() { return place(cudaMemLocationTypeDevice); }
cudaMemLocation host() { return place(cudaMemLocationTypeHost); }
cudaError_t prefetch(const void* data, cudaMemLocation to) {
  return cudaMemPrefetchAsync(data, bytes, to, 0, nullptr);
}
#else
int device() { return 0; }
int host() { return cudaCpuDeviceId; }
cudaError_t prefetch(const void* data, int to) {
  return cudaMemPrefetchAsync(data, bytes, to, nullptr);
}
#endif

int main() {
  return lesson::run([] {
    // 1. Device memory: the host cannot reach it, so there and back go copies.
    const lesson::numbers<int> on_device(n);
    std::vector<int> copy(n);
    fill(copy.data());
    check(cudaMemcpy(on_device.data(), copy.data(), bytes, cudaMemcpyDefault), "copying");
    run_parent(on_device.data());
    look_at("device memory:   ", on_device.read().data());

    // 2. Pinned memory stays on the host, and kernels read and write it there.
    const pinned_buffer<int> pinned(n);
    fill(pinned.data());
    look_at("pinned memory:   ", run_parent(pinned.data()));

    // 3. Managed memory goes to whoever touches it. Advice and prefetches say so beforehand; they
    //    need a system where both sides may touch it at a time.
    int* managed = nullptr;
    check(cudaMallocManaged(&managed, bytes), "allocating managed memory");
    fill(managed);
    if (attribute(cudaDevAttrConcurrentManagedAccess) != 0) {
      check(cudaMemAdvise(managed, bytes, cudaMemAdviseSetPreferredLocation, device()), "advising");
      check(prefetch(managed, device()), "prefetching");
      check(cudaDeviceSynchronize(), "waiting for the prefetch");
      int where = 0;
      check(cudaMemRangeGetAttribute(&where, sizeof where,
                                     cudaMemRangeAttributeLastPrefetchLocation, managed, bytes),
            "asking where it went");
      std::cout << "managed memory:  prefetched to " << (where == 0 ? "the device" : "the host")
                << '\n';
    } else {
      std::cout << "managed memory:  prefetches are not possible here\n";
    }
    look_at("managed memory:  ", run_parent(managed));
    check(cudaFree(managed), "freeing managed memory");

    // 4. Ordinary memory. Where the GPU cannot map it, a kernel that touches it fails.
    const std::unique_ptr<int, void (*)(void*)> ordinary(static_cast<int*>(std::malloc(bytes)),
                                                         std::free);
    if (ordinary == nullptr) throw std::bad_alloc();
    if (attribute(cudaDevAttrPageableMemoryAccess) != 0) {
      fill(ordinary.get());
      look_at("ordinary memory: ", run_parent(ordinary.get()));
    } else {
      std::cout << "ordinary memory: out of a kernel's reach here\n";
    }
  });
}
#endif
