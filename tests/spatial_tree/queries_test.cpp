// SPDX-License-Identifier: BSD-3-Clause
// Balls and nearest neighbors, through the facade, compared with brute force.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "brute_force.hpp"
#include "exceptions.hpp"
#include "index_options.hpp"
#include "printing.hpp"
#include "spatial_types.hpp"
#include "times_check.hpp"

namespace data = boost::unit_test::data;
using ramify::route;
using tests::all_clouds;
using tests::cloud;
using tests::environment_for;
using tests::left_out;
using tests::names;
using tests::options_for;
using tests::runs_on_cpu;

namespace {

/// An index and its points. Its checks compare the results of queries with brute force.
template <class Type>
class checked_index {
 public:
  using real = typename Type::real;
  static constexpr int dim = Type::dim;
  using list = tests::point_list<real, dim>;

  explicit checked_index(list points, const ramify::environment& env = environment_for())
      : points_(std::move(points)), index_(points_, options_for(), env) {}

  void expect_nearest(const list& queries, std::size_t k) const {
    std::vector<std::uint32_t> ids(queries.size() * k);
    std::vector<real> distances2(ids.size());
    expect_grids([&] { return index_.nearest(queries, k, ids, distances2); });
    BOOST_TEST((tests::check_nearest<real, dim>(points_, queries, k, false, ids, distances2)) ==
               "");
  }

  void expect_nearest_of_own(std::size_t k, bool exclude_self) const {
    std::vector<std::uint32_t> ids(points_.size() * k);
    std::vector<real> distances2(ids.size());
    expect_grids([&] { return index_.all_nearest_neighbors(k, exclude_self, ids, distances2); });
    BOOST_TEST((tests::check_nearest<real, dim>(points_, points_, k, exclude_self, ids,
                                                distances2)) == "");
  }

  void expect_within(const list& queries, real radius) const {
    std::vector<std::uint32_t> counts(queries.size());
    const bool are_copied = !runs_on_cpu() && !queries.empty();
    expect_grids([&] {
      auto report = index_.radius_count(queries, radius, counts);
      BOOST_TEST(tests::check_times(report, {are_copied, are_copied}) == "");
      return report;
    });
    ramify::neighbor_lists lists;
    expect_grids([&] {
      lists = index_.radius_list(queries, radius);
      BOOST_TEST(tests::check_times(lists.report, {are_copied, true}) == "");
      return lists.report;
    });
    BOOST_TEST((tests::check_within<real, dim>(points_, queries, radius, counts, lists)) == "");
    for (const std::size_t capacity : {1, 6, 40}) {
      std::vector<std::uint32_t> rows(queries.size() * capacity, 7);
      std::uint64_t truncated = 0;
      expect_grids([&] {
        const auto report = index_.radius_rows(queries, radius, capacity, rows, counts);
        truncated = report.truncated;
        return report;
      });
      BOOST_TEST(tests::check_rows(lists, capacity, rows, counts, truncated) == "");
    }
  }

  [[nodiscard]] const ramify::spatial_index<real, dim>& index() const { return index_; }

 private:
  /// Runs `query` and checks the grids in its report.
  template <class Query>
  static void expect_grids(Query query) {
    const std::uint64_t before = ramify::cpu::grids_begun();
    const ramify::run_report report = query();
    if (runs_on_cpu()) BOOST_TEST(report.host_grids == ramify::cpu::grids_begun() - before);
    BOOST_TEST(report.child_grids == 0u);
    BOOST_TEST(report.ran_on == tests::backend_under_test());
  }

  list points_;
  ramify::spatial_index<real, dim> index_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial_tree_queries)

BOOST_AUTO_TEST_CASE_TEMPLATE(nearest_neighbors_equal_brute_force, Type, tests::spatial_types) {
  int piece = 0;
  for (const cloud c : all_clouds) {
    for (const std::size_t n : {0, 1, 7, 40, 1'000}) {
      if (left_out(piece)) continue;
      const auto points = tests::make_cloud<typename Type::real, Type::dim>(c, n, n);
      const checked_index<Type> index(points);
      const auto queries = tests::queries_near(points, 60, 3);
      BOOST_TEST_CONTEXT(c << ", n = " << n) {
        for (const std::size_t k : {1, 2, 3, 5, 7, 10, 11, 13, 16, 17, 30, 40, 64, 65}) {
          index.expect_nearest(queries, k);
        }
        index.expect_nearest({}, 3);
        index.expect_nearest_of_own(10, true);
        index.expect_nearest_of_own(5, false);
        index.expect_nearest_of_own(20, true);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(points_in_balls_equal_brute_force, Type, tests::spatial_types) {
  using real = typename Type::real;
  int piece = 0;
  for (const cloud c : all_clouds) {
    for (const std::size_t n : {0, 1, 7, 40, 1'000}) {
      if (left_out(piece)) continue;
      const auto points = tests::make_cloud<real, Type::dim>(c, n, n);
      const checked_index<Type> index(points);
      const auto queries = tests::queries_near(points, 90, 3);
      BOOST_TEST_CONTEXT(c << ", n = " << n) {
        // In a lattice, balls with radius 1, 2, 3 and 5 have points on their surface.
        for (const real radius : {real{0}, real{0.05}, real{0.3}, real{1}, real{2}, real{3},
                                  real{5}, real{1e9}, std::numeric_limits<real>::infinity()}) {
          index.expect_within(queries, radius);
        }
        index.expect_within({}, 1);
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  const cloud c = all_clouds[std::size_t(seed) % std::size(all_clouds)];
  const auto points = tests::make_cloud<float, 3>(c, 300, std::uint64_t(seed));
  const auto queries = tests::queries_near(points, 50, 3);
  BOOST_TEST_CONTEXT(c) {
    for (const route taken : {route::device, route::flat}) {
      const checked_index<tests::f3> index(points, environment_for(taken));
      index.expect_nearest(queries, 10);
      index.expect_nearest(queries, 20);
      index.expect_within(queries, 0.5f);
    }
  }
}

BOOST_DATA_TEST_CASE(no_result_is_lost_at_any_limit, data::make({1, 16, 2048}), pending_launches) {
  const auto points = tests::make_cloud<double, 2>(cloud::hollow_sphere, 1'500, 3);
  auto env = environment_for(route::device);
  env.pending_launches = std::size_t(pending_launches);
  const checked_index<tests::d2> index(points, env);
  index.expect_nearest(tests::queries_near(points, 200, 3), 10);
  index.expect_within(tests::queries_near(points, 200, 3), 0.1);
}

BOOST_AUTO_TEST_CASE(lists_have_the_same_order_on_every_route_and_backend) {
  const auto points = tests::make_cloud<float, 3>(cloud::duplicates, 3'000, 5);
  const auto queries = tests::queries_near(points, 100, 3);
  const checked_index<tests::f3> on_device(points, environment_for(route::device));
  const checked_index<tests::f3> flat(points, environment_for(route::flat));
  const auto lists = on_device.index().radius_list(queries, 0.6f);
  BOOST_TEST((lists.ids == flat.index().radius_list(queries, 0.6f).ids));
  const ramify::spatial_index<float, 3> on_executor(points, options_for(),
                                                    {.backend = ramify::backend::cpu});
  BOOST_TEST((lists.ids == on_executor.radius_list(queries, 0.6f).ids));
}

BOOST_AUTO_TEST_CASE(an_index_can_be_moved) {
  const auto points = tests::make_cloud<float, 2>(cloud::filled_box, 100, 6);
  ramify::spatial_index<float, 2> first(points, options_for(), environment_for());
  ramify::spatial_index<float, 2> second(std::move(first));
  first = ramify::spatial_index<float, 2>(std::span(points).first(10), options_for(),
                                          environment_for());
  std::vector<std::uint32_t> counts(1);
  (void)second.radius_count(std::span(points).first(1), 10, counts);
  BOOST_TEST(counts[0] == 100u);
  (void)first.radius_count(std::span(points).first(1), 10, counts);
  BOOST_TEST(counts[0] == 10u);
  BOOST_TEST(second.report().points == 100u);
  BOOST_TEST(tests::check_times(second.report(), {!runs_on_cpu(), false}) == "");
  BOOST_TEST(!second.report().backend_reason.empty());
}

// The caller may change and free its points when the index is built.
BOOST_DATA_TEST_CASE(an_index_has_its_own_copy_of_the_points,
                     data::make({route::device, route::flat}), taken) {
  const auto kept = tests::make_cloud<float, 3>(cloud::filled_box, 500, 10);
  auto input = kept;
  const ramify::spatial_index<float, 3> index(input, options_for(), environment_for(taken));
  for (auto& p : input) p = {1e9f, -1e9f, 0};
  input = {};
  std::vector<std::uint32_t> ids(kept.size() * 4);
  std::vector<float> distances2(ids.size());
  (void)index.all_nearest_neighbors(4, true, ids, distances2);
  BOOST_TEST((tests::check_nearest<float, 3>(kept, kept, 4, true, ids, distances2)) == "");
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named_before_anything_is_written) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 7);
  const ramify::spatial_index<float, 3> index(points, options_for(), environment_for());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto queries = points;
  queries[42][2] = nan;
  std::vector<std::uint32_t> ids(200, 7);
  std::vector<float> distances2(200, 7);
  const std::span<std::uint32_t> hundred = std::span(ids).first(100);
  const auto expect = [&](auto call, const char* what) {
    BOOST_CHECK_EXCEPTION((void)call(), std::invalid_argument, names(what));
  };
  expect([&] { return index.radius_count(queries, 1, hundred); }, "queries[42]");
  expect([&] { return index.radius_list(queries, 1).report; }, "queries[42]");
  expect([&] { return index.nearest(queries, 2, ids, distances2); }, "queries[42]");
  expect([&] { return index.radius_count(points, -1, hundred); }, "radius is -1");
  expect([&] { return index.radius_count(points, nan, hundred); }, "radius is nan");
  expect([&] { return index.radius_list(points, nan).report; }, "radius is nan");
  expect([&] { return index.radius_count(points, 1, ids); }, "counts has 200");
  expect([&] { return index.radius_rows(queries, 1, 2, ids, hundred); }, "queries[42]");
  expect([&] { return index.radius_rows(points, -1, 2, ids, hundred); }, "radius is -1");
  expect([&] { return index.radius_rows(points, 1, 3, ids, hundred); }, "ids has 200");
  expect([&] { return index.radius_rows(points, 1, 2, ids, ids); }, "counts has 200");
  expect([&] { return index.radius_rows(points, 1, 0, ids, hundred); }, "capacity is 0");
  expect([&] { return index.nearest(points, 3, ids, distances2); }, "ids has 200");
  expect([&] { return index.nearest(points, 0, ids, distances2); }, "k is 0");
  expect(
      [&] { return index.all_nearest_neighbors(2, true, ids, std::span(distances2).first(100)); },
      "distances2 has 100");
  BOOST_TEST((ids == std::vector<std::uint32_t>(200, 7)));
  BOOST_TEST((distances2 == std::vector<float>(200, 7)));

  const auto build = [](const auto& of, unsigned leaf_size, const ramify::environment& env) {
    return ramify::spatial_index<float, 3>(of, options_for(leaf_size), env).report();
  };
  expect([&] { return build(points, 2000, environment_for()); }, "spatial_tree_options.leaf_size");
  expect([&] { return build(points, 6, environment_for(route(8))); }, "environment.route");
  expect([&] { return build(queries, 6, environment_for()); }, "points[42]");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nodes_are_a_tree_of_tight_boxes, Type, tests::spatial_types) {
  using real = typename Type::real;
  constexpr int dim = Type::dim;
  for (const std::size_t n : {0, 1, 100, 3'000}) {
    const auto points = tests::make_cloud<real, dim>(cloud::filled_box, n, 11);
    const ramify::spatial_index<real, dim> index(points, options_for(5), environment_for());
    const auto nodes = index.nodes();
    BOOST_REQUIRE(nodes.size() == index.report().nodes);
    BOOST_REQUIRE(nodes.empty() == (n == 0));
    if (n == 0) continue;
    // The root's box is that of all points.
    auto lower = points[0];
    auto upper = points[0];
    for (const auto& p : points) {
      for (std::size_t axis = 0; axis < std::size_t{dim}; ++axis) {
        lower[axis] = std::min(lower[axis], p[axis]);
        upper[axis] = std::max(upper[axis], p[axis]);
      }
    }
    BOOST_TEST((nodes[0].lower == lower && nodes[0].upper == upper));
    BOOST_TEST(nodes[0].points == n);
    // The box and the points of an inner node are those of its children; each node has one parent.
    std::vector<int> parents(nodes.size());
    for (const auto& node : nodes) {
      if (node.children == 0) {
        BOOST_TEST((node.points >= 1 && node.points <= 5 && node.first_child == 0));
        continue;
      }
      auto both = nodes.at(node.first_child);
      both.points = 0;
      for (std::size_t c = node.first_child; c < node.first_child + std::size_t{node.children};
           ++c) {
        ++parents.at(c);
        BOOST_TEST(nodes[c].level == node.level + 1);
        both.points += nodes[c].points;
        for (std::size_t axis = 0; axis < std::size_t{dim}; ++axis) {
          both.lower[axis] = std::min(both.lower[axis], nodes[c].lower[axis]);
          both.upper[axis] = std::max(both.upper[axis], nodes[c].upper[axis]);
        }
      }
      BOOST_TEST((both.lower == node.lower && both.upper == node.upper));
      BOOST_TEST(both.points == node.points);
    }
    BOOST_TEST(parents[0] == 0);
    BOOST_TEST(std::ranges::count(parents, 1) == static_cast<std::ptrdiff_t>(nodes.size()) - 1);
  }
}

// All lists together may not have more ids than the caller allows.
BOOST_AUTO_TEST_CASE(lists_are_limited) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 7);
  const ramify::spatial_index<float, 3> index(points, options_for(), environment_for());
  const std::size_t all = points.size() * points.size();
  ramify::spatial_query_options options;
  options.max_listed_ids = all;
  BOOST_TEST(index.radius_list(points, 1000, options).ids.size() == all);
  options.max_listed_ids = all - 1;
  BOOST_CHECK_EXCEPTION((void)index.radius_list(points, 1000, options), std::length_error,
                        names("have 10000 ids, which exceeds "
                              "spatial_query_options.max_listed_ids, 9999"));
}

// An index whose points have moved answers as a new one; bad positions change nothing.
BOOST_AUTO_TEST_CASE(refit_follows_the_points) {
  const auto points = tests::make_cloud<double, 2>(cloud::filled_box, 200, 7);
  const auto moved = tests::make_cloud<double, 2>(cloud::hollow_sphere, 200, 8);
  ramify::spatial_index<double, 2> index(points, options_for(), environment_for());
  const auto finds = [&](const auto& positions) {
    std::vector<std::uint32_t> ids(3 * positions.size());
    std::vector<double> distances2(ids.size());
    (void)index.all_nearest_neighbors(3, true, ids, distances2);
    return tests::check_nearest<double, 2>(positions, positions, 3, true, ids, distances2);
  };
  BOOST_TEST(finds(points) == "");
  BOOST_TEST(index.refit(moved).total_ms > 0);
  BOOST_TEST(finds(moved) == "");
  BOOST_TEST(finds(points) != "");
  auto bad = points;
  bad[42][1] = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(index.refit(bad), std::invalid_argument, names("positions[42]"));
  BOOST_CHECK_EXCEPTION(index.refit(std::span(points).first(199)), std::invalid_argument,
                        names("positions has 199 elements, but the index has 200 points"));
  BOOST_TEST(finds(moved) == "");
}

// The negative control: the comparison with brute force detects wrong results.
BOOST_AUTO_TEST_CASE(brute_force_detects_wrong_results) {
  const auto points = tests::make_cloud<float, 2>(cloud::lattice, 25, 8);
  const ramify::spatial_index<float, 2> index(points, options_for(), environment_for());
  std::vector<std::uint32_t> ids(75);
  std::vector<float> distances2(75);
  (void)index.all_nearest_neighbors(3, true, ids, distances2);
  const auto check = [&] {
    return tests::check_nearest<float, 2>(points, points, 3, true, ids, distances2);
  };
  BOOST_TEST(check() == "");
  std::swap(ids[0], ids[1]);  // equal distances: the order of ids decides
  BOOST_TEST(check() != "");
  std::swap(ids[0], ids[1]);
  distances2[74] = std::nextafter(distances2[74], 10.0f);
  BOOST_TEST(check() != "");

  auto lists = index.radius_list(points, 1);
  std::vector<std::uint32_t> counts(25);
  (void)index.radius_count(points, 1, counts);
  BOOST_TEST((tests::check_within<float, 2>(points, points, 1, counts, lists)) == "");
  std::vector<std::uint32_t> rows(100);
  std::uint64_t truncated = index.radius_rows(points, 1, 4, rows, counts).truncated;
  BOOST_TEST(truncated == 9u);  // the inner points of the lattice have four neighbors
  BOOST_TEST(tests::check_rows(lists, 4, rows, counts, truncated) == "");
  BOOST_TEST(tests::check_rows(lists, 4, rows, counts, truncated + 1) != "");
  std::swap(rows[0], rows[1]);
  BOOST_TEST(tests::check_rows(lists, 4, rows, counts, truncated) == "element 0 of row 0");
  lists.ids[4] = lists.ids[3];
  BOOST_TEST((tests::check_within<float, 2>(points, points, 1, counts, lists)) != "");
  ++counts[0];
  BOOST_TEST((tests::check_within<float, 2>(points, points, 1, counts, lists)) ==
             "the count of query 0");
}

BOOST_AUTO_TEST_SUITE_END()
