// SPDX-License-Identifier: BSD-3-Clause
// Collisions, compared with all pairs.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exceptions.hpp"
#include "nbody_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;

namespace tests::inline RAMIFY_BUILD {

using pair_set = std::set<std::pair<unsigned, unsigned>>;
using ramify::body_pair;
using ramify::nbody_collisions;

/// Bodies with radii, and their pairs by a loop over all of them.
struct colliding {
  colliding(shape s, std::size_t n, double scale) : positions(make_cloud(s, n).positions) {
    numbers random(11);
    for (std::size_t i = 0; i < n; ++i) radii.push_back(scale * (1 + random.next()));
    if (n > 5) radii[3] = 20 * scale;  // one large body
    if (n > 5) radii[4] = 0;
  }
  [[nodiscard]] pair_set all_pairs() const {
    pair_set pairs;
    for (std::size_t i = 0; i < radii.size(); ++i) {
      for (std::size_t j = i + 1; j < radii.size(); ++j) {
        double d2 = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const double d = positions[i][k] - positions[j][k];
          d2 += d * d;
        }
        const double reach = radii[i] + radii[j];
        if (d2 < reach * reach) pairs.insert({unsigned(i), unsigned(j)});
      }
    }
    return pairs;
  }
  std::vector<vector3> positions;
  std::vector<double> radii;
};

struct found_pairs {
  std::vector<body_pair> pairs;
  std::uint64_t count;
  nbody_collisions report;

  [[nodiscard]] pair_set set() const {
    pair_set all;
    for (const body_pair& p : pairs) {
      BOOST_TEST(p.first < p.second);
      BOOST_TEST(all.insert({p.first, p.second}).second);  // each pair once
    }
    return all;
  }
};

found_pairs collisions_of(const colliding& c, std::size_t capacity, const environment& env = {}) {
  const auto x = upload_points(c.positions);
  const auto radii = upload(c.radii);
  const device_buffer<body_pair> pairs(capacity, nullptr);
  const auto count = zeros<std::uint64_t>(1);
  const std::uint64_t grids = ramify::cpu::grids_begun();
  const auto report = find_collisions(x.data(), radii.data(), c.radii.size(), pairs.data(),
                                      capacity, count.data(), env);
  if (!RAMIFY_ON_CUDA) {
    BOOST_TEST(report.host_grids + report.child_grids == ramify::cpu::grids_begun() - grids);
  }
  BOOST_TEST(leaked_slots() == 0u);
  auto all = download(pairs);
  all.resize(report.written);
  return {all, download(count)[0], report};
}

bool same(const std::vector<body_pair>& a, const std::vector<body_pair>& b) {
  return std::ranges::equal(a, b, [](const body_pair& p, const body_pair& q) {
    return p.first == q.first && p.second == q.second;
  });
}

}  // namespace tests::inline RAMIFY_BUILD

using namespace tests;

BOOST_AUTO_TEST_SUITE(collisions)

BOOST_AUTO_TEST_CASE(each_pair_is_found_once) {
  std::size_t most = 0;
  for (const shape s : all_shapes) {
    for (const std::size_t n : {1u, 2u, 7u, 600u}) {
      for (const double scale : {0.003, 0.05}) {
        BOOST_TEST_CONTEXT(to_string(s) << ", " << n << " bodies, radius " << scale) {
          const colliding c(s, n, scale);
          const pair_set expected = c.all_pairs();
          const found_pairs found = collisions_of(c, n * n);
          BOOST_TEST(found.count == expected.size());
          BOOST_TEST(found.report.collisions == expected.size());
          BOOST_TEST(found.report.written == expected.size());
          BOOST_TEST((found.set() == expected));
          most = std::max(most, expected.size());
        }
      }
    }
  }
  BOOST_TEST(most > 100u);
}

BOOST_DATA_TEST_CASE(every_route_and_limit_writes_the_same_list,
                     data::make(routes) * data::make({1, 16, 2048}), taken, limit) {
  const colliding c(shape::two_clusters, bodies_of_deep_tree, 0.01);
  static const found_pairs expected = collisions_of(c, 100'000);
  BOOST_REQUIRE(expected.count > 1'000u);
  const auto limits = scoped_limit(std::size_t(limit));
  const found_pairs found = collisions_of(c, 100'000, {.route = taken});
  BOOST_TEST(same(found.pairs, expected.pairs));
  // A short list has the first pairs, and the true count.
  const found_pairs few = collisions_of(c, 10, {.route = taken});
  BOOST_TEST(few.count == expected.count);
  BOOST_TEST(few.report.written == 10u);
  BOOST_TEST(same(few.pairs, {expected.pairs.begin(), expected.pairs.begin() + 10}));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(no_pair_is_lost_after_a_failed_launch) {
  const colliding c(shape::cube, bodies_of_deep_tree, 0.01);
  const found_pairs expected = collisions_of(c, 100'000);
  unsigned interrupted = 0;
  for (std::uint64_t failing = 1; failing <= 4; ++failing) {
    auto config = ramify::cpu::current_executor_config();
    config.failing_launch = failing;
    const ramify::cpu::scoped_executor_config scope(config);
    const found_pairs found = collisions_of(c, 100'000, {.route = ramify::route::device});
    BOOST_TEST(same(found.pairs, expected.pairs));
    if (found.report.host_grids > expected.report.host_grids) ++interrupted;
  }
  BOOST_TEST(interrupted > 0u);  // negative control
}

BOOST_AUTO_TEST_CASE(pairs_closer_than_a_distance) {
  const colliding c(shape::lattice, 500, 0);
  const auto x = upload_points(c.positions);
  double least = 1;  // distance between two different places
  for (const vector3& p : c.positions) {
    const double d =
        std::hypot(p[0] - c.positions[0][0], p[1] - c.positions[0][1], p[2] - c.positions[0][2]);
    if (d > 0) least = std::min(least, d);
  }
  const auto count = zeros<std::uint64_t>(1);
  const auto number = [&](double distance) {
    return find_collisions(x.data(), distance, 500, nullptr, 0, count.data()).collisions;
  };
  std::size_t expected = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    for (std::size_t j = i + 1; j < 500; ++j) {
      double d2 = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        d2 += std::pow(c.positions[i][k] - c.positions[j][k], 2);
      }
      if (d2 < 1.01 * least * 1.01 * least) ++expected;
    }
  }
  BOOST_TEST(number(1.01 * least) == expected);
  BOOST_TEST(download(count)[0] == expected);
  BOOST_TEST(number(0) == 0u);
  BOOST_TEST(expected > number(0.99 * least));
  BOOST_TEST(number(100) == 500u * 499 / 2);
}

BOOST_AUTO_TEST_CASE(a_step_and_its_collisions_follow_in_one_stream) {
  const auto sphere = common::make_plummer_sphere(200, 1);
  const auto x = upload_points(sphere.positions);
  const auto v = upload_points(sphere.velocities);
  nbody_system<double> system(x.data(), v.data(), sphere.masses.data(), 200, {.softening = 0.1});
  auto step = system.step_async(0.1);
  const device_buffer<body_pair> pairs(1'000, nullptr);
  auto search = find_collisions_async(system.positions(), 0.1, 200, pairs.data(), 1'000);
  step.get();
  const auto after = search.get();
  const auto again = find_collisions(system.positions(), 0.1, 200, pairs.data(), 1'000);
  BOOST_TEST(after.collisions == again.collisions);
  BOOST_TEST(after.collisions > 10u);
}

BOOST_AUTO_TEST_CASE(a_compiled_call_finds_the_same_pairs) {
  const colliding c(shape::cube, 300, 0.03);
  const found_pairs expected = collisions_of(c, 2'000);
  BOOST_TEST(expected.count > 20u);
  std::vector<body_pair> pairs(expected.count + 1, body_pair{7, 7});
  const auto report =
      ramify::find_collisions<double>(c.positions, c.radii, pairs, environment_for());
  BOOST_TEST(report.collisions == expected.count);
  BOOST_TEST(report.bodies == 300u);
  BOOST_TEST(report.total_ms > 0);
  BOOST_TEST(pairs.back().second == 7u);  // elements beyond the pairs do not change
  pairs.pop_back();
  BOOST_TEST(same(pairs, expected.pairs));
  BOOST_TEST(
      ramify::find_collisions<double>(c.positions, c.radii, {}, environment_for()).collisions ==
      expected.count);
  BOOST_CHECK_EXCEPTION(
      (void)ramify::find_collisions<double>(c.positions, {}, pairs, environment_for()),
      std::invalid_argument, names("find_collisions: 300 bodies, but 0 radii"));
}

BOOST_AUTO_TEST_CASE(bad_bodies_are_named_and_nothing_is_written) {
  colliding c(shape::cube, 50, 0.1);
  const auto refuses = [&](const char* what) {
    const auto x = upload_points(c.positions);
    const auto radii = upload(c.radii);
    const auto pairs = zeros<body_pair>(2'000);
    BOOST_CHECK_EXCEPTION((void)find_collisions(x.data(), radii.data(), 50, pairs.data(), 2'000),
                          std::invalid_argument, names(what));
    BOOST_TEST(download(pairs)[0].second == 0u);
  };
  for (const double bad : {-1.0, double(NAN), double(INFINITY), 1e200, 1e-200}) {
    const double before = std::exchange(c.radii[7], bad);
    refuses("find_collisions: radii[7] is ");
    c.radii[7] = before;
  }
  for (const double bad : {double(NAN), double(INFINITY), 1e200}) {
    const double before = std::exchange(c.positions[9][2], bad);
    refuses("find_collisions: positions[9] is ");
    c.positions[9][2] = before;
  }
  const auto x = upload_points(c.positions);
  const auto radii = upload(c.radii);
  const auto refused = [&](auto call, const char* what) {
    BOOST_CHECK_EXCEPTION((void)call(), std::invalid_argument, names(what));
  };
  refused([&] { return find_collisions(x.data(), -1.0, 50, nullptr, 0); },
          "find_collisions: distance is -1; it must be 0, or finite");
  refused([&] { return find_collisions(x.data(), radii.data(), 50, nullptr, 3); }, "pairs");
  refused([&] { return find_collisions(x.data(), (const double*)nullptr, 50, nullptr, 0); },
          "find_collisions: radii is null");
  refused([&] { return find_collisions(x.data(), 1.0, std::size_t{1} << 31, nullptr, 0); },
          "find_collisions: n is 2147483648; it must be less than 2^31");
  const auto none = zeros<std::uint64_t>(1);
  BOOST_TEST(find_collisions(x.data(), 1.0, 0, nullptr, 0, none.data()).collisions == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
