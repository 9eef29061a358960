// SPDX-License-Identifier: BSD-3-Clause
// The structure of spatial trees for every cloud, route, schedule and limit.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "exceptions.hpp"
#include "printing.hpp"
#include "spatial_tree_checks.cuh"
#include "spatial_types.hpp"

namespace data = boost::unit_test::data;
using ramify::environment;
using ramify::route;
using ramify::spatial_tree_options;
using tests::all_clouds;
using tests::cloud;
using tests::left_out;
using tests::many_grids;
using tests::names;
using tests::routes;
using tests::runs_on_cpu;
using tests::slot_leaks_are_noticed;

namespace {

BOOST_TEST_GLOBAL_FIXTURE(slot_leaks_are_noticed);

/// Builds a tree, and checks it and its report.
template <class Type>
tests::built_tree<typename Type::real, Type::dim> expect_tree(
    const tests::point_list<typename Type::real, Type::dim>& points,
    const spatial_tree_options& options, const environment& env) {
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  auto tree = tests::build_tree<typename Type::real, Type::dim>(points, options, env);
  if (runs_on_cpu()) {
    // One grid computes the hashes for the test.
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before - !points.empty();
    BOOST_TEST(tree.report.host_grids + tree.report.child_grids == grids);
  }
  BOOST_TEST(tests::check_tree(tree, points, options.leaf_size) == "");
  BOOST_TEST(tests::slots_in_use() == 0u);
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
            expect_tree<Type>(points, many_grids(leaf_size), {.route = taken});
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_hundred_thousand_points, Type, tests::spatial_types) {
  const auto n = static_cast<std::size_t>(tests::cut_down(100'000, 5'000));
  int piece = 0;
  int number = Type::dim;  // each type gets other clouds
  for (const cloud c : all_clouds) {
    if (left_out(piece, 4)) continue;
    if (tests::effort() == 1 && !tests::all_cases() && number++ % 3 != 0) continue;
    const auto points = tests::make_cloud<typename Type::real, Type::dim>(c, n, 1);
    for (const route taken : routes) {
      BOOST_TEST_CONTEXT(c << ", " << ramify::to_string(taken)) {
        const auto tree = expect_tree<Type>(points, {}, {.route = taken});
        // Copies of a point are split evenly, until a leaf has at most 16 of them.
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
  const auto usual = expect_tree<tests::f3>(points, many_grids(), {.route = route::flat});
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  BOOST_TEST_CONTEXT(c) {
    for (const route taken : routes) {
      BOOST_TEST(
          tests::same_tree(expect_tree<tests::f3>(points, many_grids(), {.route = taken}), usual));
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
        auto options = many_grids();
        options.streams = streams;
        BOOST_TEST_CONTEXT(c) { expect_tree<tests::d2>(points, options, {.route = taken}); }
      }
    }
  }
}

BOOST_DATA_TEST_CASE(no_node_is_lost_at_any_limit, data::make({1, 2, 16, 2048}), pending_launches) {
  static int piece = 0;  // shared by all limits
  for (const cloud c : {cloud::filled_box, cloud::hollow_sphere, cloud::duplicates,
                        cloud::all_equal, cloud::nested}) {
    const auto points =
        tests::make_cloud<float, 3>(c, std::size_t(tests::cut_down(5'000, 1'000)), 5);
    for (const route taken : routes) {
      if (tests::left_out_by_tsan(piece, 7)) continue;
      BOOST_TEST_CONTEXT(c) {
        const auto tree = expect_tree<tests::f3>(
            points, many_grids(),
            {.route = taken, .pending_launches = std::size_t(pending_launches)});
        if (runs_on_cpu()) {
          BOOST_TEST(tree.report.pending_launch_limit == unsigned(pending_launches));
        }
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(a_full_launch_pool_spills_tasks, data::make({16, 4096}), pending_launches) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 10'000, 5);
  const auto tree = expect_tree<tests::f3>(
      points, many_grids(),
      {.route = route::device, .pending_launches = std::size_t(pending_launches)});
  BOOST_TEST((tree.report.spilled_tasks > 0) == (pending_launches == 16));
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_runs_the_build) {
  const auto n = static_cast<std::size_t>(tests::cut_down(20'000, 5'000));
  const auto points = tests::make_cloud<float, 3>(cloud::filled_sphere, n, 6);
  const tests::all_slots_taken by_another_run(*ramify::current_launch_limits().pending_launches);
  const auto tree = tests::build_tree<float, 3>(points, many_grids(), {.route = route::device});
  BOOST_TEST(tests::check_tree(tree, points, 4) == "");
  BOOST_TEST(tree.report.taken == route::device);
  BOOST_TEST(tree.report.child_grids == 0u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(the_report_states_the_route) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 20'000, 7);
  const auto on_device =
      expect_tree<tests::f3>(points, many_grids(), {.route = route::device}).report;
  BOOST_TEST(on_device.taken == route::device);
  BOOST_TEST(on_device.route_reason == "requested");
  BOOST_TEST(on_device.child_grids >= 4u);   // one for each level, at least
  BOOST_TEST(on_device.child_grids < 100u);  // not one for each task
  BOOST_TEST(on_device.peak_slots > 0u);
  BOOST_TEST(on_device.scratch_bytes > 20'000u * 16);
  const auto flat = expect_tree<tests::f3>(points, many_grids(), {.route = route::flat}).report;
  BOOST_TEST(flat.taken == route::flat);
  BOOST_TEST(flat.child_grids == 0u);
  BOOST_TEST(flat.deepest_level >= 3u);
  const auto chosen =
      expect_tree<tests::f3>(points, many_grids(), {.route = route::automatic}).report;
  if (runs_on_cpu()) {
    BOOST_TEST(chosen.taken == route::device);
  } else {  // from the measured launch costs; the sort may have chosen the other route
    BOOST_TEST(chosen.route_reason.find("flat: about ") == 0u);
  }
}

// From each of many positions a row of points starts. Each point is twice as far away as the
// previous one, so few points have a long chain of nodes.
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
      expect_tree<tests::f3>(points, {.leaf_size = 50, .block_points = 500}, {.route = taken});
  BOOST_TEST(tree.nodes.size() > 8 * points.size() / 50 + 1024);
}

// Coordinates whose differences overflow, or are denormal.
BOOST_AUTO_TEST_CASE_TEMPLATE(very_large_and_very_small_coordinates, Type, tests::spatial_types) {
  using limits = std::numeric_limits<typename Type::real>;
  for (const auto scale : {limits::max(), limits::min(), limits::denorm_min() * 1000}) {
    auto points = tests::make_cloud<typename Type::real, Type::dim>(
        cloud::filled_box, std::size_t(tests::cut_down(2'000, 400)), 8);
    for (auto& p : points) {
      for (auto& x : p) x *= scale;
    }
    expect_tree<Type>(points, many_grids(), {.route = route::device});
  }
}

// The negative control of all these tests: check_tree() detects faults.
BOOST_AUTO_TEST_CASE(the_check_of_trees_detects_faults) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 500, 9);
  const auto good = expect_tree<tests::f3>(points, many_grids(), {.route = route::flat});
  const auto expect_fault = [&](const char* what, auto corrupt) {
    auto bad = good;
    corrupt(bad);
    const std::string fault = tests::check_tree(bad, points, 4);
    BOOST_TEST(fault.find(what) != std::string::npos, "found '" << fault << "', not " << what);
  };
  expect_fault("id", [](auto& t) { t.ids[3] = t.ids[4]; });
  expect_fault("not its id's", [](auto& t) { std::swap(t.points[3], t.points[4]); });
  expect_fault("not tight", [](auto& t) { t.nodes[7].lower[1] -= 0.5f; });
  expect_fault("the hash", [](auto& t) { ++t.nodes[0].hash; });
  expect_fault("partition", [](auto& t) { --t.nodes[0].children; });
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

BOOST_AUTO_TEST_CASE(bad_pointers_and_sizes_are_named) {
  using point3 = ramify::point<float, 3>;
  using tree3 = ramify::spatial_tree<float, 3>;
  const auto on_device = tests::upload(std::vector<point3>(100));
  const point3* points = on_device.data();
  const ramify::device_buffer<std::uint32_t> ids(100, nullptr);
  const ramify::device_buffer<float> distances(100, nullptr);
  const tree3 tree(points, 100);
  const auto view = tree.view();
  const point3* none = nullptr;
  const auto expect = [](auto call, const char* what) {
    BOOST_CHECK_EXCEPTION(call(), std::invalid_argument, names(what));
  };
  expect([&] { tree3(none, 5); }, "spatial_tree: points is null");
  expect([&] { tree3(points, std::size_t{1} << 31); }, "n is 2147483648");
  expect([&] { radius_count(view, none, 5, 1, ids.data()); }, "radius_count: queries is null");
  expect([&] { radius_count(view, points, 5, 1, nullptr); }, "counts is null");
  expect([&] { nearest(view, points, 5, 1, nullptr, distances.data()); }, "nearest: ids is null");
  expect([&] { all_nearest_neighbors(view, 1, true, ids.data(), static_cast<float*>(nullptr)); },
         "distances2 is null");
  expect([&] { nearest(view, points, 5, std::size_t{1} << 31, ids.data(), distances.data()); },
         "k is 2147483648");
  if (!runs_on_cpu()) {
    const std::vector<point3> on_host(100);
    expect([&] { tree3(on_host.data(), on_host.size()); }, "points is ordinary host memory");
  }
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const auto points = tests::make_cloud<float, 2>(cloud::filled_box, 10, 1);
  const auto expect = [&](const spatial_tree_options& options, const char* what) {
    BOOST_CHECK_EXCEPTION((void)(tests::build_tree<float, 2>(points, options)),
                          std::invalid_argument, names(what));
  };
  expect({.leaf_size = 0}, "leaf_size is 0");
  expect({.leaf_size = 1025}, "leaf_size is 1025; it must be in [1, 1024]");
  expect({.block_points = 0}, "block_points is 0");
  expect({.streams = ramify::child_streams(9)}, "spatial_tree_options.streams is none of");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(points_that_are_not_finite_are_named, Type, tests::spatial_types) {
  using limits = std::numeric_limits<typename Type::real>;
  for (const auto bad : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
    for (const std::size_t at : {0, 1, 4'321, 9'999}) {
      auto points = tests::make_cloud<typename Type::real, Type::dim>(cloud::filled_box, 10'000, 1);
      points[at][at % Type::dim] = bad;
      points.back()[0] = bad;  // the first one is named
      const std::string name = "points[" + std::to_string(at) + "] has a coordinate";
      BOOST_CHECK_EXCEPTION((void)(tests::build_tree<typename Type::real, Type::dim>(points, {})),
                            std::invalid_argument, names(name));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_moved_from_tree_is_empty) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 1);
  const auto on_device = tests::upload_points<float, 3>(points);
  ramify::spatial_tree<float, 3> first(on_device.data(), points.size());
  ramify::spatial_tree<float, 3> second(std::move(first));
  const auto is_empty = [](const ramify::spatial_tree<float, 3>& tree) {
    return tree.view().point_count == 0 && tree.report().points == 0 && tree.report().nodes == 0;
  };
  BOOST_TEST(is_empty(first));
  BOOST_TEST(second.report().points == points.size());
  first = std::move(second);
  BOOST_TEST(is_empty(second));
  BOOST_TEST(!is_empty(first));
}

#if RAMIFY_ON_CUDA
// A list in local memory would take several times as long.
template <class Real, unsigned k>
void expect_list_in_registers() {
  namespace under_test = ramify::detail::spatial_tree;
  cudaFuncAttributes attributes{};
  ramify::check(
      cudaFuncGetAttributes(&attributes,
                            under_test::kernel_of_nearest<Real, 3, under_test::plain_metric>(k)),
      "reading the attributes of a kernel");
  const std::size_t stack = ramify::spatial_shape<3>::stack_size * 2 * sizeof(Real);
  BOOST_TEST(attributes.localSizeBytes < stack + k * sizeof(under_test::neighbor<Real>),
             k << " neighbors");
}

BOOST_AUTO_TEST_CASE(up_to_64_candidates_are_in_registers) {
  expect_list_in_registers<float, 10>();
  expect_list_in_registers<float, 64>();
  expect_list_in_registers<double, 10>();
  expect_list_in_registers<double, 16>();
  expect_list_in_registers<double, 64>();
}
#endif

BOOST_AUTO_TEST_CASE(offsets_are_the_sums_of_counts) {
  for (const std::size_t n : {1, 2, 33, 257, 40'000, 300'001}) {
    std::vector<std::uint32_t> counts(n);
    for (std::size_t i = 0; i < n; ++i) counts[i] = static_cast<std::uint32_t>(i * 7919 % 13);
    counts[n / 2] = 0xffffffffu;  // the sum needs more than 32 bits
    std::vector<std::uint64_t> expected(n);
    for (std::size_t i = 1; i < n; ++i) expected[i] = expected[i - 1] + counts[i - 1];
    const auto on_device = tests::upload(counts);
    const ramify::device_buffer<std::uint64_t> offsets(n, nullptr);
    ramify::detail::scan_counts(on_device.data(), n, offsets.data(), nullptr);
    BOOST_TEST((tests::download(offsets) == expected), "n = " << n);
  }
}

BOOST_AUTO_TEST_SUITE_END()
