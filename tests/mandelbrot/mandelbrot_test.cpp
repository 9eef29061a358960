// SPDX-License-Identifier: BSD-3-Clause
// Compares mandelbrot() with a plain loop and with its exhaustive method, on all routes, and tests
// its failures.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <cmath>
#include <ramify/cpu/executor.hpp>
#include <string>

#include "failed_launches.hpp"
#include "mandelbrot_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::flat_loop;
using ramify::granularity;

namespace {

/// Returns the maximum number of pixels that may differ from the exhaustive image. None differ on
/// the executor, but a GPU rounds differently.
std::size_t max_differing(const mandelbrot_view& view) {
  return RAMIFY_ON_CUDA ? view.pixels() / 10'000 + 1 : 0;
}

/// Returns the place of a pixel in the plane.
complex place_of(const mandelbrot_view& view, std::size_t pixel) {
  const std::size_t row = pixel / view.width;
  const double x = double(pixel % view.width) - (view.width - 1) / 2.0;
  const double y = (view.height - 1) / 2.0 - double(row);
  return view.center + view.step() * complex(x, y);
}

/// Returns the dwell of a pixel, by the arithmetic of std::complex and a test in each iteration.
std::uint32_t plain_dwell(const mandelbrot_view& view, std::size_t pixel,
                          std::uint32_t max_iterations) {
  const complex place = place_of(view, pixel);
  complex z = view.julia ? place : 0;
  const complex c = view.julia.value_or(place);
  const double bound = view.julia ? std::max(2.0, std::abs(c)) : 2.0;
  std::uint32_t n = 0;
  for (; n < max_iterations && std::abs(z) <= bound; ++n) z = z * z + c;
  return n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mandelbrot_images)

BOOST_AUTO_TEST_CASE(the_exhaustive_method_agrees_with_a_plain_loop,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  for (const mandelbrot_view& view : views) {
    const image made = compute_all(view, {.max_iterations = 200});
    std::vector<std::uint32_t> expected(view.pixels());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = plain_dwell(view, i, 200);
    // Both round differently, which matters next to the boundary of the set.
    BOOST_TEST(differing(made.dwells, expected) <= view.pixels() / 500);
    // Negative control: another number of iterations gives another image.
    if (&view == views) {
      BOOST_TEST(differing(compute_all(view, {.max_iterations = 20}).dwells, expected) >
                 view.pixels() / 10);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_dwell_does_not_exceed_any_maximum,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const mandelbrot_view view{.width = 24, .height = 24};
  for (std::uint32_t most = 1; most <= 20; ++most) {
    const image made = compute_all(view, {.max_iterations = most});
    for (std::size_t i = 0; i < view.pixels(); ++i) {
      BOOST_TEST(made.dwells[i] == plain_dwell(view, i, most));
    }
  }
}

BOOST_DATA_TEST_CASE(rectangles_give_the_same_image_as_all_pixels, data::make(routes), taken) {
  std::size_t iterated = 0;
  std::size_t pixels = 0;
  int piece = 0;
  for (const mandelbrot_view& view : views) {
    const image all = compute_all(view, {.max_iterations = 200});
    for (const std::uint32_t tile : {0u, 8u, 50u, 4096u}) {
      if (left_out_by_tsan(piece, 5)) continue;
      mandelbrot_options options = deep();
      options.tile = tile;
      const image made = compute(view, options, {.route = taken});
      BOOST_TEST(made.report.taken == taken);
      BOOST_TEST_CONTEXT("tile " << tile << ", view " << &view - views) {
        BOOST_TEST(differing(made.dwells, all.dwells) <= max_differing(view));
      }
      iterated += made.report.iterated_pixels;
      pixels += view.pixels();
    }
  }
  BOOST_TEST(iterated < pixels * 3 / 4);  // the others are filled
}

BOOST_AUTO_TEST_CASE(images_of_any_shape_are_complete) {
  int piece = 0;
  for (const auto& [width, height] : std::vector<std::pair<unsigned, unsigned>>{{1, 1},
                                                                                {1, 2},
                                                                                {2, 1},
                                                                                {1, 300},
                                                                                {300, 1},
                                                                                {2, 2},
                                                                                {3, 2},
                                                                                {9, 9},
                                                                                {65, 66},
                                                                                {257, 9}}) {
    const mandelbrot_view view{.width = width, .height = height};
    const image all = compute_all(view, {.max_iterations = 50});
    for (const std::uint32_t tile : {0u, 8u, 4096u}) {
      if (left_out_by_tsan(piece, 4)) continue;
      const image made = compute(view, {.max_iterations = 50, .tile = tile});
      BOOST_TEST(differing(made.dwells, all.dwells) <= max_differing(view));
    }
  }
}

// The border of the image has one dwell. Only the rule for rectangles that contain 0 finds the set.
BOOST_AUTO_TEST_CASE(a_set_inside_a_uniform_border_is_found) {
  const mandelbrot_view view{.width = 200, .height = 200, .center = {0.3, 0.2}, .zoom = 0.01};
  const image made = compute(view, deep(), {.route = route::device});
  const auto [least, most] = std::ranges::minmax(made.dwells);
  BOOST_TEST(most == 200u);
  for (unsigned i = 0; i < 200; ++i) {
    BOOST_TEST(made.dwells[i] == least);
    BOOST_TEST(made.dwells[200 * 199 + i] == least);
    BOOST_TEST(made.dwells[200 * i] == least);
    BOOST_TEST(made.dwells[200 * i + 199] == least);
  }
  BOOST_TEST(made.report.iterated_pixels < view.pixels() / 4);
}

BOOST_DATA_TEST_CASE(limits_change_neither_image_nor_counts,
                     data::make(routes) * data::make({1, 16, 2048}), taken, limit) {
  const auto run = [](route r, std::size_t pending) {
    return compute(views[0], deep(), {.route = r, .pending_launches = pending});
  };
  static const image expected = run(route::flat, 0);
  const image made = run(taken, std::size_t(limit));
  // A GPU may allow more launches than were requested.
  if (!RAMIFY_ON_CUDA) BOOST_TEST(made.report.taken == (limit >= 16 ? taken : route::flat));
  BOOST_TEST(differing(made.dwells, expected.dwells) == 0u);
  BOOST_TEST((made.origins == expected.origins));
  BOOST_TEST(made.report.divided_rectangles == expected.report.divided_rectangles);
  BOOST_TEST(made.report.filled_rectangles == expected.report.filled_rectangles);
  BOOST_TEST(made.report.small_rectangles == expected.report.small_rectangles);
  if (limit < 2048) return;
  BOOST_TEST(made.report.deepest_level == 2u);
  if (taken == route::device) BOOST_TEST(made.report.child_grids > 3u);
}

BOOST_DATA_TEST_CASE(tasks_may_share_grids,
                     data::make(ramify::all_choices<granularity>()) * data::make({1u, 3u}), grain,
                     coarsening) {
  static const image expected = compute(views[3], deep(), {.route = route::flat});
  mandelbrot_options options = deep();
  options.launches.grain = grain;
  options.launches.coarsening = coarsening;
  for (const std::size_t limit : {16, 2048}) {
    const image made =
        compute(views[3], options, {.route = route::device, .pending_launches = limit});
    BOOST_TEST(differing(made.dwells, expected.dwells) == 0u);
    BOOST_TEST((made.origins == expected.origins));
  }
}

BOOST_AUTO_TEST_CASE(a_larger_threshold_divides_fewer_rectangles) {
  mandelbrot_options options = deep();
  const image fine = compute(views[0], options, {.route = route::device});
  options.launches.threshold = 100'000;
  const image coarse = compute(views[0], options, {.route = route::device});
  BOOST_TEST(coarse.report.divided_rectangles == 0u);
  BOOST_TEST(coarse.report.small_rectangles == 1u);
  BOOST_TEST(fine.report.divided_rectangles > 10u);
  BOOST_TEST(differing(fine.dwells, coarse.dwells) <= max_differing(views[0]));
}

BOOST_AUTO_TEST_CASE(images_are_the_same_under_any_schedule,
                     *boost::unit_test::precondition(on_the_executor)) {
  const image expected = compute(views[0], deep(), {.route = route::device});
  std::vector<std::string> schedules{"eager", "late"};
  for (int seed = 1; seed <= std::min(random_schedules(), 20); ++seed) {
    schedules.push_back("random:" + std::to_string(seed));
  }
  for (const std::string& schedule : schedules) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    const image made = compute(views[0], deep(), {.route = route::device, .pending_launches = 64});
    BOOST_TEST(differing(made.dwells, expected.dwells) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const image expected = compute(views[0], deep(), {.route = route::device});
  const auto executor = ramify::cpu::parse_executor_config("random:1");
  const auto last = std::uint64_t(cut_down(12, 4));
  const unsigned interrupted = tests::count_interrupted(last, executor, [&](std::uint64_t) {
    const image made = compute(views[0], deep(), {.route = route::device});
    BOOST_TEST(differing(made.dwells, expected.dwells) == 0u);
    return made.report.spilled_tasks > 0;
  });
  BOOST_TEST(interrupted >= 2u);  // negative control: the failures did end launches
}

BOOST_DATA_TEST_CASE(the_julia_set_of_0_is_the_unit_disk, data::make(routes), taken) {
  const mandelbrot_view view{.width = 200, .height = 180, .center = 0, .zoom = 1.1, .julia = 0};
  const image made = compute(view, deep(), {.route = taken});
  for (std::size_t i = 0; i < view.pixels(); ++i) {
    BOOST_TEST((made.dwells[i] == 200) == (std::abs(place_of(view, i)) < 1));
  }
}

// Best known estimate: 1.50659 (Förstemann, 2012).
BOOST_AUTO_TEST_CASE(the_area_of_the_set_converges,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  double bound = 0.08;
  for (const std::uint32_t side : {64u, 128u, 256u}) {
    const mandelbrot_view view{.width = side, .height = side};
    for (const bool skips : {false, true}) {
      mandelbrot_options options{.max_iterations = 1000, .skip_bulbs = skips};
      const image made = compute(view, options);
      const auto inside = double(std::ranges::count(made.dwells, 1000u));
      BOOST_TEST(std::fabs(inside * view.step() * view.step() - 1.50659) < bound);
    }
    bound /= 2;
  }
}

BOOST_AUTO_TEST_CASE(points_of_the_bulbs_are_in_the_set,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const mandelbrot_view view{.width = 150, .height = 150};
  const image iterated = compute_all(view, {.max_iterations = 500});
  const image skipped = compute_all(view, {.max_iterations = 500, .skip_bulbs = true});
  BOOST_TEST(differing(iterated.dwells, skipped.dwells) == 0u);
  // With a few iterations, points outside of the set have the dwell of the set, too, but points of
  // the bulbs never have a smaller one.
  const image short_ones = compute_all(view, {.max_iterations = 7, .skip_bulbs = true});
  BOOST_TEST(differing(short_ones.dwells, compute_all(view, {.max_iterations = 7}).dwells) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
