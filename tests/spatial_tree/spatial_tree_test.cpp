// SPDX-License-Identifier: BSD-3-Clause
// Spatial trees on the backend under test: what they are, whatever the cloud, schedule and limit.
#include <boost/mpl/list.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "spatial_types.hpp"
#include "tree_check.hpp"

namespace data = boost::unit_test::data;
using ramify::route;
using ramify::spatial_tree_config;
using tests::all_clouds;
using tests::cases;
using tests::cloud;
using tests::left_out;
using tests::names;
using tests::runs_on_cpu;

namespace {

constexpr route routes[] = {route::device, route::flat};

/// Few points a block, so that a small cloud has many grids.
spatial_tree_config many_grids(route taken, unsigned leaf_size = 4) {
  return {.route = taken, .leaf_size = leaf_size, .block_points = 20};
}

/// Builds a tree, and checks it and its report.
template <class Type>
tests::built_tree<typename Type::real, Type::dim> expect_tree(
    const tests::point_list<typename Type::real, Type::dim>& points,
    const spatial_tree_config& config, std::size_t pending_launches = 0) {
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  auto tree = Type::builder().build(points, config, pending_launches);
  if (runs_on_cpu()) {
    // And one for the test's summaries.
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before - !points.empty();
    BOOST_TEST(tree.report.host_grids + tree.report.child_grids == grids);
  }
  BOOST_TEST(tests::check_tree(tree, points, config.leaf_size) == "");
  BOOST_TEST(cases().slots_in_use() == 0u);
  return tree;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial_tree)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_cloud_and_size, Type, tests::spatial_types) {
  int piece = 0;
  for (const cloud c : all_clouds) {
    for (const std::size_t n : {0, 1, 2, 5, 33, 400}) {
      if (left_out(piece)) continue;
      const auto points = tests::make_cloud<typename Type::real, Type::dim>(c, n, n);
      for (const route taken : routes) {
        for (const unsigned leaf_size : {1, 4, 50}) {
          BOOST_TEST_CONTEXT(c << ", n = " << n << ", " << ramify::to_string(taken)
                               << ", leaf size " << leaf_size) {
            expect_tree<Type>(points, many_grids(taken, leaf_size));
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_hundred_thousand_points, Type, tests::spatial_types) {
  const auto n = static_cast<std::size_t>(tests::cut_down(100'000, 5'000));
  int piece = 0;
  for (const cloud c : all_clouds) {
    if (left_out(piece, 4)) continue;
    const auto points = tests::make_cloud<typename Type::real, Type::dim>(c, n, 1);
    for (const route taken : routes) {
      BOOST_TEST_CONTEXT(c << ", " << ramify::to_string(taken)) {
        const auto tree = expect_tree<Type>(points, {.route = taken});
        // Copies of a point are shared out evenly, so that 16 of them or fewer are a leaf.
        if (c == cloud::all_equal && n == 100'000) {
          BOOST_TEST(tree.nodes.size() < n / 7);
        }
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const cloud c = all_clouds[std::size_t(seed) % std::size(all_clouds)];
  const auto points = tests::make_cloud<float, 3>(c, 600, std::uint64_t(seed));
  const auto usual = expect_tree<tests::f3>(points, many_grids(route::flat));
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  BOOST_TEST_CONTEXT(c) {
    for (const route taken : routes) {
      BOOST_TEST(tests::same_tree(expect_tree<tests::f3>(points, many_grids(taken)), usual));
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(the_extreme_schedules, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  int piece = 0;
  for (const cloud c : all_clouds) {
    if (left_out(piece, 4)) continue;
    const auto points =
        tests::make_cloud<double, 2>(c, std::size_t(tests::cut_down(2'000, 500)), 3);
    for (const route taken : routes) {
      for (const auto streams :
           {ramify::child_streams::fire_and_forget, ramify::child_streams::named}) {
        auto config_of_tree = many_grids(taken);
        config_of_tree.streams = streams;
        BOOST_TEST_CONTEXT(c) { expect_tree<tests::d2>(points, config_of_tree); }
      }
    }
  }
}

BOOST_DATA_TEST_CASE(no_node_is_lost_whatever_the_limit, data::make({1, 2, 16, 2048}),
                     pending_launches) {
  static int piece = 0;  // of all limits
  for (const cloud c : {cloud::filled_box, cloud::hollow_sphere, cloud::duplicates,
                        cloud::all_equal, cloud::nested}) {
    const auto points =
        tests::make_cloud<float, 3>(c, std::size_t(tests::cut_down(5'000, 1'000)), 5);
    for (const route taken : routes) {
      if (tests::left_out_by_tsan(piece, 7)) continue;
      BOOST_TEST_CONTEXT(c) {
        const auto tree =
            expect_tree<tests::f3>(points, many_grids(taken), std::size_t(pending_launches));
        if (runs_on_cpu()) BOOST_TEST(tree.report.pending_launch_limit == unsigned(pending_launches));
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(a_full_pool_makes_tasks_spill, data::make({16, 4096}), pending_launches) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 10'000, 5);
  const auto tree =
      expect_tree<tests::f3>(points, many_grids(route::device), std::size_t(pending_launches));
  BOOST_TEST((tree.report.spilled_tasks > 0) == (pending_launches == 16));
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_takes_over) {
  const auto n = static_cast<std::size_t>(tests::cut_down(20'000, 5'000));
  const auto points = tests::make_cloud<float, 3>(cloud::filled_sphere, n, 6);
  const auto tree = cases().without_slots(points, many_grids(route::device));
  BOOST_TEST(tests::check_tree(tree, points, 4) == "");
  BOOST_TEST(tree.report.taken == route::device);
  BOOST_TEST(tree.report.child_grids == 0u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(the_report_tells_the_route) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 20'000, 7);
  const auto on_device = expect_tree<tests::f3>(points, many_grids(route::device)).report;
  BOOST_TEST(on_device.taken == route::device);
  BOOST_TEST(on_device.route_reason == "asked for");
  BOOST_TEST(on_device.child_grids > 100u);
  BOOST_TEST(on_device.peak_slots > 0u);
  BOOST_TEST(on_device.scratch_bytes > 20'000u * 16);
  const auto flat = expect_tree<tests::f3>(points, many_grids(route::flat)).report;
  BOOST_TEST(flat.taken == route::flat);
  BOOST_TEST(flat.child_grids == 0u);
  BOOST_TEST(flat.deepest_level >= 3u);
  const auto chosen = expect_tree<tests::f3>(points, many_grids(route::automatic)).report;
  if (runs_on_cpu()) {
    BOOST_TEST(chosen.taken == route::device);
  } else {  // by what was measured; the sort may have chosen the other one
    BOOST_TEST(chosen.route_reason.find("flat: about ") == 0u);
  }
}

// From each of many places a row of points leads away, each twice as far from it as the one before:
// a long chain of nodes for few points.
BOOST_DATA_TEST_CASE(a_cloud_with_many_nodes_is_built_again, data::make(routes), taken) {
  tests::point_list<float, 3> points{{0, 0, 0}, {1, 1, 1}};
  const int places = RAMIFY_THREAD_SANITIZER ? 98 : 343;
  for (int place = 0; place < places; ++place) {
    const tests::coordinates<float, 3> at{float(place % 7) / 8, float(place / 7 % 7) / 8,
                                          float(place / 49) / 8};
    for (int copy = 0; copy < 51; ++copy) points.push_back(at);
    for (int level = 4; level <= 20; ++level) {
      const float step = std::ldexp(0.75f, -level);
      points.push_back({at[0] + step, at[1] + step, at[2] + step});
    }
  }
  const auto tree =
      expect_tree<tests::f3>(points, {.route = taken, .leaf_size = 50, .block_points = 500});
  BOOST_TEST(tree.nodes.size() > 8 * points.size() / 50 + 1024);
}

// Coordinates whose differences are no numbers, or hardly any.
BOOST_AUTO_TEST_CASE_TEMPLATE(coordinates_at_the_ends_of_the_scale, Type, tests::spatial_types) {
  using limits = std::numeric_limits<typename Type::real>;
  for (const auto scale : {limits::max(), limits::min(), limits::denorm_min() * 1000}) {
    auto points = tests::make_cloud<typename Type::real, Type::dim>(
        cloud::filled_box, std::size_t(tests::cut_down(2'000, 400)), 8);
    for (auto& p : points) {
      for (auto& x : p) x *= scale;
    }
    expect_tree<Type>(points, many_grids(route::device));
  }
}

// The negative control of all these tests: the check sees what is wrong.
BOOST_AUTO_TEST_CASE(the_check_of_trees_can_say_no) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 500, 9);
  const auto good = expect_tree<tests::f3>(points, many_grids(route::flat));
  const auto expect_fault = [&](const char* what, auto spoil) {
    auto bad = good;
    spoil(bad);
    const std::string fault = tests::check_tree(bad, points, 4);
    BOOST_TEST(fault.find(what) != std::string::npos, "found '" << fault << "', not " << what);
  };
  expect_fault("id", [](auto& t) { t.ids[3] = t.ids[4]; });
  expect_fault("not its id's", [](auto& t) { std::swap(t.points[3], t.points[4]); });
  expect_fault("not tight", [](auto& t) { t.nodes[7].lower[1] -= 0.5f; });
  expect_fault("summary", [](auto& t) { ++t.nodes[0].summary; });
  expect_fault("share out", [](auto& t) { --t.nodes[0].children; });
  expect_fault("too many points", [](auto& t) { t.nodes[0].children = 0; });
  expect_fault("level", [](auto& t) { ++t.nodes[t.nodes[0].first_child].level; });
  expect_fault("parent", [](auto& t) { t.nodes[t.nodes[0].first_child].parent = 5; });
  expect_fault("not reached", [](auto& t) {
    t.nodes.push_back(t.nodes.back());
    ++t.report.nodes;
  });
  auto other = good;
  std::swap(other.ids[0], other.ids[1]);
  BOOST_TEST(tests::same_tree(good, good));
  BOOST_TEST(!tests::same_tree(good, other));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  using tests::bad_tree_argument;
  const auto expect = [&](bad_tree_argument argument, const char* what) {
    BOOST_CHECK_EXCEPTION(cases().provoke(argument), std::invalid_argument, names(what));
  };
  expect(bad_tree_argument::null_points, "spatial_tree: points is null");
  expect(bad_tree_argument::too_many_points, "n is 2147483648");
  expect(bad_tree_argument::null_queries, "radius_count: queries is null");
  expect(bad_tree_argument::null_counts, "counts is null");
  expect(bad_tree_argument::null_ids, "nearest: ids is null");
  expect(bad_tree_argument::null_distances, "distances2 is null");
  expect(bad_tree_argument::large_k, "k is 2147483648");
  if (!runs_on_cpu()) expect(bad_tree_argument::host_memory, "points is ordinary host memory");

  const auto points = tests::make_cloud<float, 2>(cloud::filled_box, 10, 1);
  const auto build = [&](const spatial_tree_config& config) {
    (void)tests::f2::builder().build(points, config, 0);
  };
  BOOST_CHECK_EXCEPTION(build({.leaf_size = 0}), std::invalid_argument, names("leaf_size is 0"));
  BOOST_CHECK_EXCEPTION(build({.leaf_size = 1025}), std::invalid_argument,
                        names("leaf_size is 1025; it must be in [1, 1024]"));
  BOOST_CHECK_EXCEPTION(build({.block_points = 0}), std::invalid_argument,
                        names("block_points is 0"));
  BOOST_CHECK_EXCEPTION(build({.route = static_cast<route>(9)}), std::invalid_argument,
                        names("route"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(points_that_are_not_finite_are_named, Type, tests::spatial_types) {
  using limits = std::numeric_limits<typename Type::real>;
  for (const auto bad : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
    for (const std::size_t at : {0, 1, 4'321, 9'999}) {
      auto points = tests::make_cloud<typename Type::real, Type::dim>(cloud::filled_box, 10'000, 1);
      points[at][at % Type::dim] = bad;
      points.back()[0] = bad;  // the first one is named
      const std::string name = "points[" + std::to_string(at) + "] has a coordinate";
      BOOST_CHECK_EXCEPTION((void)Type::builder().build(points, {}, 0), std::invalid_argument,
                            names(name));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_tree_that_was_moved_from_is_empty) {
  BOOST_TEST(cases().moved_tree(tests::make_cloud<float, 3>(cloud::filled_box, 100, 1)) == "");
}

BOOST_AUTO_TEST_CASE(offsets_are_the_sums_of_counts) {
  for (const std::size_t n : {1, 2, 31, 32, 33, 255, 256, 257, 40'000, 300'001}) {
    if (n > 100'000 && RAMIFY_THREAD_SANITIZER) continue;  // many blocks have gone before
    std::vector<std::uint32_t> counts(n);
    for (std::size_t i = 0; i < n; ++i) counts[i] = static_cast<std::uint32_t>(i * 7919 % 13);
    counts[n / 2] = 0xffffffffu;  // the sum needs more than 32 bits
    std::vector<std::uint64_t> expected(n + 1);
    for (std::size_t i = 0; i < n; ++i) expected[i + 1] = expected[i] + counts[i];
    BOOST_TEST((cases().offsets_of(counts) == expected), "n = " << n);
  }
}

BOOST_AUTO_TEST_SUITE_END()
