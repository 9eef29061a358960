// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/segmented_sort.hpp>

#include "facade/started_call.hpp"
#include "segmented_sort/on_backend.hpp"

namespace ramify::detail::segmented_sort::inline RAMIFY_ABI {

namespace {

void check_choices(const offset_range& offsets, ramify::sort_order order, const environment& env) {
  validate(env);
  check_enumerator(order, "segmented_sort: order");
  if (offsets.size == 0) {
    throw std::invalid_argument("segmented_sort: there must be one offset more than segments");
  }
}

/// Calls `sort` with the keys, as the type as which they are sorted, and with the values.
template <class Sort>
auto with_types(const quicksort::number_arrays& arrays, const Sort& sort) {
  const auto& keys = arrays.keys;
  // All numbers are sorted as their bits, so that there is one set of kernels for each size.
  return keys.bytes == 4 ? facade::with_values(arrays.values, sort, keys.as<std::uint32_t>())
                         : facade::with_values(arrays.values, sort, keys.as<std::uint64_t>());
}

}  // namespace

segmented_sort_report sort_segments(const quicksort::number_arrays& arrays,
                                    const offset_range& offsets, ramify::sort_order order,
                                    const environment& env) {
  check_choices(offsets, order, env);
  return facade::on_backend(env, [&](auto where) {
    return with_types(arrays, [&](auto* keys, auto* values) {
      return facade::segmented_sort_on<where>(keys, values, arrays.n, offsets,
                                              {arrays.keys.kind, order}, env);
    });
  });
}

async_run<segmented_sort_report> start_to_sort_segments(const quicksort::number_arrays& arrays,
                                                        const offset_range& offsets,
                                                        ramify::sort_order order,
                                                        const environment& env) {
  check_choices(offsets, order, env);
  return facade::start_on_backend("segmented_sort", env, [&](auto where) {
    return with_types(arrays, [&](auto* keys, auto* values) {
      return facade::start_segmented_sort_on<where>(keys, values, arrays.n, offsets,
                                                    {arrays.keys.kind, order}, env);
    });
  });
}

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_ABI
