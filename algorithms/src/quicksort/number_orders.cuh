// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The orders of numbers whose type and direction the facade knows at run time.

#include <ramify/quicksort/order.cuh>
#include <type_traits>

#include "quicksort/on_backend.hpp"

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// ascending or descending, chosen at run time. This halves the number of kernels for one more
/// instruction a comparison.
struct directed {
  bool down;
  __host__ __device__ bool operator()(double a, double b) const {
    return down ? ascending{}(b, a) : ascending{}(a, b);
  }
};

template <>
inline constexpr bool orders_numbers<directed> = true;

/// Returns the order of keys that are held as doubles, or as their bits.
[[nodiscard]] inline directed order_of(const double*, const facade::number_order& wanted) {
  return {wanted.order == ramify::sort_order::descending};
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
