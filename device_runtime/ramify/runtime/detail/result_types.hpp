// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks at compile time that the type of a total can hold the results that are added to it. In a
/// call such as traverse(..., 0) the initial value decides that type. Plain C++.

#include <limits>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/version.hpp>
#include <type_traits>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Whether `To` can hold each number of the type `From`. Signed and unsigned integers of the same
/// size count as equal. A bool holds only a bool. True if one of the types is not a number.
template <class From, class To>
inline constexpr bool holds_numbers_of = [] {
  using from = std::remove_cvref_t<From>;
  using to = std::remove_cvref_t<To>;
  if constexpr (!std::is_arithmetic_v<from> || !std::is_arithmetic_v<to>) {
    return true;
  } else if constexpr (std::is_same_v<to, bool>) {
    return std::is_same_v<from, bool>;
  } else if constexpr (std::is_floating_point_v<from> == std::is_floating_point_v<to>) {
    return sizeof(from) <= sizeof(to);
  } else {
    return std::is_integral_v<from> &&
           std::numeric_limits<from>::digits <= std::numeric_limits<to>::digits;
  }
}();

/// The type to which C++ promotes a number; any other type unchanged.
template <class T>
struct promoted {
  using type = T;
};
template <class T>
requires std::is_arithmetic_v<T>
struct promoted<T> {
  using type = decltype(+std::declval<T>());
};

/// Whether `Total` can hold the results of Functor(Arguments...). True if these are not known here.
template <class Total, class Functor, class... Arguments>
inline constexpr bool holds_results = [] {
  if constexpr (!is_device_lambda<Functor>) {
    if constexpr (std::is_invocable_v<const Functor&, Arguments...>) {
      return holds_numbers_of<std::invoke_result_t<const Functor&, Arguments...>, Total>;
    } else {
      return true;  // the call itself is the error
    }
  } else {
    return true;
  }
}();

/// Whether `combine` of two totals gives a total. The sum of two short numbers is an int, which
/// counts as short here.
template <class Total, class Combine>
inline constexpr bool holds_combined =
    holds_results<typename promoted<Total>::type, Combine, const Total&, const Total&>;

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI
