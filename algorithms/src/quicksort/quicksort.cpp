// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/quicksort.hpp>

#include "facade/backend_choice.hpp"
#include "quicksort/on_backend.hpp"

namespace ramify::detail::quicksort::inline RAMIFY_ABI {

quicksort_report sort_numbers(const number_array& keys, const number_array& values, std::size_t n,
                              ramify::sort_order order, const quicksort_options& options,
                              const environment& env) {
  validate(options);
  validate(env);
  check_enumerator(order, "quicksort: order");
  return facade::on_backend(env, [&](auto where) {
    const auto sort = [&](auto* held, auto* moved) {
      return facade::quicksort_on<where>(held, moved, n, {keys.kind, order}, options, env);
    };
    const auto sort_with_values = [&](auto* held) {
      if (values.bytes == 0) return sort(held, static_cast<void*>(nullptr));
      return values.bytes == 4 ? sort(held, static_cast<std::uint32_t*>(values.data))
                               : sort(held, static_cast<std::uint64_t*>(values.data));
    };
    // 32-bit numbers and 64-bit integers are sorted as their bits, so that there is one set of
    // kernels for each size. A double is sorted as a double, see sort_order.
    if (keys.bytes == 4) return sort_with_values(static_cast<std::uint32_t*>(keys.data));
    return keys.kind == number_kind::floating_point
               ? sort_with_values(static_cast<double*>(keys.data))
               : sort_with_values(static_cast<std::uint64_t*>(keys.data));
  });
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_ABI
