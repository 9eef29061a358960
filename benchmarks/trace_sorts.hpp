// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/launch_trace.hpp>

/// The time and the number of grids of one sort.
struct timed_sort {
  double ms;
  std::uint64_t grids;  ///< from the report
};

/// Sorts a copy of the input with kernels that can record. They record if `trace` is not null.
/// `input` and `keys` are device pointers to `n` keys.
timed_sort sort_with_traced_kernels(const std::uint32_t* input, std::uint32_t* keys, std::size_t n,
                                    ramify::launch_trace* trace);
