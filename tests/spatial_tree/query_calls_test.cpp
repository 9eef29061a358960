// SPDX-License-Identifier: BSD-3-Clause
// query() as a call: numbers on the device, trees before get(), streams, bad arguments.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "counted_cloud.cuh"
#include "exceptions.hpp"
#include "match_lists.cuh"
#include "spatial_types.hpp"

namespace tests::matches {

using ramify::completion;
using tests::cloud;
using tests::names;

namespace {

/// A point of the caller's type, whose coordinates are not in order.
struct particle {
  double mass;
  float z;
  short charge;
  float x, y;
};

}  // namespace

}  // namespace tests::matches

template <>
struct ramify::point_traits<tests::matches::particle> {
  using real = float;
  static constexpr int dim = 3;
  __device__ static float coordinate(const tests::matches::particle& p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
  }
};

namespace tests::matches {

BOOST_AUTO_TEST_SUITE(spatial_query_calls)

BOOST_AUTO_TEST_CASE(points_of_the_callers_type) {
  constexpr std::size_t n = 300;
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, n, 1);
  std::vector<particle> particles;
  for (const auto& [x, y, z] : points) particles.push_back({1, z, 1, x, y});
  const auto on_device = tests::upload(particles);
  const auto expected = tests::build_tree<float, 3>(points, tests::many_grids());
  const auto build = [&](const auto& count) {
    return tests::download_tree(
        ramify::spatial_tree_of(on_device.data(), count, tests::many_grids()));
  };
  BOOST_TEST(same_tree(build(n), expected));
  const tests::device_number<> number(n);
  BOOST_TEST(same_tree(build(number.up_to(n)), expected));
  BOOST_TEST(!same_tree(build(n - 1), expected));  // negative control
  BOOST_TEST(ramify::spatial_tree_of(on_device.data(), 0).view().point_count == 0u);
  tests::check_exceeding_counts(n, "spatial_tree", [&](const ramify::device_count& count) {
    (void)ramify::spatial_tree_of(on_device.data(), count);
  });
  BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_of(static_cast<const particle*>(nullptr), 1),
                        std::invalid_argument, names("spatial_tree_of: objects is null"));
  particles[42].y = std::numeric_limits<float>::quiet_NaN();
  const auto with_nan = tests::upload(particles);
  BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_of(with_nan.data(), n), std::invalid_argument,
                        names("points[42] has a coordinate"));
}

// Bad arguments are named before memory for the positions is allocated.
BOOST_AUTO_TEST_CASE(bad_arguments_of_trees_of_objects) {
  const auto objects = tests::upload(std::vector<particle>(1));
  constexpr std::size_t n = std::size_t{1} << 50;
  const auto expect = [&](const ramify::spatial_tree_options& options, const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_of(objects.data(), n, options),
                          std::invalid_argument, names(text));
  };
  expect({.leaf_size = 0}, "spatial_tree_options.leaf_size is 0");
  expect({}, "spatial_tree: n is 1125899906842624; it must be less than 2^31");
}

// The grid has the threads of the device, not those of the upper bound.
BOOST_AUTO_TEST_CASE(positions_up_to_a_large_bound) {
  constexpr std::size_t n = 3'000;
  std::vector<particle> objects;
  for (std::size_t i = 0; i < n; ++i) objects.push_back({1, float(i), 1, float(i) / 7, 2});
  const auto on_device = tests::upload(objects);
  const auto positions = tests::zeros<ramify::point<float, 3>>(n);
  const tests::device_number<> number(n - 1);
  ramify::copy_positions(on_device.data(), number.up_to(std::size_t{1} << 45), positions.data(),
                         nullptr);
  const auto found = tests::download(positions);
  for (std::size_t i = 0; i < n; ++i) {
    const float x = i < n - 1 ? objects[i].x : 0;
    const float z = i < n - 1 ? objects[i].z : 0;
    BOOST_TEST((found[i].x[0] == x && found[i].x[2] == z));
  }
}

/// Returns whether queries of a tree are those of a new tree over the same points.
bool finds_as_new_tree(const ramify::spatial_tree<float, 3>& tree,
                       const tests::point_list<float, 3>& points) {
  using namespace tests::queries;
  const search<tests::f3> fresh(points, points, 0.3f, {});
  const auto expected = fresh.arrays();
  (void)fresh.run_waiting(expected);
  const auto found = fresh.arrays();
  const auto view = tree.view();
  const auto* asked = fresh.queries.data();
  (void)radius_count(view, asked, points.size(), 0.3f, found.counts.data());
  (void)nearest(view, asked, points.size(), k, found.ids.data(), found.distances2.data());
  (void)all_nearest_neighbors(view, k, true, found.own_ids.data(), found.own_distances2.data());
  (void)find_clusters(view, 0.3f, found.labels.data(), 3);
  const results a(found, nullptr);
  const results b(expected, nullptr);
  return a.counts == b.counts && a.ids == b.ids && a.distances2 == b.distances2 &&
         a.own_ids == b.own_ids && a.own_distances2 == b.own_distances2 && a.labels == b.labels;
}

BOOST_AUTO_TEST_CASE(a_refit_tree_has_the_queries_of_a_new_tree) {
  constexpr std::size_t n = 300;
  for (const cloud before : {cloud::filled_box, cloud::duplicates}) {
    const auto points = tests::make_cloud<float, 3>(before, n, 1);
    const auto on_device = tests::upload_points<float, 3>(points);
    ramify::spatial_tree<float, 3> tree(on_device.data(), n, tests::many_grids());
    // Also to equal positions, of which the tree does not have the least index first.
    for (const cloud after : {cloud::hollow_sphere, cloud::duplicates, cloud::all_equal}) {
      auto moved = tests::make_cloud<float, 3>(after, n, 2);
      if (after == cloud::all_equal) {
        for (float& x : moved[7]) x += 5;
      }
      const auto to = tests::upload_points<float, 3>(moved);
      const ramify::host_stream stream;
      ramify::check(cudaDeviceSynchronize(), "waiting for the positions");
      tree.refit(to.data(), {.stream = stream});
      ramify::check(cudaStreamSynchronize(stream.get()), "waiting for the tree");
      BOOST_TEST_CONTEXT(before << " to " << after) {
        BOOST_TEST(finds_as_new_tree(tree, moved));
        BOOST_TEST(!finds_as_new_tree(tree, points));  // negative control
      }
    }
    auto with_nan = points;
    with_nan[42][1] = std::numeric_limits<float>::quiet_NaN();
    const auto bad = tests::upload_points<float, 3>(with_nan);
    BOOST_CHECK_EXCEPTION(tree.refit(bad.data()), std::invalid_argument,
                          names("refit: positions[42] has a coordinate"));
    BOOST_CHECK_EXCEPTION(tree.refit(nullptr), std::invalid_argument,
                          names("refit: positions is null"));
    tree.refit(on_device.data());
    BOOST_TEST(finds_as_new_tree(tree, points));
  }
  ramify::spatial_tree<float, 3> empty;
  empty.refit(nullptr);
  BOOST_TEST(empty.view().point_count == 0u);
}

// A graph captures the query on a GPU, and each launch reads the number of queries again.
BOOST_AUTO_TEST_CASE(each_number_of_queries) {
  constexpr std::size_t most = 100;
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 200, 1);
  tests::queries::counted_cloud<tests::f3> asked(most);
  const scene<tests::f3> s(points, asked.first(most));
  const auto view = s.tree.view();
  const auto expect = [&](const auto& predicates_of) {
    const auto counted = predicates_of(asked.count());
    const ramify::device_buffer<std::byte> memory(ramify::query_scratch_bytes(view, counted),
                                                  nullptr);
    tests::replay(
        asked.number, tests::ten_counts(most), [&](std::size_t n) { asked.prepare(n); },
        [&](cudaStream_t stream) {
          return query_async(view, counted, s.calls.callback(),
                             {.stream = stream, .memory = memory});
        },
        [&](std::size_t n, auto& run) {
          (void)run.get();
          const auto found = s.calls.take();
          BOOST_TEST((found == s.run(predicates_of(n))));
          if (n == most / 2) BOOST_TEST((found != s.run(predicates_of(n - 1))));
        });
    tests::check_exceeding_counts(most, "query", [&](const ramify::device_count& n) {
      (void)query_async(view, predicates_of(n), s.calls.callback()).get();
    });
    BOOST_TEST(s.calls.take().empty());
  };
  const auto radii = tests::upload(std::vector<float>(most, 0.3f));
  using count = ramify::detail::element_count;
  expect([&](const count& n) { return ramify::in_balls(asked.data(), n, 0.3f); });
  expect([&](const count& n) { return ramify::in_balls_of(asked.data(), radii.data(), n); });
  expect([&](const count& n) { return ramify::nearest_to(asked.data(), n, 4, even_sum{}); });
}

// Queries among the points of a tree that the host has not read.
BOOST_AUTO_TEST_CASE(before_get_of_the_build) {
  constexpr std::size_t most = 150;
  tests::queries::counted_cloud<tests::f3> cloud_of(most);
  cloud_of.prepare(100);
  const scene<tests::f3> s(cloud_of.first(100), cloud_of.first(100));
  const ramify::device_buffer<std::byte> memory(
      ramify::spatial_tree_scratch_bytes<float, 3>(cloud_of.count()), nullptr);
  const auto radii = tests::upload(std::vector<float>(most, 0.3f));
  const auto expect = [&](const auto& predicates) {
    auto build = ramify::spatial_tree_async(cloud_of.data(), cloud_of.count(), {.memory = memory});
    const auto view = ramify::spatial_tree_view_in<float, 3>(memory, cloud_of.count());
    auto run = query_async(view, predicates, s.calls.callback());
    const auto found = s.calls.take();  // before get()
    (void)build.get();
    (void)run.get();
    BOOST_TEST((found == s.run(predicates)));
    BOOST_TEST(!found.empty());

    cloud_of.number.write(120);  // twenty points are not finite
    auto fails = ramify::spatial_tree_async(cloud_of.data(), cloud_of.count(), {.memory = memory});
    auto of_none = query_async(view, predicates, s.calls.callback());
    BOOST_CHECK_THROW((void)fails.get(), std::invalid_argument);
    BOOST_CHECK_EXCEPTION((void)of_none.get(), std::logic_error,
                          names("query: the build of the tree was not complete"));
    BOOST_TEST(s.calls.take().empty());
    cloud_of.number.write(100);
  };
  expect(ramify::in_balls(s.asked_on_device.data(), s.n(), 0.3f));
  expect(ramify::in_balls_of(s.asked_on_device.data(), radii.data(), s.n()));
  expect(ramify::nearest_to(s.asked_on_device.data(), s.n(), 4, even_sum{}));
  expect(ramify::pairs_within{0.3f});
}

BOOST_AUTO_TEST_CASE(results_in_the_order_of_a_stream) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 150, 1);
  const scene<tests::f3> s(points, points);
  const ramify::in_balls balls(s.asked_on_device.data(), s.n(), 0.3f);
  const auto expected = s.run(balls);
  const ramify::host_stream stream;
  auto run = query_async(s.tree.view(), balls, s.calls.callback(), {.stream = stream});
  BOOST_TEST((s.calls.take(stream.get()) == expected));
  BOOST_TEST(run.get().host_grids > 0u);
  BOOST_CHECK_THROW((void)run.get(), std::logic_error);

  // With completion::by_get, get() launches the search.
  auto later = query_async(s.tree.view(), balls, s.calls.callback(),
                           {.stream = stream, .completion = completion::by_get});
  BOOST_TEST(s.calls.take(stream.get()).empty());
  (void)later.get();
  BOOST_TEST((s.calls.take(stream.get()) == expected));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named_before_any_call) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 7);
  auto queries = points;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  queries[42][2] = nan;
  queries[43][0] = std::numeric_limits<float>::infinity();
  const scene<tests::f3> s(points, queries);
  const auto* bad = s.asked_on_device.data();
  const auto* good = s.on_device.data();
  std::vector<ramify::box<float, 3>> with_nan(s.n());
  with_nan[42].upper.x[1] = nan;
  const auto boxes = tests::upload(with_nan);
  const auto radii = tests::upload(std::vector<float>(s.n(), 1));
  const ramify::point<float, 3>* none = nullptr;
  const auto expect = [&](const auto& predicates, const char* what,
                          const spatial_query_options& options = {}) {
    for (const completion when : {completion::in_stream, completion::by_get}) {
      BOOST_CHECK_EXCEPTION((void)query_async(s.tree.view(), predicates, s.calls.callback(),
                                              options, {.completion = when})
                                .get(),
                            std::invalid_argument, names(what));
    }
    BOOST_TEST(s.calls.take().empty());
  };
  const std::size_t n = s.n();
  const char* of_query = "query: queries[42] has a coordinate that is NaN or infinite";
  expect(ramify::in_balls(bad, n, 1), of_query);
  expect(ramify::in_balls_of(bad, radii.data(), n), of_query);
  expect(ramify::in_boxes(boxes.data(), n), of_query);
  expect(ramify::near_segments(bad, good, n, 1), of_query);
  expect(ramify::near_segments(good, bad, n, 1), of_query);
  expect(ramify::near_rays(bad, good, n, 1), of_query);
  expect(ramify::near_rays(good, bad, n, 1), of_query);
  expect(ramify::nearest_to(bad, n, 4, even_sum{}), of_query);

  expect(ramify::in_balls(good, n, -1), "query: radius is -1");
  expect(ramify::in_balls(good, n, nan), "query: radius is nan");
  expect(ramify::near_segments(good, good, n, nan), "query: radius is nan");
  expect(ramify::near_rays(good, good, n, -1), "query: radius is -1");
  expect(ramify::pairs_within{nan}, "query: radius is nan");
  expect(ramify::nearest_to(good, n, 0, even_sum{}), "query: k is 0");
  expect(ramify::in_balls(none, n, 1), "query: queries is null");
  expect(ramify::in_balls_of(good, static_cast<const float*>(nullptr), n), "query: radii is null");
  expect(ramify::near_segments(good, none, n, 1), "query: to is null");
  expect(ramify::near_rays(good, none, n, 1), "query: directions is null");
  expect(ramify::nearest_to(none, n, 1, even_sum{}), "query: queries is null");
  expect(ramify::in_boxes(boxes.data(), n), "query: options.period must be 0",
         {.period = {9, 9, 9}});

  const tests::device_number<> number(10);
  BOOST_CHECK_EXCEPTION((void)query_list(s.tree.view(), ramify::in_balls(good, number.up_to(n), 1)),
                        std::invalid_argument, names("query_list: n must be a number of the host"));
  // Calls without queries.
  BOOST_TEST(s.run(ramify::in_balls(none, 0, 1)).empty());
  BOOST_TEST(s.run(ramify::near_rays(none, none, 0, 1)).empty());
  BOOST_TEST(s.run(ramify::nearest_to(none, 0, 1, even_sum{})).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::matches
