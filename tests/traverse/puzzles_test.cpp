// SPDX-License-Identifier: BSD-3-Clause
// Puzzles as traversals: the first solution of a Sudoku, which ends the traversal, and the number
// of knight's tours from all squares, which are the roots.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traverse_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::route;

namespace {

// ---- Sudoku ------------------------------------------------------------------------------------

/// A grid: 81 digits in rows, 0 for an empty cell.
struct sudoku {
  std::uint8_t cells[81];
  std::uint8_t is_solution;  ///< 1 in the result of a search that has found one
};

/// The digits that a cell may have, as bits 1 to 9.
__host__ __device__ unsigned candidates(const sudoku& grid, unsigned cell) {
  const unsigned row = cell / 9;
  const unsigned column = cell % 9;
  unsigned used = 0;
  for (unsigned i = 0; i < 9; ++i) {
    const unsigned in_box = (row / 3 * 3 + i / 3) * 9 + column / 3 * 3 + i % 3;
    used |=
        1u << grid.cells[row * 9 + i] | 1u << grid.cells[i * 9 + column] | 1u << grid.cells[in_box];
  }
  return ~used & 0x3FEu;
}

/// The children of a grid fill the empty cell that has the fewest candidates.
struct fill_a_cell {
  struct choice {
    unsigned cell;  ///< 81: the grid is full
    unsigned digits;
    unsigned count;
  };
  [[nodiscard]] __device__ static choice next(const sudoku& grid) {
    choice best{81, 0, 10};
    for (unsigned cell = 0; cell < 81; ++cell) {
      if (grid.cells[cell] != 0) continue;
      const unsigned digits = candidates(grid, cell);
      const auto count = static_cast<unsigned>(__popc(digits));
      if (count < best.count) best = {cell, digits, count};
    }
    return best;
  }
  [[nodiscard]] __device__ unsigned degree(const sudoku& grid) const {
    const choice best = next(grid);
    return best.cell == 81 ? 0 : best.count;
  }
  [[nodiscard]] __device__ sudoku child(const sudoku& grid, unsigned i) const {
    const choice best = next(grid);
    unsigned digits = best.digits;
    for (; i > 0; --i) digits &= digits - 1;
    sudoku filled = grid;
    filled.cells[best.cell] = static_cast<std::uint8_t>(__ffs(int(digits)) - 1);
    return filled;
  }
};

/// Ends the search at the first full grid.
struct end_if_full {
  __device__ ramify::visited<sudoku> operator()(const sudoku& grid, unsigned degree) const {
    sudoku found = grid;
    bool full = degree == 0;
    for (unsigned cell = 0; full && cell < 81; ++cell) full = grid.cells[cell] != 0;
    found.is_solution = full ? 1 : 0;
    return {found, full};
  }
};
struct any_solution {
  __device__ sudoku operator()(const sudoku& a, const sudoku& b) const {
    return a.is_solution != 0 ? a : b;
  }
};

sudoku read_sudoku(const std::string& text) {
  sudoku grid{};
  for (unsigned i = 0; i < 81; ++i) {
    grid.cells[i] = static_cast<std::uint8_t>(text[i] == '.' ? 0 : text[i] - '0');
  }
  return grid;
}
std::string to_text(const sudoku& grid) {
  std::string text;
  for (const unsigned char digit : grid.cells) text += static_cast<char>('0' + digit);
  return text;
}

/// Returns whether each row, column and box has all digits.
bool is_right(const sudoku& grid) {
  const auto has_all = [&](auto cell_of) {
    for (unsigned group = 0; group < 9; ++group) {
      unsigned digits = 0;
      for (unsigned i = 0; i < 9; ++i) digits |= 1u << grid.cells[cell_of(group, i)];
      if (digits != 0x3FEu) return false;
    }
    return true;
  };
  return has_all([](unsigned g, unsigned i) { return 9 * g + i; }) &&
         has_all([](unsigned g, unsigned i) { return 9 * i + g; }) &&
         has_all(
             [](unsigned g, unsigned i) { return (g / 3 * 3 + i / 3) * 9 + g % 3 * 3 + i % 3; });
}

ramify::traverse_result<sudoku> solve(const sudoku& grid, route taken) {
  return ramify::traverse(grid, fill_a_cell{}, end_if_full{}, any_solution{}, sudoku{},
                          {.route = taken});
}

// ---- Knight's tours ----------------------------------------------------------------------------

/// A board with at most 32 squares.
struct board {
  unsigned rows;
  unsigned columns;

  /// Returns the squares to which a knight on `square` may move, as bits.
  [[nodiscard]] __host__ __device__ unsigned moves_from(unsigned square) const {
    unsigned targets = 0;
    const int row = static_cast<int>(square / columns);
    const int column = static_cast<int>(square % columns);
    for (int up = -2; up <= 2; ++up) {
      for (int right = -2; right <= 2; ++right) {
        const int r = row + up;
        const int c = column + right;
        if (up * up + right * right != 5 || r < 0 || c < 0) continue;
        if (r >= static_cast<int>(rows) || c >= static_cast<int>(columns)) continue;
        targets |= 1u << (static_cast<unsigned>(r) * columns + static_cast<unsigned>(c));
      }
    }
    return targets;
  }
};

/// The squares that a knight has visited, and where it is.
struct knight {
  unsigned visited;
  unsigned square;
};
struct move_knight {
  board on;
  [[nodiscard]] __device__ unsigned degree(const knight& k) const {
    return static_cast<unsigned>(__popc(on.moves_from(k.square) & ~k.visited));
  }
  [[nodiscard]] __device__ knight child(const knight& k, unsigned i) const {
    unsigned targets = on.moves_from(k.square) & ~k.visited;
    for (; i > 0; --i) targets &= targets - 1;
    const auto square = static_cast<unsigned>(__ffs(int(targets))) - 1;
    return {k.visited | 1u << square, square};
  }
};
struct is_tour {
  unsigned squares;
  __device__ unsigned long long operator()(const knight& k, unsigned) const {
    return static_cast<unsigned>(__popc(k.visited)) == squares ? 1 : 0;
  }
};

/// Counts the tours by plain backtracking over a table of visited squares.
unsigned long long tours_by_backtracking(const board& on, int row, int column,
                                         std::array<bool, 32>& used, unsigned left) {
  if (left == 0) return 1;
  unsigned long long tours = 0;
  constexpr int steps[8][2] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
                               {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
  for (const auto& [up, right] : steps) {
    const int r = row + up;
    const int c = column + right;
    if (r < 0 || c < 0 || r >= int(on.rows) || c >= int(on.columns)) continue;
    bool& is_used = used[std::size_t(r * int(on.columns) + c)];
    if (is_used) continue;
    is_used = true;
    tours += tours_by_backtracking(on, r, c, used, left - 1);
    is_used = false;
  }
  return tours;
}

unsigned long long tours_by_backtracking(const board& on) {
  unsigned long long tours = 0;
  for (int row = 0; row < int(on.rows); ++row) {
    for (int column = 0; column < int(on.columns); ++column) {
      std::array<bool, 32> used{};
      used[std::size_t(row * int(on.columns) + column)] = true;
      tours += tours_by_backtracking(on, row, column, used, on.rows * on.columns - 1);
    }
  }
  return tours;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(traverse)

BOOST_DATA_TEST_CASE(a_sudoku_is_solved, data::make(routes), taken) {
  // The puzzles and their only solutions: Wikipedia's example, and "AI Escargot" (A. Inkala, 2006).
  const std::pair<const char*, const char*> known[] = {
      {"53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
       "534678912672195348198342567859761423426853791713924856961537284287419635345286179"},
      {"1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..",
       "162857493534129678789643521475312986913586742628794135356478219241935867897261354"}};
  for (const auto& [puzzle, solution] : known) {
    const auto found = solve(read_sudoku(puzzle), taken);
    BOOST_TEST(found.value.is_solution == 1);
    BOOST_TEST(to_text(found.value) == solution);
    BOOST_TEST(found.report.ended_early);
  }
}

// The empty grid has 6.67 * 10^21 solutions, so the search must end at the first one.
BOOST_DATA_TEST_CASE(one_of_many_solutions_is_found, data::make(routes), taken) {
  const auto found = solve(sudoku{}, taken);
  BOOST_TEST(found.report.ended_early);
  BOOST_TEST(found.value.is_solution == 1);
  BOOST_TEST(is_right(found.value));
}

BOOST_DATA_TEST_CASE(a_sudoku_without_solution_is_searched_to_the_end, data::make(routes), taken) {
  // Two clues exclude each digit from the cell at the end of the first row.
  const sudoku grid = read_sudoku(
      "12345678.........9...............................................................");
  const auto found = solve(grid, taken);
  BOOST_TEST(!found.report.ended_early);
  BOOST_TEST(found.value.is_solution == 0);
}

// The literature has the numbers of open tours in both directions.
BOOST_DATA_TEST_CASE(knights_tours_are_counted_from_all_squares, data::make(routes), taken) {
  const std::pair<board, unsigned long long> known[] = {{{3, 4}, 16}, {{4, 4}, 0}, {{4, 5}, 164}};
  for (const auto& [on, tours] : known) {
    if (RAMIFY_THREAD_SANITIZER && on.columns > 4) continue;
    std::vector<knight> starts;
    for (unsigned square = 0; square < on.rows * on.columns; ++square) {
      starts.push_back({1u << square, square});
    }
    const auto found =
        ramify::traverse(ramify::tree_roots(starts.data(), starts.size()), move_knight{on},
                         is_tour{on.rows * on.columns}, sum{}, 0ull, {.route = taken});
    BOOST_TEST(found.value == tours);
    BOOST_TEST(found.value == tours_by_backtracking(on));
  }
}

BOOST_AUTO_TEST_SUITE_END()
