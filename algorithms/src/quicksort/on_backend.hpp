// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of the facade's quicksort that each backend defines.

#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"
#include "facade/started_call.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// The type of numbers, and the order in which they are sorted.
struct number_order {
  quicksort::number_kind kind;
  sort_order order;

  /// Whether 64-bit numbers are sorted as doubles. All others are sorted as their bits, so that
  /// there is one set of kernels for each size. Doubles in ascending order take less time than
  /// their codes, see sort_order. Kernels that compare doubles in a direction that is an
  /// argument take longer than codes.
  [[nodiscard]] bool has_doubles() const {
    return kind == quicksort::number_kind::floating_point && order == sort_order::ascending;
  }
};

/// Sorts n keys on one backend, with values unless Value is void. Held is the type as
/// which the keys are sorted: one of the INSTANCES in algorithms/CMakeLists.txt. on_backend.cuh
/// defines the function, and is compiled for each Held by nvcc and by the C++ compiler.
template <build where, class Held, class Value>
quicksort_report quicksort_on(Held* keys, Value* values, std::size_t n, const number_order& order,
                              const quicksort_options& options, const environment& env);

/// Starts the sort of quicksort_on(). The arrays must be in memory that kernels can access.
template <build where, class Held, class Value>
started_call<quicksort_report> start_quicksort_on(Held* keys, Value* values, std::size_t n,
                                                  const number_order& order,
                                                  const quicksort_options& options,
                                                  const environment& env);

/// Calls `sort` with the keys and the values, which are null pointers to void if there are none.
template <class Sort, class Held>
auto with_values(const quicksort::number_array& values, const Sort& sort, Held* keys) {
  if (values.bytes == 0) return sort(keys, static_cast<void*>(nullptr));
  return values.bytes == 4 ? sort(keys, values.as<std::uint32_t>())
                           : sort(keys, values.as<std::uint64_t>());
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
