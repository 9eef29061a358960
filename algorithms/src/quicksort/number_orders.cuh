// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The orders of numbers whose type and direction are arguments of the facade.

#include <ramify/quicksort/compiled_sorts.cuh>
#include <ramify/quicksort/order.cuh>
#include <type_traits>

#include "quicksort/on_backend.hpp"

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// ascending, for doubles. It is a type of its own, because in a program that uses the sorts of the
/// library, the function templates for `ascending` call the library.
struct ascending_doubles : ascending {};

template <>
inline constexpr bool orders_numbers<ascending_doubles> = true;
static_assert(!compiled_sort<double, no_value, ascending_doubles>::exists, "would call itself");

/// Returns the order of keys that are held as doubles, or as their bits.
[[nodiscard]] inline ascending_doubles order_of(const double* /*keys*/,
                                                const facade::number_order& /*wanted*/) {
  return {};
}
template <class Word>
[[nodiscard]] number_codes<Word> order_of(const Word*, const facade::number_order& wanted) {
  using codes = number_codes<Word>;
  const bool down = wanted.order == ramify::sort_order::descending;
  switch (wanted.kind) {
    case number_kind::floating_point:
      return codes::template of<std::conditional_t<sizeof(Word) == 4, float, double>>(down);
    case number_kind::signed_integer: return codes::template of<std::make_signed_t<Word>>(down);
    default: return codes::template of<Word>(down);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
