// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Pictures as PNG files.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace common {

using rgb = std::array<std::uint8_t, 3>;

/// Rows from the top, pixels from the left.
struct rgb_image {
  unsigned width = 0;
  unsigned height = 0;
  std::vector<rgb> pixels;
};

/// The file appears whole or not at all. \throws bad_output naming it
void write_png(const std::filesystem::path&, const rgb_image&);

}  // namespace common
