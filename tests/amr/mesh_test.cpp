// SPDX-License-Identifier: BSD-3-Clause
// The mesh: its blocks, their balance, refinement and coarsening.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::balance;
using ramify::boundary;
using ramify::mesh_snapshot;
using ramify::route;
using namespace tests;

namespace {

setting by_rule(matter what, criterion_kind rule, int level, balance kind, route taken) {
  setting s;
  s.matter = what;
  s.options.mesh.max_level = level;
  s.options.mesh.balance = kind;
  s.env.route = taken;
  s.options.regrid.refine_above = 1;
  s.options.regrid.coarsen_below = 0.5;
  s.criterion = rule;
  s.depth = level;
  set_boundaries(s, boundary::outflow);
  return s;
}

struct published {
  matter what;
  criterion_kind rule;
  int level;
  std::size_t face, edge, corner;  ///< leaves by kind of balance; 0: not checked
  bool periodic = false;
};

// The numbers of leaves that p4est (C. Burstedde, L. C. Wilcox, O. Ghattas, SIAM J. Sci. Comput. 33
// (2011) 1103) has after it has refined by these rules and balanced.
constexpr published of_p4est[] = {
    {matter::scalar_2d, criterion_kind::fractal, 6, 676, 724, 724},
    {matter::scalar_2d, criterion_kind::fractal, 8, 10'996, 0, 11'764},
    {matter::scalar_2d, criterion_kind::sphere, 8, 2'200, 0, 2'440},
    {matter::scalar_2d, criterion_kind::point, 8, 97, 139, 139},
    {matter::scalar_2d, criterion_kind::corner, 8, 25, 25, 25},
    {matter::scalar_2d, criterion_kind::corner, 8, 76, 79, 79, true},
    {matter::scalar_3d, criterion_kind::fractal, 5, 3'760, 4'628, 4'628},
    {matter::scalar_3d, criterion_kind::sphere, 5, 3'480, 0, 0},
    {matter::scalar_3d, criterion_kind::sphere, 6, 13'112, 14'232, 14'736},
    {matter::scalar_3d, criterion_kind::point, 8, 351, 778, 883},
};

/// Returns whether a mesh is small enough for a test.
bool affordable(std::size_t leaves) {
  if (effort() < 1) return leaves < (effort() < 0.1 ? 50u : 150u);
  return all_cases() || leaves < 5'000;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mesh)

// ---- against another implementation ------------------------------------------------------------

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(the_number_of_leaves_is_that_of_p4est, data::make(tests::routes), taken) {
  for (const published& of : of_p4est) {
    for (const auto& [kind, leaves] :
         {std::pair{balance::face, of.face}, std::pair{balance::edge, of.edge},
          std::pair{balance::corner, of.corner}}) {
      if (leaves == 0 || !affordable(leaves)) continue;
      // Large meshes are built on one route only.
      if (leaves > 2000 && (taken == route::device) != (kind == balance::face)) continue;
      BOOST_TEST_CONTEXT("rule " << int(of.rule) << ", level " << of.level << ", "
                                 << dimensions_of(of.what) << "D, balance " << int(kind)) {
        setting s = by_rule(of.what, of.rule, of.level, kind, taken);
        if (of.periodic) set_boundaries(s, boundary::periodic);
        const auto run = start_run(s);
        BOOST_TEST(run->report().leaves == leaves);
        BOOST_TEST((run->report().taken == taken));
        if (leaves > 1300) continue;  // the check compares all pairs
        const mesh_snapshot mesh = run->snapshot();
        BOOST_TEST(mesh.leaves.size() == leaves);
        expect_valid_mesh(mesh, s);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_leaves_of_each_level_is_that_of_p4est) {
  const auto levels = [](matter what, criterion_kind rule, int level, balance kind) {
    return leaves_of_levels(
        start_run(by_rule(what, rule, level, kind, route::automatic))->snapshot());
  };
  const auto expect = [](const std::vector<std::size_t>& found,
                         const std::vector<std::size_t>& wanted) {
    BOOST_TEST(found == wanted, boost::test_tools::per_element());
  };
  using enum criterion_kind;
  if (affordable(321)) {
    expect(levels(matter::scalar_3d, point, 5, balance::corner), {0, 0, 37, 208, 63, 8});
  }
  if (!affordable(3480)) return;
  expect(levels(matter::scalar_2d, sphere, 8, balance::face),
         {0, 0, 0, 32, 56, 160, 292, 620, 1040});
  expect(levels(matter::scalar_3d, sphere, 5, balance::face), {0, 0, 8, 312, 792, 2368});
}

// The negative controls: the checks find a hole, a duplicate leaf, a wrong order, levels that
// differ by two, and corners of a mesh that is balanced only across faces.
BOOST_AUTO_TEST_CASE(the_checks_of_a_mesh_find_faults) {
  const setting s =
      by_rule(matter::scalar_2d, criterion_kind::point, 5, balance::face, route::flat);
  const mesh_snapshot mesh = start_run(s)->snapshot();
  BOOST_TEST(tests::tiling_fault(mesh) == "");
  mesh_snapshot bad = mesh;
  bad.leaves.erase(bad.leaves.begin() + 5);
  BOOST_TEST(tests::tiling_fault(bad) != "");
  bad = mesh;
  bad.leaves[5] = bad.leaves[6];
  BOOST_TEST(tests::tiling_fault(bad) != "");
  bad = mesh;
  std::swap(bad.leaves[5], bad.leaves[6]);
  BOOST_TEST(tests::tiling_fault(bad) != "");
  BOOST_TEST(tests::balance_fault(mesh, s, 1) == "");
  BOOST_TEST(tests::balance_fault(mesh, s, 2) != "");
  // Two levels coarsened to one block: its neighbors are two levels finer.
  bad = mesh;
  const auto finest = std::ranges::max_element(bad.leaves, {}, &ramify::block_position::level);
  for (ramify::block_position& leaf : bad.leaves) {
    if (leaf.level == finest->level - 1)
      leaf = {leaf.level - 1, {leaf.index[0] / 2, leaf.index[1] / 2, 0}};
  }
  BOOST_TEST(tests::balance_fault(bad, s, 1) != "");
}

// ---- other domains -----------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(any_grid_of_root_blocks_is_tiled_and_balanced, data::make(tests::routes),
                     taken) {
  struct domain {
    matter what;
    std::array<unsigned, 3> roots;
  };
  for (const domain& of :
       {domain{matter::scalar_2d, {3, 2, 1}}, domain{matter::scalar_2d, {1, 5, 1}},
        domain{matter::scalar_3d, {5, 1, 2}}, domain{matter::scalar_3d, {1, 1, 1}},
        domain{matter::scalar_3d, {2, 3, 1}}}) {
    for (const balance kind : {balance::face, balance::edge, balance::corner}) {
      for (const boundary side : {boundary::periodic, boundary::outflow}) {
        BOOST_TEST_CONTEXT("roots " << of.roots[0] << 'x' << of.roots[1] << 'x' << of.roots[2]
                                    << ", balance " << int(kind) << ", side " << int(side)) {
          const int level = tests::effort() < 1 ? 2 : dimensions_of(of.what) == 2 ? 5 : 4;
          setting s = by_rule(of.what, criterion_kind::point, level, kind, taken);
          s.options.mesh.roots = of.roots;
          set_boundaries(s, side);
          const auto run = start_run(s);
          const mesh_snapshot mesh = run->snapshot();
          expect_valid_mesh(mesh, s);
          BOOST_TEST(mesh.leaves.size() == run->report().leaves);
          BOOST_TEST(mesh.roots == of.roots, boost::test_tools::per_element());
          BOOST_TEST(run->report().finest_level == level);
          if (tests::effort() < 1) return;
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_mesh_may_have_only_roots) {
  for (const int level : {0, 3}) {
    setting s =
        by_rule(matter::scalar_2d, criterion_kind::nowhere, level, balance::face, route::device);
    s.options.mesh.roots = {3, 2, 1};
    s.velocity[0] = 1;
    const auto run = start_run(s);
    run->advance(3);
    const mesh_snapshot mesh = run->snapshot();
    expect_valid_mesh(mesh, s);
    BOOST_TEST(leaves_of_levels(mesh) == std::vector<std::size_t>{6});
  }
}

// ---- memory ------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(the_memory_grows_while_the_first_mesh_is_built, data::make(tests::routes),
                     taken) {
  if (tests::effort() < 1) return;
  // The run begins with memory for 1024 blocks.
  setting s = by_rule(matter::scalar_2d, criterion_kind::everywhere, 6, balance::face, taken);
  s.initial = initial_kind::linear;
  s.slope[0] = 1;
  s.slope[1] = -2;
  const auto run = start_run(s);
  BOOST_TEST(run->report().leaves == 4096u);
  BOOST_TEST(run->report().blocks == 5461u);
  const mesh_snapshot mesh = run->snapshot();
  BOOST_TEST(tests::tiling_fault(mesh) == "");
  BOOST_TEST(tests::l1_distance(mesh, exact_averages(s, mesh, 0)) < 1e-14);
}

// If the memory grows during a run, both routes still compute the same bits.
BOOST_DATA_TEST_CASE(the_memory_grows_during_a_run, data::make(tests::routes), taken) {
  if (tests::effort() < 1) return;
  setting s;
  s.matter = matter::scalar_2d;
  s.env.route = taken;
  s.options.mesh.roots = {8, 8, 1};
  s.options.mesh.max_level = 2;
  s.options.regrid.every = 1;
  s.options.regrid.refine_above = 0.5;
  s.options.regrid.coarsen_below = 0.1;
  s.criterion = criterion_kind::value;  // everywhere, as soon as the scalar is large enough
  s.flow = tests::flow_kind::expanding;
  s.rate = -1;
  s.level = 0.49;
  s.options.mesh.lower = {-1, -1, 0};
  set_boundaries(s, boundary::outflow);
  const auto run = start_run(s);
  BOOST_TEST(run->report().leaves == 64u);
  run->advance(4);
  BOOST_TEST(run->report().leaves == 1024u);
  BOOST_TEST(run->report().blocks == 1344u);
  const mesh_snapshot mesh = run->snapshot();
  BOOST_TEST(tests::tiling_fault(mesh) == "");
  const double level = mesh.values.front();
  BOOST_TEST(level > 0.5);
  BOOST_TEST(
      std::ranges::all_of(mesh.values, [&](double q) { return std::abs(q - level) < 1e-12; }));
  s.env.route = taken == route::device ? route::flat : route::device;
  const auto other = start_run(s);
  other->advance(4);
  BOOST_TEST(same_bits(mesh, other->snapshot()));
}

BOOST_DATA_TEST_CASE(too_many_blocks_are_an_error_with_the_limit, data::make(tests::routes),
                     taken) {
  setting s = by_rule(matter::scalar_2d, criterion_kind::everywhere, 4, balance::face, taken);
  for (const std::size_t most : {1u, 4u, 84u, 340u}) {
    if (effort() < 1 && most > 4) return;
    s.options.mesh.max_blocks = most;
    tests::expect_error<ramify::amr_error>(
        [&] { (void)start_run(s); },
        "more than amr_options.mesh.max_blocks, which is " + std::to_string(most));
    BOOST_TEST(launch_slots_in_use() == 0u);
  }
  s.options.mesh.max_blocks = 341;
  const auto run = start_run(s);
  BOOST_TEST(run->report().leaves == 256u);
  BOOST_TEST(run->report().peak_blocks == 341u);
}

// ---- refining and coarsening --------------------------------------------------------------

namespace {

/// A uniform scalar that is its own indicator, q = exp(-2 t); it decreases from regrid to regrid.
setting fading(route taken) {
  setting s;
  s.matter = matter::scalar_2d;
  s.env.route = taken;
  s.options.mesh.max_level = 2;
  s.options.mesh.lower = {-1, -1, 0};
  set_boundaries(s, boundary::outflow);
  s.options.regrid.every = 1;
  s.flow = tests::flow_kind::expanding;
  s.rate = 1;
  s.criterion = criterion_kind::value;
  return s;
}

}  // namespace

// Between the two thresholds the mesh does not change; below the lower one it is coarsened level by
// level, each after `patience` regrids.
BOOST_DATA_TEST_CASE(an_idle_mesh_is_coarsened_to_its_roots_with_patience,
                     data::make(tests::routes) * data::make({1, 2, 5}), taken, patience) {
  if (effort() < 0.1 && (patience != 2 || taken == route::flat)) return;
  setting s = fading(taken);
  s.options.regrid.refine_above = 0.9;
  s.options.regrid.coarsen_below = 0.5;
  s.options.regrid.patience = unsigned(patience);
  const auto run = start_run(s);
  BOOST_TEST(run->report().leaves == 16u);
  int quiet = 0;
  std::size_t leaves = 16;
  for (int step = 0; step < 100 && leaves > 1; ++step) {
    run->advance(1);
    const mesh_snapshot mesh = run->snapshot();
    expect_valid_mesh(mesh, s);
    const double q = mesh.values.front();
    quiet = q < 0.5 ? quiet + 1 : 0;
    if (quiet == patience) {
      leaves /= 4;
      quiet = 0;
    }
    BOOST_TEST(mesh.leaves.size() == leaves);
  }
  BOOST_TEST(leaves == 1u);
  BOOST_TEST(run->report().coarsened == 5u);
  BOOST_TEST(run->report().refined == 5u);
  BOOST_TEST(run->report().peak_blocks == 21u);
  BOOST_TEST(launch_slots_in_use() == 0u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(between_the_thresholds_the_mesh_does_not_change) {
  setting s = fading(route::flat);
  s.options.regrid.refine_above = 0.9;
  s.options.regrid.coarsen_below = 0.0;
  const auto run = start_run(s);
  run->advance(20);
  BOOST_TEST(run->snapshot().values.front() < 0.4);
  BOOST_TEST(run->report().leaves == 16u);
  BOOST_TEST(run->report().regrids == 20u);
  BOOST_TEST(run->report().coarsened == 0u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(with_every_0_the_mesh_does_not_change) {
  setting s = fading(route::device);
  s.options.regrid.refine_above = 0.9;
  s.options.regrid.coarsen_below = 0.5;
  s.options.regrid.every = 0;
  const auto run = start_run(s);
  run->advance(30);
  BOOST_TEST(run->snapshot().values.front() < 0.4);
  BOOST_TEST(run->report().leaves == 16u);
  BOOST_TEST(run->report().regrids == 0u);
}

// A hump crosses the domain and leaves it: families are refined and coarsened until none is left.
BOOST_DATA_TEST_CASE(a_mesh_follows_a_hump_that_leaves_the_domain,
                     data::make(tests::routes) * data::make({false, true}), taken, subcycle) {
  if (effort() < 0.1 && (taken == route::flat || !subcycle)) return;
  setting s;
  s.matter = matter::scalar_2d;
  s.env.route = taken;
  s.options.step.subcycle = subcycle;
  s.options.mesh.max_level = tests::effort() < 1 ? 2 : 3;
  s.options.mesh.roots = {2, 1, 1};
  s.options.mesh.upper = {2, 1, 1};
  s.options.regrid.every = subcycle ? 1 : 2;
  s.options.regrid.refine_above = 0.02;
  s.options.regrid.coarsen_below = 0.01;
  s.criterion = criterion_kind::value;
  s.initial = initial_kind::hump;
  s.width = 0.2;
  s.velocity[0] = 1;
  s.velocity[1] = 0.25;
  s.level = 0;
  set_boundaries(s, boundary::outflow);
  const auto run = start_run(s);
  BOOST_TEST(run->report().finest_level == s.options.mesh.max_level);
  const int pieces = tests::effort() < 1 ? 2 : 8;
  for (int piece = 1; piece <= pieces; ++piece) {
    run->advance_to(0.125 * piece);
    expect_valid_mesh(run->snapshot(), s);
    BOOST_TEST(run->report().finest_level == s.options.mesh.max_level);
  }
  if (effort() < 1) return;
  run->advance_to(4);
  expect_valid_mesh(run->snapshot(), s);
  BOOST_TEST(run->report().leaves == 2u);
  BOOST_TEST(run->report().refined == run->report().coarsened);
  BOOST_TEST(run->report().coarsened > 3u);
  BOOST_TEST(launch_slots_in_use() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
