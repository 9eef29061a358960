// SPDX-License-Identifier: BSD-3-Clause
// Five families in one source, through the headers for plain C++ and the compiled facade.
#include <array>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <ramify/amr.hpp>
#include <ramify/nbody.hpp>
#include <ramify/quicksort.hpp>
#include <ramify/spatial_tree.hpp>
#include <ramify/tree_search.hpp>
#include <vector>

using namespace ramify;
using namespace std;

namespace {

/// Bodies on a line, at 0, 1, 4, 9, ..., so body i's nearest neighbor is body i - 1.
vector<array<double, 3>> squares(size_t n) {
  vector<array<double, 3>> made;
  for (size_t i = 0; i < n; ++i) made.push_back({static_cast<double>(i * i), 0, 0});
  return made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(five_families_work_in_one_program) {
  constexpr size_t n = 40;
  const auto positions = squares(n);
  const vector<double> masses(n, 1.0);

  vector<array<double, 3>> accelerations(n);
  const nbody_report pulled = gravity<double>(positions, masses, accelerations);
  BOOST_TEST(pulled.bodies == n);
  BOOST_TEST(accelerations.front()[0] > 0);  // both ends are pulled to the middle
  BOOST_TEST(accelerations.back()[0] < 0);

  const spatial_index<double, 3> index(positions);
  vector<uint32_t> neighbors(n);
  vector<double> distances2(n);
  index.all_nearest_neighbors(1, true, neighbors, distances2);
  BOOST_TEST(neighbors[0] == 1u);
  for (uint32_t i = 1; i < n; ++i) BOOST_TEST(neighbors[i] == i - 1);

  // Body i > 0 is 2 i - 1 away from its neighbor, and body 0 is as close as body 1.
  vector<uint32_t> ids(n);
  iota(ids.rbegin(), ids.rend(), 0u);
  vector<double> reversed(distances2.rbegin(), distances2.rend());
  quicksort_pairs(span(reversed), span(ids));
  BOOST_TEST(ids[n - 1] == n - 1);
  BOOST_TEST(is_sorted(reversed.begin(), reversed.end()));
  BOOST_TEST(reversed.back() == static_cast<double>((2 * n - 3) * (2 * n - 3)));

  // A binomial tree whose nodes below the root have no children.
  const tree_search_result searched =
      tree_search({.type = uts_type::binomial, .root_branches = 50, .probability = 0});
  BOOST_TEST(searched.counts.nodes == 51u);
  BOOST_TEST(searched.counts.leaves == 50u);

  amr_setup setup = recommended_setup(amr_problem::sod, 2);
  setup.options.mesh.max_level = 1;
  amr_simulation flow(setup);
  const double mass = flow.totals()[0];
  flow.advance_to(0.01);
  BOOST_TEST(flow.totals()[0] == mass, boost::test_tools::tolerance(1e-12));
}
