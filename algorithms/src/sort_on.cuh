// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's sort on the backend of whichever compiler reads this.

#include <ramify/quicksort.cuh>
#include <type_traits>

#include "device_arrays.cuh"
#include "sort_on.hpp"

namespace ramify::inline RAMIFY_BUILD {

/// ascending or descending, chosen at run time: half as many kernels for one more instruction.
struct directed {
  bool down;
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return down ? ascending{}(b, a) : ascending{}(a, b);
  }
};

template <class Key, class Value>
quicksort_report sort_here(Key* keys, Value* values, std::size_t n,
                           const quicksort_options& options) {
  const directed order{options.descending};
  facade_call call(options.pending_launches);
  const on_device device_keys(std::span(keys, n), array_role::in_place, call, "keys");
  quicksort_report report;
  if constexpr (std::is_void_v<Value>) {
    report = quicksort(device_keys.data(), n, order, call.stream(), options);
  } else {
    const on_device device_values(std::span(values, n), array_role::in_place, call, "values");
    report =
        quicksort_pairs(device_keys.data(), device_values.data(), n, order, call.stream(), options);
    device_values.copy_back();
  }
  device_keys.copy_back();
  static_cast<run_times&>(report) = call.finish();
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
