// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's quicksort on the backend that this compiler builds for.

#include <ramify/quicksort_out_of_core.cuh>
#include <ramify/version.hpp>
#include <type_traits>

#include "facade/device_arrays.cuh"
#include "facade/start_call.cuh"
#include "quicksort/number_orders.cuh"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// Returns whether the keys are in host memory, and the sort of all of them at once would take more
/// device memory than options.device_memory.
template <class Held, class Value, class Order>
bool is_sorted_in_parts(Held* keys, std::size_t n, const quicksort_options& options) {
  if (options.device_memory == 0 || n < 2) return false;
#if RAMIFY_ON_CUDA
  const cudaMemoryType kind = memory_of(keys, "keys");
  if (kind != cudaMemoryTypeUnregistered && kind != cudaMemoryTypeHost) return false;
#else
  static_cast<void>(keys);
#endif
  using arrays = quicksort::key_value_arrays<Held, Value>;
  const std::size_t element = sizeof(Held) + (arrays::has_values ? sizeof(Value) : 0);
  return n * element + quicksort_scratch_bytes<Held, Value, Order>(n, options) >
         options.device_memory;
}

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

// Copies the arrays to the device if necessary, sorts, and copies them back.
template <build where, class Held, class Value>
quicksort_report quicksort_on(Held* keys, Value* values, std::size_t n, const number_order& wanted,
                              const quicksort_options& options, const environment& env) {
  static_assert(where == this_build);
  const auto order = quicksort::order_of(keys, wanted);
  using value = std::conditional_t<std::is_void_v<Value>, no_value, Value>;
  facade_call call(env);
  if (is_sorted_in_parts<Held, value, std::remove_const_t<decltype(order)>>(keys, n, options)) {
    const auto moved = static_cast<value*>(static_cast<void*>(values));
    quicksort_report report = call.finish(
        quicksort::sort_out_of_core<Held, value>({keys, moved}, n, order, options, env));
    report.work_ms = report.total_ms;  // the copies are part of it
    return report;
  }
  const quicksort_options in_place =
      options.device_memory == 0 ? options : quicksort::in_place_options(options);
  const on_device device_keys(std::span(keys, n), array_role::in_place, call, "keys");
  if constexpr (std::is_void_v<Value>) {
    return call.finish(ramify::quicksort(device_keys.data(), n, order, in_place, env), device_keys);
  } else {
    const on_device device_values(std::span(values, n), array_role::in_place, call, "values");
    return call.finish(
        quicksort_pairs(device_keys.data(), device_values.data(), n, order, in_place, env),
        device_values, device_keys);
  }
}

template <build where, class Held, class Value>
started_call<quicksort_report> start_quicksort_on(Held* keys, Value* values, std::size_t n,
                                                  const number_order& wanted,
                                                  const quicksort_options& options,
                                                  const environment& env) {
  static_assert(where == this_build);
  const auto order = quicksort::order_of(keys, wanted);
  using value = std::conditional_t<std::is_void_v<Value>, no_value, Value>;
  using compare = std::remove_const_t<decltype(order)>;
  const auto scratch_bytes = [&] {
    return quicksort_scratch_bytes<Held, value, compare>(n, options);
  };
  return start_call<quicksort_report>(env, scratch_bytes, [&](const environment& here) {
    if constexpr (std::is_void_v<Value>) {
      return quicksort_async(keys, n, order, options, here);
    } else {
      return quicksort_pairs_async(keys, values, n, order, options, here);
    }
  });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

template <class Held, class Value>
async_run<quicksort_report> start_compiled_sort(Held* keys, Value* values, std::size_t n,
                                                number_kind kind, ramify::sort_order order,
                                                const quicksort_options& options,
                                                const environment& env) {
  return start_sort(keys, values, n, order_of(keys, {kind, order}), options, env);
}

template <class Held, class Value>
std::size_t compiled_sort_bytes(std::size_t n, const quicksort_options& options) {
  using order = decltype(order_of(static_cast<const Held*>(nullptr), {}));
  return quicksort_scratch_bytes<Held, Value, order>(n, options);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

/// Instantiates the sorts of keys that are held as Held with values of type Value, or void.
#define RAMIFY_INSTANTIATE_WITH(Held, Value)                                     \
  template quicksort_report quicksort_on<this_build>(                            \
      Held*, Value*, std::size_t, const number_order&, const quicksort_options&, \
      const environment&);                                                       \
  template started_call<quicksort_report> start_quicksort_on<this_build>(        \
      Held*, Value*, std::size_t, const number_order&, const quicksort_options&, \
      const environment&);

/// Instantiates the functions of compiled_sorts.cuh. Sources with traces do not call them.
#if RAMIFY_ON_CUDA && RAMIFY_TRACE
#define RAMIFY_INSTANTIATE_COMPILED(Held, Value)
#else
#define RAMIFY_INSTANTIATE_COMPILED(Held, Value)                                             \
  template async_run<quicksort_report> start_compiled_sort(                                  \
      Held*, Value*, std::size_t, number_kind, ramify::sort_order, const quicksort_options&, \
      const environment&);                                                                   \
  template std::size_t compiled_sort_bytes<Held, Value>(std::size_t, const quicksort_options&);
#endif

/// Instantiates the sorts of keys that are held as Held, for this backend.
#define RAMIFY_INSTANTIATE(Held)                             \
  namespace ramify::detail::facade::inline RAMIFY_ABI {      \
  RAMIFY_INSTANTIATE_WITH(Held, void)                        \
  RAMIFY_INSTANTIATE_WITH(Held, std::uint32_t)               \
  RAMIFY_INSTANTIATE_WITH(Held, std::uint64_t)               \
  }                                                          \
  namespace ramify::detail::quicksort::inline RAMIFY_BUILD { \
  RAMIFY_INSTANTIATE_COMPILED(Held, no_value)                \
  RAMIFY_INSTANTIATE_COMPILED(Held, std::uint32_t)           \
  RAMIFY_INSTANTIATE_COMPILED(Held, std::uint64_t)           \
  }
