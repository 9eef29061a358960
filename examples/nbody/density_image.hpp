// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// An image of the density of bodies.

#include "bodies.hpp"
#include "common/png_image.hpp"

namespace common {

/// Draws the density of the masses' magnitudes, projected along the z axis, with x to the right and
/// y up, as a square image of `size` x `size` pixels. The colors cover three decades below the
/// maximum density on a logarithmic scale, from dark to light. The image shows a square of `side`
/// length units around the median; if `side` is 0, the square contains nine bodies in ten. A
/// Gaussian filter blurs the image, more for fewer bodies. On the right is the scale of the colors,
/// in units of mass per square unit of length, and above it the time.
[[nodiscard]] rgb_image draw_density(const bodies&, double time, unsigned size, double side = 0);

}  // namespace common
