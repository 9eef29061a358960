// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/launch_trace.hpp>

struct timed_sort {
  double ms;
  std::uint64_t grids;  ///< by the report
};

/// By kernels that can record, whether `trace` is null or not. Device pointers.
timed_sort sort_with_traced_kernels(const std::uint32_t* input, std::uint32_t* keys, std::size_t n,
                                    ramify::launch_trace* trace);
