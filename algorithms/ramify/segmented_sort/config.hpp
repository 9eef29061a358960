// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Report of segmented_sort; plain C++.

#include <cstdint>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// What a segmented sort did.
struct segmented_sort_report : run_report {
  std::uint64_t keys = 0;      ///< elements of the array, in segments or not
  std::uint64_t segments = 0;  ///< number of segments
  /// Parts of segments at the depth limit, and those that an asynchronous sort has merge-sorted in
  /// the order of the stream, because a level was missing.
  std::uint64_t merge_sorted_segments = 0;
};

/// Prints one line "name: value" for each field.
inline std::ostream& operator<<(std::ostream& out, const segmented_sort_report& r) {
  return out << "keys: " << r.keys << "\nsegments: " << r.segments << '\n'
             << static_cast<const run_report&>(r)
             << "merge-sorted segments: " << r.merge_sorted_segments << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI
