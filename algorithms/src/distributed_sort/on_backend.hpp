// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of the facade's distributed sort that each backend defines.

#include <ramify/distributed_sort.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

/// Sorts the vectors of all ranks on one backend. Held is the type as which the keys are sorted, as
/// in quicksort_on(); Value is void or std::uint64_t.
template <build where, class Held, class Value>
distributed_sort_report distributed_sort_on(communicator& comm, distributed_sort::rank_vectors&,
                                            const distributed_sort_options&);

}  // namespace ramify::detail::facade
