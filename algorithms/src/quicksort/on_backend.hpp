// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of the facade's quicksort that each backend defines.

#include <cstddef>
#include <ramify/quicksort.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

using quicksort::number_kind;

/// Sorts n keys of `kind` on one backend, with values unless Value is void. Held is the type as
/// which the keys are sorted: one of the INSTANCES in algorithms/CMakeLists.txt. on_backend.cuh
/// defines the function, and is compiled for each Held by nvcc and by the C++ compiler.
template <build where, class Held, class Value>
quicksort_report quicksort_on(Held* keys, number_kind kind, Value* values, std::size_t n,
                              const quicksort_options& options);

}  // namespace ramify::detail::facade
