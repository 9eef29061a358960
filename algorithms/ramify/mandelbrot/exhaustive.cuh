// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exhaustive method of mandelbrot(): one thread for each pixel.

#include <ramify/mandelbrot/dwell.cuh>
#include <ramify/runtime/grid_trace.cuh>

namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD {

/// The side of the square of pixels that a block computes.
inline constexpr unsigned block_side = 16;
inline constexpr unsigned block_pixels = block_side * block_side;

/// Returns the number of blocks that compute all pixels.
[[nodiscard]] inline unsigned exhaustive_blocks(const dwell_image& image) {
  const auto squares = [](unsigned side) { return (side + block_side - 1) / block_side; };
  return squares(image.width) * squares(image.height);
}

/// Computes all pixels. A block computes a square. A warp computes 8 x 4 pixels of it, because near
/// pixels have similar dwells, and a warp runs as long as its largest dwell.
template <class Image>
__global__ void __launch_bounds__(block_pixels) iterate_pixels(Image image, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned columns = (image.width + block_side - 1) / block_side;
  const unsigned t = threadIdx.x;
  const unsigned x = blockIdx.x % columns * block_side + t / 32 % 2 * 8 + t % 8;
  const unsigned y = blockIdx.x / columns * block_side + t / 64 * 4 + t % 32 / 8;
  if (x < image.width && y < image.height) image.iterate(x, y, pixel_origin::iterated);
}

}  // namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD
