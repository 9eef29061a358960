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
#include "printing.hpp"
#include "spatial_tree_checks.cuh"
#include "spatial_types.hpp"

namespace data = boost::unit_test::data;
using ramify::device_buffer;
using ramify::route;
using ramify::scratch_memory;
using ramify::spatial_tree_config;
using tests::cloud;
using tests::many_grids;
using tests::names;
using tests::routes;

namespace {

using points3 = tests::point_list<float, 3>;

/// Memory of the caller for builds of up to n points.
struct given_memory {
  given_memory(std::size_t n, const spatial_tree_config& config)
      : scratch_buffer(ramify::spatial_tree_scratch_bytes<float, 3>(n, config), nullptr),
        tree_buffer(ramify::spatial_tree_bytes<float, 3>(n, config), nullptr) {}
  [[nodiscard]] scratch_memory scratch() const {
    return {scratch_buffer.data(), scratch_buffer.size()};
  }
  [[nodiscard]] scratch_memory tree() const { return {tree_buffer.data(), tree_buffer.size()}; }

  device_buffer<std::byte> scratch_buffer;
  device_buffer<std::byte> tree_buffer;
};

/// The Fold that counts the points of each node.
struct count_fold {
  std::uint32_t* counts;
  __device__ std::uint32_t of_point(std::uint32_t) const { return 1; }
  __device__ std::uint32_t combine(std::uint32_t a, std::uint32_t b) const { return a + b; }
  __device__ std::uint32_t& at(std::uint32_t node) const { return counts[node]; }
};

/// Builds a tree over `points`, with a reduction that is launched before get(). Checks the tree.
/// Returns whether the reduction found the complete tree.
bool expect_async(const points3& points, const spatial_tree_config& config, bool given,
                  ramify::spatial_tree_report* report = nullptr) {
  const auto on_device = tests::upload_points<float, 3>(points);
  std::optional<given_memory> memory;
  if (given) memory.emplace(points.size(), config);
  auto run = ramify::spatial_tree_async(on_device.data(), points.size(), nullptr, config,
                                        given ? memory->scratch() : scratch_memory{},
                                        given ? memory->tree() : scratch_memory{});
  const auto counts = tests::zeros<std::uint32_t>(run.view().node_count + 1);
  (void)ramify::reduce_bottom_up(run.view(), count_fold{counts.data()}, nullptr);
  const auto tree = run.get();
  BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, config.leaf_size) == "");
  BOOST_TEST(tests::slots_in_use() == 0u);
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
        const bool ahead = expect_async(points, many_grids(taken), given, &report);
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
        const bool ahead = expect_async(points, many_grids(taken), given);
        // The root's block builds all nodes, on either route.
        if (n <= 20) BOOST_TEST(ahead);
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch) {
  // The sort of so many points launches grids from kernels, too.
  const auto points =
      tests::make_cloud<float, 3>(cloud::duplicates, std::size_t(tests::cut_down(9'000, 6'000)), 5);
  auto build = many_grids(route::device);
  build.block_points = 300;
  const auto executor = ramify::cpu::current_executor_config();
  const unsigned interrupted = tests::count_interrupted(20, executor, [&](std::uint64_t failing) {
    ramify::spatial_tree_report report;
    const bool ahead = expect_async(points, build, failing % 2 == 0, &report);
    if (failing == 1) BOOST_TEST(!ahead);  // in the sort, which the host completed
    return !ahead || report.spilled_tasks > 0;
  });
  // Negative control: the failures did interrupt the sort and the recursion.
  BOOST_TEST(interrupted >= 10u);
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_runs_all_stages) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_sphere,
                                                  std::size_t(tests::cut_down(20'000, 5'000)), 6);
  const auto on_device = tests::upload_points<float, 3>(points);
  const tests::all_slots_taken by_another_run(*ramify::current_launch_limits().pending_launches);
  auto run = ramify::spatial_tree_async(on_device.data(), points.size(), nullptr,
                                        many_grids(route::device));
  const auto tree = run.get();
  BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, 4) == "");
  BOOST_TEST(tree.report().child_grids == 0u);
}

BOOST_AUTO_TEST_CASE(a_tree_with_too_many_nodes) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 2'000, 7);
  const auto on_device = tests::upload_points<float, 3>(points);
  for (const route taken : routes) {
    auto config = many_grids(taken);
    config.max_nodes = 100;
    // In memory of the pool the tree is built again.
    const ramify::spatial_tree tree(on_device.data(), points.size(), nullptr, config);
    BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, 4) == "");
    const given_memory memory(points.size(), config);
    auto run = ramify::spatial_tree_async(on_device.data(), points.size(), nullptr, config,
                                          memory.scratch(), memory.tree());
    BOOST_CHECK_EXCEPTION((void)run.get(), std::length_error, names("more than 100 nodes"));
    BOOST_TEST(tests::slots_in_use() == 0u);
    config.max_nodes = 2 * points.size();
    expect_async(points, config, true);
  }
}

BOOST_AUTO_TEST_CASE(a_graph_launches_the_levels_of_the_flat_route_where_it_can) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 20'000, 8);
  auto config = many_grids(route::flat);
  config.flat_loop = ramify::flat_loop::graph;
  if (!RAMIFY_ON_CUDA) {
    BOOST_CHECK_EXCEPTION((void)expect_async(points, config, false), ramify::unavailable,
                          names("spatial_tree_config.flat_loop graph is not available"));
    return;
  }
  ramify::spatial_tree_report report;
  BOOST_TEST(expect_async(points, config, false, &report));  // no stage needed the host
  BOOST_TEST(report.graph_grids > 0u);
  BOOST_TEST((report.looped_by == ramify::flat_loop::graph));
  config.flat_loop = ramify::flat_loop::automatic;
  expect_async(points, config, false, &report);
  BOOST_TEST((report.looped_by == ramify::flat_loop::host));
}

BOOST_AUTO_TEST_CASE(errors_of_points_are_thrown_by_get) {
  auto points = tests::make_cloud<float, 3>(cloud::filled_box, 10'000, 1);
  points[77][1] = std::numeric_limits<float>::quiet_NaN();
  const auto on_device = tests::upload_points<float, 3>(points);
  for (const route taken : routes) {
    auto run = ramify::spatial_tree_async(on_device.data(), points.size(), nullptr,
                                          spatial_tree_config{.route = taken});
    BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument, names("points[77] has"));
    BOOST_TEST(tests::slots_in_use() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(bad_memory_is_named) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 1);
  const auto on_device = tests::upload_points<float, 3>(points);
  const given_memory memory(100, {});
  const auto expect = [&](scratch_memory scratch, scratch_memory tree, const char* what) {
    BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_async(on_device.data(), points.size(), nullptr,
                                                           {}, scratch, tree),
                          std::invalid_argument, names(what));
  };
  auto scratch = memory.scratch();
  auto tree = memory.tree();
  --scratch.bytes;
  --tree.bytes;
  expect(scratch, memory.tree(), "spatial_tree: scratch.bytes is");
  expect(memory.scratch(), tree, "spatial_tree: tree_memory.bytes is");
  tree = {memory.tree_buffer.data() + 8, memory.tree().bytes};
  expect(memory.scratch(), tree, "tree_memory.data must be aligned");
}

BOOST_AUTO_TEST_CASE(a_query_refuses_a_tree_that_may_be_incomplete) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 1);
  const auto on_device = tests::upload_points<float, 3>(points);
  auto run = ramify::spatial_tree_async(on_device.data(), points.size());
  const device_buffer<std::uint32_t> counts(100, nullptr);
  BOOST_CHECK_EXCEPTION(
      (void)radius_count(run.view(), on_device.data(), points.size(), 1, counts.data()),
      std::invalid_argument, names("call get() first"));
  (void)run.get();
}

#if RAMIFY_ON_CUDA

namespace {

/// Captures a build over `n` points, launches it three times with new points, and checks the trees.
void expect_captured(const spatial_tree_config& config, std::size_t n, bool without_slots) {
  const ramify::host_stream stream;
  const device_buffer<ramify::point<float, 3>> on_device(n, nullptr);
  const given_memory memory(n, config);
  const auto counts = tests::zeros<std::uint32_t>(2 * n);
  const auto zeros = tests::zeros<unsigned>(2 * n);
  ramify::check(cudaDeviceSynchronize(), "waiting");
  std::optional<ramify::spatial_tree_run<float, 3>> run;
  const ramify::captured_graph graph(
      stream.get(),
      [&] {
        run = ramify::spatial_tree_async(on_device.data(), n, stream.get(), config,
                                         memory.scratch(), memory.tree());
        (void)ramify::reduce_bottom_up(run->view(), count_fold{counts.data()}, stream.get(), {},
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
    BOOST_TEST(tests::check_tree(tests::download_tree(tree), points, config.leaf_size) == "");
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
    expect_captured(many_grids(taken), 20'000, without_slots);
    expect_captured({.route = taken}, 300'000, without_slots);
  }
}

BOOST_AUTO_TEST_CASE(a_capture_that_is_not_possible_is_refused) {
  const ramify::host_stream stream;
  const device_buffer<ramify::point<float, 3>> points(1000, nullptr);
  const auto capture = [&](const spatial_tree_config& config, const scratch_memory& scratch,
                           const scratch_memory& tree) {
    const ramify::captured_graph graph(stream.get(), [&] {
      (void)ramify::spatial_tree_async(points.data(), 1000, stream.get(), config, scratch, tree);
    });
  };
  const given_memory memory(1000, {});
  BOOST_CHECK_EXCEPTION(capture({}, {}, memory.tree()), std::invalid_argument,
                        names("scratch.data is null"));
  BOOST_CHECK_EXCEPTION(capture({}, memory.scratch(), {}), std::invalid_argument,
                        names("tree_memory.data is null"));
  const spatial_tree_config by_host{.route = route::flat, .flat_loop = ramify::flat_loop::host};
  BOOST_CHECK_EXCEPTION(capture(by_host, memory.scratch(), memory.tree()), ramify::unavailable,
                        names("cannot capture steps that the host launches"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
