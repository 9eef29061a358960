// SPDX-License-Identifier: BSD-3-Clause
// Compares count_queens() with the published numbers and with a sequential search.
#include <bit>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/branch_and_bound.hpp>
#include <ramify/branch_and_bound/queens.cuh>
#include <ramify/runtime/launch.cuh>
#include <stdexcept>
#include <string>

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

namespace {

queens_options queens_on(route taken, bool symmetry = true) {
  queens_options options;
  options.backend = backend_under_test();
  options.route = taken;
  options.symmetry = symmetry;
  return options;
}

/// Searches the lowest rows of boards of `n` columns by one warp. Lane i has the board whose first
/// row has its queen on the i-th column, if that column is in the mask `first_row`.
__global__ void search_by_one_warp(unsigned n, std::uint32_t first_row,
                                   ramify::queens_counts* counts) {
  __shared__ ramify::detail::branch_and_bound::queens_stacks stacks;
  const std::uint32_t all = (std::uint32_t{1} << n) - 1;
  const std::uint32_t queen = first_row & std::uint32_t{1} << threadIdx.x;
  counts[threadIdx.x] = ramify::detail::branch_and_bound::count_lowest_rows(
      ramify::full_warp_mask, queen == 0 ? 0 : all & ~queen, queen << 1, queen >> 1, stacks);
}

/// Counts the solutions of `n` queens and the boards below this one, itself included, by a
/// sequential search.
[[nodiscard]] queens_counts backtrack_queens(
    unsigned n, const ramify::detail::branch_and_bound::queens_node& board) {
  const std::uint32_t all = (std::uint32_t{1} << n) - 1;
  if (board.columns == all) return {1, 1};
  queens_counts counts{0, 1};
  for (unsigned column = 0; column < n; ++column) {
    const std::uint32_t queen = std::uint32_t{1} << column;
    if (((board.columns | board.falling | board.rising) & queen) != 0) continue;
    const auto below = backtrack_queens(
        n, {board.columns | queen, (board.falling | queen) << 1, (board.rising | queen) >> 1});
    counts.solutions += below.solutions;
    counts.nodes += below.nodes;
  }
  return counts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(branch_and_bound)

// Without symmetry the nodes are those of a plain backtracking search.
BOOST_DATA_TEST_CASE(queens_have_the_published_numbers, data::make(routes), taken) {
  const auto published = ramify::published_queens();
  for (unsigned n = 1; n <= unsigned(RAMIFY_ON_CUDA ? 14 : cut_down(13, 7)); ++n) {
    const auto whole = ramify::count_queens(n, queens_on(taken, false));
    const auto half = ramify::count_queens(n, queens_on(taken));
    BOOST_TEST_CONTEXT(n << " queens") {
      BOOST_TEST(whole.counts.solutions == published[n]);
      if (n <= 10) BOOST_TEST(bool(whole.counts == backtrack_queens(n, {0, 0, 0})));
      BOOST_TEST(whole.report.taken == taken);
      BOOST_TEST(half.counts.solutions == published[n]);
      // The empty board, and on odd boards that of a middle queen, are their own mirror images.
      const std::uint64_t own = 1 + n % 2;
      BOOST_TEST(half.counts.nodes == own + (whole.counts.nodes - own) / 2);
    }
    if (n == 8) BOOST_TEST(whole.counts.nodes == 2'057u);
    if (n == 13) BOOST_TEST(whole.counts.nodes == 4'674'890u);
  }
  for (const unsigned n : {0u, 28u}) {
    BOOST_CHECK_EXCEPTION((void)ramify::count_queens(n, queens_on(taken)), std::invalid_argument,
                          names("n is " + std::to_string(n) + "; it must be in [1, 27]"));
  }
}

BOOST_AUTO_TEST_CASE(queens_are_counted_with_leaves_of_any_number_of_rows) {
  BOOST_TEST(ramify::automatic_queens_leaf_rows(17) == 0u);
  BOOST_TEST(ramify::automatic_queens_leaf_rows(18) == 9u);
  BOOST_TEST(ramify::automatic_queens_leaf_rows(27) == ramify::max_queens_leaf_rows);
  const auto n = unsigned(RAMIFY_ON_CUDA ? 12 : cut_down(9, 7));
  for (unsigned rows = 0; rows <= ramify::max_queens_leaf_rows + 1; ++rows) {
    queens_options options = queens_on(route::automatic, rows % 2 == 0);
    options.leaf_rows = rows;
    if (rows == 1 || rows == 2 || rows > ramify::max_queens_leaf_rows) {
      BOOST_CHECK_EXCEPTION((void)ramify::count_queens(n, options), std::invalid_argument,
                            names("queens_options.leaf_rows is " + std::to_string(rows) +
                                  "; it must be 0 or in [3, 10]"));
      continue;
    }
    BOOST_TEST(ramify::count_queens(n, options).counts.solutions == ramify::published_queens()[n]);
    options.strategy = traverse_strategy::task_per_node;
    options.launches.grain = granularity::per_grid;
    BOOST_TEST(ramify::count_queens(n, options).counts.solutions == ramify::published_queens()[n]);
  }
}

BOOST_AUTO_TEST_CASE(the_lowest_rows_are_no_levels_of_the_traversal) {
  queens_options options = queens_on(route::device);
  options.strategy = traverse_strategy::task_per_node;
  options.leaf_rows = 0;
  const auto all_levels = ramify::count_queens(8, options).report;
  options.leaf_rows = 6;
  const auto upper_levels = ramify::count_queens(8, options).report;
  BOOST_TEST_MESSAGE(all_levels.deepest_level << " " << upper_levels.deepest_level);
  BOOST_TEST(upper_levels.deepest_level < all_levels.deepest_level);
}

// One warp searches the boards below some squares of the first row. The lanes without such a square
// take their work from others.
BOOST_DATA_TEST_CASE(lanes_share_the_lowest_rows, data::make({0x1u, 0x5au, 0xffu, 0x3ffu}),
                     first_row) {
  const unsigned n = effort() < 0.1 ? 8 : 10;
  const std::uint32_t queens = first_row & ((std::uint32_t{1} << n) - 1);
  const auto counts = zeros<ramify::queens_counts>(32);
  ramify::check(
      ramify::launch(search_by_one_warp, {1, 32}, nullptr, n, queens, counts.data()).code(),
      "launching search_by_one_warp");
  ramify::queens_counts found{};
  unsigned busy_lanes = 0;
  for (const ramify::queens_counts& one : download(counts)) {
    found.solutions += one.solutions;
    found.nodes += one.nodes;
    if (one.nodes > 0) ++busy_lanes;
  }
  ramify::queens_counts expected{};
  for (unsigned column = 0; column < n; ++column) {
    const std::uint32_t queen = queens & std::uint32_t{1} << column;
    if (queen == 0) continue;
    const auto below = backtrack_queens(n, {queen, queen << 1, queen >> 1});
    expected.solutions += below.solutions;
    expected.nodes += below.nodes - 1;  // without this board itself
  }
  BOOST_TEST(bool(found == expected));
  BOOST_TEST(busy_lanes > unsigned(std::popcount(queens)));
}

BOOST_AUTO_TEST_SUITE_END()
