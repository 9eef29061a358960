// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A picture of where bodies are.

#include "bodies.hpp"
#include "png_image.hpp"

namespace common {

/// The density of the bodies' masses (magnitudes) seen along the z axis, x to the right and y up, in
/// a square picture of `size` pixels a side: three decades below the greatest density, on a
/// logarithmic scale, from dark to light. It shows a square of `side` length units around the median;
/// if `side` is 0, so large that it holds nine bodies in ten. The fewer bodies, the wider each is
/// smeared.
[[nodiscard]] rgb_image draw_density(const bodies&, unsigned size, double side = 0);

}  // namespace common
