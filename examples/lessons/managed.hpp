// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Locations of managed memory, prefetches and advice, in the forms of CUDA 12 and 13. Only for a
/// GPU. Lessons 20a and 20d use them.

#include <cstddef>

#include "lesson.hpp"

namespace lesson {

/// Returns an attribute of device 0.
inline int attribute(cudaDeviceAttr which) {
  int value = 0;
  ramify::check(cudaDeviceGetAttribute(&value, which, 0), "querying an attribute");
  return value;
}

// CUDA 13 describes locations in a struct. Before, a location was a device number, and the host had
// one too.
#if CUDART_VERSION >= 13000
inline cudaMemLocation device() { return {cudaMemLocationTypeDevice, 0}; }
inline cudaMemLocation host() { return {cudaMemLocationTypeHost, 0}; }
/// Moves managed memory to a location.
inline cudaError_t prefetch(const void* data, std::size_t bytes, cudaMemLocation to) {
  return cudaMemPrefetchAsync(data, bytes, to, 0, nullptr);
}
inline cudaError_t advise(const void* data, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation where) {
  return cudaMemAdvise(data, bytes, advice, where);
}
#else
inline int device() { return 0; }
inline int host() { return cudaCpuDeviceId; }
/// Moves managed memory to a location.
inline cudaError_t prefetch(const void* data, std::size_t bytes, int to) {
  return cudaMemPrefetchAsync(data, bytes, to, nullptr);
}
inline cudaError_t advise(const void* data, std::size_t bytes, cudaMemoryAdvise advice, int where) {
  return cudaMemAdvise(data, bytes, advice, where);
}
#endif

}  // namespace lesson
