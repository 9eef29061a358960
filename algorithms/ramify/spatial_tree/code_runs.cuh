// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A sort of Morton codes by their upper 32 bits first:
///
///     sorted by the upper bits     01|30 02|11 02|07 02|10 05|00
///     runs of equal upper bits           ^---- sorted by one thread: 02|07 02|10 02|11
///
/// Evenly distributed points differ in these bits nearly always: of 10^7, one in 430 shares them
/// with another one. sample_codes() finds out before the sort, and sort_runs() completes it.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/residency.cuh>
#include <ramify/spatial_tree/morton.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Bits of a Morton code below its upper 32 bits, by which a sort of all codes may begin.
template <int dim>
inline constexpr int lower_code_bits = static_cast<int>(spatial_shape<dim>::bits) * dim - 32;

/// Maximum number of codes of a run that one thread sorts.
inline constexpr std::uint32_t longest_run = 32;

/// What sample_codes() finds. Initially 0.
struct code_statistics {
  unsigned descents;  ///< not 0 if a code is less than the one before it
  unsigned repeats;   ///< estimate of the codes of the sample whose upper bits occur earlier
};

/// Memory of sample_codes() for the upper bits of codes. Initially not those of any code.
struct code_table {
  static constexpr unsigned bits = 16;
  static constexpr std::size_t size = std::size_t{1} << bits;
  /// Points of which one belongs to the sample, for n points: a quarter of the table is used.
  [[nodiscard]] static std::uint32_t stride(std::uint32_t n) {
    return static_cast<std::uint32_t>(n / (size / 4) + 1);
  }
};

/// Finds whether the codes are in order already, and whether many points share the upper bits of
/// their codes. A sample is counted by a hash table, in which a code may replace another
/// one. One thread per point.
template <int dim>
__global__ void sample_codes(point_codes codes, std::uint32_t n, std::uint32_t stride,
                             std::uint64_t* table, code_statistics* found, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint64_t code = i < n ? codes.code(i) : 0;
  const bool descends = i > 0 && i < n && codes.code(i - 1) > code;
  // One thread reports the descents of its block, unless another block has: many reads or atomic
  // operations on one address take long.
  if (__syncthreads_or(descends ? 1 : 0) != 0 && threadIdx.x == 0 &&
      load_relaxed(found->descents) == 0) {
    atomicOr(&found->descents, 1u);
  }
  if (i >= n || i % stride != 0) return;
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15u;
  const std::uint64_t upper = code >> lower_code_bits<dim>;
  auto* const slot = reinterpret_cast<unsigned long long*>(
      table + (upper * golden_ratio >> (64 - code_table::bits)));
  if (atomicExch(slot, upper) == upper) atomicAdd(&found->repeats, 1u);
}

/// Completes the sort of codes that are sorted by their upper bits: sorts each run of codes with
/// equal upper bits. The sort is stable. Sets `unsorted` if a run of more than `longest_run` codes
/// is not in order; it is left as it is. One thread per point.
template <int dim>
__global__ void sort_runs(point_codes codes, std::uint32_t n, unsigned* unsorted,
                          trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // 1. Find the run around code i, up to the length of interest. Other threads may move codes
  //    meanwhile, but only within their runs, so the upper bits at each position do not change.
  constexpr int shift = lower_code_bits<dim>;
  const std::uint64_t upper = codes.code(i) >> shift;
  const auto is_in_run = [&](std::uint32_t at) { return codes.code(at) >> shift == upper; };
  const bool is_first = i == 0 || !is_in_run(i - 1);
  const bool descends = !is_first && codes.code(i - 1) > codes.code(i);
  if (!is_first && !descends) return;
  std::uint32_t begin = i;
  std::uint32_t end = i + 1;
  while (end < n && end - begin <= longest_run && is_in_run(end)) ++end;
  while (begin > 0 && end - begin <= longest_run && is_in_run(begin - 1)) --begin;
  // 2. No thread moves the codes of a long run. Copies of a point are in order.
  if (end - begin > longest_run) {
    if (descends) atomicOr(unsorted, 1u);
    return;
  }
  // 3. The thread of the first code sorts a short run by insertion.
  if (!is_first) return;
  for (std::uint32_t next = begin + 1; next < end; ++next) {
    const morton_code element{codes.code(next), codes.id(next)};
    std::uint32_t at = next;
    for (; at > begin && codes.code(at - 1) > element.code(); --at) {
      codes.put(at, {codes.code(at - 1), codes.id(at - 1)});
    }
    if (at < next) codes.put(at, element);
  }
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
