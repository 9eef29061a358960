// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// stream_ref: a stream of any backend, for plain C++.

#include <concepts>
#include <cstddef>
#include <ramify/version.hpp>

struct CUstream_st;  // cudaStream_t points to it

namespace ramify::cpu::builtins::inline RAMIFY_ABI {
struct stream_handle;  // cudaStream_t of the CPU executor points to it
}

namespace ramify::detail::runtime::inline RAMIFY_ABI {

template <class T>
concept stream_handle =
    std::same_as<T, CUstream_st*> || std::same_as<T, cpu::builtins::stream_handle*>;

/// An object whose get() returns a stream.
template <class T>
concept has_stream = requires(const T& object) {
  { object.get() } -> stream_handle;
};

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// A stream that the caller owns. It is constructed from a cudaStream_t of CUDA or of the CPU
/// executor, or from an object whose get() returns one, such as ramify::host_stream or
/// cuda::stream_ref. By default it is the legacy default stream.
class stream_ref {
 public:
  constexpr stream_ref() = default;
  /// Refers to the legacy default stream.
  constexpr stream_ref(std::nullptr_t) {}
  /// Refers to a stream of CUDA.
  constexpr stream_ref(CUstream_st* stream) : handle_(stream), is_cuda_(stream != nullptr) {}
  /// Refers to a stream of the CPU executor.
  constexpr stream_ref(cpu::builtins::stream_handle* stream) : handle_(stream) {}
  /// Refers to the stream that get() of an object returns.
  template <detail::runtime::has_stream Stream>
  constexpr stream_ref(const Stream& stream) : stream_ref(stream.get()) {}

  /// Returns the stream as a cudaStream_t of type Handle, which must be that of the stream's
  /// backend.
  template <class Handle>
  [[nodiscard]] constexpr Handle as() const {
    return static_cast<Handle>(handle_);
  }
  /// Returns whether it is a stream of CUDA, other than a null pointer.
  [[nodiscard]] constexpr bool is_cuda() const { return is_cuda_; }
  /// Returns whether it is a stream of the CPU executor, other than a null pointer.
  [[nodiscard]] constexpr bool is_cpu() const { return handle_ != nullptr && !is_cuda_; }

 private:
  void* handle_ = nullptr;
  bool is_cuda_ = false;
};

}  // namespace ramify::inline RAMIFY_ABI
