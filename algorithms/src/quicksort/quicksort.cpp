// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/quicksort.hpp>

#include <stdexcept>
#include <string>

#include "facade/backend_choice.hpp"
#include "quicksort/on_backend.hpp"

namespace ramify {
namespace {

template <class Key, class Value>
quicksort_report sort(Key* keys, Value* values, std::size_t n, const quicksort_options& options) {
  validate(options);
  if (to_string(options.backend) == "?") {
    throw std::invalid_argument("quicksort_options.backend is none of the enumerators");
  }
  return detail::facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
    auto* held = reinterpret_cast<detail::facade::sorted_as<Key>*>(keys);
    return detail::facade::quicksort_on<where>(held, detail::facade::kind_of<Key>, values, n,
                                               options);
  });
}

}  // namespace

template <quicksort_facade_key Key>
quicksort_report quicksort(std::span<Key> keys, const quicksort_options& options) {
  return sort<Key, void>(keys.data(), nullptr, keys.size(), options);
}

template <quicksort_facade_key Key, quicksort_facade_value Value>
quicksort_report quicksort_pairs(std::span<Key> keys, std::span<Value> values,
                                 const quicksort_options& options) {
  if (keys.size() != values.size()) {
    throw std::invalid_argument("quicksort_pairs: " + std::to_string(keys.size()) + " keys, but " +
                                std::to_string(values.size()) + " values");
  }
  detail::quicksort::check_overlap(keys.data(), values.data(), keys.size());
  return sort<Key, Value>(keys.data(), values.data(), keys.size(), options);
}

// The sorted_as types of these keys are the INSTANCES in algorithms/CMakeLists.txt.
#define RAMIFY_INSTANTIATE(Key)                                                       \
  template quicksort_report quicksort(std::span<Key>, const quicksort_options&);      \
  template quicksort_report quicksort_pairs(std::span<Key>, std::span<std::uint32_t>, \
                                            const quicksort_options&);                \
  template quicksort_report quicksort_pairs(std::span<Key>, std::span<std::uint64_t>, \
                                            const quicksort_options&);
RAMIFY_INSTANTIATE(std::int32_t)
RAMIFY_INSTANTIATE(std::uint32_t)
RAMIFY_INSTANTIATE(std::int64_t)
RAMIFY_INSTANTIATE(std::uint64_t)
RAMIFY_INSTANTIATE(float)
RAMIFY_INSTANTIATE(double)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify
