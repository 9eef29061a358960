// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of the facade's distributed sort that each backend defines.

#include <ramify/distributed_sort.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"
#include "quicksort/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// How vectors are sorted.
struct distributed_sort_call {
  number_order numbers;
  sorted_parts parts;
  const quicksort_options& options;
  const environment& env;
};

/// Sorts the vectors of all ranks on one backend. Held is the type as which the keys are sorted, as
/// in quicksort_on(); Value is void or std::uint64_t.
template <build where, class Held, class Value>
distributed_sort_report distributed_sort_on(communicator& comm, distributed_sort::rank_vectors&,
                                            const distributed_sort_call&);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
