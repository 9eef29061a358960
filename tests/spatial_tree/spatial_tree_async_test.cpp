// SPDX-License-Identifier: BSD-3-Clause
// Builds that are started and completed later: without waits, with failed launches, in memory of
// the caller, and captured into a graph.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "memory_resources.cuh"
#include "printing.hpp"
#include "spatial_tree_checks.cuh"
#include "spatial_types.hpp"

namespace data = boost::unit_test::data;
using ramify::completion;
using ramify::device_buffer;
using ramify::environment;
using ramify::memory_ref;
using ramify::route;
using ramify::spatial_tree_options;
using tests::cloud;
using tests::many_grids;
using tests::names;
using tests::routes;

namespace {

using points3 = tests::point_list<float, 3>;

/// Returns memory of the caller for builds of up to n points.
device_buffer<std::byte> memory_for(std::size_t n, const spatial_tree_options& options) {
  return {ramify::spatial_tree_scratch_bytes<float, 3>(n, options), nullptr};
}

/// The Fold that counts the points of each node.
struct count_fold {
  std::uint32_t* counts;
  __device__ std::uint32_t of_point(std::uint32_t) const { return 1; }
  __device__ std::uint32_t combine(std::uint32_t a, std::uint32_t b) const { return a + b; }
  __device__ std::uint32_t& at(std::uint32_t node) const { return counts[node]; }
};

/// Builds a tree over `points`, and checks it. If `given`, the caller passes
/// the memory, and a reduction is launched before get(). Returns whether the reduction found the
/// complete tree.
bool expect_async(const points3& points, const spatial_tree_options& options, environment env,
                  bool given, ramify::spatial_tree_report* report = nullptr) {
  const auto on_device = tests::upload_points<float, 3>(points);
  const auto memory = memory_for(given ? points.size() : 0, options);
  env.memory = memory;
  auto run = ramify::spatial_tree_async(on_device.data(), points.size(), options, env);
  const auto ahead = given ? ramify::spatial_tree_view_in<float, 3>(memory, points.size(), options)
                           : ramify::spatial_tree_view<float, 3>{};
  const auto counts = tests::zeros<std::uint32_t>(ahead.node_count + 1);
  (void)ramify::reduce_bottom_up(ahead, count_fold{counts.data()}, nullptr);
  const auto tree = run.get();
  BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, options.leaf_size) == "");
  BOOST_TEST(tests::slots_in_use() == 0u);
  if (given && !points.empty()) BOOST_TEST(tree.view().nodes == ahead.nodes);
  if (report != nullptr) *report = tree.report();
  const std::uint32_t counted = tests::download(counts)[0];
  BOOST_TEST((counted == 0 || counted == points.size()));
  return counted == points.size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(asynchronous_spatial_tree)

BOOST_DATA_TEST_CASE(every_limit_in_any_memory,
                     data::make({1, 16, 32, 2048}) * data::make({false, true}), limit, given) {
  for (const cloud c : {cloud::filled_box, cloud::duplicates, cloud::nested}) {
    const auto points =
        tests::make_cloud<float, 3>(c, std::size_t(tests::cut_down(5'000, 1'000)), 5);
    for (const route taken : routes) {
      BOOST_TEST_CONTEXT(c << ", " << ramify::to_string(taken)) {
        const auto limits = tests::scoped_limit(std::size_t(limit));
        ramify::spatial_tree_report report;
        const bool complete = expect_async(points, many_grids(), {.route = taken}, given);
        const bool ahead =
            expect_async(points, many_grids(), {.route = taken, .completion = completion::by_get},
                         given, &report);
        if (!given) continue;
        BOOST_TEST(complete);
        // Kernels that follow the build find the complete tree if no stage needed the host.
        if (limit == 2048 && report.taken == route::device && report.spilled_tasks == 0) {
          BOOST_TEST(ahead);
        }
        // On the flat route the host launches the levels of an even cloud ahead. Negative control:
        // others have more levels.
        if (report.taken == route::flat && c == cloud::filled_box) BOOST_TEST(ahead);
        if (report.taken == route::flat && c == cloud::nested) BOOST_TEST(!ahead);
      }
    }
  }
}

BOOST_DATA_TEST_CASE(small_and_empty_clouds, data::make({false, true}), given) {
  for (const std::size_t n : {0, 1, 2, 5, 20, 21}) {
    const auto points = tests::make_cloud<float, 3>(cloud::filled_box, n, n);
    for (const route taken : routes) {
      BOOST_TEST_CONTEXT(n << " points") {
        const bool ahead = expect_async(points, many_grids(), {.route = taken}, given);
        // The root's block builds all nodes, on either route.
        if (given && n <= 20) BOOST_TEST(ahead);
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch) {
  // The sort of so many points launches grids from kernels, too.
  const auto points =
      tests::make_cloud<float, 3>(cloud::duplicates, std::size_t(tests::cut_down(9'000, 6'000)), 5);
  auto build = many_grids();
  build.block_points = 300;
  const auto executor = ramify::cpu::current_executor_config();
  const environment by_get{.route = route::device, .completion = completion::by_get};
  const unsigned interrupted = tests::count_interrupted(20, executor, [&](std::uint64_t failing) {
    ramify::spatial_tree_report report;
    const bool ahead = expect_async(points, build, by_get, true, &report);
    if (failing == 1) BOOST_TEST(!ahead);  // in the sort, which the host completed
    return !ahead || report.spilled_tasks > 0;
  });
  // Negative control: the failures did interrupt the build.
  BOOST_TEST(interrupted >= 3u);
  // In memory of the pool.
  static_cast<void>(tests::count_interrupted(
      20, executor, [&](std::uint64_t) { return expect_async(points, build, by_get, false); }, 2));
  // Without by_get, the call itself completes the tree.
  static_cast<void>(tests::count_interrupted(
      20, executor,
      [&](std::uint64_t) {
        const bool ahead = expect_async(points, build, {.route = route::device}, true);
        BOOST_TEST(ahead);
        return !ahead;
      },
      2));
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_runs_all_stages) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_sphere,
                                                  std::size_t(tests::cut_down(20'000, 5'000)), 6);
  const auto on_device = tests::upload_points<float, 3>(points);
  const tests::all_slots_taken by_another_run(*ramify::current_launch_limits().pending_launches);
  auto run = ramify::spatial_tree_async(on_device.data(), points.size(), many_grids(),
                                        {.route = route::device});
  const auto tree = run.get();
  BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, 4) == "");
  BOOST_TEST(tree.report().child_grids == 0u);
}

BOOST_AUTO_TEST_CASE(a_tree_with_too_many_nodes) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 2'000, 7);
  const auto on_device = tests::upload_points<float, 3>(points);
  for (const route taken : routes) {
    auto options = many_grids();
    options.max_nodes = 100;
    // In memory of the pool the tree is built again.
    const ramify::spatial_tree tree(on_device.data(), points.size(), options, {.route = taken});
    BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, 4) == "");
    const auto memory = memory_for(points.size(), options);
    auto run = ramify::spatial_tree_async(on_device.data(), points.size(), options,
                                          {.memory = memory, .route = taken});
    BOOST_CHECK_EXCEPTION((void)run.get(), std::length_error, names("more than 100 nodes"));
    BOOST_TEST(tests::slots_in_use() == 0u);
    options.max_nodes = 2 * points.size();
    expect_async(points, options, {.route = taken}, true);
  }
}

BOOST_AUTO_TEST_CASE(a_resource_provides_all_memory) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 2'000, 7);
  const auto on_device = tests::upload_points<float, 3>(points);
  auto options = many_grids();
  options.max_nodes = 100;  // the tree is built again, in larger memory
  tests::allocating_resource resource;
  {
    const ramify::spatial_tree tree(on_device.data(), points.size(), options,
                                    {.memory = memory_ref(resource)});
    BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, 4) == "");
    BOOST_TEST(resource.in_use == 2u);  // its points and its nodes
    const auto counts = tests::zeros<std::uint32_t>(points.size());
    const std::size_t before = resource.allocations;
    (void)radius_count(tree.view(), on_device.data(), points.size(), 0.1f, counts.data(),
                       {.memory = memory_ref(resource)});
    BOOST_TEST(resource.allocations > before);
    BOOST_TEST(resource.in_use == 2u);
  }
  BOOST_TEST(resource.in_use == 0u);
}

BOOST_AUTO_TEST_CASE(a_graph_launches_the_levels_of_the_flat_route_where_it_can) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 20'000, 8);
  environment env{.route = route::flat, .flat_loop = ramify::flat_loop::graph};
  if (!RAMIFY_ON_CUDA) {
    BOOST_CHECK_EXCEPTION((void)expect_async(points, many_grids(), env, true), ramify::unavailable,
                          names("environment.flat_loop graph is not available"));
    return;
  }
  ramify::spatial_tree_report report;
  BOOST_TEST(expect_async(points, many_grids(), env, true, &report));  // no stage needed the host
  BOOST_TEST(report.graph_grids > 0u);
  BOOST_TEST((report.looped_by == ramify::flat_loop::graph));
  env.flat_loop = ramify::flat_loop::automatic;
  expect_async(points, many_grids(), env, false, &report);
  BOOST_TEST((report.looped_by == ramify::flat_loop::host));
}

BOOST_AUTO_TEST_CASE(errors_of_points_are_thrown_by_get) {
  auto points = tests::make_cloud<float, 3>(cloud::filled_box, 10'000, 1);
  points[77][1] = std::numeric_limits<float>::quiet_NaN();
  const auto on_device = tests::upload_points<float, 3>(points);
  for (const route taken : routes) {
    auto run = ramify::spatial_tree_async(on_device.data(), points.size(), {.route = taken});
    BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument, names("points[77] has"));
    BOOST_TEST(tests::slots_in_use() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(bad_memory_is_named) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 1);
  const auto on_device = tests::upload_points<float, 3>(points);
  const auto memory = memory_for(100, {});
  const auto expect = [&](const memory_ref& given, const char* what) {
    BOOST_CHECK_EXCEPTION(
        (void)ramify::spatial_tree_async(on_device.data(), points.size(), {.memory = given}),
        std::invalid_argument, names(what));
  };
  expect({memory.data(), memory.size() - 1}, "spatial_tree: environment.memory has");
  expect({memory.data() + 8, memory.size()}, "environment.memory must be aligned");
  BOOST_CHECK_EXCEPTION((void)(ramify::spatial_tree_view_in<float, 3>(
                            {memory.data(), memory.size() - 1}, points.size())),
                        std::invalid_argument, names("spatial_tree_view_in: memory has"));
}

BOOST_AUTO_TEST_CASE(a_query_refuses_a_tree_that_may_be_incomplete) {
  // get() launches levels of this tree, which an even cloud does not have.
  const auto points = tests::make_cloud<float, 3>(cloud::nested, 1'000, 5);
  const std::size_t n = points.size();
  const auto on_device = tests::upload_points<float, 3>(points);
  const auto memory = memory_for(n, many_grids());
  auto run = ramify::spatial_tree_async(
      on_device.data(), n, many_grids(),
      {.memory = memory, .route = route::flat, .completion = completion::by_get});
  const device_buffer<std::uint32_t> counts(n, nullptr);
  const auto ahead = ramify::spatial_tree_view_in<float, 3>(memory, n, many_grids());
  const auto count = [&](const auto& view) {
    (void)radius_count(view, on_device.data(), n, 1, counts.data());
  };
  BOOST_CHECK_EXCEPTION(count(ahead), std::logic_error,
                        names("radius_count: the build of the tree was not complete"));
  BOOST_CHECK_EXCEPTION((void)radius_list(ahead, on_device.data(), n, 1), std::invalid_argument,
                        names("call get() first"));
  const auto tree = run.get();
  BOOST_CHECK_NO_THROW(count(ahead));  // the host has completed it
  BOOST_CHECK_NO_THROW(count(tree.view()));
}

BOOST_AUTO_TEST_CASE(a_query_takes_any_route_and_loop) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 1);
  const auto on_device = tests::upload_points<float, 3>(points);
  const ramify::spatial_tree tree(on_device.data(), points.size());
  const device_buffer<std::uint32_t> counts(100, nullptr);
  for (const route wanted : ramify::all_choices<route>()) {
    for (const auto loop : {ramify::flat_loop::automatic, ramify::flat_loop::host}) {
      const auto report = radius_count(tree.view(), on_device.data(), points.size(), 1,
                                       counts.data(), {.route = wanted, .flat_loop = loop});
      BOOST_TEST(report.taken == route::flat);
    }
  }
}

#if RAMIFY_ON_CUDA

namespace {

/// Captures a build over `n` points, launches it three times with new points, and checks the trees.
void expect_captured(const spatial_tree_options& options, route taken, std::size_t n,
                     bool without_slots) {
  const ramify::host_stream stream;
  const device_buffer<ramify::point<float, 3>> on_device(n, nullptr);
  const auto memory = memory_for(n, options);
  const auto ahead = ramify::spatial_tree_view_in<float, 3>(memory, n, options);
  const auto counts = tests::zeros<std::uint32_t>(2 * n);
  const auto zeros = tests::zeros<unsigned>(2 * n);
  ramify::check(cudaDeviceSynchronize(), "waiting");
  std::optional<ramify::async_run<ramify::spatial_tree<float, 3>>> run;
  const ramify::captured_graph graph(
      stream.get(),
      [&] {
        run = ramify::spatial_tree_async(on_device.data(), n, options,
                                         {.stream = stream, .memory = memory, .route = taken});
        (void)ramify::reduce_bottom_up(ahead, count_fold{counts.data()}, stream.get(), {},
                                       zeros.data());
        BOOST_CHECK_THROW((void)run->get(), std::logic_error);
      },
      cudaStreamCaptureModeRelaxed);
  for (std::uint64_t launched = 0; launched < 3; ++launched) {
    const auto c = launched == 1 ? cloud::duplicates : cloud::filled_box;
    const auto points = tests::make_cloud<float, 3>(c, n, launched);
    const auto upload = tests::upload_points<float, 3>(points);
    ramify::check(cudaMemcpy(on_device.data(), upload.data(), n * sizeof *upload.data(),
                             cudaMemcpyDeviceToDevice),
                  "uploading");
    ramify::check(cudaDeviceSynchronize(), "waiting");
    std::optional<tests::all_slots_taken> taken;
    if (without_slots) taken.emplace(*ramify::current_launch_limits().pending_launches);
    graph.launch(stream.get());
    const auto tree = run->get();
    BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, options.leaf_size) == "");
    BOOST_TEST(tree.report().points == n);
    taken.reset();
    BOOST_TEST(tests::slots_in_use() == 0u);
    if (!without_slots) BOOST_TEST(tests::download(counts)[0] == n);
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(a_captured_build_runs_in_each_launch_of_its_graph, data::make({false, true}),
                     without_slots) {
  for (const route taken : {route::device, route::automatic, route::flat}) {
    expect_captured(many_grids(), taken, 20'000, without_slots);
    expect_captured({}, taken, 300'000, without_slots);
  }
}

BOOST_AUTO_TEST_CASE(a_capture_that_is_not_possible_is_refused) {
  const ramify::host_stream stream;
  const device_buffer<ramify::point<float, 3>> points(1000, nullptr);
  const auto memory = memory_for(1000, {});
  const auto capture = [&](const environment& env) {
    const ramify::captured_graph graph(
        stream.get(), [&] { (void)ramify::spatial_tree_async(points.data(), 1000, env); });
  };
  BOOST_CHECK_EXCEPTION(capture({.stream = stream}), std::invalid_argument,
                        names("environment.memory is empty"));
  const environment by_host{.stream = stream,
                            .memory = memory,
                            .route = route::flat,
                            .flat_loop = ramify::flat_loop::host};
  BOOST_CHECK_EXCEPTION(capture(by_host), ramify::unavailable,
                        names("cannot capture rounds that the host launches"));
}

BOOST_AUTO_TEST_CASE(a_graph_cannot_capture_a_query_that_waits) {
  const ramify::host_stream stream;
  const auto points =
      tests::upload_points<float, 3>(tests::make_cloud<float, 3>(cloud::filled_box, 100, 1));
  const ramify::spatial_tree tree(points.data(), 100);
  const device_buffer<std::uint32_t> counts(100, nullptr);
  const device_buffer<std::byte> memory(ramify::spatial_query_scratch_bytes<float, 3>(100),
                                        nullptr);
  const auto capture = [&] {
    const ramify::captured_graph graph(stream.get(), [&] {
      (void)radius_count(tree.view(), points.data(), 100, 1, counts.data(),
                         {.stream = stream, .memory = memory});
    });
  };
  BOOST_CHECK_EXCEPTION(capture(), std::logic_error, names("the stream is being captured"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
