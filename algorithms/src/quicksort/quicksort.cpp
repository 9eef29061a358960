// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/quicksort.hpp>

#include "facade/started_call.hpp"
#include "quicksort/on_backend.hpp"

namespace ramify::detail::quicksort::inline RAMIFY_ABI {

namespace {

void check_choices(ramify::sort_order order, const quicksort_options& options,
                   const environment& env) {
  validate(options);
  validate(env);
  check_enumerator(order, "quicksort: order");
}

/// Calls `sort` with the keys, as the type as which they are sorted, and with the values.
template <class Sort>
auto with_types(const number_arrays& arrays, ramify::sort_order order, const Sort& sort) {
  const auto& keys = arrays.keys;
  if (keys.bytes == 4) return facade::with_values(arrays.values, sort, keys.as<std::uint32_t>());
  return facade::number_order{keys.kind, order}.has_doubles()
             ? facade::with_values(arrays.values, sort, keys.as<double>())
             : facade::with_values(arrays.values, sort, keys.as<std::uint64_t>());
}

}  // namespace

quicksort_report sort_numbers(const number_arrays& arrays, ramify::sort_order order,
                              const quicksort_options& options, const environment& env) {
  check_choices(order, options, env);
  return facade::on_backend(env, [&](auto where) {
    return with_types(arrays, order, [&](auto* keys, auto* values) {
      return facade::quicksort_on<where>(keys, values, arrays.n, {arrays.keys.kind, order}, options,
                                         env);
    });
  });
}

async_run<quicksort_report> start_to_sort_numbers(const number_arrays& arrays,
                                                  ramify::sort_order order,
                                                  const quicksort_options& options,
                                                  const environment& env) {
  check_choices(order, options, env);
  return facade::start_on_backend("quicksort", env, [&](auto where) {
    return with_types(arrays, order, [&](auto* keys, auto* values) {
      return facade::start_quicksort_on<where>(keys, values, arrays.n, {arrays.keys.kind, order},
                                               options, env);
    });
  });
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_ABI
