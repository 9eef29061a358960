// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of the facade's quicksort that each backend defines.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.hpp>
#include <type_traits>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

/// The number type of the bits of a key.
enum class number_kind { unsigned_integer, signed_integer, floating_point };

template <class Key>
inline constexpr number_kind kind_of = std::is_floating_point_v<Key> ? number_kind::floating_point
                                       : std::is_signed_v<Key>       ? number_kind::signed_integer
                                                               : number_kind::unsigned_integer;

/// The type as which the facade sorts a key. 32-bit numbers and 64-bit integers are sorted as their
/// bits, so that there is one set of kernels for each size. A double is sorted as a double, see
/// sort_order.
template <class Key>
using sorted_as =
    std::conditional_t<sizeof(Key) == 4, std::uint32_t,
                       std::conditional_t<std::same_as<Key, double>, double, std::uint64_t>>;

/// Sorts n keys on one backend, with values unless Value is void. Held is a sorted_as<Key>.
/// on_backend.cuh defines it, and is compiled for each Held by nvcc and by the C++ compiler.
template <build where, class Held, class Value>
quicksort_report quicksort_on(Held* keys, number_kind kind, Value* values, std::size_t n,
                              const quicksort_options& options);

}  // namespace ramify::detail::facade
