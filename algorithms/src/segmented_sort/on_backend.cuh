// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's segmented_sort on the backend that this compiler builds for.

#include <ramify/segmented_sort.cuh>
#include <ramify/version.hpp>
#include <type_traits>

#include "facade/device_arrays.cuh"
#include "facade/start_call.cuh"
#include "quicksort/number_orders.cuh"
#include "segmented_sort/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// Calls `sort` with a pointer to the first offset.
template <class Sort>
auto with_offsets(const segmented_sort::offset_range& offsets, const Sort& sort) {
  if (offsets.bytes == 8) return sort(static_cast<const std::uint64_t*>(offsets.data));
  if (offsets.is_signed) return sort(static_cast<const std::int32_t*>(offsets.data));
  return sort(static_cast<const std::uint32_t*>(offsets.data));
}

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

// Copies the arrays to the device if necessary, sorts, and copies them back.
template <build where, class Held, class Value>
segmented_sort_report segmented_sort_on(Held* keys, Value* values, std::size_t n,
                                        const segmented_sort::offset_range& offsets,
                                        const number_order& wanted, const environment& env) {
  static_assert(where == this_build);
  const auto order = quicksort::order_of(keys, wanted);
  facade_call call(env);
  const on_device device_keys(std::span(keys, n), array_role::in_place, call, "keys");
  return with_offsets(offsets, [&](const auto* first) {
    const on_device on(std::span(first, offsets.size), call, "offsets");
    const auto* begins = on.data();
    const std::size_t segments = offsets.size - 1;
    if constexpr (std::is_void_v<Value>) {
      return call.finish(
          ramify::segmented_sort(device_keys.data(), n, begins, begins + 1, segments, order, env),
          device_keys);
    } else {
      const on_device device_values(std::span(values, n), array_role::in_place, call, "values");
      return call.finish(segmented_sort_pairs(device_keys.data(), device_values.data(), n, begins,
                                              begins + 1, segments, order, env),
                         device_values, device_keys);
    }
  });
}

template <build where, class Held, class Value>
started_call<segmented_sort_report> start_segmented_sort_on(
    Held* keys, Value* values, std::size_t n, const segmented_sort::offset_range& offsets,
    const number_order& wanted, const environment& env) {
  static_assert(where == this_build);
  const auto order = quicksort::order_of(keys, wanted);
  using value = std::conditional_t<std::is_void_v<Value>, no_value, Value>;
  using compare = std::remove_const_t<decltype(order)>;
  const std::size_t segments = offsets.size - 1;
  const auto scratch_bytes = [&] {
    return segmented_sort_scratch_bytes<Held, value, compare>(n, segments);
  };
  return start_call<segmented_sort_report>(env, scratch_bytes, [&](const environment& here) {
    return with_offsets(offsets, [&](const auto* first) {
      if constexpr (std::is_void_v<Value>) {
        return segmented_sort_async(keys, n, first, first + 1, segments, order, here);
      } else {
        return segmented_sort_pairs_async(keys, values, n, first, first + 1, segments, order, here);
      }
    });
  });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

/// Instantiates the sorts of keys that are held as Held with values of type Value, or void.
#define RAMIFY_INSTANTIATE_WITH(Held, Value)                                                \
  template segmented_sort_report segmented_sort_on<this_build>(                             \
      Held*, Value*, std::size_t, const segmented_sort::offset_range&, const number_order&, \
      const environment&);                                                                  \
  template started_call<segmented_sort_report> start_segmented_sort_on<this_build>(         \
      Held*, Value*, std::size_t, const segmented_sort::offset_range&, const number_order&, \
      const environment&);

/// Instantiates the sorts of keys that are held as Held, for this backend.
#define RAMIFY_INSTANTIATE(Held)                        \
  namespace ramify::detail::facade::inline RAMIFY_ABI { \
  RAMIFY_INSTANTIATE_WITH(Held, void)                   \
  RAMIFY_INSTANTIATE_WITH(Held, std::uint32_t)          \
  RAMIFY_INSTANTIATE_WITH(Held, std::uint64_t)          \
  }
