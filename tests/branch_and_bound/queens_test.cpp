// SPDX-License-Identifier: BSD-3-Clause
// Compares count_queens() with the published numbers and with a sequential search.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/branch_and_bound.hpp>
#include <ramify/branch_and_bound/queens.cuh>
#include <ramify/runtime/launch.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::granularity;
using ramify::queens_counts;
using ramify::queens_options;
using ramify::route;
using ramify::traverse_strategy;
using ramify::detail::branch_and_bound::canonical_queens_presets;
using ramify::detail::branch_and_bound::queens_square;

namespace {

/// A board without presets: the columns without a queen, and the attacked squares of the next row.
struct board {
  std::uint32_t columns;
  std::uint32_t falling;
  std::uint32_t rising;

  /// Returns the board with a queen on a free square of the next row.
  [[nodiscard]] board with(std::uint32_t queen) const {
    return {columns & ~queen, (falling | queen) << 1, (rising | queen) >> 1};
  }
};

/// Searches the lowest rows of boards by one warp. Lane i has board i; no columns: it has none.
__global__ void search_by_one_warp(const board* boards, unsigned* solutions) {
  __shared__ ramify::detail::branch_and_bound::queens_stacks stacks;
  const board& mine = boards[threadIdx.x];
  solutions[threadIdx.x] = ramify::detail::branch_and_bound::count_lowest_rows(
      ramify::full_warp_mask, mine.columns, mine.falling, mine.rising, stacks);
}

/// Returns the counts of all lanes of a warp that searches at most 32 boards of `n` columns.
[[nodiscard]] std::vector<unsigned> count_by_one_warp(std::vector<board> boards, unsigned n) {
  for (board& one : boards) {
    one.falling &= (std::uint32_t{1} << n) - 1;
    one.rising &= (std::uint32_t{1} << n) - 1;
  }
  boards.resize(32);
  const auto on_device = upload(boards);
  const auto solutions = zeros<unsigned>(32);
  ramify::check(
      ramify::launch(search_by_one_warp, {1, 32}, nullptr, on_device.data(), solutions.data())
          .code(),
      "launching search_by_one_warp");
  return download(solutions);
}

/// Counts the solutions below a board, and the boards below this one, itself included, by a
/// sequential search.
[[nodiscard]] queens_counts backtrack_queens(const board& from) {
  if (from.columns == 0) return {1, 1};
  queens_counts counts{0, 1};
  std::uint32_t squares = from.columns & ~(from.falling | from.rising);
  for (; squares != 0; squares &= squares - 1) {
    const auto below = backtrack_queens(from.with(squares & (0 - squares)));
    counts.solutions += below.solutions;
    counts.nodes += below.nodes;
  }
  return counts;
}

/// Counts as backtrack_queens() those boards of `n` queens that contain `queens`, by comparing
/// squares. Rows with one of these queens are skipped.
[[nodiscard]] queens_counts backtrack_squares(unsigned n, unsigned row,
                                              std::vector<queens_square>& queens) {
  if (row == n) return {1, 1};
  const auto in_row = [&](const queens_square& q) { return q.row == row; };
  if (std::ranges::any_of(queens, in_row)) return backtrack_squares(n, row + 1, queens);
  queens_counts counts{0, 1};
  for (unsigned column = 0; column < n; ++column) {
    const queens_square queen{row, column};
    const auto attacks = [&](const queens_square& q) { return q.attacks(queen); };
    if (std::ranges::any_of(queens, attacks)) continue;
    queens.push_back(queen);
    const auto below = backtrack_squares(n, row + 1, queens);
    queens.pop_back();
    counts.solutions += below.solutions;
    counts.nodes += below.nodes;
  }
  return counts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(branch_and_bound)

BOOST_DATA_TEST_CASE(queens_have_the_published_numbers, data::make(routes), taken) {
  const auto published = ramify::published_queens();
  for (unsigned n = 1; n <= unsigned(RAMIFY_ON_CUDA ? 16 : cut_down(13, 7)); ++n) {
    const auto symmetric = ramify::count_queens(n, environment_on(taken));
    BOOST_TEST(symmetric.counts.solutions == published[n], n << " queens");
    BOOST_TEST(symmetric.report.taken == taken);
    if (n > 11) continue;
    const auto plain = ramify::count_queens(n, {{}, false}, environment_on(taken));
    BOOST_TEST(plain.counts.solutions == published[n], n << " queens without symmetry");
  }
  for (const unsigned n : {0u, 28u}) {
    BOOST_CHECK_EXCEPTION((void)ramify::count_queens(n, environment_on(taken)),
                          std::invalid_argument,
                          names("n is " + std::to_string(n) + "; it must be in [1, 27]"));
  }
}

// Without symmetry and leaves, the nodes are those of a plain backtracking search. With symmetry,
// they are the root and the boards with each preset.
BOOST_AUTO_TEST_CASE(queens_have_the_nodes_of_a_sequential_search) {
  for (unsigned n = 1; n <= unsigned(cut_down(9, 7)); ++n) {
    const auto count = [&](bool symmetry) {
      return ramify::count_queens(n, {{}, symmetry, 0}, environment_on()).counts;
    };
    const auto plain = count(false);
    const auto plain_expected = backtrack_queens({(std::uint32_t{1} << n) - 1, 0, 0});
    BOOST_TEST(bool(plain == plain_expected), n << " queens without symmetry");
    if (n == 8) BOOST_TEST(plain.nodes == 2'057u);
    const auto symmetric = count(true);
    if (n < 4) {
      BOOST_TEST(bool(symmetric == plain));
      continue;
    }
    queens_counts expected{0, 1};
    for (const auto& [squares, images] : canonical_queens_presets(n)) {
      std::vector<queens_square> queens(squares.begin(), squares.end());
      queens.erase(std::unique(queens.begin(), queens.end()), queens.end());
      const auto below = backtrack_squares(n, 0, queens);
      expected.solutions += images * below.solutions;
      expected.nodes += below.nodes;
    }
    BOOST_TEST(bool(symmetric == expected),
               n << " queens: " << symmetric.nodes << " nodes instead of " << expected.nodes);
  }
}

// The images of all presets are all choices of queens on the four lines, each one once.
BOOST_AUTO_TEST_CASE(presets_and_their_images_are_all_choices) {
  for (const unsigned n : {4u, 5u, 8u, 9u}) {
    const unsigned low = (n - 2) / 2;
    const unsigned high = n - 1 - low;
    unsigned choices = 0;
    for (unsigned i = 0; i < n * n * n * n; ++i) {
      const std::array<queens_square, 4> queens{
          {{low, i % n}, {high, i / n % n}, {i / n / n % n, low}, {i / n / n / n, high}}};
      const auto attacked = [&](const queens_square& q) {
        return std::ranges::any_of(queens, [&](const queens_square& p) { return p.attacks(q); });
      };
      if (std::ranges::none_of(queens, attacked)) ++choices;
    }
    unsigned images = 0;
    for (const auto& preset : canonical_queens_presets(n)) {
      BOOST_TEST((preset.images == 2 || preset.images == 4 || preset.images == 8));
      images += preset.images;
    }
    BOOST_TEST(images == choices, n << " queens");
  }
}

BOOST_AUTO_TEST_CASE(queens_are_counted_with_leaves_of_any_number_of_rows) {
  BOOST_TEST(ramify::automatic_queens_leaf_rows(17) == 0u);
  BOOST_TEST(ramify::automatic_queens_leaf_rows(18) == ramify::max_queens_leaf_rows);
  for (unsigned rows = 0; rows <= ramify::max_queens_leaf_rows + 1; ++rows) {
    // Below the presets of 12 queens there are up to five rows.
    const bool symmetry = rows == 0 || (rows >= 3 && rows <= 5);
    const auto n = unsigned(cut_down(12, 9));
    queens_options options{{}, symmetry, rows};
    const auto count = [&](unsigned queens) {
      return ramify::count_queens(queens, options, environment_on()).counts.solutions;
    };
    if (rows == 1 || rows == 2 || rows > ramify::max_queens_leaf_rows) {
      BOOST_CHECK_EXCEPTION((void)count(n), std::invalid_argument,
                            names("queens_options.leaf_rows is " + std::to_string(rows) +
                                  "; it must be 0 or in [3, 9]"));
      continue;
    }
    BOOST_TEST(count(n) == ramify::published_queens()[n]);
    options.strategy = traverse_strategy::task_per_node;
    options.launches.grain = granularity::per_grid;
    for (const bool with_symmetry : {false, true}) {
      options.symmetry = with_symmetry;
      BOOST_TEST(count(8) == 92u);
    }
  }
}

BOOST_DATA_TEST_CASE(the_lowest_rows_are_no_levels_of_the_traversal, data::make({false, true}),
                     symmetry) {
  queens_options options{{}, symmetry, 0};
  options.strategy = traverse_strategy::task_per_node;
  const auto all_levels = ramify::count_queens(10, options, environment_on(route::device));
  options.leaf_rows = 4;
  const auto upper_levels = ramify::count_queens(10, options, environment_on(route::device));
  BOOST_TEST(upper_levels.report.deepest_level < all_levels.report.deepest_level);
  BOOST_TEST(upper_levels.counts.nodes < all_levels.counts.nodes);
}

// One warp searches the boards below some squares of the first row. The lanes without such a square
// take their work from others.
BOOST_DATA_TEST_CASE(lanes_share_the_lowest_rows, data::make({0x1u, 0x5au, 0xffu, 0x3ffu}),
                     first_row) {
  const unsigned n = effort() < 0.1 ? 8 : 10;
  const board empty{(std::uint32_t{1} << n) - 1, 0, 0};
  std::vector<board> boards;
  std::uint64_t expected = 0;
  for (std::uint32_t left = first_row & empty.columns; left != 0; left &= left - 1) {
    boards.push_back(empty.with(left & (0 - left)));
    expected += backtrack_queens(boards.back()).solutions;
  }
  const auto found = count_by_one_warp(boards, n);
  BOOST_TEST(std::accumulate(found.begin(), found.end(), std::uint64_t{0}) == expected);
  const auto busy_lanes =
      std::ranges::count_if(found, [](unsigned of_lane) { return of_lane > 0; });
  BOOST_TEST(busy_lanes > std::ptrdiff_t(boards.size()));
}

// The masks of the lowest rows have 32 bits. On the widest board, six rows fill them.
BOOST_AUTO_TEST_CASE(the_lowest_rows_of_the_widest_board_are_searched) {
  constexpr unsigned n = ramify::max_queens;
  BOOST_TEST(ramify::detail::branch_and_bound::queens_rows_limit(n) == 6u);
  std::vector<board> boards;
  std::uint64_t expected = 0;
  for (const std::uint32_t columns : {0x4210841u, 0x7e00000u, 0x3fu, 0x4804812u}) {
    const std::uint32_t others = ((1u << n) - 1) & ~columns;
    for (const std::uint32_t diagonals : {0u, others & 0x7000000u, others & 0x7fff000u}) {
      boards.push_back({columns, diagonals, diagonals >> 1});
      expected += backtrack_queens(boards.back()).solutions;
    }
  }
  BOOST_TEST(expected > 0u);
  const auto found = count_by_one_warp(boards, n);
  BOOST_TEST(std::accumulate(found.begin(), found.end(), std::uint64_t{0}) == expected);
}

BOOST_AUTO_TEST_SUITE_END()
