// SPDX-License-Identifier: BSD-3-Clause
// Spatial trees that kernels build: all clouds and sizes, small limits, beside sorts and after
// them, refused calls, faulty input, launches that fail, and schedules.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <ramify/spatial_tree/batch.cuh>
#include <ramify/spatial_tree/queries.cuh>

#include "called_builds.cuh"
#include "captured_calls.cuh"
#include "exceptions.hpp"
#include "interrupted_calls.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

namespace {

constexpr std::size_t large_cloud = RAMIFY_ON_CUDA ? 200'000 : 3'000;

/// Sizes of leaves, of blocks and of small sorts, and random ones.
std::vector<std::size_t> cloud_sizes(unsigned count, std::size_t largest, std::uint64_t seed) {
  const std::size_t small = octrees(0, small_blocks()).small_points();
  std::vector<std::size_t> sizes{0,     1,         2,   small_leaf, small_leaf + 1,
                                 small, small + 1, 300, largest};
  std::mt19937_64 random(seed);
  std::shuffle(sizes.begin(), sizes.end(), random);
  while (sizes.size() < count) sizes.push_back(random() % (random() % 8 == 0 ? largest : 300));
  for (std::size_t& n : sizes) n = std::min(n, largest);
  return sizes;
}

build_plans plans_of_builds(std::size_t n, const spatial_tree_options& options = small_blocks()) {
  return build_plans(octrees(n, options), quadtrees(n, options), sorts(30'000));
}

/// Calls all builds, completes and checks them. Returns the report, whose counts it compares with
/// the statuses that the callers have read.
template <class Real, int dim>
call_report expect_called_builds(const called_builds<Real, dim>& calls,
                                 call_arena<build_plans>& arena, bool refuses = false) {
  calls.call(arena.environment(), refuses);
  arena.complete_async();
  const std::vector<unsigned> statuses = calls.check_all();
  const call_report report = expect_report(arena, statuses);
  BOOST_TEST(report.faulty == 0u);
  return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(calls_of_spatial_trees)

BOOST_DATA_TEST_CASE(all_clouds_and_sizes_are_built, data::make({32, 128, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  {
    call_arena arena(plans_of_builds(large_cloud), {.chunks = 3, .kept_calls = 400});
    const auto seed = std::uint64_t(limit);
    const called_builds<float, 3> few(cloud_sizes(9, large_cloud, seed), seed);
    BOOST_TEST(expect_called_builds(few, arena).refused == 0u);
    const called_builds<float, 3> many(cloud_sizes(45, large_cloud / 3, seed), seed + 1);
    BOOST_TEST(expect_called_builds(many, arena).refused == 0u);
    const called_builds<double, 2> flat(cloud_sizes(18, large_cloud / 2, seed), seed + 2);
    BOOST_TEST(expect_called_builds(flat, arena).refused == 0u);
  }
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(the_sort_of_a_block_limits_trees_of_larger_leaves) {
  const spatial_tree_options options = many_grids(16);
  const std::size_t most = octrees(0, options).small_points();
  using small = ramify::detail::spatial_tree::small_build<float, 3>;
  BOOST_TEST(most == std::size_t{small::sorter::capacity});
  octrees of_more(most + 1, options);
  of_more.prepare();
  BOOST_TEST(octrees(most, options).scratch_bytes() == 0u);  // one block builds each tree
  BOOST_TEST(of_more.scratch_bytes() > 0u);
  const called_builds<float, 3> calls({most, most + 1, most - 1, most}, 5, options);
  call_arena arena(plans_of_builds(most + 1, options), {.chunks = 2, .kept_calls = 100});
  BOOST_TEST(expect_called_builds(calls, arena).refused == 0u);
}

BOOST_AUTO_TEST_CASE(calls_without_slots_or_memory_may_be_refused) {
  const launch_limits limits({.pending_launches = 128});
  const called_builds<float, 3> calls(cloud_sizes(40, 1'000, 1), 1);
  call_arena arena(plans_of_builds(1'000), {.chunks = 2, .kept_calls = 400});
  const call_report report = expect_called_builds(calls, arena, true);
  BOOST_TEST(report.refused > 0u);
  BOOST_TEST(report.kept == 0u);
  BOOST_TEST(report.started > 0u);
}

BOOST_AUTO_TEST_CASE(calls_of_more_points_than_planned_are_refused) {
  const called_builds<float, 3> calls({100, 101, 102, 100}, 1);
  call_arena arena(plans_of_builds(100));
  const call_report report = expect_called_builds(calls, arena);
  BOOST_TEST(report.refused == 2u);
  BOOST_TEST(report.started == 2u);
  BOOST_CHECK_EXCEPTION(octrees(std::size_t{1} << 31), std::invalid_argument,
                        names("spatial_tree_calls: max_points"));
  BOOST_CHECK_EXCEPTION(octrees(1, {.leaf_size = 0}), std::invalid_argument, names("leaf_size"));
  BOOST_CHECK_EXCEPTION(octrees(1, {.streams = child_streams::named}), std::invalid_argument,
                        names("spatial_tree_calls: spatial_tree_options.streams"));
  BOOST_CHECK_EXCEPTION(octrees(1, {.max_nodes = 2}), std::invalid_argument,
                        names("spatial_tree_calls: spatial_tree_options.max_nodes"));
}

BOOST_AUTO_TEST_CASE(scratch_memory_suffices_for_every_size) {
  using memory = ramify::detail::spatial_tree::called_build_memory<float, 3>;
  std::mt19937_64 random(3);
  for (const std::size_t most :
       {std::size_t{5'000}, std::size_t{1} << 18, std::size_t{70'000'000}}) {
    octrees plan(most, small_blocks());
    plan.prepare();
    for (int i = 0; i < 500; ++i) {
      const std::size_t n = random() % most >> random() % 12;
      if (n <= plan.small_points()) continue;
      memory_layout layout(nullptr);
      static_cast<void>(memory(layout, n, 2 * n, plan.block_points(), plan.sort_sizes()));
      BOOST_TEST(layout.size() <= plan.scratch_bytes());
    }
  }
}

// ---- beside sorts and after them ----------------------------------------------------------------

BOOST_DATA_TEST_CASE(trees_and_sorts_share_an_arena, data::make({32, 128, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const called_builds<float, 3> clouds(cloud_sizes(30, 2'000, 2), 2);
  const called_builds<double, 2> flat(cloud_sizes(10, 500, 3), 3);
  const called_sorts ranges(mixed_lengths(40, 30'000, 2), 2);
  call_arena arena(plans_of_builds(2'000), {.chunks = 3, .kept_calls = 400});
  clouds.call(arena.environment());
  ranges.call(arena.environment());
  flat.call(arena.environment());
  arena.complete_async();
  const auto of_clouds = clouds.check_all();
  const auto of_flat = flat.check_all();
  const auto of_sorts = ranges.check_all();
  const call_report report = arena.get();
  BOOST_TEST(report.started == of_clouds[0] + of_flat[0] + of_sorts[0]);
  BOOST_TEST(report.kept == of_clouds[1] + of_flat[1] + of_sorts[1]);
  BOOST_TEST(report.refused == 0u);
}

namespace {

/// A pipeline: points whose number is in device memory, their tree, and the sorted numbers of
/// points in their balls.
struct ball_pipeline {
  called_cloud<float, 3> cloud;  ///< its n is not used
  const unsigned* number;
  float radius2;
  key* counts;
  unsigned* refused;
};

__global__ void count_balls(ball_pipeline p, build_environment calls) {
  const traced here(calls.trace, __func__);
  const spatial_tree_view<float, 3> tree = p.cloud.tree.view();
  const std::uint32_t n = tree.points_built();
  for (std::uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    key found = 0;
    for_each_within(tree, tree.points[i], p.radius2,
                    [&](std::uint32_t begin, std::uint32_t end) { found += end - begin; });
    p.counts[i] = found;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (ramify::quicksort(p.counts, n, ascending{}, calls) == call_status::refused) *p.refused = 1;
}

__global__ void build_and_count(ball_pipeline p, build_environment calls) {
  const traced here(calls.trace, __func__);
  const call_status status = ramify::build_spatial_tree(p.cloud.points, *p.number, p.cloud.tree,
                                                        calls.then(count_balls, {1, 64}, p, calls));
  if (status == call_status::refused) *p.refused = 1;
}

}  // namespace

BOOST_DATA_TEST_CASE(a_continuation_uses_the_tree_and_calls, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  constexpr unsigned n = 700;
  constexpr std::size_t most = 1'000;  // the memory is for more points
  const auto cloud = make_cloud<float, 3>(cloud::filled_sphere, n, 1);
  const auto points = upload_points<float, 3>(cloud);
  const device_buffer<std::byte> memory(called_tree<float, 3>::bytes(most, 2 * most), nullptr);
  const auto number = upload(std::vector<unsigned>{n});
  const auto counts = zeros<key>(n);
  const auto refused = zeros<unsigned>(1);
  constexpr float radius2 = 0.16f;
  call_arena arena(plans_of_builds(most), {.chunks = 2, .kept_calls = 100});
  const ball_pipeline p{{points.data(), 0, {memory.data(), most, 2 * most}},
                        number.data(),
                        radius2,
                        counts.data(),
                        refused.data()};
  check(launch(build_and_count, {1, 1}, nullptr, p, arena.environment()).code(), "launching");
  arena.complete_async();
  const auto host = download(points);
  std::vector<key> expected;
  for (const auto& a : host) {
    expected.push_back(static_cast<key>(
        std::ranges::count_if(host, [&](const auto& b) { return distance2(a, b) <= radius2; })));
  }
  std::ranges::sort(expected);
  BOOST_TEST(download(counts) == expected, boost::test_tools::per_element());
  BOOST_TEST(download(refused)[0] == 0u);
  BOOST_TEST(arena.get().refused == 0u);
  // Queries of the host take the view, too.
  const spatial_tree of_host(points.data(), n);
  const auto labels = zeros<std::uint32_t>(2 * most);
  find_clusters(p.cloud.tree.view(), 0.2f, labels.data());
  find_clusters(of_host.view(), 0.2f, labels.data() + most);
  const auto all = download(labels);
  BOOST_TEST(std::equal(all.begin(), all.begin() + n, all.begin() + std::ptrdiff_t(most)));
  BOOST_TEST(std::ranges::count(all, 0u) > 2);  // negative control: a cluster has several points
  // The memory after the last point has copies of it, which are no neighbors.
  constexpr std::size_t k = 4;
  for (std::size_t i = n; i < n + 64; ++i) {
    check(cudaMemcpyAsync(p.cloud.tree.arrays.points + i, of_host.view().points + n - 1,
                          sizeof(point<float, 3>), cudaMemcpyDeviceToDevice, nullptr),
          "copying a point");
  }
  const auto ids = zeros<std::uint32_t>(2 * k * n);
  const auto distances2 = zeros<float>(2 * k * n);
  nearest(p.cloud.tree.view(), points.data(), n, k, ids.data(), distances2.data());
  nearest(of_host.view(), points.data(), n, k, ids.data() + k * n, distances2.data() + k * n);
  const auto neighbors = download(ids);
  BOOST_TEST(std::equal(neighbors.begin(), neighbors.begin() + k * n, neighbors.begin() + k * n));
}

// ---- faulty input -------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(faulty_input_leaves_no_tree_and_is_counted, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  constexpr std::size_t n = 200;
  auto finite = make_cloud<float, 3>(cloud::filled_box, n, 1);
  auto other = finite;
  other[77][1] = std::numeric_limits<float>::quiet_NaN();
  const auto points = upload_points<float, 3>(finite);
  const auto with_nan = upload_points<float, 3>(other);
  const std::size_t bytes = called_tree<float, 3>::bytes(n, 2 * n);
  const device_buffer<std::byte> memory(3 * bytes, nullptr);
  const auto tree_in = [&](std::size_t i, std::size_t nodes) {
    return called_tree<float, 3>(memory.data() + i * bytes, n, nodes);
  };
  // A NaN, memory for too few nodes, and correct input.
  const std::vector<called_cloud<float, 3>> clouds{{with_nan.data(), n, tree_in(0, 2 * n)},
                                                   {points.data(), n, tree_in(1, 20)},
                                                   {points.data(), n, tree_in(2, 2 * n)}};
  const auto on_device = upload(clouds);
  const auto logs = zeros<call_log>(3);
  call_arena arena(plans_of_builds(n), {.chunks = 2});
  check(launch(call_builds<float, 3>, {1, 32}, nullptr, on_device.data(), 3u, logs.data(), false,
               arena.environment())
            .code(),
        "launching");
  BOOST_TEST(arena.get().faulty == 2u);
  const auto log = download(logs);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(log[i].runs == 1u);
    BOOST_TEST((log[i].faults == 0) == (i == 2));  // the continuation has expected a tree
    const auto built = download_called(clouds[i].tree.view());
    BOOST_TEST(built.nodes.empty() == (i != 2));
    BOOST_TEST(built.ids.size() == (i == 2 ? n : 0u));
  }
}

// ---- failures and schedules ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(no_call_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  constexpr std::size_t limits[] = {128, 2048};
  expect_no_call_lost(limits, 20, [&] {
    const called_builds<float, 3> calls({900, 5, 700, 150}, 6);
    call_arena arena(plans_of_builds(1'000), {.chunks = 2, .kept_calls = 100});
    return expect_called_builds(calls, arena);
  });
}

BOOST_AUTO_TEST_CASE(every_schedule_builds_all_trees,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_all_done_under_schedules([](std::uint64_t seed) {
    const called_builds<float, 3> calls(cloud_sizes(12, 1'000, seed), seed);
    call_arena arena(plans_of_builds(1'000), {.chunks = 2, .kept_calls = 100});
    return expect_called_builds(calls, arena);
  });
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_of_calls_runs_several_times, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const host_stream stream;
  const called_builds<float, 3> calls(cloud_sizes(40, large_cloud / 10, 7), 7);
  call_arena arena(plans_of_builds(large_cloud), {.chunks = 3, .kept_calls = 400},
                   {.stream = stream.get()});
  const auto call = [&] {
    calls.forget(stream.get());
    calls.call(arena.environment(), false, stream.get());
  };
  expect_captured_calls(
      calls, arena, stream, 5, [](unsigned) {}, call);
}
#endif

// ---- many trees in one call of the host ----

BOOST_DATA_TEST_CASE(a_batch_has_the_trees_of_single_calls, data::make({20, 3'000}), largest) {
  point_list<float, 3> all;
  std::vector<std::uint64_t> offsets{0};
  for (const std::size_t n : cloud_sizes(40, std::size_t(largest), 7)) {
    const auto set = make_cloud<float, 3>(all_clouds[n % std::size(all_clouds)], n, n);
    all.insert(all.end(), set.begin(), set.end());
    offsets.push_back(all.size());
  }
  const auto points = upload_points<float, 3>(all);
  const auto begins = upload(offsets);
  const std::size_t sets = offsets.size() - 1;
  // Under the late schedule a slot returns when all calls are made. Otherwise it may serve several.
  auto config = cpu::current_executor_config();
  if (largest == 20) config.order = cpu::schedule::late;
  const cpu::scoped_executor_config scope(config);
  const spatial_trees trees(points.data(), all.size(), begins.data(), sets, std::size_t(largest),
                            small_blocks());
  BOOST_TEST(trees.size() == sets);
  BOOST_TEST(trees.report().started + trees.report().kept == sets);
  if (largest == 20 && !RAMIFY_ON_CUDA) BOOST_TEST(trees.report().kept > sets / 2);
  const auto views = download_array(trees.views(), sets);
  for (std::size_t i = 0; i < sets; ++i) {
    BOOST_TEST_CONTEXT("set " << i) {
      const point_list<float, 3> set(all.begin() + std::ptrdiff_t(offsets[i]),
                                     all.begin() + std::ptrdiff_t(offsets[i + 1]));
      const auto expected = build_tree<float, 3>(set, small_blocks());
      BOOST_TEST(same_tree(download_called(views[i]), expected));
      BOOST_TEST(same_tree(download_tree(trees.view(i)), expected));
    }
  }
  // Queries of the host take a view.
  const auto counts = zeros<unsigned>(all.size());
  const std::size_t last = sets - 1;
  (void)radius_count(trees.view(last), points.data() + offsets[last], offsets[sets] - offsets[last],
                     1e9f, counts.data());
  BOOST_TEST(download(counts)[0] ==
             (offsets[sets] > offsets[last] ? offsets[sets] - offsets[last] : 0));
  BOOST_CHECK_THROW((void)trees.view(sets), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(bad_batches_are_refused) {
  point_list<float, 3> all = make_cloud<float, 3>(cloud::filled_box, 30, 1);
  const auto points = upload_points<float, 3>(all);
  const auto refuse = [&](std::vector<std::uint64_t> offsets, std::size_t largest,
                          const std::string& text, const device_buffer<point<float, 3>>& from,
                          const environment& env = {}) {
    const auto begins = upload(offsets);
    BOOST_CHECK_EXCEPTION(spatial_trees(from.data(), 30, begins.data(), offsets.size() - 1, largest,
                                        small_blocks(), env),
                          std::invalid_argument, names(text));
  };
  refuse({0, 9, 8, 30}, 30, "spatial_trees: set 1 has the offsets 9 and 8;", points);
  refuse({0, 10, 31, 40}, 30, "set 1 has the offsets 10 and 31; they must be ascending", points);
  refuse({0, 10, 30}, 10, "set 1 has the offsets 10 and 30; they must be ascending", points);
  refuse({~0ull, 3}, 10, "set 0 has the offsets 18446744073709551615 and 3", points);
  refuse({0, 30}, std::size_t{1} << 31, "spatial_trees: largest is 2147483648; it must be", points);
  refuse({0, 30}, 30, "spatial_trees: points is null", {});
  const device_buffer<std::byte> memory(256, nullptr);
  refuse({0, 30}, 30, "environment.memory must be empty", points, {.memory = memory});
  // A small set that overlaps a large one: no tree is built.
  const std::size_t large = 30'000;
  const auto cloud_of_large =
      upload_points<float, 3>(make_cloud<float, 3>(cloud::filled_box, large, 1));
  const auto overlapping = upload(std::vector<std::uint64_t>{0, large, large / 2, large / 2 + 9});
  BOOST_CHECK_EXCEPTION(
      spatial_trees(cloud_of_large.data(), large, overlapping.data(), 3, large, small_blocks()),
      std::invalid_argument, names("spatial_trees: set 1 has the offsets 30000 and 15000;"));
  all[12][1] = std::numeric_limits<float>::quiet_NaN();
  refuse({0, 12, 20, 30}, 30, "spatial_trees: a point of set 1 is not finite",
         upload_points<float, 3>(all));
  BOOST_TEST(
      spatial_trees(points.data(), 0, static_cast<const std::uint64_t*>(nullptr), 0, 1).size() ==
      0u);
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
