// SPDX-License-Identifier: BSD-3-Clause
// Trees and queries whose numbers of points only the device has.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "counted_cloud.cuh"
#include "failed_launches.hpp"
#include "slot_checks.cuh"
#include "spatial_types.hpp"

namespace data = boost::unit_test::data;

namespace tests::queries {

using ramify::completion;
using ramify::query_method;
using ramify::route;
using tests::cloud;

using types = std::tuple<tests::f3, tests::d2>;
inline constexpr route both_routes[] = {route::device, route::flat};

BOOST_AUTO_TEST_SUITE(spatial_counts)

BOOST_AUTO_TEST_CASE_TEMPLATE(each_number_of_points, Type, types) {
  using real = typename Type::real;
  const std::size_t most = RAMIFY_ON_CUDA ? 600'000 : 1'000;  // so that threads of a GPU loop
  for (const cloud kind : {cloud::filled_sphere, cloud::nested}) {
    for (const route taken : both_routes) {
      counted_cloud<Type> cloud_of(most, kind);
      const auto options = tests::many_grids();
      const ramify::device_buffer<std::byte> memory(
          ramify::spatial_tree_scratch_bytes<real, Type::dim>(cloud_of.count(), options), nullptr);
      tests::replay(
          cloud_of.number, tests::ten_counts(most), [&](std::size_t n) { cloud_of.prepare(n); },
          [&](cudaStream_t stream) {
            return ramify::spatial_tree_async(cloud_of.data(), cloud_of.count(), options,
                                              {.stream = stream, .memory = memory, .route = taken});
          },
          [&](std::size_t n, auto& run) {
            const auto tree = run.get();
            BOOST_TEST(tree.report().points == n);
            BOOST_TEST(tree.view().point_count == n);
            BOOST_TEST(is_tree_over<Type>(tree, cloud_of.first(n), options));
            // Negative control.
            if (n == 1) BOOST_TEST(!is_tree_over<Type>(tree, cloud_of.first(2), options));
          });
    }
  }
  BOOST_TEST(tests::slots_in_use() == 0u);
}

BOOST_DATA_TEST_CASE(trees_in_memory_of_the_pool,
                     data::make({completion::in_stream, completion::by_get}) *
                         data::make(both_routes) * data::make({0, 1, 700}),
                     when, taken, n) {
  using type = tests::f3;
  counted_cloud<type> cloud_of(1'000, cloud::nested);
  cloud_of.prepare(std::size_t(n));
  const auto options = tests::many_grids();
  const ramify::environment env{.route = taken, .completion = when};
  const ramify::spatial_tree waited(cloud_of.data(), cloud_of.count(), options, env);
  BOOST_TEST(is_tree_over<type>(waited, cloud_of.first(std::size_t(n)), options));
  environment traced = env;
#if RAMIFY_TRACE
  ramify::launch_trace trace;
  traced.trace = &trace;
#endif
  auto run = ramify::spatial_tree_async(cloud_of.data(), cloud_of.count(), options, traced);
  const auto tree = run.get();
  BOOST_TEST(is_tree_over<type>(tree, cloud_of.first(std::size_t(n)), options));
#if RAMIFY_TRACE
  BOOST_TEST(trace.count() == tree.report().host_grids + tree.report().child_grids);
#endif
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(each_launch_of_a_build_fails_once) {
  using type = tests::f3;
  counted_cloud<type> cloud_of(6'000, cloud::duplicates);
  const auto options = tests::many_grids();
  const auto build = [&] {
    cloud_of.prepare(2'500);
    return ramify::spatial_tree_async(cloud_of.data(), cloud_of.count(), options,
                                      {.route = route::device, .completion = completion::by_get})
        .get();
  };
  const auto whole = build().report();
  const unsigned interrupted =
      tests::count_interrupted(20, ramify::cpu::current_executor_config(), [&](std::uint64_t) {
        const auto tree = build();
        BOOST_TEST(is_tree_over<type>(tree, cloud_of.first(2'500), options));
        return tree.report().host_grids > whole.host_grids;
      });
  BOOST_TEST(interrupted > 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(each_number_of_queries, Type, types) {
  using real = typename Type::real;
  constexpr std::size_t most = 200;
  const auto points = tests::make_cloud<real, Type::dim>(cloud::filled_box, 300, 1);
  counted_cloud<Type> asked(most);
  for (const spatial_query_options& options :
       {spatial_query_options{}, spatial_query_options{.ball_method = query_method::packets},
        spatial_query_options{.sort = false, .squared = false},
        spatial_query_options{.ball_method = query_method::threads, .period = {1000, 0, 0}}}) {
    const search<Type> all(points, asked.first(most), real{0.3}, options);
    const result_arrays<real> to = all.arrays();
    const auto fresh = all.arrays();
    const ramify::device_buffer<std::byte> memory(
        3 * ramify::spatial_query_scratch_bytes<real, Type::dim>(most, options), nullptr);
    const std::size_t bytes = memory.size() / 3;
    const auto part = [&](std::size_t i, cudaStream_t stream) {
      return environment{.stream = stream, .memory = std::span(memory.data() + i * bytes, bytes)};
    };
    const auto view = all.tree.view();
    tests::replay(
        asked.number, tests::ten_counts(most),
        [&](std::size_t n) {
          asked.prepare(n);
          to.clear();
        },
        [&](cudaStream_t stream) {
          return std::tuple(radius_count_async(view, asked.data(), asked.count(), all.radius,
                                               to.counts.data(), options, part(0, stream)),
                            radius_rows_async(view, asked.data(), asked.count(), all.radius,
                                              {capacity, to.rows.data(), to.row_counts.data()},
                                              options, part(1, stream)),
                            nearest_async(view, asked.data(), asked.count(), k, to.ids.data(),
                                          to.distances2.data(), options, part(2, stream)));
        },
        [&](std::size_t n, auto& runs_of_all) {
          auto& [count, rows, neighbors] = runs_of_all;
          (void)count.get();
          const std::uint64_t truncated = rows.get().truncated;
          (void)neighbors.get();
          const search<Type> first(points, asked.first(n), real{0.3}, options);
          const auto expected = first.arrays();
          BOOST_TEST(first.run_waiting(expected).truncated == truncated);
          const results found(to, nullptr);
          BOOST_TEST(has_results(found, results(expected, nullptr)));
          // Negative control: the results of one query less.
          if (n != most / 2) return;
          const search<Type> fewer(points, asked.first(n - 1), real{0.3}, options);
          const auto of_fewer = fewer.arrays();
          (void)fewer.run_waiting(of_fewer);
          BOOST_TEST(!has_results(found, results(of_fewer, nullptr)));
        });
  }
}

BOOST_DATA_TEST_CASE(queries_that_get_completes, data::make({0, 1, 250, 400}), n) {
  using type = tests::f3;
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 900, 1);
  counted_cloud<type> asked(400);
  asked.prepare(std::size_t(n));
  for (const auto method : {query_method::threads, query_method::packets}) {
    const search<type> all(points, asked.first(400), 0.3f, {.ball_method = method});
    const auto to = all.arrays();
    const environment by_get{.completion = completion::by_get};
    (void)radius_count_async(all.tree.view(), asked.data(), asked.count(), all.radius,
                             to.counts.data(), all.options, by_get)
        .get();
    (void)radius_rows(all.tree.view(), asked.data(), asked.count(), all.radius,
                      {capacity, to.rows.data(), to.row_counts.data()}, all.options);
    (void)nearest(all.tree.view(), asked.data(), asked.count(), k, to.ids.data(),
                  to.distances2.data(), all.options);
    const search<type> first(points, asked.first(std::size_t(n)), 0.3f, all.options);
    const auto expected = first.arrays();
    (void)first.run_waiting(expected);
    BOOST_TEST(has_results(results(to, nullptr), results(expected, nullptr)));
  }
}

// The code of a query at the greatest corner is not that of the places beyond the last query.
BOOST_AUTO_TEST_CASE(queries_at_the_greatest_code) {
  using type = tests::f3;
  constexpr std::size_t n = 100;
  tests::point_list<float, 3> corner(2 * n, {1, 1, 1});
  corner[0] = {0, 0, 0};
  const auto on_device = tests::upload_points<float, 3>(corner);
  const device_number<> number(n);
  const search<type> all(corner, corner, 0.5f, {.ball_method = query_method::packets});
  const auto to = all.arrays();
  (void)radius_count_async(all.tree.view(), on_device.data(), number.up_to(2 * n), all.radius,
                           to.counts.data(), all.options)
      .get();
  std::vector<std::uint32_t> expected(n, 2 * n - 1);
  expected[0] = 1;
  BOOST_TEST(begins_with(tests::download(to.counts), expected));
}

// A tree, its clusters and queries in one graph, before the host has read the tree.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_pipeline_before_get, Type, types) {
  using real = typename Type::real;
  constexpr std::size_t most = 200;
  constexpr int digits = std::numeric_limits<real>::max_exponent;
  for (const int exponent : {0, -digits / 2}) {  // the plain metric, and the scaled one
    const real unit = std::ldexp(real{1}, exponent);
    counted_cloud<Type> cloud_of(most, cloud::filled_sphere, unit);
    for (const auto method : {query_method::threads, query_method::packets}) {
      const real radius = real{0.3} * unit;
      const spatial_query_options options{.ball_method = method};
      const result_arrays<real> to(most, most);
      const ramify::device_buffer<std::byte> of_tree(
          ramify::spatial_tree_scratch_bytes<real, Type::dim>(cloud_of.count()), nullptr);
      const auto view = ramify::spatial_tree_view_in<real, Type::dim>(of_tree, cloud_of.count());
      const std::size_t bytes =
          std::max(ramify::spatial_query_scratch_bytes<real, Type::dim>(most, options),
                   ramify::find_clusters_scratch_bytes(most));
      const ramify::device_buffer<std::byte> memory(3 * bytes, nullptr);
      const auto part = [&](std::size_t i, cudaStream_t stream) {
        return environment{.stream = stream, .memory = std::span(memory.data() + i * bytes, bytes)};
      };
      tests::replay(
          cloud_of.number, tests::ten_counts(most),
          [&](std::size_t n) {
            cloud_of.prepare(n);
            to.clear();
          },
          [&](cudaStream_t stream) {
            const ramify::device_count n = cloud_of.count();
            auto build = ramify::spatial_tree_async(cloud_of.data(), n,
                                                    {.stream = stream, .memory = of_tree});
            return std::tuple(
                std::move(build),
                find_clusters_async(view, radius, to.labels.data(), 3, options, part(0, stream)),
                radius_count_async(view, cloud_of.data(), n, radius, to.counts.data(), options,
                                   part(1, stream)),
                nearest_async(view, cloud_of.data(), n, k, to.ids.data(), to.distances2.data(),
                              options, part(2, stream)));
          },
          [&](std::size_t n, auto& of_all) {
            auto& [build, clusters, counts, neighbors] = of_all;
            BOOST_TEST(build.get().view().point_count == n);
            const auto found = clusters.get();
            (void)counts.get();
            (void)neighbors.get();
            const search<Type> first(cloud_of.first(n), cloud_of.first(n), radius, options);
            const auto arrays = first.arrays();
            const totals expected = first.run_waiting(arrays);
            BOOST_TEST(found.clusters == expected.clusters);
            BOOST_TEST(found.core_points == expected.core_points);
            BOOST_TEST(found.noise == expected.noise);
            BOOST_TEST(begins_with(tests::download(to.labels), tests::download(arrays.labels)));
            BOOST_TEST(begins_with(tests::download(to.counts), tests::download(arrays.counts)));
            BOOST_TEST(begins_with(tests::download(to.ids), tests::download(arrays.ids)));
            BOOST_TEST(
                begins_with(tests::download(to.distances2), tests::download(arrays.distances2)));
          });
    }
  }
}

// A build that fails leaves no labels.
BOOST_AUTO_TEST_CASE(clusters_after_a_failed_build) {
  counted_cloud<tests::f3> cloud_of(100);
  cloud_of.prepare(50);
  cloud_of.number.write(60);  // ten points are not finite
  const result_arrays<float> to(100, 100);
  const ramify::device_count n = cloud_of.count();
  const ramify::device_buffer<std::byte> memory(ramify::spatial_tree_scratch_bytes<float, 3>(n),
                                                nullptr);
  auto build = ramify::spatial_tree_async(cloud_of.data(), n, {.memory = memory});
  const auto view = ramify::spatial_tree_view_in<float, 3>(memory, n);
  auto clusters = find_clusters_async(view, 0.3f, to.labels.data());
  BOOST_CHECK_EXCEPTION((void)build.get(), std::invalid_argument, tests::names("points[50]"));
  BOOST_CHECK_EXCEPTION((void)clusters.get(), std::logic_error,
                        tests::names("find_clusters: the build of the tree was not complete"));
  BOOST_TEST(begins_with(tests::download(to.labels), {}));
  const auto refused = tests::names("may be incomplete: call get() first");
  BOOST_CHECK_EXCEPTION(
      (void)find_clusters_async(view, 0.3f, to.labels.data(), 1, {.period = {9, 9, 9}}),
      std::invalid_argument, refused);
  BOOST_CHECK_EXCEPTION(
      (void)all_nearest_neighbors_async(view, k, true, to.own_ids.data(), to.own_distances2.data()),
      std::invalid_argument, refused);
}

BOOST_AUTO_TEST_CASE(numbers_above_their_upper_bounds) {
  using type = tests::f3;
  counted_cloud<type> asked(100);
  asked.prepare(100);
  tests::check_exceeding_counts(100, "spatial_tree", [&](const ramify::device_count& n) {
    (void)ramify::spatial_tree_async(asked.data(), n).get();
  });
  const search<type> all(asked.first(100), asked.first(100), 0.3f, {});
  const auto to = all.arrays();
  const results before(to, nullptr);
  for (const completion when : {completion::in_stream, completion::by_get}) {
    tests::check_exceeding_counts(100, "radius_count", [&](const ramify::device_count& n) {
      (void)radius_count_async(all.tree.view(), asked.data(), n, 0.3f, to.counts.data(),
                               {.completion = when})
          .get();
    });
    tests::check_exceeding_counts(100, "radius_rows", [&](const ramify::device_count& n) {
      (void)radius_rows_async(all.tree.view(), asked.data(), n, 0.3f,
                              {capacity, to.rows.data(), to.row_counts.data()},
                              {.completion = when})
          .get();
    });
    tests::check_exceeding_counts(100, "nearest", [&](const ramify::device_count& n) {
      (void)nearest_async(all.tree.view(), asked.data(), n, k, to.ids.data(), to.distances2.data(),
                          {.completion = when})
          .get();
    });
  }
  BOOST_TEST((results(to, nullptr) == before));
}

BOOST_AUTO_TEST_CASE(points_that_are_not_finite) {
  using type = tests::f3;
  counted_cloud<type> asked(100);
  asked.prepare(50);  // the points beyond are not finite
  BOOST_CHECK_NO_THROW((void)ramify::spatial_tree_async(asked.data(), asked.count()).get());
  asked.number.write(51);
  BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_async(asked.data(), asked.count()).get(),
                        std::invalid_argument, tests::names("points[50] has a coordinate"));
  const search<type> all(asked.first(100), asked.first(100), 0.3f, {});
  const auto to = all.arrays();
  BOOST_CHECK_EXCEPTION(
      (void)radius_count_async(all.tree.view(), asked.data(), asked.count(), 0.3f, to.counts.data())
          .get(),
      std::invalid_argument, tests::names("queries[50] has a coordinate"));
}

BOOST_AUTO_TEST_CASE(bad_numbers) {
  using type = tests::f3;
  counted_cloud<type> asked(100);
  const ramify::device_count null(static_cast<const std::int32_t*>(nullptr), 100);
  BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_async(asked.data(), null), std::invalid_argument,
                        tests::names("the address of device_count is null"));
  BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_async(asked.data(), asked.number.up_to(0)),
                        std::invalid_argument, tests::names("the upper bound of n is 0"));
  const ramify::device_count n = asked.count();
  const ramify::device_buffer<std::byte> small(ramify::spatial_tree_scratch_bytes<float, 3>(n) - 1,
                                               nullptr);
  BOOST_CHECK_EXCEPTION((void)(ramify::spatial_tree_view_in<float, 3>(small, n)),
                        std::invalid_argument, tests::names("spatial_tree_view_in: memory has"));
  BOOST_CHECK_EXCEPTION((void)ramify::spatial_tree_async(asked.data(), n, {.memory = small}),
                        std::invalid_argument, tests::names("spatial_tree"));
  const search<type> all(asked.first(100), asked.first(100), 0.3f, {});
  const auto to = all.arrays();
  const auto count = [&](const ramify::device_count& n) {
    (void)radius_count(all.tree.view(), asked.data(), n, 0.3f, to.counts.data());
  };
  BOOST_CHECK_EXCEPTION(count(null), std::invalid_argument, tests::names("is null"));
  BOOST_CHECK_EXCEPTION(count(asked.number.up_to(0)), std::invalid_argument,
                        tests::names("radius_count: the upper bound of n is 0"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::queries
