// SPDX-License-Identifier: BSD-3-Clause
// Compares polylines with dense samples of their curves in long double: curves that return to their
// beginning, that turn back on a line, that have cusps, and random ones. RAMIFY_FUZZ_SECONDS adds
// random curves for so many seconds.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/tessellation.hpp>
#include <random>
#include <span>
#include <vector>

#include "effort.hpp"
#include "run_checks.cuh"
#include "tessellate/tessellation_check.hpp"
#include "tested_options.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::cubic_curve;
using ramify::curve_point;
using ramify::polylines;
using ramify::route;

namespace {

struct exact_point {
  long double x, y;
};

/// Returns the point of a curve at t, in long double.
exact_point exact(const cubic_curve& curve, long double t) {
  const long double s = 1 - t;
  const std::array<long double, 4> weights{s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
  exact_point p{0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    p.x += weights[i] * curve.points[i].x;
    p.y += weights[i] * curve.points[i].y;
  }
  return p;
}

/// Returns the distance of p from the segment from a to b, in long double.
long double exact_distance(const exact_point& p, const curve_point& a, const curve_point& b) {
  const long double dx = static_cast<long double>(b.x) - a.x;
  const long double dy = static_cast<long double>(b.y) - a.y;
  const long double px = p.x - a.x, py = p.y - a.y;
  const long double length2 = dx * dx + dy * dy;
  const long double t = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0L, 1.0L) : 0;
  return std::hypot(px - t * dx, py - t * dy);
}

/// Returns the largest distance of `samples` + 1 points of a curve, at equal distances of the
/// parameter, from a polyline.
long double sampled_distance(const cubic_curve& curve, std::span<const curve_point> line,
                             int samples) {
  long double largest = 0;
  for (int i = 0; i <= samples; ++i) {
    const exact_point p = exact(curve, static_cast<long double>(i) / samples);
    long double nearest = HUGE_VALL;
    for (std::size_t k = 0; k + 1 < line.size(); ++k) {
      nearest = std::min(nearest, exact_distance(p, line[k], line[k + 1]));
    }
    largest = std::max(largest, nearest);
  }
  return largest;
}

/// Returns the curve o + (t - a) (t - b) (c + d t) with [a, b] = [i, i + 1] / 2^depth: its part
/// [a, b] returns to its beginning.
cubic_curve closed_part(int depth, int i, const curve_point& o, const curve_point& c,
                        const curve_point& d) {
  const double a = std::ldexp(i, -depth);
  const double b = std::ldexp(i + 1, -depth);
  const auto values = [&](double origin, double constant, double slope) {
    // The coefficients of the powers of t, three times those of t and t^2, and control values.
    const double k1 = a * b * slope - (a + b) * constant;
    const double k2 = constant - (a + b) * slope;
    return std::array{3 * (origin + a * b * constant), 3 * (origin + a * b * constant) + k1,
                      3 * (origin + a * b * constant) + 2 * k1 + k2,
                      3 * (origin + a * b * constant + k1 + k2 + slope)};
  };
  const auto x = values(o.x, c.x, d.x);
  const auto y = values(o.y, c.y, d.y);
  return {{{x[0], y[0]}, {x[1], y[1]}, {x[2], y[2]}, {x[3], y[3]}}};
}

/// Returns a curve with whole-numbered control points, times `scale`, of one of the kinds on which
/// a test by the chord may fail.
cubic_curve random_curve(std::mt19937_64& random, double scale) {
  const auto whole = [&](int most) { return double(int(random() % (2 * most + 1)) - most); };
  const auto point = [&](int most) { return curve_point{whole(most), whole(most)}; };
  cubic_curve curve{{point(4), point(4), point(4), point(4)}};
  auto& p = curve.points;
  switch (random() % 6) {
    case 0: break;
    case 1: p[3] = p[0]; break;  // closed
    case 2:                      // on a line, mostly with a turn
    case 3: {                    // on a line, there and back
      const curve_point o = point(3), d = point(3);
      for (curve_point& q : p) {
        const double k = whole(4);
        q = {o.x + k * d.x, o.y + k * d.y};
      }
      if (random() % 2 == 0) p[3] = p[0];
      break;
    }
    case 4: {  // a closed part
      const int depth = int(random() % 5);
      curve = closed_part(depth, int(random() % (1U << depth)), point(3), point(40), point(40));
      break;
    }
    default: {  // a cusp: the curve (0, 0), (1, 1), (0, 1), (1, 0) in other axes
      const curve_point o = point(3), d = point(3), e = point(3);
      p[0] = o;
      p[1] = {o.x + d.x + e.x, o.y + d.y + e.y};
      p[2] = {o.x + e.x, o.y + e.y};
      p[3] = {o.x + d.x, o.y + d.y};
    }
  }
  if (random() % 8 == 0) p[3].x += std::ldexp(1, -45);  // an end close to another point
  for (curve_point& q : p) q = {scale * q.x, scale * q.y};
  return curve;
}

/// Checks the polylines of random curves, which depend on `seed` alone. Returns the number of
/// points.
std::size_t try_curves(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const double scale = std::ldexp(1, int(random() % 121) - 60);
  const double flatness = scale * std::array{2.0, 0.5, 0.1, 0.01}[random() % 4];
  std::vector<cubic_curve> curves(24);
  for (cubic_curve& curve : curves) curve = random_curve(random, scale);
  const polylines lines =
      ramify::tessellate_curves(curves, with_flatness(flatness), environment_on(routes[seed % 2]));
  BOOST_TEST(lines.report.limited == 0u);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto line = lines.line(i);
    BOOST_TEST_CONTEXT("seed " << seed << ", curve " << i) {
      BOOST_TEST(bool(line.front() == curves[i].points[0]));
      BOOST_TEST(bool(line.back() == curves[i].points[3]));
      BOOST_TEST(sampled_distance(curves[i], line, 256) <= flatness * (1 + 1e-9L));
    }
  }
  return lines.points.size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampled_curves)

// y = 30 t (1 - t), so the curve is 7.5 high, and x = y (1 - 2 t). By dense sampling, some quarters
// are up to 0.74 from their chords, and all eighths are at most 0.21.
BOOST_DATA_TEST_CASE(a_closed_curve_is_divided, data::make(routes), taken) {
  const std::vector<cubic_curve> curves{{{{0, 0}, {10, 10}, {-10, 10}, {0, 0}}},
                                        {{{0, 0}, {8, 4}, {8, 4}, {0, 0}}},
                                        {{{1, 1}, {1, 1}, {1, 1}, {1, 1}}}};
  const polylines lines =
      ramify::tessellate_curves(curves, with_flatness(0.25), environment_on(taken));
  BOOST_TEST(lines.line(0).size() == 9u);
  for (unsigned k = 0; k < 9; ++k) {
    const double t = k / 8.0;
    BOOST_TEST(lines.line(0)[k].x == 30 * t * (1 - t) * (1 - 2 * t));
    BOOST_TEST(lines.line(0)[k].y == 30 * t * (1 - t));
  }
  // There and back on a line: (24, 12) t (1 - t) has its end, (6, 3), at the half.
  BOOST_TEST(lines.line(1).size() == 3u);
  BOOST_TEST(bool(lines.line(1)[1] == curve_point{6, 3}));
  BOOST_TEST(lines.line(2).size() == 2u);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    BOOST_TEST(sampled_distance(curves[i], lines.line(i), 1000) <= 0.25L);
  }
}

// The part [1/4, 1/2] of a curve returns to its beginning and is up to 1 from it.
BOOST_AUTO_TEST_CASE(a_part_that_returns_to_its_beginning_is_divided) {
  const cubic_curve curve = closed_part(2, 1, {5, 5}, {0, 64}, {300, 0});
  const exact_point begin = exact(curve, 0.25L), middle = exact(curve, 0.375L);
  BOOST_TEST_REQUIRE(std::hypot(exact(curve, 0.5L).x - begin.x, exact(curve, 0.5L).y - begin.y) ==
                     0.0L);
  BOOST_TEST_REQUIRE(std::hypot(middle.x - begin.x, middle.y - begin.y) > 1.0L);
  const polylines lines =
      ramify::tessellate_curves(std::vector{curve}, with_flatness(0.1), environment_on());
  BOOST_TEST(sampled_distance(curve, lines.line(0), 4000) <= 0.1L);
}

// The check of the program must see a turn between its samples.
BOOST_AUTO_TEST_CASE(the_measured_distance_includes_turns) {
  const cubic_curve turns{{{0, 0}, {3, 0}, {3, 0}, {1, 0}}};
  const std::vector<curve_point> short_line{{0, 0}, {1, 0}};
  // x' = 9 (1 - t)^2 - 6 t^2 is 0 where (1 - t) / t is the square root of 2/3.
  const long double t = 1 / (1 + std::sqrt(2 / 3.0L));
  const double beyond = double(exact(turns, t).x - 1);
  BOOST_TEST(std::fabs(common::distance_of_curve(turns, short_line, 2) - beyond) < 1e-14);
}

BOOST_AUTO_TEST_CASE(curves_against_dense_sampling) {
  const auto first = std::uint64_t(cut_down(12, 2));
  const random_cases cases(first);
  std::size_t points = 0;
  for (std::uint64_t seed = 0; cases.has(seed); ++seed) points += try_curves(seed + 1);
  BOOST_TEST(points > first * 24 * 3);  // most curves are divided
}

BOOST_AUTO_TEST_SUITE_END()
