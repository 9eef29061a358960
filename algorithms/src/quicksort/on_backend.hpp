// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.hpp>
#include <type_traits>

#include "facade/kernel_build.hpp"

namespace ramify::facade {

/// What the bits of a key stand for.
enum class number_kind { unsigned_integer, signed_integer, floating_point };

template <class Key>
inline constexpr number_kind kind_of = std::is_floating_point_v<Key> ? number_kind::floating_point
                                       : std::is_signed_v<Key>       ? number_kind::signed_integer
                                                               : number_kind::unsigned_integer;

/// What a key is sorted as: numbers of 32 bits, and integers of 64, as their bits, so that there is one set of
/// kernels for each size. A double as itself, see sort_order.
template <class Key>
using sorted_as =
    std::conditional_t<sizeof(Key) == 4, std::uint32_t,
                       std::conditional_t<std::same_as<Key, double>, double, std::uint64_t>>;

/// Sorts on one backend. Held is a sorted_as<...>; Value is void for keys alone. Defined for each Held in a
/// file of its own, which is compiled once by nvcc and once by the C++ compiler.
template <build where, class Held, class Value>
quicksort_report sort_on(Held* keys, number_kind kind, Value* values, std::size_t n,
                         const quicksort_options& options);

}  // namespace ramify::facade
