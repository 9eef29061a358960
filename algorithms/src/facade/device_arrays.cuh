// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The caller's arrays in memory that kernels can access.

#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <span>
#include <type_traits>

#include "facade/facade_call.cuh"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// How kernels use an array of the caller.
enum class array_role {
  input,     ///< kernels read it
  output,    ///< kernels write all of it
  in_place,  ///< kernels read and write it
};

/// An array of the caller in memory that kernels can access: the array itself, or a copy on the
/// device.
///
/// The constructor copies inputs and arrays that are changed in place. An array of const T is an
/// input. The object must not outlive `call`.
template <class T>
class on_device {
  using element = std::remove_const_t<T>;

 public:
  /// `name` is used in messages.
  /// \throws std::invalid_argument if the array is misaligned or on another device; cuda_error
  on_device(std::span<T> caller, array_role role, facade_call& call, const char* name)
      : caller_(caller), call_(&call) {
    if (caller.empty()) return;  // its pointer may be invalid
    check_alignment(caller.data(), alignof(T), name);
    if (!refuses_host_memory()) return;
    const cudaMemoryType kind = memory_of(caller.data(), name);
    if (kind != cudaMemoryTypeUnregistered && kind != cudaMemoryTypeHost) return;
    copy_ = device_buffer<element>(caller.size(), call.stream());
    if (role == array_role::output) return;
    call.copy_in(copy_.data(), caller.data(), caller.size_bytes());
  }
  on_device(std::span<T> caller, facade_call& call, const char* name) requires std::is_const_v<T>
      : on_device(caller, array_role::input, call, name) {}
  /// An output of n elements; null: it is not requested. If `is_partial`, kernels write only some
  /// of them, because only the device has their number.
  on_device(T* output, std::size_t n, facade_call& call, const char* name, bool is_partial = false)
      : on_device(std::span(output, output == nullptr ? 0 : n),
                  is_partial ? array_role::in_place : array_role::output, call, name) {}

  [[nodiscard]] std::span<T> get() const {
    return copy_.data() == nullptr ? caller_ : std::span<T>(copy_.data(), copy_.size());
  }
  /// Returns null if the array is empty.
  [[nodiscard]] T* data() const { return caller_.empty() ? nullptr : get().data(); }

  /// Copies the results to the caller's array, if kernels use a copy. \throws cuda_error
  void copy_back() const requires(!std::is_const_v<T>) {
    if (copy_.data() == nullptr) return;
    call_->copy_out(caller_.data(), copy_.data(), caller_.size_bytes());
  }

 private:
  std::span<T> caller_;
  facade_call* call_;
  device_buffer<element> copy_;
};

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD
