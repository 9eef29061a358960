// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/segmented_sort.hpp>

#include "facade/backend_choice.hpp"
#include "segmented_sort/on_backend.hpp"

namespace ramify::detail::segmented_sort::inline RAMIFY_ABI {

segmented_sort_report sort_segments(const quicksort::number_array& keys,
                                    const quicksort::number_array& values, std::size_t n,
                                    const offset_range& offsets, ramify::sort_order order,
                                    const environment& env) {
  validate(env);
  check_enumerator(order, "segmented_sort: order");
  if (offsets.size == 0) {
    throw std::invalid_argument("segmented_sort: there must be one offset more than segments");
  }
  return facade::on_backend(env, [&](auto where) {
    const auto sort = [&](auto* held, auto* moved) {
      return facade::segmented_sort_on<where>(held, moved, n, offsets, {keys.kind, order}, env);
    };
    const auto sort_with_values = [&](auto* held) {
      if (values.bytes == 0) return sort(held, static_cast<void*>(nullptr));
      return values.bytes == 4 ? sort(held, static_cast<std::uint32_t*>(values.data))
                               : sort(held, static_cast<std::uint64_t*>(values.data));
    };
    // All numbers are sorted as their bits, so that there is one set of kernels for each size.
    return keys.bytes == 4 ? sort_with_values(static_cast<std::uint32_t*>(keys.data))
                           : sort_with_values(static_cast<std::uint64_t*>(keys.data));
  });
}

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_ABI
