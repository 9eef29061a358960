// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced Tree Search: the published counts, launch slots, streams, schedules, the facade.
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/uuid/detail/sha1.hpp>
#include <cstdint>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/stream.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "exceptions.hpp"
#include "tree_search_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::granularity;
using ramify::route;
using ramify::traverse_report;
using ramify::traverse_strategy;
using ramify::uts_counts;
using ramify::uts_parameters;

namespace {

/// A tree of a few thousand nodes that is deep for its size.
const uts_parameters thin{.type = ramify::uts_type::binomial,
                          .root_branches = 40,
                          .probability = 0.1985,
                          .branches = 5,
                          .seed = 38};

/// Computes the SHA-1 of a message of 24 bytes in a kernel.
__global__ void digest_message(const std::uint32_t* message, std::uint32_t* digest) {
  std::uint32_t words[6];
  for (int i = 0; i < 6; ++i) words[i] = message[i];
  const auto result = ramify::detail::tree_search::sha1_of_words<6>(words);
  for (int i = 0; i < 5; ++i) digest[i] = result.word[i];
}

[[nodiscard]] std::vector<std::uint32_t> sha1_on_device(
    const std::array<std::uint32_t, 6>& message) {
  const auto words = upload(std::vector<std::uint32_t>(message.begin(), message.end()));
  const ramify::device_buffer<std::uint32_t> digest(5, nullptr);
  ramify::check(ramify::launch(digest_message, {1, 1}, nullptr, words.data(), digest.data()).code(),
                "launching digest_message");
  return download(digest);
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(slot_leaks_are_noticed);

BOOST_AUTO_TEST_SUITE(tree_search)

// ---- SHA-1, against Boost's --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(sha1_equals_that_of_boost) {
  std::mt19937 random(1);
  for (int i = 0; i < (RAMIFY_ON_CUDA ? 100 : 1000); ++i) {
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
    const auto found = sha1_on_device(message);
    BOOST_REQUIRE(std::equal(found.begin(), found.end(), digest));
  }
}

// ---- Unbalanced Tree Search, against the published counts --------------------------------------

BOOST_DATA_TEST_CASE(published_trees_have_the_published_counts, data::make(routes), taken) {
  for (const auto& tree : ramify::uts_trees()) {
    // Of the large trees, only those that the backend searches in a second or two.
    const double most = RAMIFY_ON_CUDA ? 2e8 : 5e6 * effort();
    if (double(tree.counts.nodes) > most) continue;
    // The executor searches T1 by one route and T3 by the other; the next test searches T3, too.
    if (!RAMIFY_ON_CUDA && tree.name != "small" &&
        tree.name != (taken == route::device ? "T1" : "T3")) {
      continue;
    }
    BOOST_TEST_CONTEXT(tree.name) { expect_published(tree, {}, {.route = taken}); }
  }
}

BOOST_AUTO_TEST_CASE(a_thin_tree_has_fewer_rounds_than_levels) {
  const auto& tree = effort() < 1 ? named("small") : named("T3");
  const traverse_report report = expect_published(tree, {}, {.route = route::device});
  BOOST_TEST(report.rounds < std::max<std::uint64_t>(tree.counts.depth / 5, 5));
  BOOST_TEST(report.taken == route::device);
}

// The negative control of the counts: another seed gives other counts.
BOOST_AUTO_TEST_CASE(another_seed_gives_another_tree) {
  uts_parameters tree = named("small").parameters;
  tree.seed += 1;
  BOOST_TEST(counts_of(tree).nodes != named("small").counts.nodes);
}

BOOST_DATA_TEST_CASE(degenerate_trees, data::make(routes), taken) {
  const auto search = [&](const uts_parameters& tree) {
    uts_counts found{};
    with_grids_counted([&] {
      const auto result = ramify::tree_search_async(tree, {.route = taken}).get();
      found = result.value;
      return result.report;
    });
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

// ---- the strategy task_per_node ----------------------------------------------------------------

BOOST_DATA_TEST_CASE(tasks_find_the_published_counts,
                     data::make(routes) * data::make({granularity::per_task, granularity::per_block,
                                                      granularity::per_grid}),
                     taken, grain) {
  static int piece = 0;
  if (left_out_by_tsan(piece, 5)) return;
  expect_published(named("small"),
                   {.capacity = 100'000,
                    .strategy = traverse_strategy::task_per_node,
                    .launches = {grain, 0, 1}},
                   {.route = taken, .pending_launches = 2048});
}

// ---- launch slots, streams, schedules of the executor ------------------------------------------

BOOST_AUTO_TEST_CASE(without_a_slot_the_host_launches_the_rounds) {
  const all_slots_taken taken(*ramify::current_launch_limits().pending_launches);
  const auto found =
      ramify::tree_search_async(named("small").parameters, {.route = route::device}).get();
  expect_counts(found.value, named("small").counts);
  BOOST_TEST(found.report.child_grids == 0u);
  BOOST_TEST(found.report.spilled_tasks > 0u);
}

BOOST_AUTO_TEST_CASE(two_searches_at_once) {
  const ramify::host_stream streams[2];
  const std::size_t bytes = ramify::tree_search_scratch_bytes();
  const ramify::device_buffer<std::byte> scratch[2] = {{bytes, streams[0].get()},
                                                       {bytes, streams[1].get()}};
  const auto start = [&](const uts_parameters& tree, int i) {
    return ramify::tree_search_async(
        tree, {.stream = streams[i], .memory = scratch[i], .route = route::device});
  };
  auto first = start(named("small").parameters, 0);
  auto second = start(thin, 1);
  const uts_counts of_second = second.get().value;
  expect_counts(first.get().value, named("small").counts);
  expect_counts(of_second, counts_of(thin));
}

BOOST_AUTO_TEST_CASE(every_schedule_finds_the_same_tree,
                     *boost::unit_test::precondition(on_the_executor)) {
  uts_parameters tree = thin;
  if (effort() < 1) tree.root_branches = 8;
  const uts_counts expected = counts_of(tree);
  BOOST_TEST(expected.nodes > 500u);
  if (effort() == 1) BOOST_TEST(expected.nodes == 6286u);
  const auto check = [&](const std::string& schedule) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    BOOST_TEST_CONTEXT(schedule) {
      for (const route taken : routes) {
        expect_counts(counts_of(tree, {.route = taken}), expected);
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
    expect([&] { (void)ramify::tree_search(tree, {.backend = backend_under_test()}); }, text);
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
        (void)ramify::tree_search({}, {.capacity = std::size_t{1} << 31},
                                  {.backend = backend_under_test()});
      },
      "capacity");
}

BOOST_AUTO_TEST_CASE(the_facade_searches_and_reports_the_backend) {
  for (const route taken : {route::automatic, route::device, route::flat}) {
    const auto found = ramify::tree_search(
        named("small").parameters,
        {.backend = backend_under_test(), .route = taken, .pending_launches = 100});
    expect_counts(found.counts, named("small").counts);
    BOOST_TEST(found.report.ran_on == backend_under_test());
    BOOST_TEST(found.report.pending_launch_limit == 100u);
    BOOST_TEST(!found.report.backend_reason.empty());
  }
}

// The facade passes the options of traverse() and the environment on.
BOOST_AUTO_TEST_CASE(the_facade_has_the_options_of_the_header) {
  ramify::environment env{.backend = backend_under_test(), .route = route::device};
  const auto tasks = ramify::tree_search(
      named("small").parameters,
      {.strategy = traverse_strategy::task_per_node, .launches = {granularity::per_grid, 0, 4}},
      env);
  expect_counts(tasks.counts, named("small").counts);
  BOOST_TEST(tasks.report.rounds == 0u);  // task_per_node has none
  BOOST_TEST(tasks.report.child_grids > 0u);

  env.route = route::flat;
  env.flat_loop = ramify::flat_loop::host;
  const auto rounds = ramify::tree_search(named("small").parameters, env);
  expect_counts(rounds.counts, named("small").counts);
  BOOST_TEST(rounds.report.flat_loop_reason == "requested");

  env.backend = static_cast<ramify::backend>(7);
  BOOST_CHECK_EXCEPTION((void)ramify::tree_search({}, env), std::invalid_argument,
                        names("environment.backend is none"));
}

BOOST_AUTO_TEST_SUITE_END()
