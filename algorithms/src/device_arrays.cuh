// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the halves of the facade share: the caller's arrays where kernels reach them, and limits.

#include <cstddef>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/limits.cuh>
#include <span>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// The pending-launch limit that was asked for, in force while this lives; none if it is 0.
[[nodiscard]] inline std::optional<launch_limits> scoped_pending_launches(std::size_t asked) {
  if (asked == 0) return std::nullopt;
  return std::optional<launch_limits>(std::in_place,
                                      launch_limit_values{.pending_launches = asked});
}

/// What kernels do with an array of the caller's.
enum class array_role {
  input,     ///< read it
  output,    ///< write all of it
  in_place,  ///< read it, and write to it
};

/// An array of the caller's where kernels reach it: itself, or a copy on the device, which is made of
/// inputs and of what is changed in place. An array of const T is an input.
template <class T>
class on_device {
  using element = std::remove_const_t<T>;

 public:
  /// `name` is for messages. \throws std::invalid_argument if it is another device's; cuda_error
  on_device(std::span<T> caller, [[maybe_unused]] array_role role,
            [[maybe_unused]] cudaStream_t stream, [[maybe_unused]] const char* name)
      : caller_(caller) {
#if RAMIFY_ON_CUDA
    if (caller.empty()) return;  // it may point anywhere
    const cudaMemoryType kind = memory_of(caller.data(), name);
    if (kind != cudaMemoryTypeUnregistered && kind != cudaMemoryTypeHost) return;
    copy_ = device_buffer<element>(caller.size(), stream);
    if (role == array_role::output) return;
    check(cudaMemcpyAsync(copy_.data(), caller.data(), caller.size_bytes(), cudaMemcpyHostToDevice,
                          stream),
          "copying to the device");
#endif
  }
  on_device(std::span<T> caller, cudaStream_t stream, const char* name) requires std::is_const_v<T>
      : on_device(caller, array_role::input, stream, name) {}

  [[nodiscard]] std::span<T> get() const {
    return copy_.data() == nullptr ? caller_ : std::span<T>(copy_.data(), copy_.size());
  }
  /// Null if it is empty.
  [[nodiscard]] T* data() const { return caller_.empty() ? nullptr : get().data(); }

  void copy_back(cudaStream_t stream) const requires(!std::is_const_v<T>) {
    if (copy_.data() == nullptr) return;
    check(cudaMemcpyAsync(caller_.data(), copy_.data(), caller_.size_bytes(),
                          cudaMemcpyDeviceToHost, stream),
          "copying from the device");
  }

 private:
  std::span<T> caller_;
  device_buffer<element> copy_;
};

}  // namespace ramify::inline RAMIFY_BUILD
