// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Bodies for simulations: a generator, and functions that read and write CSV files.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <vector>

#include "common/text_file.hpp"

namespace common {

/// Element i of each vector belongs to body i.
struct bodies {
  using vector = std::array<double, 3>;
  std::vector<vector> positions;
  std::vector<vector> velocities;
  std::vector<double> masses;
  line_numbers lines{};  ///< of the bodies in their file; empty for generated bodies

  [[nodiscard]] std::size_t size() const { return masses.size(); }
};

/// Generates a star cluster in equilibrium: `n` equal masses with Plummer's density, by the method
/// of Aarseth, Hénon and Wielen (1974). Units are standard: G = 1, mass 1, energy -1/4, so the
/// crossing time of a star is about 2.8. The center of mass rests at the origin. Stars beyond ten
/// times the scale radius of 3 pi / 16 are drawn again. The same seed gives the same cluster.
[[nodiscard]] bodies make_plummer_sphere(std::size_t n, std::uint64_t seed);

/// The numbers of a simulation.
enum class body_precision { float32, float64 };

/// Reads one body `x,y,z,vx,vy,vz,m` from each line. A header line may name these columns in any
/// order, among others.
/// \param precision  float32: each number must be in the range of normal floats, and a whole number
///                   must be a float
/// \throws bad_input naming the file and the line
[[nodiscard]] bodies read_bodies(const std::filesystem::path&,
                                 body_precision precision = body_precision::float64);

/// Writes the format of read_bodies(), with enough digits to restore every number exactly.
void write_bodies(std::ostream&, const bodies&);

}  // namespace common
