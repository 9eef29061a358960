// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <ramify/quicksort.hpp>

namespace ramify::facade {

/// Sorts on one backend. Value is void for keys alone. Defined for each key and value type in a
/// file of its own, which is compiled once by nvcc and once by the C++ compiler.
template <backend where, class Key, class Value>
quicksort_report sort_on(Key* keys, Value* values, std::size_t n, const quicksort_options& options);

}  // namespace ramify::facade
