// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20a: where data can be: device, managed, pinned and ordinary memory.
//
// You will see   the same parent and child working on four kinds of memory, and a prefetch of one
//                kind.
// The rule       Kernels can access device, managed and pinned memory, and pass pointers to all of
//                them to their children. They can access ordinary memory from malloc() only if the
//                system can map it for the GPU.
// The pitfall    Accessible memory is not always fast. Each read of pinned memory crosses the link.
//                Managed memory moves page by page when it is touched, unless it was prefetched.
// Try            In step 3, prefetch to `host()`. The output reports it. The kernels are still
//                right, but the memory moves to the GPU only when they touch it.
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

// The host writes these numbers before the parent runs. print_check() checks them afterwards.
void fill(int* data) { std::iota(data, data + n, 0); }
int* run_parent(int* data) {
  check(launch(parent, {1, 1}, nullptr, data).code(), "launching the parent");
  check(cudaDeviceSynchronize(), "waiting for kernels");
  return data;
}
void print_check(const char* kind, const int* data) {
  bool right = data[0] == 2;
  for (int i = 1; i < n; ++i) right = right && data[i] == 2 * i;
  std::cout << kind << (right ? "right" : "wrong") << '\n';
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "querying an attribute");
  return value;
}

// CUDA 13 describes locations in a struct. Before, a location was a device number, and the host had
// one too.
#if CUDART_VERSION >= 13000
cudaMemLocation location(cudaMemLocationType type) { return {type, 0}; }
cudaMemLocation device() { return location(cudaMemLocationTypeDevice); }
cudaMemLocation host() { return location(cudaMemLocationTypeHost); }
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
    // 1. The host cannot access device memory, so it copies to it and from it.
    const lesson::device_array<int> on_device(n);
    std::vector<int> copy(n);
    fill(copy.data());
    check(cudaMemcpy(on_device.data(), copy.data(), bytes, cudaMemcpyDefault), "copying");
    run_parent(on_device.data());
    print_check("device memory:   ", on_device.read().data());

    // 2. Pinned memory stays on the host. Kernels read and write it there.
    const pinned_buffer<int> pinned(n);
    fill(pinned.data());
    print_check("pinned memory:   ", run_parent(pinned.data()));

    // 3. Managed memory moves to the processor that touches it. Advice and prefetches move it in
    //    advance; they need a system where host and device may access it at the same time.
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
            "querying the location");
      std::cout << "managed memory:  prefetched to " << (where == 0 ? "the device" : "the host")
                << '\n';
    } else {
      std::cout << "managed memory:  prefetches are not possible here\n";
    }
    print_check("managed memory:  ", run_parent(managed));
    check(cudaFree(managed), "freeing managed memory");

    // 4. If the GPU cannot map ordinary memory, a kernel that touches it fails.
    const std::unique_ptr<int, void (*)(void*)> ordinary(static_cast<int*>(std::malloc(bytes)),
                                                         std::free);
    if (ordinary == nullptr) throw std::bad_alloc();
    if (attribute(cudaDevAttrPageableMemoryAccess) != 0) {
      fill(ordinary.get());
      print_check("ordinary memory: ", run_parent(ordinary.get()));
    } else {
      std::cout << "ordinary memory: not accessible to kernels here\n";
    }
  });
}
#endif
