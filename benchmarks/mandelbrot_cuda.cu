// SPDX-License-Identifier: BSD-3-Clause
// The Mandelbrot set on a GPU: the method of Mariani and Silver by route, tile and threshold,
// compared with the exhaustive kernel. Each image is compared with that of the exhaustive kernel
// before a time is reported; few pixels may differ (see ramify/mandelbrot.cuh).
//   benchmark_mandelbrot_cuda --part tile
#include <algorithm>
#include <cstdint>
#include <ramify/mandelbrot.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"

namespace {

using namespace ramify;

constexpr std::uint32_t max_iterations = 10'000;
constexpr int repeats = 5;

/// An image by the exhaustive method, with which the others are compared.
struct reference_image {
  explicit reference_image(std::uint32_t side)
      : view{.width = side, .height = side}, dwells(view.pixels(), nullptr) {
    mandelbrot_options options;
    options.method = mandelbrot_method::exhaustive;
    options.max_iterations = max_iterations;
    time =
        benchmark::host_time_of(repeats, [&] { (void)mandelbrot(view, dwells.data(), options); });
    expected = benchmark::download(dwells.data(), view.pixels());
    for (const std::uint32_t dwell : expected) iterations += dwell;
  }

  /// Returns the number of pixels that differ. \throws std::runtime_error for more than 1 in 1,000
  [[nodiscard]] std::size_t count_differences() const {
    const auto found = benchmark::download(dwells.data(), view.pixels());
    std::size_t different = 0;
    for (std::size_t i = 0; i < found.size(); ++i) different += found[i] != expected[i];
    if (different > found.size() / 1000) {
      throw std::runtime_error(std::to_string(different) +
                               " pixels differ from the exhaustive image");
    }
    return different;
  }

  mandelbrot_view view;
  device_buffer<std::uint32_t> dwells;  ///< each image overwrites them
  std::vector<std::uint32_t> expected{};
  std::uint64_t iterations = 0;  ///< of all pixels
  benchmark::timing time{};
};

const std::vector<std::string> columns{"side",
                                       "method",
                                       "route",
                                       "took",
                                       "tile",
                                       "grain",
                                       "threshold",
                                       "ms",
                                       "Mpixels/s",
                                       "exhaustive / this",
                                       "iterated pixels, %",
                                       "differing pixels",
                                       "child grids"};

void exhaustive_row(benchmark::recorder& out, const reference_image& image) {
  const auto pixels = static_cast<double>(image.view.pixels());
  out.row({image.view.width, "exhaustive", "", "flat", "", "", "", image.time,
           pixels / image.time.median_ms / 1e3, 1.0, 100.0, 0, 0});
}

void divided_row(benchmark::recorder& out, const reference_image& image, route wanted,
                 mandelbrot_options options) {
  options.max_iterations = max_iterations;
  mandelbrot_report report;
  const auto draw = [&] {
    report = mandelbrot(image.view, image.dwells.data(), options, {.route = wanted});
  };
  draw();
  const std::size_t different = image.count_differences();
  const benchmark::timing time = benchmark::host_time_of(repeats, draw);
  const auto pixels = static_cast<double>(image.view.pixels());
  out.row({image.view.width, "mariani_silver", to_string(wanted), to_string(report.taken),
           options.tile, to_string(options.launches.grain), options.launches.threshold, time,
           pixels / time.median_ms / 1e3, image.time.median_ms / time.median_ms,
           100 * static_cast<double>(report.iterated_pixels) / pixels, different,
           report.child_grids});
}

void measure_sizes(benchmark::recorder& out) {
  out.table("sizes", columns,
            "10,000 iterations; tile and threshold 0 are automatic; medians of 5 "
            "(least–most)");
  std::vector<std::vector<benchmark::cell>> rates;
  for (const std::uint32_t side : {1024u, 4096u, 8192u}) {
    const reference_image image(side);
    exhaustive_row(out, image);
    for (const route taken : {route::device, route::flat, route::automatic}) {
      divided_row(out, image, taken, {});
    }
    const auto iterations = static_cast<double>(image.iterations);
    rates.push_back({side, iterations / 1e9, 7 * iterations / image.time.median_ms / 1e9});
  }
  out.table("exhaustive", {"side", "iterations, 10^9", "Tflop/s"},
            "The exhaustive kernel: an iteration has seven operations in double precision");
  for (const auto& row : rates) out.row(row);
}

void measure_tiles(benchmark::recorder& out) {
  out.table("tile", columns, "Side of the first rectangles");
  const reference_image image(4096);
  for (const std::uint32_t tile : {16u, 32u, 64u, 128u, 256u, 512u, 1024u}) {
    for (const route taken : {route::device, route::flat}) {
      mandelbrot_options options;
      options.tile = tile;
      divided_row(out, image, taken, options);
    }
  }
}

void measure_thresholds(benchmark::recorder& out) {
  out.table("threshold", columns,
            "Rectangles with fewer pixels inside of their border are iterated pixel by pixel");
  const reference_image image(4096);
  for (const granularity grain :
       {granularity::per_task, granularity::per_block, granularity::per_grid}) {
    for (const unsigned threshold : {64u, 256u, 1024u, 4096u, 16384u}) {
      for (const route taken : {route::device, route::flat}) {
        mandelbrot_options options;
        options.launches.grain = grain;
        options.launches.threshold = threshold;
        divided_row(out, image, taken, options);
      }
    }
  }
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("sizes")) measure_sizes(out);
  if (asked.has_part("tile")) measure_tiles(out);
  if (asked.has_part("threshold")) measure_thresholds(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "mandelbrot_cuda",
                         .about = "The Mandelbrot set on a GPU.",
                         .machine = benchmark::this_gpu,
                         .parts = {"sizes", "tile", "threshold"}},
                        argc, argv, measure_all);
}
