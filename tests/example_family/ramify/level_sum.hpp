// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options, report, result and facade of level_sum(). Plain C++.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstdint>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/version.hpp>
#include <span>

namespace ramify::inline RAMIFY_ABI {

/// Options of level_sum(), for both interfaces.
struct level_sum_options {
  unsigned tile = 1024;  ///< numbers that one block sums, in [2, 65536]
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const level_sum_options& options) {
  detail::check_field(options.tile >= 2 && options.tile <= 65536, "level_sum_options.tile",
                      options.tile, "in [2, 65536]");
}

/// Report of level_sum().
struct level_sum_report : run_report {
  unsigned levels = 0;  ///< complete levels
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const level_sum_report& r) {
  return out << static_cast<const run_report&>(r) << "levels: " << r.levels << '\n';
}

/// A sum, and the report of the run.
struct level_sum_result {
  std::uint64_t sum;
  level_sum_report report;
};

/// Sums numbers in any memory and waits for the result.
/// \param env  its memory: level_sum_scratch_bytes() of <ramify/level_sum.cuh>
/// \throws std::invalid_argument naming a bad field; unavailable; cuda_error; device_launch_error
[[nodiscard]] level_sum_result level_sum(std::span<const std::uint64_t> numbers,
                                         const level_sum_options& options,
                                         const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline level_sum_result level_sum(std::span<const std::uint64_t> numbers,
                                                const environment& env = {}) {
  return level_sum(numbers, level_sum_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
