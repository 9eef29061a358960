// SPDX-License-Identifier: BSD-3-Clause
// Tests the calls of mandelbrot(): bad arguments, the facade, and graphs.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <cmath>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <span>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "exceptions.hpp"
#include "mandelbrot_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::flat_loop;

BOOST_AUTO_TEST_SUITE(mandelbrot_images)

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_before_any_launch) {
  const auto before = ramify::cpu::grids_begun();
  const auto dwells = zeros<std::uint32_t>(100);
  const mandelbrot_view small{.width = 10, .height = 10};
  const auto refused = [&](const mandelbrot_view& view, const mandelbrot_options& options,
                           const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(view, dwells.data(), options),
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
  refused(small, {.method = mandelbrot_method(2)}, "mandelbrot_options.method");
  refused(small, {.max_iterations = 0}, "max_iterations is 0; it must be in [1, 1000000000]");
  refused(small, {.max_iterations = 1'000'000'001}, "max_iterations is 1000000001");
  refused(small, {.tile = 7}, "mandelbrot_options.tile is 7; it must be 0 or in [8, 65536]");
  refused(small, {.launches = {.coarsening = 0}}, "mandelbrot_options.launches.coarsening is 0");
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(small, nullptr), std::invalid_argument,
                        names("mandelbrot: dwells is null"));
  BOOST_CHECK_EXCEPTION(
      (void)ramify::mandelbrot({.width = 5, .height = 5}, dwells.data(),
                               reinterpret_cast<pixel_origin*>(dwells.data() + 24), {}),
      std::invalid_argument, names("dwells and origins overlap"));
  const std::size_t bytes = ramify::mandelbrot_scratch_bytes(small);
  const ramify::device_buffer<std::byte> memory(bytes, nullptr);
  const auto refused_in = [&](const environment& env, const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(small, dwells.data(), env),
                          std::invalid_argument, names(text));
  };
  refused_in({.route = route(9)}, "environment.route");
  refused_in({.flat_loop = flat_loop(5)}, "environment.flat_loop");
  refused_in({.memory = {memory.data(), bytes - 1}}, "mandelbrot: environment.memory has");
  BOOST_TEST(ramify::cpu::grids_begun() == before);
  BOOST_TEST(std::ranges::count(download(dwells), 0u) == 100);
  const auto report = ramify::mandelbrot(small, dwells.data(), {.memory = memory});
  BOOST_TEST(report.scratch_bytes == bytes);
}

BOOST_AUTO_TEST_CASE(the_facade_computes_the_same_image) {
  const mandelbrot_view& view = views[3];
  const image expected = compute(view, deep(), {.route = route::device});
  environment env{
      .backend = tests::backend_under_test(), .route = route::device, .pending_launches = 64};
  std::vector<std::uint32_t> dwells(view.pixels());
  std::vector<pixel_origin> origins(view.pixels());
  const auto report = ramify::mandelbrot(view, dwells, origins, deep(), env);
  BOOST_TEST(differing(dwells, expected.dwells) == 0u);
  BOOST_TEST((origins == expected.origins));
  BOOST_TEST(report.pending_launch_limit == 64u);
  BOOST_TEST(report.filled_pixels == expected.report.filled_pixels);

  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot({}, dwells), std::invalid_argument,
                        names("mandelbrot: 262144 pixels, but 16000 dwells"));
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(view, dwells, std::span(origins).first(9), {}),
                        std::invalid_argument, names("16000 pixels, but 9 origins"));
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot({.zoom = 0}, dwells), std::invalid_argument,
                        names("mandelbrot_view.zoom is 0"));
  env.backend = ramify::backend(7);
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot(view, dwells, env), std::invalid_argument,
                        names("environment.backend"));
  BOOST_CHECK_EXCEPTION((void)ramify::parse_mandelbrot_method("fast"), std::invalid_argument,
                        names("method 'fast' is neither mariani_silver nor exhaustive"));
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

BOOST_DATA_TEST_CASE(a_captured_image_is_computed_by_each_launch_of_its_graph,
                     data::make(routes) * data::make({0, 1}), taken, method) {
  const mandelbrot_view& view = views[0];
  mandelbrot_options options = deep();
  options.method = mandelbrot_method(method);
  const image expected = compute(view, options, {.route = taken});
  const ramify::host_stream stream;
  const std::size_t bytes = ramify::mandelbrot_scratch_bytes(view, options);
  const ramify::device_buffer<std::byte> scratch(bytes, nullptr);
  const ramify::device_buffer<std::uint32_t> dwells(view.pixels(), nullptr);
  ramify::check(cudaDeviceSynchronize(), "preparing");
  std::optional<ramify::async_run<mandelbrot_report>> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    (void)run.emplace(ramify::mandelbrot_async(
        view, dwells.data(), options, {.stream = stream, .memory = scratch, .route = taken}));
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
  const image by_host =
      compute(views[0], deep(), {.route = route::flat, .flat_loop = flat_loop::host});
  const image by_graph =
      compute(views[0], deep(), {.route = route::flat, .flat_loop = flat_loop::graph});
  BOOST_TEST(by_graph.report.looped_by == flat_loop::graph);
  BOOST_TEST(differing(by_host.dwells, by_graph.dwells) == 0u);
}

#else

BOOST_AUTO_TEST_CASE(a_loop_of_a_graph_is_refused_on_the_executor) {
  const auto dwells = zeros<std::uint32_t>(100);
  BOOST_CHECK_EXCEPTION((void)ramify::mandelbrot({.width = 10, .height = 10}, dwells.data(),
                                                 {.flat_loop = flat_loop::graph}),
                        ramify::unavailable, names("the CPU executor has no graphs"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
