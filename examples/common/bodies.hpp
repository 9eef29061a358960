// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Bodies for simulations: generated, and from and to CSV files.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <vector>

namespace common {

/// Body i is at positions[i].
struct bodies {
  using vector = std::array<double, 3>;
  std::vector<vector> positions;
  std::vector<vector> velocities;
  std::vector<double> masses;

  [[nodiscard]] std::size_t size() const { return masses.size(); }
};

/// A star cluster in equilibrium: `n` equal masses with Plummer's density, by the recipe of Aarseth,
/// Hénon and Wielen (1974), in standard units (G = 1, mass 1, energy -1/4, so the time in which a
/// star crosses the cluster is about 2.8), at rest around the origin. Stars beyond ten times the
/// scale radius of 3 pi / 16 are drawn again. The same for the same seed.
[[nodiscard]] bodies make_plummer_sphere(std::size_t n, std::uint64_t seed);

/// Reads one body a line, `x,y,z,vx,vy,vz,m`; a first line with these names is passed over.
/// \throws bad_input naming the file and the line
[[nodiscard]] bodies read_bodies(const std::filesystem::path&);

/// Writes what read_bodies() reads, to the last digit.
void write_bodies(std::ostream&, const bodies&);

}  // namespace common
