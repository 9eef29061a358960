// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced Tree Search on the backend under test: the published counts, schedules, the facade.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/uuid/detail/sha1.hpp>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <ramify/tree_search.hpp>
#include <random>
#include <stdexcept>

#include "checks.hpp"
#include "exceptions.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::route;
using ramify::traverse_report;
using ramify::uts_counts;
using ramify::uts_parameters;

namespace {

/// A tree of a few thousand nodes that is deep for its size.
const uts_parameters thin{.type = ramify::uts_type::binomial,
                          .root_branches = 40,
                          .probability = 0.1985,
                          .branches = 5,
                          .seed = 38};

}  // namespace

BOOST_AUTO_TEST_SUITE(traverse)

// ---- SHA-1, against Boost's and the standard's examples ----------------------------------------

BOOST_AUTO_TEST_CASE(sha1_is_that_of_boost) {
  std::mt19937 random(1);
  for (int i = 0; i < (runs_on_cpu() ? 1000 : 100); ++i) {
    std::array<std::uint32_t, 6> message{};
    boost::uuids::detail::sha1 reference;
    for (std::uint32_t& word : message) {
      word = static_cast<std::uint32_t>(random());
      for (int byte = 3; byte >= 0; --byte) {
        reference.process_byte(static_cast<unsigned char>(word >> 8 * byte));
      }
    }
    boost::uuids::detail::sha1::digest_type digest;
    reference.get_digest(digest);
    const auto found = cases().sha1(message);
    BOOST_REQUIRE(std::equal(found.begin(), found.end(), digest));
  }
}

// ---- Unbalanced Tree Search, against the published counts --------------------------------------

BOOST_DATA_TEST_CASE(published_trees_have_the_published_counts, data::make(routes), taken) {
  for (const auto& tree : ramify::uts_trees()) {
    // Of the large ones, what the backend does in a second or two.
    const double most = runs_on_cpu() ? 5e6 * effort() : 2e8;
    if (double(tree.counts.nodes) > most) continue;
    // The executor searches T1 by one route and T3 by the other, which has another test.
    if (runs_on_cpu() && tree.name != "small" && tree.name != (taken == route::device ? "T1" : "T3")) {
      continue;
    }
    BOOST_TEST_CONTEXT(tree.name) { expect_published(tree, {.config = {.route = taken}}); }
  }
}

BOOST_AUTO_TEST_CASE(a_thin_tree_takes_no_launch_a_level) {
  const auto& tree = effort() < 1 ? named("small") : named("T3");
  const traverse_report report = expect_published(tree, {.config = {.route = route::device}});
  BOOST_TEST(report.rounds < std::max<std::uint64_t>(tree.counts.depth / 5, 5));
  BOOST_TEST(report.taken == route::device);
}

// The negative control of the counts: other parameters give others.
BOOST_AUTO_TEST_CASE(another_seed_is_another_tree) {
  uts_parameters tree = named("small").parameters;
  tree.seed += 1;
  uts_counts found{};
  (void)cases().search(tree, {}, found);
  BOOST_TEST(found.nodes != named("small").counts.nodes);
}

BOOST_DATA_TEST_CASE(degenerate_trees, data::make(routes), taken) {
  const auto search = [&](const uts_parameters& tree) {
    uts_counts found{};
    with_grids_counted([&] { return cases().search(tree, {.config = {.route = taken}}, found); });
    return found;
  };
  uts_parameters tree{.type = ramify::uts_type::binomial, .root_branches = 0};
  expect_counts(search(tree), {1, 1, 0});
  const auto leaves = std::uint64_t(cut_down(100'000, 5'000));
  tree.root_branches = double(leaves);
  tree.probability = 0;
  expect_counts(search(tree), {leaves + 1, leaves, 1});
  tree = {.type = ramify::uts_type::geometric, .root_branches = 0};
  expect_counts(search(tree), {1, 1, 0});
  // A binomial path.
  tree = {.type = ramify::uts_type::binomial, .root_branches = 1, .probability = 1, .branches = 0};
  expect_counts(search(tree), {2, 1, 1});
}

// ---- launch slots, streams, schedules of the executor ------------------------------------------

BOOST_AUTO_TEST_CASE(without_a_slot_the_host_launches_the_rounds) {
  uts_counts found{};
  const traverse_report report = cases().search_without_slots(named("small").parameters, found);
  expect_counts(found, named("small").counts);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.spilled_tasks > 0u);
}

BOOST_AUTO_TEST_CASE(two_searches_at_once) {
  const auto found = cases().search_two(named("small").parameters, thin);
  expect_counts(found[0], named("small").counts);
  uts_counts alone{};
  (void)cases().search(thin, {}, alone);
  expect_counts(found[1], alone);
}

BOOST_AUTO_TEST_CASE(every_schedule_finds_the_same_tree,
                     *boost::unit_test::precondition(on_the_executor)) {
  uts_parameters tree = thin;
  if (effort() < 1) tree.root_branches = 8;
  uts_counts expected{};
  (void)cases().search(tree, {}, expected);
  BOOST_TEST(expected.nodes > 500u);
  if (effort() == 1) BOOST_TEST(expected.nodes == 6286u);
  const auto check = [&](const std::string& schedule) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    BOOST_TEST_CONTEXT(schedule) {
      for (const route taken : routes) {
        uts_counts found{};
        (void)cases().search(tree, {.config = {.route = taken}}, found);
        expect_counts(found, expected);
      }
    }
  };
  check("eager");
  check("late");
  for (int seed = 0; seed < random_schedules(); ++seed) {
    check("random:" + std::to_string(seed));
  }
}

// ---- arguments and the facade ------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(bad_trees_and_options_are_named) {
  const auto expect = [](auto call, const std::string& text) {
    BOOST_CHECK_EXCEPTION(call(), std::invalid_argument, names(text));
  };
  const auto search = [&](const uts_parameters& tree, const std::string& text) {
    expect([&] { (void)ramify::tree_search(tree, {{.backend = backend_under_test()}}); }, text);
  };
  using enum ramify::uts_type;
  search({.depth = 0}, "depth is 0; it must be in [1, 1000000]");
  search({.root_branches = -1}, "root_branches is -1; it must be in [0, 100]");
  search({.type = binomial, .probability = 1.5}, "probability is 1.5");
  search({.type = binomial, .probability = 0.5, .branches = 3}, "the tree would not end");
  search({.type = binomial, .probability = 1, .branches = 1}, "the tree would not end");
  search({.root_branches = std::numeric_limits<double>::infinity()}, "root_branches is inf");
  search({.root_branches = std::numeric_limits<double>::quiet_NaN()}, "root_branches is");
  search({.type = hybrid, .shift = 2}, "shift is 2");
  search({.shape = ramify::uts_shape::exponential, .depth = 1}, "depth is 1");
  search({.type = static_cast<ramify::uts_type>(7)}, "type is none");
  expect([] { (void)ramify::parse_uts_tree("T9"); }, "none of small, T1");
  expect(
      [&] {
        ramify::tree_search_options options{{.backend = backend_under_test()}};
        options.capacity = std::size_t{1} << 31;
        (void)ramify::tree_search({}, options);
      },
      "capacity");
}

BOOST_AUTO_TEST_CASE(the_facade_searches_and_says_where) {
  ramify::tree_search_options options{{.backend = backend_under_test()}};
  for (const route taken : {route::automatic, route::device, route::flat}) {
    options.route = taken;
    options.pending_launches = 100;
    const auto found = ramify::tree_search(named("small").parameters, options);
    expect_counts(found.counts, named("small").counts);
    BOOST_TEST(found.report.ran_on == backend_under_test());
    BOOST_TEST(found.report.pending_launch_limit == 100u);
    BOOST_TEST(!found.report.backend_reason.empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
