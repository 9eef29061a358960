// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The Utah teapot: the control points of its 32 patches. Plain C++.

#include <cstddef>
#include <iterator>
#include <ramify/tessellation/config.hpp>
#include <ramify/version.hpp>
#include <vector>

namespace ramify::detail::tessellation::inline RAMIFY_ABI {

/// The different control points of the patches below, in units of M. Newell's model (1975), whose
/// height J. Blinn has divided by 1.3. The z axis points up. The bottom is F. Crow's (1987).
inline constexpr surface_point teapot_points[] = {
    {1.4, 0, 2.4},
    {1.4, -0.784, 2.4},
    {0.784, -1.4, 2.4},
    {0, -1.4, 2.4},
    {1.3375, 0, 2.53125},
    {1.3375, -0.749, 2.53125},
    {0.749, -1.3375, 2.53125},
    {0, -1.3375, 2.53125},
    {1.4375, 0, 2.53125},
    {1.4375, -0.805, 2.53125},
    {0.805, -1.4375, 2.53125},
    {0, -1.4375, 2.53125},
    {1.5, 0, 2.4},
    {1.5, -0.84, 2.4},
    {0.84, -1.5, 2.4},
    {0, -1.5, 2.4},
    {1.75, 0, 1.875},
    {1.75, -0.98, 1.875},
    {0.98, -1.75, 1.875},
    {0, -1.75, 1.875},
    {2, 0, 1.35},
    {2, -1.12, 1.35},
    {1.12, -2, 1.35},
    {0, -2, 1.35},
    {2, 0, 0.9},
    {2, -1.12, 0.9},
    {1.12, -2, 0.9},
    {0, -2, 0.9},
    {2, 0, 0.45},
    {2, -1.12, 0.45},
    {1.12, -2, 0.45},
    {0, -2, 0.45},
    {1.5, 0, 0.225},
    {1.5, -0.84, 0.225},
    {0.84, -1.5, 0.225},
    {0, -1.5, 0.225},
    {1.5, 0, 0.15},
    {1.5, -0.84, 0.15},
    {0.84, -1.5, 0.15},
    {0, -1.5, 0.15},
    {0, 0, 3.15},
    {0.8, 0, 3.15},
    {0.8, -0.45, 3.15},
    {0.45, -0.8, 3.15},
    {0, -0.8, 3.15},
    {0, 0, 2.85},
    {0.2, 0, 2.7},
    {0.2, -0.112, 2.7},
    {0.112, -0.2, 2.7},
    {0, -0.2, 2.7},
    {0.4, 0, 2.55},
    {0.4, -0.224, 2.55},
    {0.224, -0.4, 2.55},
    {0, -0.4, 2.55},
    {1.3, 0, 2.55},
    {1.3, -0.728, 2.55},
    {0.728, -1.3, 2.55},
    {0, -1.3, 2.55},
    {1.3, 0, 2.4},
    {1.3, -0.728, 2.4},
    {0.728, -1.3, 2.4},
    {0, -1.3, 2.4},
    {0, 0, 0},
    {0, -1.425, 0},
    {0.798, -1.425, 0},
    {1.425, -0.798, 0},
    {1.425, 0, 0},
    {0, -1.5, 0.075},
    {0.84, -1.5, 0.075},
    {1.5, -0.84, 0.075},
    {1.5, 0, 0.075},
    {-1.6, 0, 2.025},
    {-1.6, -0.3, 2.025},
    {-1.5, -0.3, 2.25},
    {-1.5, 0, 2.25},
    {-2.3, 0, 2.025},
    {-2.3, -0.3, 2.025},
    {-2.5, -0.3, 2.25},
    {-2.5, 0, 2.25},
    {-2.7, 0, 2.025},
    {-2.7, -0.3, 2.025},
    {-3, -0.3, 2.25},
    {-3, 0, 2.25},
    {-2.7, 0, 1.8},
    {-2.7, -0.3, 1.8},
    {-3, -0.3, 1.8},
    {-3, 0, 1.8},
    {-2.7, 0, 1.575},
    {-2.7, -0.3, 1.575},
    {-3, -0.3, 1.35},
    {-3, 0, 1.35},
    {-2.5, 0, 1.125},
    {-2.5, -0.3, 1.125},
    {-2.65, -0.3, 0.9375},
    {-2.65, 0, 0.9375},
    {-2, 0, 0.9},
    {-2, -0.3, 0.9},
    {-1.9, -0.3, 0.6},
    {-1.9, 0, 0.6},
    {1.7, 0, 1.425},
    {1.7, -0.66, 1.425},
    {1.7, -0.66, 0.6},
    {1.7, 0, 0.6},
    {2.6, 0, 1.425},
    {2.6, -0.66, 1.425},
    {3.1, -0.66, 0.825},
    {3.1, 0, 0.825},
    {2.3, 0, 2.1},
    {2.3, -0.25, 2.1},
    {2.4, -0.25, 2.025},
    {2.4, 0, 2.025},
    {2.7, 0, 2.4},
    {2.7, -0.25, 2.4},
    {3.3, -0.25, 2.4},
    {3.3, 0, 2.4},
    {2.8, 0, 2.475},
    {2.8, -0.25, 2.475},
    {3.525, -0.25, 2.49375},
    {3.525, 0, 2.49375},
    {2.9, 0, 2.475},
    {2.9, -0.15, 2.475},
    {3.45, -0.15, 2.5125},
    {3.45, 0, 2.5125},
    {2.8, 0, 2.4},
    {2.8, -0.15, 2.4},
    {3.2, -0.15, 2.4},
    {3.2, 0, 2.4},
};

/// The control points of ten patches: rim, body (2), lid (2) and bottom, each a quarter that is
/// rotated about the z axis; then handle (2) and spout (2), each a half that is mirrored in y.
inline constexpr unsigned char teapot_patches[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27},
    {24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39},
    {40, 40, 40, 40, 41, 42, 43, 44, 45, 45, 45, 45, 46, 47, 48, 49},
    {46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61},
    {62, 62, 62, 62, 63, 64, 65, 66, 67, 68, 69, 70, 39, 38, 37, 36},
    {71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86},
    {83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98},
    {99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114},
    {111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126},
};
inline constexpr std::size_t rotated_teapot_patches = 6;

}  // namespace ramify::detail::tessellation::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Returns the 32 patches of the Utah teapot, 3.15 units high. Where patches meet, their points are
/// equal in bits. Their triangles are counterclockwise if they are seen from outside. Six closed
/// lines of borders belong to one patch only: the rim, the edge of the lid, and both ends of the
/// handle and of the spout.
[[nodiscard]] inline std::vector<bicubic_patch> utah_teapot() {
  using namespace detail::tessellation;
  std::vector<bicubic_patch> patches;
  for (std::size_t k = 0; k < std::size(teapot_patches); ++k) {
    bicubic_patch patch;
    for (std::size_t i = 0; i < 16; ++i) {
      patch.points[i / 4][3 - i % 4] = teapot_points[teapot_patches[k][i]];
    }
    patches.push_back(patch);
    if (k < rotated_teapot_patches) {
      for (int quarter = 1; quarter < 4; ++quarter) {
        for (auto& row : patch.points) {
          for (surface_point& p : row) p = {0.0 - p.y, p.x, p.z};
        }
        patches.push_back(patch);
      }
    } else {
      bicubic_patch mirrored;  // in the opposite order, so that its orientation is the same
      for (std::size_t i = 0; i < 16; ++i) {
        const surface_point& p = patch.points[i / 4][3 - i % 4];
        mirrored.points[i / 4][i % 4] = {p.x, 0.0 - p.y, p.z};
      }
      patches.push_back(mirrored);
    }
  }
  return patches;
}

}  // namespace ramify::inline RAMIFY_ABI
