// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the header template quicksort.cuh is asked to do in tests; compiled for both backends.

#include <cstdint>
#include <ramify/quicksort.hpp>
#include <string>
#include <vector>

#include "key_types.hpp"

namespace tests {

/// Comparators that are no strict weak order.
enum class hostile_order { less_or_equal, always_true, always_false, not_transitive };

/// The piece that an error is provoked with.
enum class bad_argument {
  null_keys,
  null_values,
  overlap,
  scratch_too_small,
  scratch_misaligned,
  depth_limit,
  host_memory,
};

template <class Key>
struct custom_sorts {
  ramify::quicksort_report (*keys)(std::vector<Key>&, const ramify::quicksort_options&);
  ramify::quicksort_report (*pairs)(std::vector<Key>&, std::vector<std::uint32_t>&,
                                    const ramify::quicksort_options&);
  std::vector<std::size_t> interesting_sizes;  ///< of a block, a tile, a leaf
};

struct quicksort_cases {
  custom_sorts<particle> particles;
  custom_sorts<record> records;
  custom_sorts<page> pages;
  std::vector<std::size_t> sizes_of_words;         ///< of 4 bytes, as above
  std::vector<std::size_t> sizes_of_double_words;  ///< of 8 bytes
  void (*hostile)(std::vector<std::uint32_t>&, hostile_order, const ramify::quicksort_options&);
  void (*provoke)(bad_argument);
  /// Sorts both on streams of their own, at the same time, with scratch memory of the caller's.
  void (*two_at_once)(std::vector<std::uint32_t>&, std::vector<std::uint32_t>&,
                      const ramify::quicksort_options&);
  /// Launch slots in use when nothing runs.
  unsigned (*slots_in_use)();
  /// Sorts while somebody else has all launch slots.
  ramify::quicksort_report (*without_slots)(std::vector<std::uint32_t>&,
                                            const ramify::quicksort_options&);
  /// Sorts in each kind of memory, by either door; what went wrong, if anything.
  std::string (*memory_kinds)();
  std::size_t (*scratch_bytes)(std::size_t n, const ramify::quicksort_config&);
  std::size_t (*recommended_pending_launches)(std::size_t n, const ramify::quicksort_config&);
};

/// Null if the backend was not built.
[[nodiscard]] const quicksort_cases* quicksort_cases_on_cpu();
[[nodiscard]] const quicksort_cases* quicksort_cases_on_cuda();

}  // namespace tests
