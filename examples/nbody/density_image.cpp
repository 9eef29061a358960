// SPDX-License-Identifier: BSD-3-Clause
#include "density_image.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/colors.hpp"
#include "common/labeled_image.hpp"

namespace common {
namespace {

/// Returns the value that the fraction `share` of the values do not exceed.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + std::ptrdiff_t(share * double(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct window {
  double left, bottom, side;
};

/// Returns the square of the x-y plane that the image shows.
window visible_square(const bodies& all, double side) {
  std::vector<double> x(all.size());
  std::vector<double> y(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    x[i] = all.positions[i][0];
    y[i] = all.positions[i][1];
  }
  const double middle_x = quantile(x, 0.5);
  const double middle_y = quantile(y, 0.5);
  if (side == 0) {
    std::vector<double> distance(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      distance[i] = std::max(std::abs(x[i] - middle_x), std::abs(y[i] - middle_y));
    }
    side = 2.1 * quantile(std::move(distance), 0.9);
    if (!(side > 0)) side = 1;  // all bodies coincide
  }
  return {middle_x - side / 2, middle_y - side / 2, side};
}

/// Convolves one row or column of pixels with a Gaussian kernel.
void blur(double* first, std::size_t step, std::size_t count, const std::vector<double>& kernel,
          std::vector<double>& line) {
  const auto reach = std::ptrdiff_t(kernel.size()) - 1;
  const auto n = std::ptrdiff_t(count);
  for (std::ptrdiff_t i = 0; i < n; ++i) line[std::size_t(i)] = first[std::size_t(i) * step];
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(0, i - reach); j <= std::min(n - 1, i + reach);
         ++j) {
      sum += kernel[std::size_t(std::abs(i - j))] * line[std::size_t(j)];
    }
    first[std::size_t(i) * step] = sum;
  }
}

/// Returns the color of `share`, from 0 to 1.
rgb color_of(double share) {
  constexpr std::array<rgb, 7> colors{{{3, 4, 18},
                                       {38, 18, 84},
                                       {112, 28, 109},
                                       {190, 52, 84},
                                       {238, 118, 42},
                                       {250, 200, 80},
                                       {255, 253, 232}}};
  return color_along(colors, share);
}

}  // namespace

rgb_image draw_density(const bodies& all, double time, unsigned size, double side) {
  const window w = visible_square(all, side);
  // 1. Add each body's mass to its pixel; the first row is the top one.
  std::vector<double> density(std::size_t{size} * size);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double column = (all.positions[i][0] - w.left) / w.side * size;
    const double row = size - (all.positions[i][1] - w.bottom) / w.side * size;
    if (column >= 0 && column < size && row >= 0 && row < size) {
      density[std::size_t(row) * size + std::size_t(column)] += std::abs(all.masses[i]);
    }
  }
  // 2. Blur. Few bodies require a wide kernel; its maximum width limits the time.
  const double width = std::min(0.4 + 0.25 * size / std::sqrt(double(all.size()) + 1), 64.0);
  std::vector<double> kernel(std::size_t(std::min(3 * width, double(size))) + 1);
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    kernel[i] = std::exp(-0.5 * double(i) * double(i) / (width * width));
  }
  std::vector<double> line(size);
  for (std::size_t i = 0; i < size; ++i) blur(&density[i * size], 1, size, kernel, line);
  for (std::size_t i = 0; i < size; ++i) blur(&density[i], size, size, kernel, line);
  // 3. Map densities to colors.
  constexpr double decades = 1000;  // the ratio of the ends of the scale, about
  const double max_density = std::max(*std::ranges::max_element(density), 1e-300);
  rgb_image picture{size, size, std::vector<rgb>(density.size())};
  std::ranges::transform(density, picture.pixels.begin(), [&](double d) {
    return color_of(std::log1p(decades * (d / max_density)) / std::log1p(decades));
  });
  // 4. Add the scale. The kernel is not normalized, and a pixel has a mass, not a density.
  const double kernel_sum = 2 * std::accumulate(kernel.begin(), kernel.end(), 0.0) - kernel[0];
  const double pixel_side = w.side / size;
  const double unit = 1 / (kernel_sum * kernel_sum * pixel_side * pixel_side);
  const color_scale scale{color_of, [&](double share) {
                            return unit * max_density * std::expm1(share * std::log1p(decades)) /
                                   decades;
                          }};
  return labeled_image(picture, "projected density (mass/length^2)  time " + short_number(time),
                       scale, std::max(1u, size / 512));
}

}  // namespace common
