// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks that each mesh must pass, by brute force on its leaves; comparisons of runs; settings of
/// runs.

#include <algorithm>
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <ramify/amr/config.hpp>
#include <ramify/amr/snapshot.hpp>
#include <ramify/cpu/executor.hpp>
#include <string>
#include <vector>

#include "backend_under_test.hpp"
#include "runs.hpp"

namespace tests {

inline std::ostream& boost_test_print_type(std::ostream& out, matter m) {
  constexpr const char* names[] = {"scalar in 2D", "scalar in 3D", "gas in 2D", "gas in 3D"};
  return out << names[int(m)];
}

inline std::ostream& boost_test_print_type(std::ostream& out, initial_kind b) {
  return out << int(b);
}

inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

/// Sets the boundary condition of all sides of the domain.
inline void set_boundaries(setting& s, ramify::boundary what) {
  for (auto& sides : s.options.mesh.sides) sides = {what, what};
}

/// A setting with a small mesh, in which blocks are refined and coarsened within lively_steps().
inline setting lively(matter what, bool subcycle) {
  setting s;
  s.matter = what;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {2, 1, 1};
  s.options.mesh.max_level = what == matter::gas_3d || effort() < 0.1 ? 1 : 2;
  s.options.regrid.every = subcycle ? 1 : 2;
  s.options.regrid.patience = 1;
  s.options.regrid.refine_above = 0.5;
  s.options.regrid.coarsen_below = 0.49;
  s.criterion = criterion_kind::value;
  s.scale = 10;
  const bool is_gas = what == matter::gas_2d || what == matter::gas_3d;
  s.initial = is_gas ? initial_kind::pulses : initial_kind::hump;
  s.level = is_gas ? 1 : 0;
  s.offset = is_gas ? 1.06 : 0.2;
  s.width = 0.3;
  s.velocity[0] = is_gas ? 10 : 2;
  s.velocity[1] = 1;
  s.velocity[2] = 0.5;
  return s;
}

/// Returns the number of steps of a run of lively(); fewer under sanitizers or in 3D.
inline std::uint64_t lively_steps(const setting& s) {
  if (effort() < 1 || s.matter == matter::gas_3d) return 2;
  const bool is_gas = s.matter == matter::gas_2d;
  return s.options.step.subcycle ? (is_gas ? 4 : 6) : 16;
}

/// Returns the Morton code of a leaf in its root block: the bits of its index on the finest level,
/// x lowest.
inline std::uint64_t morton_code(const ramify::block_position& leaf, int dimensions) {
  constexpr int finest = 18;
  std::uint64_t code = 0;
  for (int axis = 0; axis < dimensions; ++axis) {
    // The bits of the root block are left out.
    const std::uint64_t inside =
        (std::uint64_t{leaf.index[std::size_t(axis)]} << (finest - leaf.level)) &
        ((std::uint64_t{1} << finest) - 1);
    for (int bit = 0; bit < finest; ++bit) {
      code |= (inside >> bit & 1) << (bit * dimensions + axis);
    }
  }
  return code;
}

/// Returns the Morton code of a leaf's root block.
inline std::uint64_t root_code(const ramify::block_position& leaf, int dimensions) {
  std::uint64_t code = 0;
  for (int axis = 0; axis < dimensions; ++axis) {
    for (int bit = 0; bit < 12; ++bit) {
      code |= (std::uint64_t{leaf.index[std::size_t(axis)] >> leaf.level} >> bit & 1)
              << (bit * dimensions + axis);
    }
  }
  return code;
}

/// Returns an empty text if the leaves are in Morton order and cover each place of the domain once,
/// or else the fault.
inline std::string tiling_fault(const ramify::mesh_snapshot& mesh) {
  double volume = 0;
  double roots = 1;
  for (int axis = 0; axis < mesh.dimensions; ++axis) roots *= mesh.roots[std::size_t(axis)];
  for (std::size_t i = 0; i < mesh.leaves.size(); ++i) {
    const ramify::block_position& leaf = mesh.leaves[i];
    for (int axis = 0; axis < mesh.dimensions; ++axis) {
      if (leaf.index[std::size_t(axis)] >> leaf.level >= mesh.roots[std::size_t(axis)]) {
        return "leaf " + std::to_string(i) + " is outside of the domain";
      }
    }
    volume += std::ldexp(1.0, -mesh.dimensions * leaf.level);
    if (i == 0) continue;
    // In Morton order, a leaf begins after the end of the previous one.
    const ramify::block_position& before = mesh.leaves[i - 1];
    const std::uint64_t root = root_code(leaf, mesh.dimensions);
    const std::uint64_t root_before = root_code(before, mesh.dimensions);
    const std::uint64_t size = std::uint64_t{1} << (mesh.dimensions * (18 - before.level));
    if (root < root_before ||
        (root == root_before &&
         morton_code(leaf, mesh.dimensions) < morton_code(before, mesh.dimensions) + size)) {
      return "leaf " + std::to_string(i) + " is out of order or overlaps the previous one";
    }
  }
  return volume == roots ? "" : "the leaves cover " + std::to_string(volume) + " root blocks";
}

/// Returns an empty text if no two leaves that touch differ by more than a level, or else the
/// fault. It compares all pairs of leaves as boxes of whole numbers and uses no tree.
/// `codimension`: 1 for leaves that share faces, 2 for edges, 3 for corners.
inline std::string balance_fault(const ramify::mesh_snapshot& mesh, const setting& s,
                                 int codimension) {
  const int finest = std::ranges::max(mesh.leaves, {}, &ramify::block_position::level).level;
  struct cube {
    std::array<std::int64_t, 3> lower, upper;
    int level;
  };
  std::vector<cube> cubes;
  for (const auto& leaf : mesh.leaves) {
    cube c{{}, {1, 1, 1}, leaf.level};
    for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
      c.lower[axis] = std::int64_t{leaf.index[axis]} << (finest - leaf.level);
      c.upper[axis] = std::int64_t{leaf.index[axis] + 1} << (finest - leaf.level);
    }
    cubes.push_back(c);
  }
  for (std::size_t i = 0; i < cubes.size(); ++i) {
    for (std::size_t j = 0; j < cubes.size(); ++j) {
      if (cubes[j].level - cubes[i].level < 2) continue;
      int shared_codimension = 0;
      bool touch = true;
      for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
        const std::int64_t all = std::int64_t{mesh.roots[axis]} << finest;
        const bool periodic = s.options.mesh.sides[axis][0] == ramify::boundary::periodic;
        bool overlap = false;
        bool adjacent = false;
        for (const std::int64_t image : {std::int64_t{0}, all, -all}) {
          if (image != 0 && !periodic) continue;
          const std::int64_t lower = cubes[j].lower[axis] + image;
          const std::int64_t upper = cubes[j].upper[axis] + image;
          overlap = overlap || (lower < cubes[i].upper[axis] && upper > cubes[i].lower[axis]);
          adjacent = adjacent || lower == cubes[i].upper[axis] || upper == cubes[i].lower[axis];
        }
        if (overlap) continue;
        touch = touch && adjacent;
        ++shared_codimension;
      }
      if (touch && shared_codimension <= codimension) {
        return "leaf " + std::to_string(j) + " of level " + std::to_string(cubes[j].level) +
               " touches leaf " + std::to_string(i) + " of level " + std::to_string(cubes[i].level);
      }
    }
  }
  return "";
}

/// Returns the codimension for balance_fault() that the setting configures.
inline int codimension_of(const setting& s) {
  const int dimensions = dimensions_of(s.matter);
  switch (s.options.mesh.balance) {
    case ramify::balance::face: return 1;
    case ramify::balance::edge: return 2;
    case ramify::balance::corner: return dimensions;
  }
  return 0;
}

/// Checks that a mesh covers the domain, is balanced, and has a value for each cell and field.
inline void expect_valid_mesh(const ramify::mesh_snapshot& mesh, const setting& s) {
  BOOST_TEST(tiling_fault(mesh) == "");
  BOOST_TEST(balance_fault(mesh, s, codimension_of(s)) == "");
  BOOST_TEST(mesh.values.size() ==
             mesh.leaves.size() * mesh.fields.size() * mesh.cells_of_a_block());
}

/// Returns the number of leaves of each level.
inline std::vector<std::size_t> leaves_of_levels(const ramify::mesh_snapshot& mesh) {
  std::vector<std::size_t> count;
  for (const auto& leaf : mesh.leaves) {
    if (count.size() <= std::size_t(leaf.level)) count.resize(std::size_t(leaf.level) + 1);
    ++count[std::size_t(leaf.level)];
  }
  return count;
}

/// Returns whether time, leaves and values are equal bit by bit.
inline bool same_bits(const ramify::mesh_snapshot& a, const ramify::mesh_snapshot& b) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return bits(a.time) == bits(b.time) && a.step == b.step && a.leaves == b.leaves &&
         std::ranges::equal(a.values, b.values, {}, bits, bits);
}

/// Returns the volume of a cell of a leaf.
inline double cell_volume(const ramify::mesh_snapshot& mesh, std::size_t leaf) {
  double volume = 1;
  for (int axis = 0; axis < mesh.dimensions; ++axis) {
    volume *= mesh.spacing(mesh.leaves[leaf].level, axis);
  }
  return volume;
}

/// Returns the center of a cell.
inline std::array<double, 3> cell_center(const ramify::mesh_snapshot& mesh, std::size_t leaf,
                                         std::size_t cell) {
  std::array<double, 3> where{};
  const auto& place = mesh.leaves[leaf];
  for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
    const auto at = double(cell % std::size_t(mesh.cells));
    cell /= std::size_t(mesh.cells);
    where[axis] = mesh.lower[axis] + (double(place.index[axis]) * mesh.cells + at + 0.5) *
                                         mesh.spacing(place.level, int(axis));
  }
  return where;
}

/// Returns the integral of `value(leaf, cell)` over the domain.
template <class Value>
double integral(const ramify::mesh_snapshot& mesh, Value value) {
  double sum = 0;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    double leaf_sum = 0;
    for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell)
      leaf_sum += value(leaf, cell);
    sum += leaf_sum * cell_volume(mesh, leaf);
  }
  return sum;
}

/// Returns the mean absolute difference between a field and other values in its layout.
inline double l1_distance(const ramify::mesh_snapshot& mesh, const std::vector<double>& other,
                          std::size_t field = 0) {
  const double error = integral(mesh, [&](std::size_t leaf, std::size_t cell) {
    const std::size_t at = (leaf * mesh.fields.size() + field) * mesh.cells_of_a_block() + cell;
    return std::abs(mesh.values[at] - other[at]);
  });
  return error / integral(mesh, [](std::size_t, std::size_t) { return 1.0; });
}

/// Checks that `call()` throws an Error with `text` in its message.
template <class Error, class Call>
void expect_error(Call call, const std::string& text) {
  BOOST_CHECK_EXCEPTION(call(), Error, [&](const Error& e) {
    BOOST_TEST_MESSAGE(e.what());
    const bool found = std::string(e.what()).find(text) != std::string::npos;
    if (!found) BOOST_TEST_MESSAGE("expected: " << text);
    return found;
  });
}

}  // namespace tests
