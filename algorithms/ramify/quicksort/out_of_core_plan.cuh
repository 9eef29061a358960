// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// out_of_core_plan: how a sort of host arrays (out_of_core.cuh) divides them, and its memory.

#include <algorithm>
#include <array>
#include <cstddef>
#include <ramify/quicksort.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// How n elements are divided. Sizes are in elements.
struct out_of_core_plan {
  std::size_t n;
  std::size_t run;  ///< of a run and of a slot; the last run may be shorter

  [[nodiscard]] std::size_t runs() const { return (n - 1) / run + 1; }
  [[nodiscard]] std::size_t size_of_run(std::size_t i) const { return std::min(run, n - i * run); }
  /// The size of a block. At most one block for each run stays on the device between two buckets:
  /// at most an eighth of a slot.
  [[nodiscard]] std::size_t block() const { return std::max<std::size_t>(run / (8 * runs()), 1); }
  [[nodiscard]] std::size_t blocks_of_run(std::size_t i) const {
    return (size_of_run(i) - 1) / block() + 1;
  }
  /// The number of blocks of all runs, which is that of the samples.
  [[nodiscard]] std::size_t blocks() const {
    return (runs() - 1) * blocks_of_run(0) + blocks_of_run(runs() - 1);
  }
  [[nodiscard]] std::size_t max_kept() const { return runs() * block(); }
  [[nodiscard]] std::size_t blocks_of_bucket() const {
    return max_kept() < run ? (run - max_kept()) / block() : 0;
  }
  [[nodiscard]] std::size_t buckets() const { return (blocks() - 1) / blocks_of_bucket() + 1; }
};

/// The device memory of the sort.
template <class Key, class Value, class Compare>
struct out_of_core_memory {
  using arrays = key_value_arrays<Key, Value>;

  out_of_core_memory(memory_layout& memory, const out_of_core_plan& plan,
                     const quicksort_options& options) {
    for (arrays& slot : slots) {
      slot.keys = memory.take<Key>(plan.run);
      slot.values = memory.take<Value>(arrays::has_values ? plan.run : 0);
    }
    samples = memory.take<Key>(plan.blocks());
    run_of_sample = memory.take<unsigned>(plan.blocks());
    count = memory.take<unsigned long long>(1);
    scratch = memory.take_scratch(
        std::max(quicksort_scratch_bytes<Key, Value, Compare>(plan.run, options),
                 quicksort_scratch_bytes<Key, unsigned, Compare>(plan.blocks(), options)));
  }

  std::array<arrays, 3> slots;
  Key* samples;  ///< of run 0, then of run 1, and so on; later sorted
  unsigned* run_of_sample;
  unsigned long long* count;
  memory_ref scratch;  ///< of one sort
};

/// Returns the plan with the longest runs whose device memory is at most options.device_memory.
/// \throws std::invalid_argument naming the field if there is none
template <class Key, class Value, class Compare>
[[nodiscard]] out_of_core_plan plan_out_of_core(std::size_t n, const quicksort_options& options) {
  using memory = out_of_core_memory<Key, Value, Compare>;
  // More runs than this would have blocks of a few elements.
  constexpr std::size_t max_runs = 4096;
  const auto bytes_of = [&](std::size_t run) {
    return layout_bytes<memory>(out_of_core_plan{n, run}, options);
  };
  const auto fits = [&](std::size_t run) { return bytes_of(run) <= options.device_memory; };
  // With 64 elements for each run, a block has 8 elements.
  std::size_t low = std::max<std::size_t>((n - 1) / max_runs + 1, 64);
  while (64 * ((n - 1) / low + 1) > low) ++low;
  // Short runs have many samples, so longer runs may need less memory.
  std::size_t least = bytes_of(low);
  for (std::size_t run = low; run < n && !fits(low);) {
    run += run / 8 + 1;
    least = std::min(least, bytes_of(run));
    if (fits(run)) low = run;
  }
  if (!fits(low)) {
    throw std::invalid_argument("quicksort_options.device_memory is " +
                                std::to_string(options.device_memory) + " bytes; a sort of " +
                                std::to_string(n) + " elements needs at least " +
                                std::to_string(least));
  }
  std::size_t high = std::max(low, n) + 1;  // no run needs to be longer than n
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return {n, low};
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
