// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of the facade's segmented_sort that each backend defines.

#include <ramify/segmented_sort.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"
#include "quicksort/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Sorts segments of n keys on one backend, with values unless Value is void. Held is the type as
/// which the keys are sorted: one of the INSTANCES in algorithms/CMakeLists.txt. on_backend.cuh
/// defines the function, and is compiled for each Held by nvcc and by the C++ compiler.
template <build where, class Held, class Value>
segmented_sort_report segmented_sort_on(Held* keys, Value* values, std::size_t n,
                                        const segmented_sort::offset_range& offsets,
                                        const number_order& order, const environment& env);

/// Starts the sort of segmented_sort_on(). The arrays must be in memory that kernels can access.
template <build where, class Held, class Value>
started_call<segmented_sort_report> start_segmented_sort_on(
    Held* keys, Value* values, std::size_t n, const segmented_sort::offset_range& offsets,
    const number_order& order, const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
