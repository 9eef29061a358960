// SPDX-License-Identifier: BSD-3-Clause
// Runs that are saved and continued; damaged states.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>

#include "exceptions.hpp"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::amr_state;
using ramify::boundary;
using ramify::route;
using namespace tests;

namespace {

setting changing(matter what, bool subcycle) {
  setting s = lively(what, subcycle);
  s.options.regrid.every = 2;
  s.options.regrid.patience = 2;
  return s;
}

void expect_same(const any_run& a, const any_run& b) {
  BOOST_TEST(same_bits(a.snapshot(), b.snapshot()));
  BOOST_TEST(a.totals() == b.totals());
  BOOST_TEST(a.time() == b.time());
  BOOST_TEST(a.steps() == b.steps());
  BOOST_TEST(a.report().cell_updates == b.report().cell_updates);
  BOOST_TEST(a.report().regrids == b.report().regrids);
  BOOST_TEST(a.report().refined == b.report().refined);
  BOOST_TEST(a.report().coarsened == b.report().coarsened);
  BOOST_TEST(a.report().leaves == b.report().leaves);
  BOOST_TEST(a.report().blocks == b.report().blocks);
  BOOST_TEST(a.report().finest_level == b.report().finest_level);
}

/// Returns a saved state of a mesh with three levels.
amr_state a_state(const setting& s) {
  const auto run = start_run(s);
  run->advance(1);
  return run->save();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(restart)

// After each number of steps: right after a regrid, and between regrids.
BOOST_DATA_TEST_CASE(a_restored_run_continues_with_the_same_bits,
                     data::make({matter::scalar_2d, matter::gas_2d, matter::gas_3d}) *
                         data::make({false, true}),
                     what, subcycle) {
  if (effort() < 0.1 && (what != matter::gas_2d || subcycle)) return;
  const setting s = changing(what, subcycle);
  const std::uint64_t last = what == matter::gas_2d && effort() == 1 ? 7 : 4;
  const auto uninterrupted = start_run(s);
  std::vector<amr_state> states{uninterrupted->save()};
  for (std::uint64_t step = 1; step <= last; ++step) {
    uninterrupted->advance(1);
    states.push_back(uninterrupted->save());
  }
  BOOST_TEST(uninterrupted->report().refined > 1u);
  for (std::size_t step = 0; step < states.size(); ++step) {
    if (effort() < 1 && step != 3) continue;
    BOOST_TEST_CONTEXT("after " << step << " steps") {
      setting other_route = s;
      other_route.env.route = step % 2 == 0 ? route::flat : route::device;
      const auto run = resume_run(other_route, states[step]);
      BOOST_TEST(run->steps() == step);
      BOOST_TEST(run->time() == states[step].time);
      // The restored run saves the same state.
      const amr_state again = run->save();
      BOOST_TEST((again.leaves == states[step].leaves));
      BOOST_TEST((again.idle == states[step].idle));
      BOOST_TEST((again.values == states[step].values));
      run->advance(last - step);
      expect_same(*uninterrupted, *run);
    }
  }
  BOOST_TEST(launch_slots_in_use() == 0u);
}

// The negative control: the time of the next regrid and each bit of the values are part of the
// state.
BOOST_AUTO_TEST_CASE(a_changed_state_changes_the_bits,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const setting s = changing(matter::scalar_2d, false);
  const auto run = start_run(s);
  run->advance(5);
  const amr_state state = run->save();
  BOOST_TEST(std::ranges::any_of(state.idle, [](unsigned idle) { return idle > 0; }));
  run->advance(16);
  amr_state other = state;
  other.next_regrid += 1;
  const auto late = resume_run(s, other);
  late->advance(16);
  BOOST_TEST(!same_bits(run->snapshot(), late->snapshot()));
  other = state;
  other.values[3] ^= std::byte{1};
  const auto touched = resume_run(s, other);
  touched->advance(16);
  BOOST_TEST(!same_bits(run->snapshot(), touched->snapshot()));
}

BOOST_AUTO_TEST_CASE(damaged_states_are_rejected_with_the_reason) {
  setting s = changing(matter::gas_2d, false);
  s.options.mesh.max_level = 2;
  const amr_state valid = a_state(s);
  const std::size_t finest =
      std::size_t(std::ranges::max_element(valid.leaves, {}, &ramify::block_position::level) -
                  valid.leaves.begin());
  BOOST_TEST(valid.leaves[finest].level == 2);
  const auto refuse = [&](auto damage, const std::string& reason) {
    amr_state state = valid;
    damage(state);
    BOOST_CHECK_EXCEPTION((void)resume_run(s, state), std::invalid_argument, names(reason));
  };
  const auto remove = [](amr_state& state, std::size_t leaf) {
    const std::size_t bytes = state.values.size() / state.leaves.size();
    state.leaves.erase(state.leaves.begin() + std::ptrdiff_t(leaf));
    state.idle.erase(state.idle.begin() + std::ptrdiff_t(leaf));
    const auto begin = state.values.begin() + std::ptrdiff_t(leaf * bytes);
    state.values.erase(begin, begin + std::ptrdiff_t(bytes));
  };
  refuse([](amr_state& a) { a.dimensions = 3; }, "amr_state.dimensions is 3");
  refuse([](amr_state& a) { a.cells = 16; }, "amr_state.cells is 16");
  refuse([](amr_state& a) { a.variables = 5; }, "amr_state.variables is 5");
  refuse([](amr_state& a) { a.real_bytes = 4; }, "amr_state.real_bytes is 4");
  refuse([](amr_state& a) { a.roots[1] = 2; }, "amr_state.roots");
  refuse([](amr_state& a) { a.idle.pop_back(); }, "amr_state.idle.size()");
  refuse([](amr_state& a) { a.values.pop_back(); }, "amr_state.values.size()");
  refuse([](amr_state& a) { a.time = std::numeric_limits<double>::quiet_NaN(); },
         "amr_state.time is");
  refuse([&](amr_state& a) { remove(a, finest); }, "no leaf covers the block level 2");
  refuse([](amr_state& a) { a.leaves.clear(), a.idle.clear(), a.values.clear(); },
         "amr_state.leaves.size() is 0; it must be at least the number of root blocks");
  refuse([](amr_state& a) { a.steps = ~std::uint64_t{0}; }, "amr_state.steps is");
  refuse([&](amr_state& a) { a.leaves[finest] = a.leaves[finest + 1]; }, "occurs twice");
  refuse([&](amr_state& a) { a.leaves[finest].level = -1; }, "is of level -1");
  refuse([&](amr_state& a) { a.leaves[finest].level = 3; }, "is of level 3; max_level is 2");
  refuse([&](amr_state& a) { a.leaves[finest].index[0] += 8; }, "is outside of the domain");
  refuse(
      [&](amr_state& a) {
        a.leaves[finest] = {1, {a.leaves[finest].index[0] / 2, a.leaves[finest].index[1] / 2, 0}};
      },
      "is inside");
}

// More blocks than there is memory for at first, and more than are allowed.
BOOST_AUTO_TEST_CASE(a_mesh_above_the_limit_is_rejected) {
  setting s;
  s.matter = matter::scalar_2d;
  s.options.mesh.max_level = 5;
  s.criterion = criterion_kind::everywhere;
  s.velocity[0] = 1;
  const amr_state state = start_run(s)->save();  // 1365 blocks
  BOOST_TEST(resume_run(s, state)->report().blocks == 1365u);
  s.options.mesh.max_blocks = 1200;
  BOOST_CHECK_EXCEPTION((void)resume_run(s, state), ramify::amr_error,
                        names("max_blocks, which is 1200"));
}

// A saved mesh may be balanced more strictly than configured, but not less.
BOOST_AUTO_TEST_CASE(a_mesh_that_is_not_balanced_is_rejected) {
  setting s;
  s.matter = matter::scalar_2d;
  s.options.mesh.max_level = 4;
  s.criterion = criterion_kind::point;
  s.options.regrid.refine_above = 1;
  s.velocity[0] = 1;
  const amr_state by_faces = start_run(s)->save();
  s.options.mesh.balance = ramify::balance::corner;
  BOOST_CHECK_EXCEPTION((void)resume_run(s, by_faces), std::invalid_argument,
                        names("is too coarse for the children of its neighbor"));
  const amr_state by_corners = start_run(s)->save();
  s.options.mesh.balance = ramify::balance::face;
  const auto run = resume_run(s, by_corners);
  BOOST_TEST(run->report().leaves == by_corners.leaves.size());
}

BOOST_AUTO_TEST_SUITE_END()
