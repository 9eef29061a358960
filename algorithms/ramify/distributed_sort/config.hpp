// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sizes of parts, and the report, of the distributed sort; plain C++.

#include <cstdint>
#include <ostream>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// The sizes of the parts that the ranks get.
enum class sorted_parts {
  sampled,  ///< the splitters of a sample give parts within about 5 % of the mean
  equal,    ///< the sizes differ by at most one element; requires a second, short exchange
};

/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(sorted_parts p) {
  return choice_name(p, {"sampled", "equal"});
}

/// What a distributed sort did. The fields of quicksort_report are those of the sorts of this rank,
/// but `keys` counts the keys of all ranks, and `host_grids` also the grids of the splitters and of
/// the merge.
struct distributed_sort_report : quicksort_report {
  std::uint64_t first_key = 0;  ///< position of this rank's first key in the order of all keys
  std::uint64_t part_keys = 0;  ///< keys of this rank after the sort
  double part_imbalance = 1;    ///< the largest part over the mean of all ranks
};

/// Prints one line "name: value" for each field.
inline std::ostream& operator<<(std::ostream& out, const distributed_sort_report& r) {
  return out << static_cast<const quicksort_report&>(r) << "first key of this rank: " << r.first_key
             << "\nkeys of this rank: " << r.part_keys
             << "\nlargest part over the mean: " << r.part_imbalance << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::distributed_sort::inline RAMIFY_ABI {

/// Checks arguments that are the same on all ranks. \throws std::invalid_argument
inline void check_arguments(sorted_parts parts, const quicksort_options& options,
                            const environment& env) {
  check_enumerator(parts, "distributed_sort: parts");
  quicksort::validate_in_place(options);
  validate(env);
  if (!env.memory.empty()) {
    throw std::invalid_argument(
        "distributed_sort: environment.memory must be empty, because the sizes of the parts are "
        "known only during the sort");
  }
}

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_ABI
