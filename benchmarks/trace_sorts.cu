// SPDX-License-Identifier: BSD-3-Clause
// Compiles the sorts of benchmark_trace_cuda with kernels that can record.
#define RAMIFY_TRACE 1
#include "trace_sorts.cuh"

timed_sort sort_with_traced_kernels(const std::uint32_t* input, std::uint32_t* keys, std::size_t n,
                                    ramify::launch_trace* trace) {
  return ramify::sort_once(input, keys, n, trace);
}
