// SPDX-License-Identifier: BSD-3-Clause
// query(): each predicate calls the callback once for each match, as brute force finds them.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <tuple>

#include "backend_under_test.hpp"
#include "match_lists.cuh"
#include "schedules.hpp"
#include "spatial_types.hpp"

namespace tests::matches {
namespace {

using ramify::query_method;
using ramify::spatial_query_options;
using tests::cloud;
using tests::left_out;

constexpr query_method both_methods[] = {query_method::threads, query_method::packets};

/// The region of in_regions(): the points up to a plane, without an anchor.
template <class Real, int dim>
struct half_space {
  Real greatest;

  __device__ bool excludes(const ramify::box<Real, dim>& b) const {
    return b.lower.x[0] > greatest;
  }
  __device__ bool contains(const ramify::point<Real, dim>& p) const { return p.x[0] <= greatest; }
};
template <class Real, int dim>
struct half_space_of {
  __device__ half_space<Real, dim> operator()(std::uint32_t query) const {
    return {Real(query) / 10 - 1};
  }
};

template <class Type>
void expect_balls(const scene<Type>& s, const spatial_query_options& options) {
  using real = typename Type::real;
  const auto distance2_of = [&](std::size_t q, std::size_t p) {
    return tests::distance2<real, Type::dim>(s.queries[q], s.points[p]);
  };
  for (const real radius : {real{0}, real{0.3}, real{2}, std::numeric_limits<real>::infinity()}) {
    const ramify::in_balls balls(s.asked_on_device.data(), s.n(), radius);
    BOOST_TEST((s.run(balls, options) == s.by_brute_force([&](std::size_t q, std::size_t p) {
      return if_within(distance2_of(q, p), radius);
    })));
    const auto found = ordered_pairs(s.run(ramify::pairs_within{radius}, options));
    BOOST_TEST((found == all_matches<real>(
                             s.points.size(), s.points.size(), [&](std::size_t a, std::size_t b) {
                               const real d =
                                   tests::distance2<real, Type::dim>(s.points[a], s.points[b]);
                               return a < b ? if_within(d, radius) : std::nullopt;
                             })));
  }
  std::vector<real> radii(s.n());
  const real kinds[] = {real{0.1}, 0,
                        -1,        std::numeric_limits<real>::quiet_NaN(),
                        real{3},   std::numeric_limits<real>::infinity()};
  for (std::size_t i = 0; i < radii.size(); ++i) radii[i] = kinds[i % std::size(kinds)];
  const auto on_device = tests::upload(radii);
  const auto found =
      s.run(ramify::in_balls_of(s.asked_on_device.data(), on_device.data(), s.n()), options);
  BOOST_TEST((found == s.by_brute_force([&](std::size_t q, std::size_t p) {
    return radii[q] >= 0 ? if_within(distance2_of(q, p), radii[q]) : std::nullopt;
  })));
}

template <class Type>
void expect_boxes(const scene<Type>& s, const spatial_query_options& options) {
  using real = typename Type::real;
  constexpr real infinity = std::numeric_limits<real>::infinity();
  std::vector<ramify::box<real, Type::dim>> boxes(s.n());
  for (std::size_t i = 0; i < s.n(); ++i) {
    for (std::size_t axis = 0; axis < Type::dim; ++axis) {
      const real x = s.queries[i][axis];
      const real y = s.queries[(i + 1) % s.n()][axis];
      // Some boxes are one point, some have no points, and some are not bounded.
      boxes[i].lower.x[axis] = i % 5 == 0 ? x : i % 7 == 0 ? std::max(x, y) : std::min(x, y);
      boxes[i].upper.x[axis] = i % 5 == 0 ? x : i % 7 == 0 ? std::min(x, y) : std::max(x, y);
    }
    if (i % 4 == 1) boxes[i].lower.x[0] = -infinity;
    if (i % 6 == 1) boxes[i].upper.x[1] = infinity;
  }
  if (s.n() > 2) boxes[2].lower.x[0] = infinity;
  const auto on_device = tests::upload(boxes);
  const auto found = s.run(ramify::in_boxes(on_device.data(), s.n()), options);
  BOOST_TEST((found == s.by_brute_force([&](std::size_t q, std::size_t p) {
    bool inside = true;
    for (std::size_t axis = 0; axis < Type::dim; ++axis) {
      inside = inside && boxes[q].lower.x[axis] <= s.points[p][axis] &&
               s.points[p][axis] <= boxes[q].upper.x[axis];
    }
    return inside ? std::optional(real{0}) : std::nullopt;
  })));
  const auto of_regions =
      s.run(ramify::in_regions(s.n(), half_space_of<real, Type::dim>{}), options);
  BOOST_TEST((of_regions == s.by_brute_force([&](std::size_t q, std::size_t p) {
    return s.points[p][0] <= real(q) / 10 - 1 ? std::optional(real{0}) : std::nullopt;
  })));
}

template <class Type>
void expect_lines(const scene<Type>& s, const spatial_query_options& options) {
  using real = typename Type::real;
  // Some directions are along an axis, and some are 0.
  auto directions = s.queries;
  for (std::size_t i = 0; i < s.n(); ++i) {
    for (real& x : directions[i]) x = i % 7 == 0 ? 0 : x / 8;
    if (i % 5 == 0) directions[i][0] = 0;
  }
  auto ends = s.queries;
  for (std::size_t i = 0; i < s.n(); ++i) {
    for (std::size_t axis = 0; axis < Type::dim; ++axis) ends[i][axis] += directions[i][axis];
  }
  const auto along = tests::upload_points<real, Type::dim>(directions);
  const auto to = tests::upload_points<real, Type::dim>(ends);
  for (const real radius : {real{0}, real{0.01}, real{0.2}}) {
    const auto segments =
        s.run(ramify::near_segments(s.asked_on_device.data(), to.data(), s.n(), radius), options);
    BOOST_TEST((segments == s.by_brute_force([&](std::size_t q, std::size_t p) {
      auto d = ends[q];
      for (std::size_t axis = 0; axis < Type::dim; ++axis) d[axis] -= s.queries[q][axis];
      return if_within(distance2_of_line<real, Type::dim>(s.queries[q], d, real{1}, s.points[p]),
                       radius);
    })));
    const auto rays =
        s.run(ramify::near_rays(s.asked_on_device.data(), along.data(), s.n(), radius), options);
    BOOST_TEST((rays == s.by_brute_force([&](std::size_t q, std::size_t p) {
      return if_within(
          distance2_of_line<real, Type::dim>(s.queries[q], directions[q],
                                             std::numeric_limits<real>::infinity(), s.points[p]),
          radius);
    })));
  }
}

template <class Type>
void expect_neighbors(const scene<Type>& s, const spatial_query_options& options) {
  using real = typename Type::real;
  // Lists of all lengths.
  for (const std::size_t k : {1, 3, 4, 5, 8, 9, 10, 11, 16, 20, 24, 25, 32, 40}) {
    match_list<real> expected;
    for (std::uint32_t q = 0; q < s.n(); ++q) {
      std::vector<std::pair<real, std::uint32_t>> accepted;
      for (std::uint32_t p = 0; p < s.points.size(); ++p) {
        if ((q + p) % 2 != 0) continue;
        accepted.emplace_back(tests::distance2<real, Type::dim>(s.queries[q], s.points[p]), p);
      }
      std::sort(accepted.begin(), accepted.end());
      accepted.resize(std::min(k, accepted.size()));
      for (const auto& [d, p] : accepted) expected.emplace_back(q, p, d);
    }
    std::sort(expected.begin(), expected.end());
    const ramify::nearest_to neighbors(s.asked_on_device.data(), s.n(), k, even_sum{});
    BOOST_TEST((s.run(neighbors, options) == expected));
  }
}

using types = std::tuple<tests::f3, tests::d2>;

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial_query)

BOOST_AUTO_TEST_CASE_TEMPLATE(matches_equal_brute_force, Type, types) {
  using real = typename Type::real;
  int piece = 0;
  for (const cloud c : tests::all_clouds) {
    for (const std::size_t n : {0, 1, 7, 150}) {
      if (left_out(piece)) continue;
      const auto points = tests::make_cloud<real, Type::dim>(c, n, n);
      const scene<Type> s(points, tests::queries_near(points, 60, 16));
      for (const query_method method : both_methods) {
        BOOST_TEST_CONTEXT(c << ", n = " << n << ", " << to_string(method)) {
          const spatial_query_options options{.ball_method = method};
          expect_balls(s, options);
          expect_boxes(s, options);
          expect_lines(s, options);
          expect_neighbors(s, options);
        }
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(each_schedule) {
  const auto points = tests::make_cloud<float, 3>(cloud::duplicates, 120, 1);
  for (const auto& config : tests::reproducible_schedules()) {
    const ramify::cpu::scoped_executor_config scope(config);
    const scene<tests::f3> s(points, tests::queries_near(points, 50, 16));
    for (const query_method method : both_methods) {
      expect_balls(s, {.ball_method = method});
      expect_boxes(s, {.ball_method = method});
      expect_neighbors(s, {.ball_method = method});
    }
  }
}

// The callback is called for the first points in the tree's order, and not after its stop.
BOOST_AUTO_TEST_CASE(a_callback_ends_its_query) {
  constexpr unsigned few = 3;
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 400, 2);
  const scene<tests::f3> s(points, tests::queries_near(points, 100, 16));
  const auto view = s.tree.view();
  std::vector<ramify::box<float, 3>> around(s.n());
  for (std::size_t i = 0; i < s.n(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      around[i].lower.x[axis] = s.queries[i][axis] - 0.4f;
      around[i].upper.x[axis] = s.queries[i][axis] + 0.4f;
    }
  }
  const auto boxes = tests::upload(around);
  const std::vector<std::uint32_t> order = tests::download_array(view.ids, points.size());
  std::vector<std::uint32_t> position(points.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;

  const auto expect = [&](const auto& predicates, std::size_t n, const spatial_query_options& of,
                          match_list<float> all, bool by_distance) {
    // The order of the calls for a query.
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      const auto key = [&](const entry<float>& e) {
        const auto& [query, point, d] = e;
        return std::tuple(query, by_distance ? d : 0.0f, by_distance ? point : position[point]);
      };
      return key(a) < key(b);
    });
    std::vector<std::uint32_t> expected(n * few, 0);
    std::vector<unsigned> counts(n, 1);
    for (const auto& [query, point, d] : all) {
      if (counts[query] <= few) expected[query * few + counts[query]++ - 1] = point;
    }
    const auto rows = tests::zeros<std::uint32_t>(n * few);
    const auto found = tests::zeros<unsigned>(n);
    (void)ramify::query(view, predicates, first_few<float>{rows.data(), found.data(), few}, of);
    BOOST_TEST((tests::download(rows) == expected));
    BOOST_TEST((tests::download(found) == counts));
  };
  for (const query_method method : both_methods) {
    const spatial_query_options options{.ball_method = method};
    const ramify::in_balls balls(s.asked_on_device.data(), s.n(), 0.4f);
    expect(balls, s.n(), options, s.run(balls), false);
    const ramify::in_boxes of_boxes(boxes.data(), s.n());
    expect(of_boxes, s.n(), options, s.run(of_boxes), false);
    const ramify::nearest_to neighbors(s.asked_on_device.data(), s.n(), 5);
    expect(neighbors, s.n(), options, s.run(neighbors), true);
    const ramify::pairs_within pairs{0.4f};
    expect(pairs, points.size(), options, s.run(pairs), false);
  }
}

// The lists of balls are those of radius_list().
BOOST_AUTO_TEST_CASE(lists) {
  const auto points = tests::make_cloud<float, 3>(cloud::duplicates, 200, 5);
  const scene<tests::f3> s(points, tests::queries_near(points, 80, 16));
  const auto view = s.tree.view();
  const auto* queries = s.asked_on_device.data();
  const auto expected = radius_list(view, queries, s.n(), 0.5f);
  const auto found = query_list(view, ramify::in_balls(queries, s.n(), 0.5f));
  BOOST_TEST((tests::download(found.offsets) == tests::download(expected.offsets)));
  BOOST_TEST((tests::download(found.ids) == tests::download(expected.ids)));
  BOOST_TEST(found.report.host_grids > 0u);

  // The lists have the matches of query().
  const auto expect_matches_in_lists = [&](const auto& predicates) {
    const auto lists = query_list(view, predicates);
    const auto offsets = tests::download(lists.offsets);
    const auto ids = tests::download(lists.ids);
    match_list<float> listed;
    for (std::uint32_t q = 0; q + 1 < offsets.size(); ++q) {
      for (std::uint64_t i = offsets[q]; i < offsets[q + 1]; ++i)
        listed.emplace_back(q, ids[i], 0.f);
    }
    auto matches = s.run(predicates);
    for (auto& m : matches) std::get<2>(m) = 0;
    std::sort(listed.begin(), listed.end());
    std::sort(matches.begin(), matches.end());
    BOOST_TEST(!listed.empty());
    BOOST_TEST((listed == matches));
  };
  expect_matches_in_lists(ramify::pairs_within{0.5f});  // each pair is in one list
  std::vector<ramify::box<float, 3>> of_queries(s.n());
  for (std::size_t i = 0; i < s.n(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      of_queries[i].lower.x[axis] = s.queries[i][axis] - 1;
      of_queries[i].upper.x[axis] = s.queries[i][axis] + 1;
    }
  }
  const auto boxes = tests::upload(of_queries);
  expect_matches_in_lists(ramify::in_boxes(boxes.data(), s.n()));
  for (const std::size_t k : {1, 5, 10, 20, 40}) {
    BOOST_TEST_CONTEXT(k << " nearest") {
      expect_matches_in_lists(ramify::nearest_to(queries, s.n(), k));
    }
  }

  const auto none = query_list(view, ramify::in_balls(queries, 0, 1));
  BOOST_TEST((tests::download(none.offsets) == std::vector<std::uint64_t>{0}));
  BOOST_TEST(none.ids.size() == 0u);
}

// Balls of any magnitude and in periodic boxes are those of radius_count(); the distances are in
// the caller's unit.
BOOST_AUTO_TEST_CASE(any_magnitude_and_periods) {
  auto points = tests::make_cloud<float, 3>(cloud::filled_box, 150, 3);
  const auto unscaled = points;
  const float unit = 0x1p-66f;
  for (auto& p : points) {
    for (float& x : p) x *= unit;
  }
  const scene<tests::f3> s(points, points);
  const auto expected = [&](float by) {
    return s.by_brute_force([&](std::size_t q, std::size_t p) {
      const float d = tests::distance2<float, 3>(unscaled[q], unscaled[p]);
      return d <= 0.3f * 0.3f ? std::optional(d * by * by) : std::nullopt;
    });
  };
  const auto balls = s.run(ramify::in_balls(s.asked_on_device.data(), s.n(), 0.3f * unit));
  BOOST_TEST((balls == expected(unit)));
  const auto radii = tests::upload(std::vector<float>(s.n(), 0.3f * unit));
  const auto each = s.run(ramify::in_balls_of(s.asked_on_device.data(), radii.data(), s.n()));
  BOOST_TEST((each == expected(unit)));
  BOOST_TEST((each != expected(1)));  // negative control

  const scene<tests::f3> box(unscaled, unscaled);
  const auto in_period = [&](std::size_t q, std::size_t p) -> std::optional<float> {
    float sum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float d = std::abs(unscaled[q][axis] - unscaled[p][axis]);
      const float nearest = std::min(d, 2 - d);
      const float square = nearest * nearest;
      sum += square;
    }
    return if_within(sum, 0.5f);
  };
  const spatial_query_options periodic{.period = {2, 2, 2}};
  const auto with_images =
      box.run(ramify::in_balls(box.asked_on_device.data(), box.n(), 0.5f), periodic);
  const auto pairs = ordered_pairs(box.run(ramify::pairs_within{0.5f}, periodic));
  BOOST_TEST(with_images.size() == 2 * pairs.size() + box.n());
  // The scale may round squared distances in another way: compare the indices.
  const auto same_indices = [](const match_list<float>& a, const match_list<float>& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
      return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y) &&
             std::abs(std::get<2>(x) - std::get<2>(y)) < 1e-6f;
    });
  };
  BOOST_TEST(same_indices(with_images, box.by_brute_force(in_period)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::matches
