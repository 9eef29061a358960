// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Images as PNG files.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace common {

using rgb = std::array<std::uint8_t, 3>;

/// An image. Rows are stored from the top, pixels from the left.
struct rgb_image {
  unsigned width = 0;
  unsigned height = 0;
  std::vector<rgb> pixels;
};

/// Writes an image completely or not at all. \throws bad_output that names the file
void write_png(const std::filesystem::path&, const rgb_image&);

}  // namespace common
