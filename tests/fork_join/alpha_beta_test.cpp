// SPDX-License-Identifier: BSD-3-Clause
// Alpha-beta search on fork_join(): the calls share windows, and prune. Compared with plain
// minimax.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <climits>
#include <cstdint>
#include <ramify/fork_join.cuh>
#include <vector>

#include "device_vectors.cuh"
#include "printing.hpp"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;

namespace {

constexpr int infinite = INT_MAX;

/// A position of a game in which each position has `moves` moves.
struct position {
  std::uint64_t id;
  int score;        ///< for the player to move
  unsigned ply;     ///< number of moves since the root
  unsigned window;  ///< number of its window or, if it has none, of its nearest ancestor with one
};

/// The rules: a move changes the score by a random number.
struct game {
  unsigned moves;
  unsigned plies;  ///< of a whole game

  [[nodiscard]] __host__ __device__ position after(const position& p, unsigned move) const {
    std::uint64_t id = (p.id + move + 1) * 0x9E3779B97F4A7C15ull;
    id = (id ^ id >> 31) * 0xBF58476D1CE4E5B9ull;
    id ^= id >> 29;
    return {id, -p.score - static_cast<int>(id % 201) + 100, p.ply + 1, 0};
  }
};

/// The search. Windows are numbered like the nodes of a complete tree: node w has the children
/// moves * w + 1 and following. A window is the best value that is known for its position.
struct alpha_beta {
  game rules;
  unsigned plies_with_windows;
  int* windows;

  /// 1. The base case: the end of a game, or a position that cannot change the value of the root.
  [[nodiscard]] __device__ unsigned degree(const position& p) const {
    return p.ply == rules.plies || is_pruned(p) ? 0 : rules.moves;
  }
  /// 2. Fork.
  [[nodiscard]] __device__ position child(const position& p, unsigned move) const {
    position next = rules.after(p, move);
    next.window = has_window(next) ? rules.moves * p.window + 1 + move : p.window;
    return next;
  }
  /// A pruned position contributes nothing to the best value of its parent.
  [[nodiscard]] __device__ int leaf(const position& p) const {
    if (p.ply != rules.plies) return infinite;
    narrow_parent(p, p.score);
    return p.score;
  }
  /// 3. Join: the best move, which narrows the window of the parent.
  [[nodiscard]] __device__ int combine(const position& p, const int* results,
                                       unsigned moves) const {
    // A maximum of negated results is the same, but ptxas 13.0 loses negations there on sm_90.
    int least = infinite;
    for (unsigned i = 0; i < moves; ++i) least = min(least, results[i]);
    narrow_parent(p, -least);
    return -least;
  }

 private:
  [[nodiscard]] __device__ bool has_window(const position& p) const {
    return p.ply < plies_with_windows;
  }
  [[nodiscard]] __device__ unsigned above(unsigned window) const {
    return (window - 1) / rules.moves;
  }
  /// Returns whether the windows of the ancestors leave no value between alpha and beta. Windows
  /// only become narrower, so a position that is pruned stays so.
  [[nodiscard]] __device__ bool is_pruned(const position& p) const {
    if (plies_with_windows == 0) return false;
    int best[2] = {-infinite, -infinite};  // of the two players
    unsigned window = p.window;
    for (unsigned ply = min(p.ply, plies_with_windows - 1);; --ply, window = above(window)) {
      best[ply % 2] = max(best[ply % 2], ramify::load_relaxed(windows[window]));
      if (ply == 0) break;
    }
    return best[0] >= -best[1];
  }
  __device__ void narrow_parent(const position& p, int value) const {
    if (p.ply == 0 || p.ply > plies_with_windows) return;
    atomicMax(&windows[has_window(p) ? above(p.window) : p.window], -value);
  }
};

/// Plain minimax, without pruning.
int minimax(const game& rules, const position& p, std::uint64_t& nodes) {
  ++nodes;
  if (p.ply == rules.plies) return p.score;
  int best = -infinite;
  for (unsigned move = 0; move < rules.moves; ++move) {
    best = std::max(best, -minimax(rules, rules.after(p, move), nodes));
  }
  return best;
}

ramify::fork_join_result<int> search(const game& rules, std::uint64_t seed, unsigned plies,
                                     ramify::route taken) {
  std::size_t count = 1;
  for (unsigned ply = 1; ply < plies; ++ply) count = count * rules.moves + 1;
  const auto windows = upload(std::vector<int>(count, -infinite));
  return ramify::fork_join(position{seed, 0, 0, 0}, alpha_beta{rules, plies, windows.data()},
                           {.route = taken});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fork_join)

BOOST_DATA_TEST_CASE(alpha_beta_finds_the_value_of_minimax, data::make(routes), taken) {
  std::uint64_t all = 0;
  std::uint64_t visited = 0;
  for (const game rules : {game{2, 9}, game{5, 6}, game{12, 4}}) {
    for (std::uint64_t seed = 1; seed <= std::uint64_t(cut_down(4)); ++seed) {
      std::uint64_t nodes = 0;
      const int expected = minimax(rules, {seed, 0, 0, 0}, nodes);
      // Negative control: without windows, each node is visited.
      const auto whole = search(rules, seed, 0, taken);
      BOOST_TEST(whole.value == expected);
      BOOST_TEST(whole.report.nodes == nodes);
      for (unsigned plies = 1; plies <= rules.plies; ++plies) {
        const auto found = search(rules, seed, plies, taken);
        BOOST_TEST(found.value == expected);
        if (plies < 3) continue;
        all += nodes;
        visited += found.report.nodes;
      }
    }
  }
  // The windows prune. (A GPU visits so small trees level by level, before windows are narrow.)
  if (!RAMIFY_ON_CUDA) BOOST_TEST(visited < all);
  BOOST_TEST_MESSAGE("alpha-beta visits " << visited << " of " << all << " nodes");
}

BOOST_AUTO_TEST_SUITE_END()
