// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the header templates barnes_hut.cuh and nbody.cuh are asked to do in tests; compiled for both
/// backends.

#include <array>
#include <ramify/nbody.hpp>
#include <string>
#include <vector>

namespace tests {

template <class Real>
struct cloud {
  std::vector<std::array<Real, 3>> positions;
  std::vector<Real> masses;
};

template <class Real>
struct field {
  std::vector<std::array<Real, 3>> accelerations;
  std::vector<Real> potentials;
  ramify::nbody_report report;
};

/// What is done to a tree's cells before they are walked.
enum class tampering {
  nothing,
  late_opening,   ///< cells are opened from half the distance that theta asks for
  wrong_centers,  ///< cells pull from the middle of their box
  lost_leaf,      ///< one leaf has a body less
};

/// The piece that an error is provoked with.
enum class bad_call {
  null_positions,
  null_masses,
  null_accelerations,
  results_over_positions,
  results_over_masses,
  results_over_results,
  range,
  leaf_size,
  too_many,
  host_memory,
};

struct barnes_hut_cases {
  /// Finds gravity twice with one object, the second time of the cloud alone, so that memory of
  /// another size is there already.
  field<double> (*again)(const cloud<double>& before, const cloud<double>&,
                         const ramify::nbody_options&);
  /// Finds gravity while somebody else has all launch slots.
  field<double> (*without_slots)(const cloud<double>&, const ramify::nbody_options&);
  /// Without potentials.
  field<float> (*accelerations_alone)(const cloud<float>&, const ramify::nbody_options&);
  field<double> (*tampered)(const cloud<double>&, const ramify::nbody_options&, tampering);
  field<double> (*with_leaf_size)(const cloud<double>&, const ramify::nbody_options&, unsigned);
  /// The direct sum of the bodies [begin, end) alone.
  field<double> (*direct_range)(const cloud<double>&, std::uint32_t begin, std::uint32_t end);
  void (*provoke)(bad_call);
  /// Launch slots in use when nothing runs.
  unsigned (*slots_in_use)();
  /// The facade with pinned, device and managed memory; what went wrong, if anything.
  std::string (*memory_kinds)(const cloud<double>&);
  /// What is wrong with an nbody_system that is moved, or was moved from, if anything.
  std::string (*moved_system)(const cloud<double>&);
};

/// Null if the backend was not built.
[[nodiscard]] const barnes_hut_cases* barnes_hut_cases_on_cpu();
[[nodiscard]] const barnes_hut_cases* barnes_hut_cases_on_cuda();

}  // namespace tests
