// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's sort on the backend of whichever compiler reads this.

#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/stream.cuh>
#include <type_traits>

#include "facade.hpp"

namespace ramify::inline RAMIFY_BUILD {

/// ascending or descending, chosen at run time: half as many kernels for one more instruction.
struct directed {
  bool down;
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return down ? ascending{}(b, a) : ascending{}(a, b);
  }
};

/// An array that kernels can work on: the caller's own, or a copy of it on the device.
template <class T>
class on_device {
 public:
  on_device(T* data, std::size_t n, [[maybe_unused]] cudaStream_t stream,
            [[maybe_unused]] const char* name)
      : caller_(data), n_(n) {
#if RAMIFY_ON_CUDA
    const cudaMemoryType kind = memory_of(data, name);
    if (kind == cudaMemoryTypeUnregistered || kind == cudaMemoryTypeHost) {
      copy_ = device_buffer<T>(n, stream);
      check(cudaMemcpyAsync(copy_.data(), data, n * sizeof(T), cudaMemcpyHostToDevice, stream),
            "copying to the device");
    }
#endif
  }

  [[nodiscard]] T* data() const { return copy_.data() == nullptr ? caller_ : copy_.data(); }

  void copy_back([[maybe_unused]] cudaStream_t stream) const {
    if (copy_.data() == nullptr) return;
    check(cudaMemcpyAsync(caller_, copy_.data(), n_ * sizeof(T), cudaMemcpyDeviceToHost, stream),
          "copying from the device");
  }

 private:
  T* caller_;
  std::size_t n_;
  device_buffer<T> copy_;
};

template <class Key, class Value>
quicksort_report sort_here(Key* keys, Value* values, std::size_t n,
                           const quicksort_options& options) {
  std::optional<launch_limits> limits;
  if (options.pending_launches != 0)
    limits.emplace(launch_limit_values{.pending_launches = options.pending_launches});
  const directed order{options.descending};
  // The stream goes after the buffers that are freed in it.
  const host_stream stream;
  const on_device<Key> device_keys(keys, n, stream.get(), "keys");
  quicksort_report report;
  if constexpr (std::is_void_v<Value>) {
    report = quicksort(device_keys.data(), n, order, stream.get(), options);
  } else {
    const on_device<Value> device_values(values, n, stream.get(), "values");
    report =
        quicksort_pairs(device_keys.data(), device_values.data(), n, order, stream.get(), options);
    device_values.copy_back(stream.get());
  }
  device_keys.copy_back(stream.get());
  stream.synchronize();
  return report;
}

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::facade {

template <backend where, class Key, class Value>
quicksort_report sort_on(Key* keys, Value* values, std::size_t n,
                         const quicksort_options& options) {
  static_assert(where == (RAMIFY_ON_CUDA ? backend::cuda : backend::cpu));
  return sort_here(keys, values, n, options);
}

}  // namespace ramify::facade
