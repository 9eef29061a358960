// SPDX-License-Identifier: BSD-3-Clause
// Compares mandelbrot() with a plain loop and with its exhaustive method, on all routes, and tests
// its failures.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/mandelbrot.cuh>
#include <ramify/mandelbrot.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "printing.hpp"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::flat_loop;
using ramify::granularity;
using ramify::mandelbrot_method;
using ramify::mandelbrot_options;
using ramify::mandelbrot_report;
using ramify::mandelbrot_view;
using ramify::pixel_origin;
using ramify::route;

namespace {

using complex = std::complex<double>;

constexpr std::uint32_t unwritten = ~0u;

struct image {
  std::vector<std::uint32_t> dwells;
  std::vector<pixel_origin> origins;
  mandelbrot_report report;
};

/// Checks that each pixel is written, that the report counts the origins of all pixels, and that
/// rectangles write only inside the border of the image.
void check_pixels(const mandelbrot_view& view, const mandelbrot_options& options,
                  const image& made) {
  const auto written = std::ranges::count(made.dwells, unwritten) == 0;
  BOOST_TEST(written);
  const auto filled = std::ranges::count(made.origins, pixel_origin::filled);
  BOOST_TEST(made.report.filled_pixels == std::uint64_t(filled));
  BOOST_TEST(made.report.iterated_pixels == made.origins.size() - std::size_t(filled));
  if (options.method == mandelbrot_method::exhaustive) return;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < view.pixels(); ++i) {
    const std::size_t x = i % view.width;
    const std::size_t y = i / view.width;
    const bool on_border = x == 0 || y == 0 || x == view.width - 1 || y == view.height - 1;
    if (on_border && made.origins[i] != pixel_origin::line) ++wrong;
  }
  BOOST_TEST(wrong == 0u);
}

/// Computes an image under a pending-launch limit.
image compute(const mandelbrot_view& view, const mandelbrot_options& options,
              std::size_t pending_launches = 0) {
  const auto limit = scoped_limit(pending_launches);
  image made;
  const auto dwells = upload(std::vector(view.pixels(), unwritten));
  const auto origins = upload(std::vector(view.pixels(), pixel_origin(9)));
  made.report = with_grids_counted([&] {
    return ramify::mandelbrot(view, dwells.data(), nullptr, options, {}, origins.data());
  });
  made.dwells = download(dwells);
  made.origins = download(origins);
  check_pixels(view, options, made);
  return made;
}

image compute_all(const mandelbrot_view& view, mandelbrot_options options) {
  options.method = mandelbrot_method::exhaustive;
  image made = compute(view, options);
  BOOST_TEST(made.report.host_grids == 1u);
  BOOST_TEST(made.report.filled_pixels == 0u);
  return made;
}

std::size_t differing(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

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

/// The whole set, a part with filaments, a set that is small against a tile, and Julia sets: one
/// in one piece, and two that are dust, one of them with a large constant.
const mandelbrot_view views[] = {
    {.width = 280, .height = 260},
    {.width = 120, .height = 120, .center = {-0.7436, 0.1318}, .zoom = 200},
    {.width = 140, .height = 130, .center = {0.03, 0.02}, .zoom = 0.01},
    {.width = 160, .height = 100, .center = 0, .zoom = 0.9, .julia = complex(-0.1226, 0.7449)},
    {.width = 128, .height = 128, .center = 0, .julia = complex(-0.6, 0.6)},
    {.width = 200, .height = 160, .center = 0, .zoom = 0.075, .julia = complex(0, 100)},
};

/// The options of a deep recursion on a small image: one tile, and the smallest tasks.
mandelbrot_options deep(route taken) {
  mandelbrot_options options;
  options.route = taken;
  options.max_iterations = 200;
  options.tile = 4096;
  options.launches.threshold = 1;
  return options;
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
      mandelbrot_options options = deep(taken);
      options.tile = tile;
      const image made = compute(view, options);
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
  const image made = compute(view, deep(route::device));
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
  const auto run = [](route r, std::size_t pending) { return compute(views[0], deep(r), pending); };
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
  static const image expected = compute(views[3], deep(route::flat));
  mandelbrot_options options = deep(route::device);
  options.launches.grain = grain;
  options.launches.coarsening = coarsening;
  for (const std::size_t limit : {16, 2048}) {
    const image made = compute(views[3], options, limit);
    BOOST_TEST(differing(made.dwells, expected.dwells) == 0u);
    BOOST_TEST((made.origins == expected.origins));
  }
}

BOOST_AUTO_TEST_CASE(a_larger_threshold_divides_fewer_rectangles) {
  mandelbrot_options options = deep(route::device);
  const image fine = compute(views[0], options);
  options.launches.threshold = 100'000;
  const image coarse = compute(views[0], options);
  BOOST_TEST(coarse.report.divided_rectangles == 0u);
  BOOST_TEST(coarse.report.small_rectangles == 1u);
  BOOST_TEST(fine.report.divided_rectangles > 10u);
  BOOST_TEST(differing(fine.dwells, coarse.dwells) <= max_differing(views[0]));
}

BOOST_AUTO_TEST_CASE(images_are_the_same_under_any_schedule,
                     *boost::unit_test::precondition(on_the_executor)) {
  const image expected = compute(views[0], deep(route::device));
  std::vector<std::string> schedules{"eager", "late"};
  for (int seed = 1; seed <= std::min(random_schedules(), 20); ++seed) {
    schedules.push_back("random:" + std::to_string(seed));
  }
  for (const std::string& schedule : schedules) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    const image made = compute(views[0], deep(route::device), 64);
    BOOST_TEST(differing(made.dwells, expected.dwells) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const image expected = compute(views[0], deep(route::device));
  const auto executor = ramify::cpu::parse_executor_config("random:1");
  const auto last = std::uint64_t(cut_down(12, 4));
  const unsigned interrupted = tests::count_interrupted(last, executor, [&](std::uint64_t) {
    const image made = compute(views[0], deep(route::device));
    BOOST_TEST(differing(made.dwells, expected.dwells) == 0u);
    return made.report.spilled_tasks > 0;
  });
  BOOST_TEST(interrupted >= 2u);  // negative control: the failures did end launches
}

BOOST_DATA_TEST_CASE(the_julia_set_of_0_is_the_unit_disk, data::make(routes), taken) {
  const mandelbrot_view view{.width = 200, .height = 180, .center = 0, .zoom = 1.1, .julia = 0};
  const image made = compute(view, deep(taken));
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

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_before_any_launch) {
  const auto before = ramify::cpu::grids_begun();
  const auto dwells = zeros<std::uint32_t>(100);
  const mandelbrot_view small{.width = 10, .height = 10};
  const auto refused = [&](const mandelbrot_view& view, const mandelbrot_options& options,
                           const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(view, dwells.data(), nullptr, options),
                          std::invalid_argument, names(text));
    BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot_scratch_bytes(view, options),
                          std::invalid_argument, names(text));
  };
  refused({.width = 0}, {}, "mandelbrot_view.width is 0; it must be in [1, 65536]");
  refused({.width = 65537}, {}, "mandelbrot_view.width is 65537");
  refused({.height = 0}, {}, "mandelbrot_view.height is 0");
  refused({.height = 1u << 31}, {}, "mandelbrot_view.height is 2147483648");
  refused({.center = {NAN, 0}}, {}, "mandelbrot_view.center is (nan,0); both parts must be in");
  refused({.center = {0, HUGE_VAL}}, {}, "mandelbrot_view.center is (0,inf)");
  refused({.center = {0, -2e6}}, {}, "mandelbrot_view.center");
  refused({.zoom = 0}, {}, "mandelbrot_view.zoom is 0; it must be finite and at least 1e-6");
  refused({.zoom = NAN}, {}, "mandelbrot_view.zoom is nan");
  refused({.zoom = -1}, {}, "mandelbrot_view.zoom is -1");
  refused({.zoom = HUGE_VAL}, {}, "mandelbrot_view.zoom is inf");
  refused({.zoom = 1e14}, {}, "neighboring pixels have the same coordinates");
  refused({.julia = complex(0, NAN)}, {}, "mandelbrot_view.julia is (0,nan)");
  refused(small, {.route = route(9)}, "mandelbrot_options.route");
  refused(small, {.method = mandelbrot_method(2)}, "mandelbrot_options.method");
  refused(small, {.max_iterations = 0}, "max_iterations is 0; it must be in [1, 1000000000]");
  refused(small, {.max_iterations = 1'000'000'001}, "max_iterations is 1000000001");
  refused(small, {.tile = 7}, "mandelbrot_options.tile is 7; it must be 0 or in [8, 65536]");
  refused(small, {.launches = {.coarsening = 0}}, "mandelbrot_options.launches.coarsening is 0");
  refused(small, {.flat_loop = flat_loop(5)}, "mandelbrot_options.flat_loop");
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(small, nullptr), std::invalid_argument,
                        names("mandelbrot: dwells is null"));
  BOOST_CHECK_EXCEPTION(
      (void)ramify::mandelbrot({.width = 5, .height = 5}, dwells.data(), nullptr, {}, {},
                               reinterpret_cast<pixel_origin*>(dwells.data() + 24)),
      std::invalid_argument, names("dwells and origins overlap"));
  const std::size_t bytes = ramify::mandelbrot_scratch_bytes(small);
  const ramify::device_buffer<std::byte> memory(bytes, nullptr);
  BOOST_CHECK_EXCEPTION(
      (void)ramify::mandelbrot(small, dwells.data(), nullptr, {}, {memory.data(), bytes - 1}),
      std::invalid_argument, names("mandelbrot: scratch.bytes is"));
  BOOST_TEST(ramify::cpu::grids_begun() == before);
  BOOST_TEST(std::ranges::count(download(dwells), 0u) == 100);
  const auto report = ramify::mandelbrot(small, dwells.data(), nullptr, {}, {memory.data(), bytes});
  BOOST_TEST(report.scratch_bytes == bytes);
}

BOOST_AUTO_TEST_CASE(the_facade_computes_the_same_image) {
  const mandelbrot_view& view = views[3];
  mandelbrot_options options = deep(route::device);
  const image expected = compute(view, options);
  options.backend = tests::backend_under_test();
  options.pending_launches = 64;
  std::vector<std::uint32_t> dwells(view.pixels());
  std::vector<pixel_origin> origins(view.pixels());
  const auto report = ramify::mandelbrot(view, dwells, options, origins);
  BOOST_TEST(differing(dwells, expected.dwells) == 0u);
  BOOST_TEST((origins == expected.origins));
  BOOST_TEST(report.pending_launch_limit == 64u);
  BOOST_TEST(report.filled_pixels == expected.report.filled_pixels);

  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot({}, dwells), std::invalid_argument,
                        names("mandelbrot: 262144 pixels, but 16000 dwells"));
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(view, dwells, {}, std::span(origins).first(9)),
                        std::invalid_argument, names("16000 pixels, but 9 origins"));
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot({.zoom = 0}, dwells), std::invalid_argument,
                        names("mandelbrot_view.zoom is 0"));
  options.backend = ramify::backend(7);
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(view, dwells, options), std::invalid_argument,
                        names("mandelbrot_options.backend"));
  BOOST_CHECK_EXCEPTION((void)ramify::parse_mandelbrot_method("fast"), std::invalid_argument,
                        names("method 'fast' is neither mariani_silver nor exhaustive"));
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

BOOST_DATA_TEST_CASE(a_captured_image_is_computed_by_each_launch_of_its_graph,
                     data::make(routes) * data::make({0, 1}), taken, method) {
  const mandelbrot_view& view = views[0];
  mandelbrot_options options = deep(taken);
  options.method = mandelbrot_method(method);
  const image expected = compute(view, options);
  const ramify::host_stream stream;
  const std::size_t bytes = ramify::mandelbrot_scratch_bytes(view, options);
  const ramify::device_buffer<std::byte> scratch(bytes, nullptr);
  const ramify::device_buffer<std::uint32_t> dwells(view.pixels(), nullptr);
  ramify::check(cudaDeviceSynchronize(), "preparing");
  std::optional<ramify::mandelbrot_run> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    (void)run.emplace(view, dwells.data(), stream.get(), options,
                      ramify::scratch_memory{scratch.data(), bytes}, nullptr);
  });
  for (int launches = 0; launches < 2; ++launches) {
    ramify::check(
        cudaMemsetAsync(dwells.data(), 0xff, view.pixels() * sizeof(std::uint32_t), stream.get()),
        "clearing the dwells");
    graph.launch(stream.get());
    const auto report = run->get();
    BOOST_TEST(differing(download(dwells), expected.dwells) == 0u);
    BOOST_TEST(report.iterated_pixels == expected.report.iterated_pixels);
  }
}

BOOST_AUTO_TEST_CASE(host_and_graph_launch_the_same_levels) {
  mandelbrot_options options = deep(route::flat);
  options.flat_loop = flat_loop::host;
  const image by_host = compute(views[0], options);
  options.flat_loop = flat_loop::graph;
  const image by_graph = compute(views[0], options);
  BOOST_TEST(by_graph.report.looped_by == flat_loop::graph);
  BOOST_TEST(differing(by_host.dwells, by_graph.dwells) == 0u);
}

#else

BOOST_AUTO_TEST_CASE(a_loop_of_a_graph_is_refused_on_the_executor) {
  const auto dwells = zeros<std::uint32_t>(100);
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot({.width = 10, .height = 10}, dwells.data(),
                                                 nullptr, {.flat_loop = flat_loop::graph}),
                        ramify::unavailable, names("the CPU executor has no graphs"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
