// SPDX-License-Identifier: BSD-3-Clause
// Queries in packets, and queries that are sorted for the time of the call, have the results of
// queries by threads in the caller's order.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <numeric>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/detail/launch_each.cuh>
#include <span>
#include <stdexcept>
#include <tuple>

#include "backend_under_test.hpp"
#include "brute_force.hpp"
#include "exceptions.hpp"
#include "spatial_tree_checks.cuh"
#include "spatial_types.hpp"

namespace data = boost::unit_test::data;
using ramify::query_method;
using ramify::spatial_query_options;
using tests::all_clouds;
using tests::cloud;
using tests::download;
using tests::upload_points;

namespace {

/// The results of all kinds of queries.
struct results {
  std::vector<std::uint32_t> counts;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> listed, rows, nearest;
  std::vector<double> distances2;  ///< of the nearest
  ramify::run_report report;       ///< of the counts

  friend bool operator==(const results& a, const results& b) {
    return a.counts == b.counts && a.offsets == b.offsets && a.listed == b.listed &&
           a.rows == b.rows && a.nearest == b.nearest && a.distances2 == b.distances2;
  }
};

template <class Type>
using list = tests::point_list<typename Type::real, Type::dim>;

/// Runs all kinds of queries. \throws what they throw
template <class Type>
results run_queries(const list<Type>& points, const list<Type>& queries, typename Type::real radius,
                    const spatial_query_options& options) {
  constexpr std::size_t k = 5;
  const auto on_device = upload_points<typename Type::real, Type::dim>(points);
  const auto asked = upload_points<typename Type::real, Type::dim>(queries);
  const ramify::spatial_tree<typename Type::real, Type::dim> tree(on_device.data(), points.size(),
                                                                  {.leaf_size = 6});
  const ramify::device_buffer<std::uint32_t> counts(queries.size(), nullptr);
  const ramify::device_buffer<std::uint32_t> ids(k * queries.size(), nullptr);
  const ramify::device_buffer<typename Type::real> distances2(ids.size(), nullptr);
  results found;
  found.report =
      radius_count(tree.view(), asked.data(), queries.size(), radius, counts.data(), options);
  const auto lists = radius_list(tree.view(), asked.data(), queries.size(), radius, options);
  constexpr std::size_t capacity = 4;
  const ramify::device_buffer<std::uint32_t> rows(capacity * queries.size(), nullptr);
  const auto in_rows = radius_rows(tree.view(), asked.data(), queries.size(), radius,
                                   {capacity, rows.data(), counts.data()}, options);
  BOOST_TEST(in_rows.truncated == std::uint64_t(std::ranges::count_if(
                                      download(counts), [](auto c) { return c > capacity; })));
  found.rows = download(rows);
  (void)nearest(tree.view(), asked.data(), queries.size(), k, ids.data(), distances2.data(),
                options);
  found.counts = download(counts);
  found.offsets = download(lists.offsets);
  found.listed = download(lists.ids);
  found.nearest = download(ids);
  const auto squares = download(distances2);
  found.distances2.assign(squares.begin(), squares.end());
  return found;
}

using types = std::tuple<tests::f3, tests::d2>;

/// Sums the ids of the points in the ball around each point of the tree. One thread for each.
__global__ void sum_ids_within(ramify::spatial_tree_view<float, 3> tree, float radius2,
                               std::uint64_t* sums) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.point_count) return;
  std::uint64_t sum = 0;
  ramify::for_each_within(tree, tree.points[i], radius2,
                          [&](std::uint32_t begin, std::uint32_t end) {
                            for (std::uint32_t p = begin; p < end; ++p) sum += tree.ids[p];
                          });
  sums[tree.ids[i]] = sum;
}

constexpr spatial_query_options as_given{.sort = false, .ball_method = query_method::threads};

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial_tree_packets)

BOOST_AUTO_TEST_CASE_TEMPLATE(all_methods_have_the_same_results, Type, types) {
  using real = typename Type::real;
  int piece = 0;
  for (const cloud c : all_clouds) {
    for (const std::size_t n : {0, 40, 400}) {
      if (tests::left_out(piece)) continue;
      const auto points = tests::make_cloud<real, Type::dim>(c, n, n);
      for (const std::size_t asked : {1, 70}) {
        const auto queries = tests::queries_near(points, asked, 16);
        for (const real radius : {real{0}, real{0.3}, std::numeric_limits<real>::infinity()}) {
          const results expected = run_queries<Type>(points, queries, radius, as_given);
          for (const query_method method : {query_method::packets, query_method::automatic}) {
            for (const bool sort : {false, true}) {
              BOOST_TEST_CONTEXT(c << ", n = " << n << ", " << asked << " queries, radius "
                                   << radius << ", " << to_string(method) << ", sort " << sort) {
                BOOST_TEST((run_queries<Type>(points, queries, radius,
                                              {.sort = sort, .ball_method = method}) == expected));
              }
            }
          }
        }
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  const cloud c = all_clouds[std::size_t(seed) % std::size(all_clouds)];
  const auto points = tests::make_cloud<float, 3>(c, 200, std::uint64_t(seed));
  const auto queries = tests::queries_near(points, 70, 16);
  BOOST_TEST(
      (run_queries<tests::f3>(points, queries, 0.5f, {.ball_method = query_method::packets}) ==
       run_queries<tests::f3>(points, queries, 0.5f, as_given)));
}

// The scratch memory shows whether the queries were sorted: only then it has that of the sort.
BOOST_AUTO_TEST_CASE(queries_are_sorted_if_those_of_a_warp_are_far_apart) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 2'000, 1);
  const auto on_device = upload_points<float, 3>(points);
  const ramify::spatial_tree<float, 3> tree(on_device.data(), points.size());
  const ramify::device_buffer<std::uint32_t> counts(points.size(), nullptr);
  const auto count = [&](const ramify::point<float, 3>* queries, bool sort) {
    return radius_count(tree.view(), queries, points.size(), 0.1f, counts.data(),
                        {.sort = sort, .ball_method = query_method::packets});
  };
  const std::size_t with_sort = ramify::spatial_query_scratch_bytes<float, 3>(
      points.size(), {.ball_method = query_method::packets});
  const auto is_sorted = [&](const ramify::point<float, 3>* queries) {
    const std::size_t bytes = count(queries, true).scratch_bytes;
    BOOST_TEST(bytes <= with_sort);
    return bytes == with_sort;
  };
  BOOST_TEST(count(on_device.data(), false).host_grids == 2u);
  BOOST_TEST(count(tree.view().points, true).host_grids == 3u);  // also computes the codes
  BOOST_TEST(!is_sorted(tree.view().points));
  BOOST_TEST(is_sorted(on_device.data()));
  // Each warp has queries from the whole cloud, although they are in the order of the curve.
  const auto sorted = tests::download_array(tree.view().points, points.size());
  std::vector<ramify::point<float, 3>> spread(sorted.size());
  const std::size_t warps = spread.size() / 32;
  for (std::size_t i = 0; i < spread.size(); ++i) {
    spread[i] = i / 32 < warps ? sorted[i % 32 * warps + i / 32] : sorted[i];
  }
  BOOST_TEST(is_sorted(tests::upload(spread).data()));
  // One query elsewhere does not matter.
  std::vector<ramify::point<float, 3>> nearly = sorted;
  std::swap(nearly[5], nearly[1'500]);
  BOOST_TEST(!is_sorted(tests::upload(nearly).data()));
}

// The queries of a warp are far apart, so that it compares each of them with the nodes, and pops
// one node at a time because its stack is nearly full.
BOOST_AUTO_TEST_CASE_TEMPLATE(packets_of_queries_that_are_far_apart, Type, types) {
  using real = typename Type::real;
  for (const cloud c : {cloud::filled_box, cloud::nested}) {
    const auto points = tests::make_cloud<real, Type::dim>(c, 8'000, 1);
    const auto queries = tests::queries_near(points, 40, 16);
    for (const real radius : {real{0.05}, real{0.7}}) {
      BOOST_TEST_CONTEXT(c << ", radius " << radius) {
        const results expected = run_queries<Type>(points, queries, radius, as_given);
        BOOST_TEST(
            (run_queries<Type>(points, queries, radius,
                               {.sort = false, .ball_method = query_method::packets}) == expected));
        BOOST_TEST(std::ranges::max(expected.counts) > 0u);
      }
    }
  }
}

// A decision about boxes is valid for all their points, also after rounding.
BOOST_AUTO_TEST_CASE_TEMPLATE(distances_of_boxes_bound_those_of_their_points, Type, types) {
  using real = typename Type::real;
  using box = ramify::box<real, Type::dim>;
  const auto corners = tests::make_cloud<real, Type::dim>(cloud::filled_box, 4'000, 3);
  const auto at = [&](std::size_t i) {
    ramify::point<real, Type::dim> p;
    std::ranges::copy(corners[i], p.x);
    return p;
  };
  bool overlap = false;
  for (std::size_t i = 0; i + 4 <= corners.size(); i += 4) {
    const box a = box::enclosing(box::of(at(i)), box::of(at(i + 1)));
    const box b = box::enclosing(box::of(at(i + 2)), box::of(at(i + 3)));
    const ramify::point<real, Type::dim> in_a[] = {a.lower, a.upper, at(i), at(i + 1)};
    const ramify::point<real, Type::dim> in_b[] = {b.lower, b.upper, at(i + 2), at(i + 3)};
    for (const auto& q : in_b) {
      BOOST_TEST(a.min_distance2(b) <= a.min_distance2(q));
      BOOST_TEST(a.max_distance2(q) <= a.max_distance2(b));
      for (const auto& p : in_a) {
        BOOST_TEST(a.min_distance2(q) <= distance2(q, p));
        BOOST_TEST(distance2(q, p) <= a.max_distance2(q));
      }
    }
    overlap = overlap || a.min_distance2(b) == 0;
  }
  BOOST_TEST(overlap);
}

BOOST_AUTO_TEST_CASE(kernels_of_the_caller_visit_the_points_in_a_ball) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 500, 3);
  const auto on_device = upload_points<float, 3>(points);
  const ramify::spatial_tree<float, 3> tree(on_device.data(), points.size());
  const ramify::device_buffer<std::uint64_t> sums(points.size(), nullptr);
  constexpr float radius = 0.2f;
  ramify::detail::runtime::launch_each(sum_ids_within, points.size(), nullptr, "summing ids",
                                       tree.view(), radius * radius, sums.data());
  const auto lists = radius_list(tree.view(), on_device.data(), points.size(), radius);
  const auto found = download(sums);
  const auto offsets = download(lists.offsets);
  const auto ids = download(lists.ids);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto own = std::span(ids).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    BOOST_TEST(found[i] == std::accumulate(own.begin(), own.end(), std::uint64_t{0}));
  }
  BOOST_TEST(ids.size() > points.size());
}

BOOST_AUTO_TEST_CASE(a_bad_method_is_refused) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 10, 1);
  BOOST_CHECK_EXCEPTION(
      (void)run_queries<tests::f3>(points, points, 1, {.ball_method = query_method(7)}),
      std::invalid_argument, tests::names("spatial_query_options.ball_method"));
}

BOOST_AUTO_TEST_SUITE_END()
