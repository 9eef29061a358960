// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/quicksort.hpp>

#include <stdexcept>

#include "facade/backend_choice.hpp"
#include "quicksort/on_backend.hpp"

namespace ramify::detail::quicksort {

template <class Key, class Value>
quicksort_report sort_numbers(Key* keys, Value* values, std::size_t n,
                              const quicksort_options& options) {
  validate(options);
  if (to_string(options.backend) == "?") {
    throw std::invalid_argument("quicksort_options.backend is none of the enumerators");
  }
  return facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
    auto* held = reinterpret_cast<facade::sorted_as<Key>*>(keys);
    return facade::quicksort_on<where>(held, facade::kind_of<Key>, values, n, options);
  });
}

// The sorted_as types of these keys are the INSTANCES in algorithms/CMakeLists.txt.
#define RAMIFY_INSTANTIATE(Key)                                                               \
  template quicksort_report sort_numbers(Key*, void*, std::size_t, const quicksort_options&); \
  template quicksort_report sort_numbers(Key*, std::uint32_t*, std::size_t,                   \
                                         const quicksort_options&);                           \
  template quicksort_report sort_numbers(Key*, std::uint64_t*, std::size_t,                   \
                                         const quicksort_options&);
RAMIFY_INSTANTIATE(std::int32_t)
RAMIFY_INSTANTIATE(std::uint32_t)
RAMIFY_INSTANTIATE(std::int64_t)
RAMIFY_INSTANTIATE(std::uint64_t)
RAMIFY_INSTANTIATE(float)
RAMIFY_INSTANTIATE(double)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify::detail::quicksort
