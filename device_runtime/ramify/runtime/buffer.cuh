// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Memory that frees itself: stream-ordered device memory and pinned host memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/check.cuh>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#if RAMIFY_ON_CUDA
#include <map>
#include <mutex>
#endif

namespace ramify::inline RAMIFY_BUILD {

#if RAMIFY_ON_CUDA

/// Ramify's own stream-ordered memory pool on the current device. It keeps what is freed for the
/// next allocation; release_scratch() gives it back to the driver. Other pools are left alone.
inline cudaMemPool_t scratch_pool() {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  const std::lock_guard lock(mutex);
  if (const auto known = pools.find(device); known != pools.end()) return known->second;

  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "making the scratch memory pool");
  std::uint64_t keep_all = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all),
        "setting up the scratch memory pool");
  return pools[device] = pool;
}

/// Gives unused scratch memory of the current device back to the driver. Waits for the device.
inline void release_scratch() {
  check(cudaDeviceSynchronize(), "waiting for the device before giving scratch memory back");
  check(cudaMemPoolTrimTo(scratch_pool(), 0), "giving scratch memory back");
}

/// What kind of memory a pointer points to. `name` is for the message.
/// \throws std::invalid_argument if it is another device's than the current one
inline cudaMemoryType memory_of(const void* pointer, const char* name) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "looking at a pointer");
  int current = 0;
  check(cudaGetDevice(&current), "asking for the current device");
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != current) {
    throw std::invalid_argument(std::string(name) + " is on device " +
                                std::to_string(attributes.device) + ", but the current device is " +
                                std::to_string(current));
  }
  return attributes.type;
}

#else

/// The CPU executor keeps no scratch memory.
inline void release_scratch() {}

#endif

/// `size()` uninitialised objects in device memory, usable by work that comes later in `stream`,
/// and freed after the work that is in it at destruction. Moved-from it is empty.
template <class T>
class device_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain bits");

 public:
  device_buffer() = default;
  /// \throws cuda_error (out of memory)
  device_buffer(std::size_t count, cudaStream_t stream) : size_(count), stream_(stream) {
    if (count == 0) return;
    void* memory = nullptr;
#if RAMIFY_ON_CUDA
    check(cudaMallocFromPoolAsync(&memory, count * sizeof(T), scratch_pool(), stream),
          "allocating device memory");
#else
    check(cudaMalloc(&memory, count * sizeof(T)), "allocating device memory");
#endif
    data_ = static_cast<T*>(memory);
  }
  ~device_buffer() {
    // A destructor cannot throw. Only a broken device fails here, and the next call says so.
    if (data_ == nullptr) return;
#if RAMIFY_ON_CUDA
    static_cast<void>(cudaFreeAsync(data_, stream_));
#else
    static_cast<void>(cudaFree(data_));
#endif
  }
  device_buffer(device_buffer&& other) noexcept { swap(other); }
  device_buffer& operator=(device_buffer other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void swap(device_buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  cudaStream_t stream_ = nullptr;
};

/// `size()` uninitialised objects in page-locked host memory, from and to which copies are truly
/// asynchronous. Moved-from it is empty.
template <class T>
class pinned_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "pinned memory holds plain bits");

 public:
  pinned_buffer() = default;
  /// \throws cuda_error (out of memory)
  explicit pinned_buffer(std::size_t count) : size_(count) {
    if (count == 0) return;
    void* memory = nullptr;
    check(cudaMallocHost(&memory, count * sizeof(T)), "allocating pinned memory");
    data_ = static_cast<T*>(memory);
  }
  ~pinned_buffer() {
    if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
  }
  pinned_buffer(pinned_buffer&& other) noexcept { swap(other); }
  pinned_buffer& operator=(pinned_buffer other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  void swap(pinned_buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// That kernels can reach what `pointer` points to. `name` is for the message.
/// \throws std::invalid_argument if it is null, or in ordinary host memory while kernels run on a GPU
inline void check_device_access(const void* pointer, const char* name) {
  if (pointer == nullptr) throw std::invalid_argument(std::string(name) + " is null");
#if RAMIFY_ON_CUDA
  if (memory_of(pointer, name) == cudaMemoryTypeUnregistered) {
    throw std::invalid_argument(std::string(name) +
                                " is ordinary host memory; a kernel needs device, managed or "
                                "pinned memory (the facades, ramify/*.hpp, take any)");
  }
#endif
}

/// Lays arrays of different types out in one piece of memory. Used twice: with a null base to learn
/// size(), then with memory of that size.
class memory_layout {
 public:
  explicit memory_layout(void* base) : base_(static_cast<std::byte*>(base)) {}

  /// The next `count` objects, aligned for any copy; null while sizing.
  template <class T>
  T* take(std::size_t count) {
    const std::size_t here = size_;
    size_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + here);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  static constexpr std::size_t alignment = 256;

 private:
  std::byte* base_;
  std::size_t size_ = 0;
};

/// Scratch memory of the caller's: device memory, aligned to 256 bytes.
struct scratch_memory {
  void* data = nullptr;  ///< null: none, take it from the pool
  std::size_t bytes = 0;
};

/// \throws std::invalid_argument naming `algorithm`, if there is scratch memory and it will not do
inline void check_scratch(const scratch_memory& scratch, std::size_t needed,
                          const char* algorithm) {
  if (scratch.data == nullptr) return;
  if (scratch.bytes < needed) {
    throw std::invalid_argument(std::string(algorithm) + ": scratch.bytes is " +
                                std::to_string(scratch.bytes) + "; this run needs " +
                                std::to_string(needed));
  }
  if (reinterpret_cast<std::uintptr_t>(scratch.data) % memory_layout::alignment != 0) {
    throw std::invalid_argument(std::string(algorithm) + ": scratch.data must be aligned to " +
                                std::to_string(memory_layout::alignment) + " bytes");
  }
}

/// The scratch memory of one run: the caller's, or its own where there is none.
class scratch_space {
 public:
  /// `given` has been checked. \throws cuda_error (out of memory)
  scratch_space(const scratch_memory& given, std::size_t bytes, cudaStream_t stream)
      : given_(given.data), bytes_(bytes), own_(given.data == nullptr ? bytes : 0, stream) {}

  [[nodiscard]] void* data() const { return given_ == nullptr ? own_.data() : given_; }
  /// What the run needs of it, in bytes.
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  void* given_;
  std::size_t bytes_;
  device_buffer<std::byte> own_;
};

}  // namespace ramify::inline RAMIFY_BUILD
