// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20e: memory that is allocated and freed in the order of a stream, and pools.
//
// Read first     Lessons 6 and 17a.
// You will see   an array that the host allocates, gives to a parent and its child, and frees, all
//                without a wait; and what the pool keeps afterwards, with two release thresholds.
// The rule       cudaMallocAsync() and cudaFreeAsync() are work of a stream. Memory may be used
//                after the allocation and before the free, in stream order. A free after a parent
//                grid waits for its children, too, because a grid is complete when they are. A pool
//                keeps freed memory up to its release threshold, for the next allocation.
// The pitfall    The threshold of a new pool, and of the default pool, is 0: at each wait of the
//                host it gives all free memory back to the system, and the next allocation is slow.
//                Work of another stream may use the memory only after an event orders it.
// Plain CUDA     child<<<n / 256, 256, 0, cudaStreamFireAndForget>>>(data, out)
// Try            In step 3, write `threshold = 0`. The pool then keeps nothing.
#include <cstdint>

#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no pools"); }
#else

using namespace ramify;

constexpr unsigned n = 1 << 20;
constexpr std::size_t bytes = n * sizeof(unsigned);

struct results {
  unsigned ones;
  int failures;
};

__global__ void child(const unsigned* data, results* out) {
  if (data[blockIdx.x * blockDim.x + threadIdx.x] == 0x0101'0101u) atomicAdd(&out->ones, 1u);
}
__global__ void parent(const unsigned* data, results* out) {
  if (!launch(child, {n / 256, 256}, fire_and_forget(), data, out)) out->failures += 1;
}

cudaMemPool_t new_pool() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;  // it does not move
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "creating a pool");
  return pool;
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 0;
  check(cudaMemPoolGetAttribute(pool, which, &value), "querying a pool");
  return value;
}

// 1. Allocates, uses and frees an array. No call waits. Returns its address.
const void* use_array(cudaMemPool_t pool, cudaStream_t stream, results* out) {
  void* data = nullptr;
  check(cudaMallocFromPoolAsync(&data, bytes, pool, stream), "allocating in stream order");
  check(cudaMemsetAsync(data, 1, bytes, stream), "filling the array");
  check(launch(parent, {1, 1}, stream, static_cast<const unsigned*>(data), out).code(),
        "launching the parent");
  // 2. The free follows the parent and all its descendants.
  check(cudaFreeAsync(data, stream), "freeing in stream order");
  return data;
}

int main() {
  if (lesson::has_device()) {
    int has_pools = 0;
    check(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, 0), "querying");
    if (has_pools == 0) return lesson::skip("the device has no memory pools");
  }
  return lesson::run([] {
    const host_stream stream;
    const lesson::device_array<results> memory(1, stream.get());
    cudaMemPool_t pool = new_pool();
    const auto show = [&](const char* what) {
      const void* const first = use_array(pool, stream.get(), memory.data());
      const void* const second = use_array(pool, stream.get(), memory.data());
      stream.synchronize();
      std::cout << what << "\n  the second array has the place of the first: "
                << lesson::yes_or_no(first == second)
                << "\n  in use after the wait: " << attribute(pool, cudaMemPoolAttrUsedMemCurrent)
                << " bytes; the pool keeps memory: "
                << lesson::yes_or_no(attribute(pool, cudaMemPoolAttrReservedMemCurrent) >= bytes)
                << '\n';
    };
    show("release threshold 0");
    // 3. Keep everything.
    std::uint64_t threshold = UINT64_MAX;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "setting");
    show("another release threshold");
    // 4. A trim gives back what is free, whatever the threshold is.
    check(cudaMemPoolTrimTo(pool, 0), "trimming the pool");
    std::cout << "after a trim, the pool keeps "
              << attribute(pool, cudaMemPoolAttrReservedMemCurrent) << " bytes\n";
    check(cudaMemPoolDestroy(pool), "destroying the pool");
    const results seen = memory.read()[0];
    std::cout << "numbers that the children saw: " << seen.ones << " = 4 x " << n
              << ", launches that failed: " << seen.failures << '\n';
  });
}
#endif
