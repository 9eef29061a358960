// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The eight symmetries of the n queens problem; plain C++.
///
/// Each solution has one queen in each of two rows and two columns next to the center of the board:
/// its preset. The rotations and reflections of the board map these four lines to each other, so
/// they map presets to presets. All images of a preset have the same number of solutions. So
///
///     solutions = sum over one preset of each set of images: images * solutions with this preset
///
/// The queens of the center attack more squares than others, so these presets also leave smaller
/// trees than all positions of the queen of the first row would.

#include <algorithm>
#include <array>
#include <functional>
#include <ramify/branch_and_bound/queens.hpp>
#include <ramify/version.hpp>
#include <vector>

namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI {

struct queens_square {
  unsigned row;
  unsigned column;

  friend constexpr auto operator<=>(const queens_square&, const queens_square&) = default;
  // nvcc 13.0 declares the implicit operator== and does not define it.
  friend constexpr bool operator==(const queens_square& a, const queens_square& b) {
    return a.row == b.row && a.column == b.column;
  }

  /// Returns whether a queen on this square and one on another square attack each other.
  [[nodiscard]] constexpr bool attacks(const queens_square& other) const {
    const auto distance = [](unsigned a, unsigned b) { return a < b ? b - a : a - b; };
    const unsigned rows = distance(row, other.row);
    const unsigned columns = distance(column, other.column);
    return *this != other && (rows == 0 || columns == 0 || rows == columns);
  }
};

/// The queens of two rows and two columns, in falling order of their squares. A queen where a row
/// meets a column is there twice.
using queens_squares = std::array<queens_square, 4>;

/// A preset, and the number of its different images. Among its images it is the least one: its last
/// queen has the smallest row. So most rows without a queen are in one piece, under all presets.
struct queens_preset {
  queens_squares queens;
  unsigned images;
};

/// The minimum of n for which the four lines exist.
inline constexpr unsigned min_symmetric_queens = 4;

/// Returns the number of different images if `queens` is the least one, else 0.
[[nodiscard]] inline unsigned count_images_of_least(const queens_squares& queens, unsigned n) {
  queens_squares image = queens;
  unsigned equal = 0;
  for (unsigned reflection = 0; reflection < 2; ++reflection) {
    for (unsigned rotation = 0; rotation < 4; ++rotation) {
      for (auto& [row, column] : image) {
        const unsigned old_row = row;
        row = column;
        column = n - 1 - old_row;
      }
      queens_squares sorted = image;
      std::ranges::sort(sorted, std::greater{});
      if (sorted < queens) return 0;
      if (sorted == queens) ++equal;
    }
    for (queens_square& square : image) square.column = n - 1 - square.column;
  }
  return 8 / equal;
}

/// Returns one preset of each set of images. O(n^4). Requires n >= min_symmetric_queens.
[[nodiscard]] inline std::vector<queens_preset> canonical_queens_presets(unsigned n) {
  const unsigned low = (n - 2) / 2;
  const unsigned high = n - 1 - low;
  std::vector<queens_preset> presets;
  const auto add = [&](queens_squares queens) {
    std::ranges::sort(queens, std::greater{});
    const unsigned last_row = queens.front().row;
    const unsigned first_row = queens.back().row;
    const auto [left, right] = std::ranges::minmax(queens, {}, &queens_square::column);
    // A quick check of the last rows of the images saves most comparisons.
    if (last_row > n - 1 - first_row || last_row > right.column || last_row > n - 1 - left.column) {
      return;
    }
    const unsigned images = count_images_of_least(queens, n);
    if (images > 0) presets.push_back({queens, images});
  };
  for (unsigned a = 0; a < n; ++a) {
    const queens_square first{low, a};
    for (unsigned b = 0; b < n; ++b) {
      const queens_square second{high, b};
      if (second.attacks(first)) continue;
      for (unsigned c = 0; c < n; ++c) {
        const queens_square third{c, low};
        if (third.attacks(first) || third.attacks(second)) continue;
        for (unsigned d = 0; d < n; ++d) {
          const queens_square fourth{d, high};
          if (fourth.attacks(first) || fourth.attacks(second) || fourth.attacks(third)) continue;
          add({first, second, third, fourth});
        }
      }
    }
  }
  return presets;
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI
