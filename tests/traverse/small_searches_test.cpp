// SPDX-License-Identifier: BSD-3-Clause
// A batch of small branch and bounds in one traversal: a root for each problem, and an incumbent
// for each. Compared with dynamic programming.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "traverse_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;

namespace {

constexpr unsigned items = 18;  ///< of a knapsack

struct item {
  unsigned weight;
  unsigned value;
};

/// A knapsack with a decision for each of the first items.
struct knapsack {
  unsigned problem;
  unsigned decided;
  unsigned capacity;  ///< that is left
  unsigned value;
};

/// The items of all problems, and the best value of each that a visit has found.
struct knapsacks {
  const item* all;
  unsigned* best;

  [[nodiscard]] __device__ const item* items_of(const knapsack& k) const {
    return all + std::size_t{k.problem} * items;
  }
  /// Returns a bound of all solutions below: the values of the items that fit on their own.
  [[nodiscard]] __device__ unsigned bound(const knapsack& k) const {
    unsigned sum = k.value;
    for (unsigned i = k.decided; i < items; ++i) {
      if (items_of(k)[i].weight <= k.capacity) sum += items_of(k)[i].value;
    }
    return sum;
  }
  [[nodiscard]] __device__ bool fits(const knapsack& k) const {
    return items_of(k)[k.decided].weight <= k.capacity;
  }
};

struct decide : knapsacks {
  /// Prunes with the incumbent of the problem. traverse() calls it once for a node.
  [[nodiscard]] __device__ unsigned degree(const knapsack& k) const {
    if (k.decided == items || bound(k) <= load_relaxed(best[k.problem])) return 0;
    return fits(k) ? 2 : 1;
  }
  [[nodiscard]] __device__ knapsack child(const knapsack& k, unsigned i) const {
    const item next = items_of(k)[k.decided];
    if (i == 0) return {k.problem, k.decided + 1, k.capacity, k.value};
    return {k.problem, k.decided + 1, k.capacity - next.weight, k.value + next.value};
  }
};
struct improve : knapsacks {
  __device__ unsigned long long operator()(const knapsack& k, unsigned) const {
    if (k.value > load_relaxed(best[k.problem])) atomicMax(&best[k.problem], k.value);
    return 1;  // the number of nodes
  }
};

unsigned best_by_table(const item* of, unsigned capacity) {
  std::vector<unsigned> best(capacity + 1, 0);
  for (unsigned i = 0; i < items; ++i) {
    for (unsigned c = capacity; c >= of[i].weight; --c) {
      best[c] = std::max(best[c], best[c - of[i].weight] + of[i].value);
    }
  }
  return best[capacity];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(traverse)

BOOST_DATA_TEST_CASE(many_small_searches_are_one_traversal, data::make(routes), taken) {
  const auto problems = static_cast<unsigned>(cut_down(40, 5));
  constexpr unsigned capacity = 150;
  std::mt19937 random(7);
  std::vector<item> all;
  for (unsigned i = 0; i < problems * items; ++i) {
    const auto weight = static_cast<unsigned>(random() % 40 + 1);
    all.push_back({weight, weight + static_cast<unsigned>(random() % 10)});
  }
  std::vector<knapsack> roots;
  for (unsigned p = 0; p < problems; ++p) roots.push_back({p, 0, capacity, 0});
  const auto on_device = upload(all);
  const auto best = zeros<unsigned>(problems);
  const knapsacks search{on_device.data(), best.data()};
  const auto found =
      ramify::traverse(ramify::tree_roots(roots.data(), roots.size()), decide{search},
                       improve{search}, sum{}, 0ull, {.route = taken});
  const auto values = download(best);
  for (unsigned p = 0; p < problems; ++p) {
    BOOST_TEST(values[p] == best_by_table(&all[std::size_t{p} * items], capacity));
  }
  // Each problem has 2^18 leaves without pruning.
  BOOST_TEST(found.value < problems * 100'000ull);
}

BOOST_AUTO_TEST_SUITE_END()
