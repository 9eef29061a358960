// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Owning buffers of stream-ordered device memory and of pinned host memory, and scratch memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/memory_ref.hpp>
#include <ramify/runtime/stream.cuh>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#if RAMIFY_ON_CUDA
#include <map>
#include <mutex>
#else
#include <ramify/cpu/executor.hpp>
#endif

#if RAMIFY_ON_CUDA
namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns Ramify's memory pool of the current device. `context` must be the id of the device's
/// context. Thread-safe. \throws cuda_error
inline cudaMemPool_t scratch_pool_in(context_id context) {
  static std::mutex mutex;
  static auto& pools = *new std::map<context_id, cudaMemPool_t>;  // never destroyed
  const std::lock_guard lock(mutex);
  if (const auto known = pools.find(context); known != pools.end()) return known->second;

  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = current_device();
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "creating the scratch memory pool");
  std::uint64_t keep_all = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all),
        "configuring the scratch memory pool");
  return pools[context] = pool;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
#endif

namespace ramify::inline RAMIFY_BUILD {

#if RAMIFY_ON_CUDA

/// Returns Ramify's stream-ordered memory pool of the current device.
///
/// The pool keeps freed memory for later allocations; release_scratch() returns it to the driver.
/// \throws cuda_error
inline cudaMemPool_t scratch_pool() { return detail::scratch_pool_in(detail::current_context()); }

/// Returns unused scratch memory of the current device to the driver. Waits for the device.
/// \throws cuda_error
inline void release_scratch() {
  check(cudaDeviceSynchronize(), "waiting for the device before releasing scratch memory");
  check(cudaMemPoolTrimTo(scratch_pool(), 0), "releasing scratch memory");
}

#else

/// Does nothing: the CPU executor keeps no scratch memory.
inline void release_scratch() {}

#endif

/// Returns the type of the memory that `pointer` points to. `name` is used in the message.
/// \throws std::invalid_argument if the memory is on another device than the current one;
///         cuda_error
inline cudaMemoryType memory_of(const void* pointer, const char* name) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "querying the attributes of a pointer");
  const int current = current_device();
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != current) {
    throw std::invalid_argument(std::string(name) + " is on device " +
                                std::to_string(attributes.device) + ", but the current device is " +
                                std::to_string(current));
  }
  return attributes.type;
}

/// Returns whether Ramify refuses to pass ordinary host memory to kernels: on a GPU, and on the CPU
/// executor if executor_config.refuse_host_memory is set.
[[nodiscard]] inline bool refuses_host_memory() {
#if RAMIFY_ON_CUDA
  return true;
#else
  return cpu::refuses_host_memory();
#endif
}

/// An owning, move-only array of `size()` uninitialized objects in device memory.
///
/// The memory may be used by later work in `stream`. The destructor frees it in stream order, after
/// the work that the stream then holds. After a cudaDeviceReset(), which frees all memory, the
/// destructor frees nothing. A moved-from buffer is empty.
template <class T>
class device_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain bits");

 public:
  device_buffer() = default;
  /// \throws cuda_error (out of memory)
  device_buffer(std::size_t count, cudaStream_t stream)
      : data_(nullptr, free_in_stream{stream}), size_(count) {
    if (count == 0) return;
    const detail::context_id context = detail::current_context();
    data_.get_deleter().made_in = context;
    T* memory = nullptr;  // the executor gets the size of an element by its type
#if RAMIFY_ON_CUDA
    check(cudaMallocFromPoolAsync(&memory, count * sizeof(T), detail::scratch_pool_in(context),
                                  stream),
          "allocating device memory");
#else
    check(cudaMalloc(&memory, count * sizeof(T)), "allocating device memory");
#endif
    data_.reset(memory);
  }

  /// Returns the memory; null if there is none.
  [[nodiscard]] T* data() const { return data_.get(); }
  /// Returns the number of objects.
  [[nodiscard]] std::size_t size() const { return data_ == nullptr ? 0 : size_; }

 private:
  struct free_in_stream {
    cudaStream_t stream = nullptr;
    detail::context_id made_in = 0;
    // An error is ignored for the reason that destroyed_by gives.
    void operator()(T* memory) const {
      if (!detail::context_exists(made_in)) return;
#if RAMIFY_ON_CUDA
      static_cast<void>(cudaFreeAsync(memory, stream));
#else
      static_cast<void>(cudaFree(memory));
#endif
    }
  };

  std::unique_ptr<T, free_in_stream> data_;
  std::size_t size_ = 0;
};

/// An owning, move-only array of `size()` uninitialized objects in page-locked host memory.
///
/// Copies from and to pinned memory are asynchronous. A moved-from buffer is empty.
template <class T>
class pinned_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "pinned memory holds plain bits");

 public:
  pinned_buffer() = default;
  /// \throws cuda_error (out of memory)
  explicit pinned_buffer(std::size_t count) : size_(count) {
    if (count == 0) return;
    data_.get_deleter() = {detail::current_context()};
    void* memory = nullptr;
    check(cudaMallocHost(&memory, count * sizeof(T)), "allocating pinned memory");
    data_.reset(static_cast<T*>(memory));
  }

  /// Returns the memory; null if there is none.
  [[nodiscard]] T* data() const { return data_.get(); }
  /// Returns the number of objects.
  [[nodiscard]] std::size_t size() const { return data_ == nullptr ? 0 : size_; }
  T& operator[](std::size_t i) { return data()[i]; }              ///< Returns object i.
  const T& operator[](std::size_t i) const { return data()[i]; }  ///< Returns object i.

 private:
  detail::unique_handle<T*, cudaFreeHost> data_;
  std::size_t size_ = 0;
};

/// Copies the object at `from` in device memory to the host, after the work that is in `stream`.
/// Waits for the copy. `doing` is used in the message. \throws cuda_error
template <class T>
[[nodiscard]] T read_back(const T* from, cudaStream_t stream, const char* doing) {
  T value;
  check(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream), doing);
  check(cudaStreamSynchronize(stream), doing);
  return value;
}

/// Sets `count` objects in device memory to zero bytes, in the order of `stream`. `doing` is used
/// in the message. \throws cuda_error
template <class T>
void clear_memory(T* objects, std::size_t count, cudaStream_t stream, const char* doing) {
  check(cudaMemsetAsync(objects, 0, count * sizeof(T), stream), doing);
}

/// Checks that kernels can access objects of this alignment at `pointer`. `name` is used in the
/// message.
/// \throws std::invalid_argument if it is null or misaligned, in pageable host memory while
///         refuses_host_memory(), or on another device; cuda_error
inline void check_device_access(const void* pointer, std::size_t alignment, const char* name) {
  if (pointer == nullptr) throw std::invalid_argument(std::string(name) + " is null");
  detail::check_alignment(pointer, alignment, name);
  if (refuses_host_memory() && memory_of(pointer, name) == cudaMemoryTypeUnregistered) {
    throw std::invalid_argument(std::string(name) +
                                " is ordinary host memory; a kernel needs device, managed or "
                                "pinned memory (the facades, ramify/*.hpp, accept any memory)");
  }
}

/// Checks that kernels can access objects at `pointer`, which may be of type void. \throws as the
/// overload
template <class T>
void check_device_access(const T* pointer, const char* name) {
  if constexpr (std::is_void_v<T>) {
    check_device_access(pointer, 1, name);
  } else {
    check_device_access(pointer, alignof(T), name);
  }
}

/// Checks all arrays of a call in this way. `algorithm` begins the messages.
/// \throws std::invalid_argument
void check_device_access(const char* algorithm, const auto& arrays) {
  for (const detail::argument_array& array : arrays) {
    check_device_access(array.data, array.alignment,
                        (std::string(algorithm) + ": " + array.name).c_str());
  }
}

/// Places arrays of different types in one allocation.
///
/// Use it twice with the same calls: with a null base to compute size(), then with memory of that
/// size. A kernel may use it for memory that the host has measured.
class memory_layout {
 public:
  /// Begins at `base`, or with null only measures.
  __host__ __device__ explicit memory_layout(void* base) : base_(static_cast<std::byte*>(base)) {}

  /// Returns the place of the next `count` objects, aligned to `alignment`; null if the base is
  /// null.
  template <class T>
  __host__ __device__ T* take(std::size_t count) {
    const std::size_t here = size_;
    size_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + here);
  }
  /// Returns the next `bytes` bytes, as the scratch memory of a part of the run.
  memory_ref take_scratch(std::size_t bytes) { return {take<std::byte>(bytes), bytes}; }

  /// Returns the size in bytes.
  [[nodiscard]] __host__ __device__ std::size_t size() const { return size_; }

  static constexpr std::size_t alignment = memory_ref::alignment;  ///< of each object, in bytes

 private:
  std::byte* base_;
  std::size_t size_ = 0;
};

/// Returns the bytes that the constructor Parts(memory_layout&, sizes...) takes.
template <class Parts, class... Sizes>
[[nodiscard]] std::size_t layout_bytes(const Sizes&... sizes) {
  memory_layout sizing(nullptr);
  static_cast<void>(Parts(sizing, sizes...));
  return sizing.size();
}

/// Checks the size and alignment of memory that was handed in, and that it was if `stream` is being
/// captured, because a graph of Ramify allocates no memory. `needed` is in bytes, and `name` is the
/// name of `given` in the message.
/// \throws std::invalid_argument naming `algorithm`; cuda_error
inline void check_scratch(const memory_ref& given, std::size_t needed, cudaStream_t stream,
                          const char* algorithm, const char* name = "environment.memory") {
  const auto refuse = [&](const std::string& fault) {
    throw std::invalid_argument(std::string(algorithm) + ": " + name + fault);
  };
  if (given.data() == nullptr) {
    if (!is_being_captured(stream)) return;
    refuse((given.is_resource() ? " is a resource" : " is empty") +
           ("; a run in a stream that is being captured requires " + std::to_string(needed)) +
           " bytes of memory");
  }
  if (given.bytes() < needed) {
    refuse(" has " + std::to_string(given.bytes()) + " bytes; this run needs " +
           std::to_string(needed));
  }
  if (!detail::is_aligned(given.data(), memory_layout::alignment)) {
    refuse(" must be aligned to " + std::to_string(memory_layout::alignment) + " bytes");
  }
}

/// The scratch memory of one run: memory that was handed in, or an allocation of the run.
class scratch_space {
 public:
  /// Checks `given`, and allocates `bytes` bytes in the order of `stream` if no memory was handed
  /// in: from the resource, or else from Ramify's pool.
  /// \throws std::invalid_argument naming `algorithm`; cuda_error (out of memory); the exceptions
  ///         of the resource
  scratch_space(const memory_ref& given, std::size_t bytes, cudaStream_t stream,
                const char* algorithm)
      : given_(given.data()), bytes_(bytes) {
    check_scratch(given, bytes, stream, algorithm);
    if (given_ != nullptr) return;
    if (given.is_resource()) {
      of_resource_ = {given.allocate(bytes, stream), return_to_resource{given, bytes, stream}};
    } else {
      own_ = device_buffer<std::byte>(bytes, stream);
    }
  }

  /// Returns the memory.
  [[nodiscard]] void* data() const {
    if (given_ != nullptr) return given_;
    return of_resource_ != nullptr ? of_resource_.get() : own_.data();
  }
  /// Returns the number of bytes that the run needs.
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  struct return_to_resource {
    memory_ref resource;
    std::size_t bytes;
    cudaStream_t stream;
    void operator()(void* memory) const { resource.deallocate(memory, bytes, stream); }
  };

  void* given_;
  std::size_t bytes_;
  device_buffer<std::byte> own_;
  std::unique_ptr<void, return_to_resource> of_resource_;
};

/// The scratch memory of one run, with the parts that Parts(memory_layout&, sizes...) takes.
template <class Parts>
struct run_memory {
  /// \throws std::invalid_argument naming `algorithm`; cuda_error (out of memory)
  template <class... Sizes>
  run_memory(const memory_ref& given, cudaStream_t stream, const char* algorithm,
             const Sizes&... sizes)
      : scratch(given, layout_bytes<Parts>(sizes...), stream, algorithm),
        layout(scratch.data()),
        parts(layout, sizes...) {}

  scratch_space scratch;  ///< the memory of all parts
  memory_layout layout;   ///< its division
  Parts parts;            ///< the objects in it
};

}  // namespace ramify::inline RAMIFY_BUILD
