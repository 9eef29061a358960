// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Memory resources of a caller, which count what calls allocate.

#include <cstddef>
#include <limits>
#include <new>
#include <ramify/runtime/buffer.cuh>

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

/// Counts what a call allocates. The memory is that of a device_buffer.
struct counted_memory {
  std::size_t allocations = 0;
  std::size_t live_bytes = 0;
  std::size_t largest_alignment = 0;
  CUstream_st* stream = nullptr;  // of the last call
  device_buffer<std::byte> memory{1 << 20, nullptr};

  /// Waits for the allocation, because calls may use the memory in any stream.
  counted_memory() { check(cudaStreamSynchronize(nullptr), "waiting for an allocation"); }

  void* take(std::size_t bytes, std::size_t alignment, CUstream_st* in) {
    if (bytes > memory.size()) throw std::bad_alloc();
    ++allocations;
    live_bytes += bytes;
    largest_alignment = alignment;
    stream = in;
    return memory.data();
  }
  void give_back(std::size_t bytes, CUstream_st* in) {
    live_bytes -= bytes;
    stream = in;
  }
};

/// A resource as of CCCL 3.1.
struct resource : counted_memory {
  void* allocate(CUstream_st* in, std::size_t bytes, std::size_t alignment) {
    return take(bytes, alignment, in);
  }
  void deallocate(CUstream_st* in, void*, std::size_t bytes, std::size_t) { give_back(bytes, in); }
};

/// A resource of the older form.
struct older_resource : counted_memory {
  void* allocate_async(std::size_t bytes, std::size_t alignment, CUstream_st* in) {
    return take(bytes, alignment, in);
  }
  void deallocate_async(void*, std::size_t bytes, std::size_t, CUstream_st* in) {
    give_back(bytes, in);
  }
};

/// A resource that allocates device memory for each request, and refuses those after the first
/// `most`.
struct allocating_resource {
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t allocations = 0;
  std::size_t in_use = 0;  ///< allocations that were not returned

  void* allocate(CUstream_st*, std::size_t bytes, std::size_t) {
    if (allocations == most) throw std::bad_alloc();
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "allocating memory of a resource");
    ++allocations;
    ++in_use;
    return memory;
  }
  void deallocate(CUstream_st*, void* memory, std::size_t, std::size_t) {
    check(cudaFree(memory), "freeing memory of a resource");
    --in_use;
  }
};

}  // namespace tests::inline RAMIFY_BUILD
