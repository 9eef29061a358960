// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of the facade's quicksort that each backend defines.

#include <cstddef>
#include <ramify/quicksort.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// The type of numbers, and the order in which they are sorted.
struct number_order {
  quicksort::number_kind kind;
  sort_order order;
};

/// Sorts n keys on one backend, with values unless Value is void. Held is the type as
/// which the keys are sorted: one of the INSTANCES in algorithms/CMakeLists.txt. on_backend.cuh
/// defines the function, and is compiled for each Held by nvcc and by the C++ compiler.
template <build where, class Held, class Value>
quicksort_report quicksort_on(Held* keys, Value* values, std::size_t n, const number_order& order,
                              const quicksort_options& options, const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
