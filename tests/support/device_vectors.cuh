// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Copies of vectors to and from the device under test, and a scope with a pending-launch limit.

#include <cstddef>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/limits.cuh>
#include <vector>

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

/// Returns a copy of a vector in device memory, in stream order.
template <class T>
device_buffer<T> upload(const std::vector<T>& host, cudaStream_t stream = nullptr) {
  device_buffer<T> buffer(host.size(), stream);
  check(cudaMemcpyAsync(buffer.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice,
                        stream),
        "uploading");
  return buffer;
}

/// Copies host.size() objects of device memory to a vector. Waits for the stream.
template <class T>
void download_to(std::vector<T>& host, const T* data, cudaStream_t stream = nullptr) {
  if (host.empty()) return;
  check(cudaMemcpyAsync(host.data(), data, host.size() * sizeof(T), cudaMemcpyDeviceToHost, stream),
        "downloading");
  check(cudaStreamSynchronize(stream), "waiting for a download");
}

/// Copies a buffer to a vector. Waits for the stream.
template <class T>
void download(const device_buffer<T>& buffer, std::vector<T>& host, cudaStream_t stream = nullptr) {
  download_to(host, static_cast<const T*>(buffer.data()), stream);
}

/// Returns `n` objects of device memory. Waits for the NULL stream.
template <class T>
std::vector<T> download_array(const T* data, std::size_t n) {
  std::vector<T> host(n);
  download_to(host, data);
  return host;
}

/// Returns the contents of a buffer. Waits for the NULL stream.
template <class T>
std::vector<T> download(const device_buffer<T>& buffer) {
  std::vector<T> host(buffer.size());
  download(buffer, host);
  return host;
}

/// Returns a buffer of `n` objects whose bytes are 0, in order of the NULL stream.
template <class T>
device_buffer<T> zeros(std::size_t n) {
  device_buffer<T> buffer(n, nullptr);
  check(cudaMemsetAsync(buffer.data(), 0, n * sizeof(T), nullptr), "clearing a buffer");
  return buffer;
}

/// Sets the pending-launch limit until the result is destroyed; 0 leaves the limit unchanged.
inline std::optional<launch_limits> scoped_limit(std::size_t pending_launches) {
  if (pending_launches == 0) return std::nullopt;
  return std::optional<launch_limits>(std::in_place,
                                      launch_limit_values{.pending_launches = pending_launches});
}

}  // namespace tests::inline RAMIFY_BUILD
