// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// memory_ref: where the scratch memory of a call comes from. Plain C++.

#include <concepts>
#include <cstddef>
#include <memory>
#include <ramify/runtime/stream_ref.hpp>
#include <ramify/version.hpp>
#include <type_traits>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// A resource of cuda::mr since CCCL 3.1.
template <class R>
concept stream_ordered_resource = requires(R& resource, CUstream_st* stream, void* memory,
                                           std::size_t bytes) {
  { resource.allocate(stream, bytes, bytes) } -> std::same_as<void*>;
  resource.deallocate(stream, memory, bytes, bytes);
};

/// A resource of cuda::mr before CCCL 3.1, or of RMM.
template <class R>
concept async_resource = requires(R& resource, CUstream_st* stream, void* memory,
                                  std::size_t bytes) {
  { resource.allocate_async(bytes, bytes, stream) } -> std::same_as<void*>;
  resource.deallocate_async(memory, bytes, bytes, stream);
};

/// Device memory that has an owner, such as a span of bytes or a device_buffer.
template <class B>
concept byte_buffer = requires(const B& buffer) {
  { buffer.data() } -> std::same_as<std::byte*>;
  { buffer.size() } -> std::convertible_to<std::size_t>;
};

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Scratch memory of the caller, or a resource that allocates it in stream order. By default it is
/// empty: a call allocates from Ramify's stream-ordered pool.
class memory_ref {
 public:
  /// The alignment of memory that is handed in, in bytes.
  static constexpr std::size_t alignment = 256;

  constexpr memory_ref() = default;
  /// Refers to `bytes` bytes of device memory, which must be aligned to 256 bytes.
  constexpr memory_ref(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  /// Refers to the memory of a buffer, such as std::span<std::byte> or device_buffer<std::byte>.
  template <detail::runtime::byte_buffer Buffer>
  constexpr memory_ref(const Buffer& buffer) : memory_ref(buffer.data(), buffer.size()) {}
  /// Refers to a resource, from which the call allocates in its stream. The resource must outlive
  /// the run, or the object that the call creates.
  template <class Resource>
  requires detail::runtime::stream_ordered_resource<Resource> ||
      detail::runtime::async_resource<Resource>
      memory_ref(Resource& resource)
      : data_(const_cast<void*>(static_cast<const void*>(std::addressof(resource)))),
        resource_(&functions_of<Resource>) {}

  /// Returns whether a call allocates from Ramify's pool.
  [[nodiscard]] constexpr bool empty() const { return data_ == nullptr; }
  /// Returns whether a call allocates from a resource of the caller.
  [[nodiscard]] constexpr bool is_resource() const { return resource_ != nullptr; }
  /// Returns the memory that was handed in; null if there is none.
  [[nodiscard]] constexpr void* data() const { return is_resource() ? nullptr : data_; }
  /// Returns the size of the memory that was handed in, in bytes.
  [[nodiscard]] constexpr std::size_t bytes() const { return bytes_; }

  /// Allocates from the resource. Requires is_resource(). \throws what the resource throws
  [[nodiscard]] void* allocate(std::size_t bytes, const stream_ref& stream) const {
    return resource_->allocate(data_, bytes, stream.as<CUstream_st*>());
  }
  /// Returns memory to the resource, after the work that is in `stream`.
  void deallocate(void* memory, std::size_t bytes, const stream_ref& stream) const {
    resource_->deallocate(data_, memory, bytes, stream.as<CUstream_st*>());
  }

 private:
  struct functions {
    void* (*allocate)(void* resource, std::size_t bytes, CUstream_st* stream);
    void (*deallocate)(void* resource, void* memory, std::size_t bytes, CUstream_st* stream);
  };

  template <class Resource>
  static constexpr functions functions_of = {
      [](void* resource, std::size_t bytes, CUstream_st* stream) -> void* {
        auto& r = *static_cast<Resource*>(resource);
        if constexpr (detail::runtime::stream_ordered_resource<Resource>) {
          return r.allocate(stream, bytes, alignment);
        } else {
          return r.allocate_async(bytes, alignment, stream);
        }
      },
      [](void* resource, void* memory, std::size_t bytes, CUstream_st* stream) {
        auto& r = *static_cast<Resource*>(resource);
        if constexpr (detail::runtime::stream_ordered_resource<Resource>) {
          r.deallocate(stream, memory, bytes, alignment);
        } else {
          r.deallocate_async(memory, bytes, alignment, stream);
        }
      }};

  void* data_ = nullptr;  // the memory, or the resource
  std::size_t bytes_ = 0;
  const functions* resource_ = nullptr;
};

}  // namespace ramify::inline RAMIFY_ABI
