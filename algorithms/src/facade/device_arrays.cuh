// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the halves of the facade share: the caller's arrays where kernels reach them.

#include <ramify/runtime/buffer.cuh>
#include <span>
#include <type_traits>

#include "facade/facade_call.cuh"

namespace ramify::inline RAMIFY_BUILD {

/// What kernels do with an array of the caller's.
enum class array_role {
  input,     ///< read it
  output,    ///< write all of it
  in_place,  ///< read it, and write to it
};

/// An array of the caller's where kernels reach it: itself, or a copy on the device, which is made of
/// inputs and of what is changed in place. An array of const T is an input. It lives no longer than its
/// call.
template <class T>
class on_device {
  using element = std::remove_const_t<T>;

 public:
  /// `name` is for messages. \throws std::invalid_argument if it is another device's; cuda_error
  on_device(std::span<T> caller, [[maybe_unused]] array_role role, facade_call& call,
            [[maybe_unused]] const char* name)
      : caller_(caller), call_(&call) {
#if RAMIFY_ON_CUDA
    if (caller.empty()) return;  // it may point anywhere
    const cudaMemoryType kind = memory_of(caller.data(), name);
    if (kind != cudaMemoryTypeUnregistered && kind != cudaMemoryTypeHost) return;
    copy_ = device_buffer<element>(caller.size(), call.stream());
    if (role == array_role::output) return;
    call.copy_in(copy_.data(), caller.data(), caller.size_bytes());
#endif
  }
  on_device(std::span<T> caller, facade_call& call, const char* name) requires std::is_const_v<T>
      : on_device(caller, array_role::input, call, name) {}

  [[nodiscard]] std::span<T> get() const {
    return copy_.data() == nullptr ? caller_ : std::span<T>(copy_.data(), copy_.size());
  }
  /// Null if it is empty.
  [[nodiscard]] T* data() const { return caller_.empty() ? nullptr : get().data(); }

  void copy_back() const requires(!std::is_const_v<T>) {
    if (copy_.data() == nullptr) return;
    call_->copy_out(caller_.data(), copy_.data(), caller_.size_bytes());
  }

 private:
  std::span<T> caller_;
  facade_call* call_;
  device_buffer<element> copy_;
};

}  // namespace ramify::inline RAMIFY_BUILD
