// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How an adaptive mesh is laid out, when it is refined, and how a run on it goes.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/options.hpp>
#include <ramify/runtime/report.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

/// What lies behind a side of the domain.
enum class boundary {
  periodic,   ///< the opposite side; of both sides of an axis or of none
  outflow,    ///< the same values as in the last cell
  reflecting  ///< the mirror image: a wall without friction
};

/// Which blocks may differ by one level at most: those that share a face, an edge or a corner too.
/// In two dimensions an edge is a corner.
enum class balance { face, edge, corner };

/// The slope limiters of the reconstruction, from the most diffusive one.
enum class limiter { minmod, van_leer, monotonized_central };

[[nodiscard]] constexpr std::string_view to_string(balance b) {
  switch (b) {
    case balance::face: return "face";
    case balance::edge: return "edge";
    case balance::corner: return "corner";
  }
  return "?";
}

[[nodiscard]] constexpr std::string_view to_string(limiter l) {
  switch (l) {
    case limiter::minmod: return "minmod";
    case limiter::van_leer: return "van-leer";
    case limiter::monotonized_central: return "monotonized-central";
  }
  return "?";
}

/// The inverses of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline balance parse_balance(std::string_view text) {
  for (const balance b : {balance::face, balance::edge, balance::corner}) {
    if (text == to_string(b)) return b;
  }
  throw std::invalid_argument("balance '" + std::string(text) + "' is none of face, edge, corner");
}
[[nodiscard]] inline limiter parse_limiter(std::string_view text) {
  for (const limiter l : {limiter::minmod, limiter::van_leer, limiter::monotonized_central}) {
    if (text == to_string(l)) return l;
  }
  throw std::invalid_argument("limiter '" + std::string(text) +
                              "' is none of minmod, van-leer, monotonized-central");
}

inline constexpr int most_levels = 19;  ///< of a mesh

struct amr_mesh_config {
  std::array<unsigned, 3> roots{1, 1, 1};  ///< root blocks along each axis, each at least 1
  std::array<double, 3> lower{0, 0, 0};    ///< corner of the domain
  std::array<double, 3> upper{1, 1, 1};    ///< the opposite corner
  /// [axis][0: the lower side, 1: the upper side]
  std::array<std::array<boundary, 2>, 3> sides{};
  ramify::balance balance = ramify::balance::face;
  int max_level = 3;           ///< of the finest blocks, in [0, 18]; the roots are level 0
  std::size_t max_blocks = 0;  ///< so many, inner ones too; 0: as many as there is memory for
};

/// When a block is refined, and when eight (four) of them become one again. The indicator comes
/// from the criterion, cell by cell; the largest one of a block counts.
struct amr_regrid_config {
  double refine_above = 0.1;     ///< refine where the indicator is larger
  double coarsen_below = 0.025;  ///< coarsen where it is smaller, ...
  unsigned patience = 2;         ///< ... so many times in a row: at least 1
  unsigned every = 4;            ///< steps between two looks; 0: the mesh stays
  /// Which blocks to be refined share a child grid, on the device route, that makes their children;
  /// the flat route has one grid for all. No threshold: they are all of one size.
  launch_granularity launches{granularity::per_grid};
};

struct amr_step_config {
  double cfl = 0.4;  ///< of the largest stable step of an unsplit scheme: in (0, 1]
  ramify::limiter limiter = ramify::limiter::monotonized_central;
  bool subcycle = false;  ///< a level takes two steps for one of the next coarser level
  bool reflux = true;     ///< correct the fluxes where levels meet, so that nothing is lost
};

struct amr_config {
  amr_mesh_config mesh;
  amr_regrid_config regrid;
  amr_step_config step;
  ramify::route route = ramify::route::automatic;
  /// Where the run's grids are to be added; null: nowhere. It must outlive the run.
  launch_trace* trace = nullptr;
};

/// What a mesh and the run on it have come to.
struct amr_report : run_report {
  double time = 0;
  std::uint64_t steps = 0;         ///< of level 0
  std::uint64_t cell_updates = 0;  ///< one is one cell taken through one full step
  std::uint64_t regrids = 0;
  std::uint64_t refined = 0;    ///< blocks that were split
  std::uint64_t coarsened = 0;  ///< blocks that were put together
  std::size_t leaves = 0;       ///< now
  std::size_t blocks = 0;       ///< now, inner ones too
  std::size_t peak_blocks = 0;
  std::size_t max_blocks = 0;  ///< as configured
  int finest_level = 0;        ///< now
};

/// A run cannot go on: a cell's state is not one that can be, the mesh needs more blocks than it may
/// have, or there is no time step. The values are those at that time.
class amr_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// \throws std::invalid_argument naming the field and its range. `dimensions` is 2 or 3.
inline void validate(const amr_config& config, int dimensions) {
  const auto fail = [](const std::string& field, const auto& value, const std::string& range) {
    std::ostringstream text;
    text << field << " is " << value << "; it must be " << range;
    throw std::invalid_argument(text.str());
  };
  const amr_mesh_config& mesh = config.mesh;
  double blocks = 1;
  for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
    const std::string which = std::string(1, '[').append(std::to_string(axis)).append("]");
    if (mesh.roots[axis] < 1 || mesh.roots[axis] > 4096) {
      fail("amr_mesh_config.roots" + which, mesh.roots[axis], "in [1, 4096]");
    }
    blocks *= mesh.roots[axis];
    if (!std::isfinite(mesh.lower[axis])) {
      fail("amr_mesh_config.lower" + which, mesh.lower[axis], "finite");
    }
    if (!(mesh.upper[axis] > mesh.lower[axis]) || !std::isfinite(mesh.upper[axis])) {
      fail("amr_mesh_config.upper" + which, mesh.upper[axis], "finite and above lower");
    }
    const auto& sides = mesh.sides[axis];
    for (const boundary side : sides) {
      if (side < boundary::periodic || side > boundary::reflecting) {
        fail("amr_mesh_config.sides" + which, int(side), "one of the enumerators");
      }
    }
    if ((sides[0] == boundary::periodic) != (sides[1] == boundary::periodic)) {
      fail("amr_mesh_config.sides" + which, "periodic on one side", "so on both or on none");
    }
  }
  if (blocks > 1e7) fail("amr_mesh_config.roots", blocks, "at most 10^7 blocks in all");
  if (mesh.max_level < 0 || mesh.max_level >= most_levels) {
    fail("amr_mesh_config.max_level", mesh.max_level, "in [0, 18]");
  }
  if (mesh.balance < balance::face || mesh.balance > balance::corner) {
    fail("amr_mesh_config.balance", int(mesh.balance), "one of the enumerators");
  }
  if (mesh.max_blocks != 0 && (double(mesh.max_blocks) < blocks || mesh.max_blocks > 1u << 30)) {
    fail("amr_mesh_config.max_blocks", mesh.max_blocks,
         "0 (no limit), or at least the number of root blocks and at most 2^30");
  }
  const amr_regrid_config& regrid = config.regrid;
  if (!(regrid.refine_above >= 0)) {
    fail("amr_regrid_config.refine_above", regrid.refine_above, "at least 0");
  }
  if (!(regrid.coarsen_below <= regrid.refine_above)) {
    fail("amr_regrid_config.coarsen_below", regrid.coarsen_below, "at most refine_above");
  }
  if (regrid.patience < 1) fail("amr_regrid_config.patience", regrid.patience, "at least 1");
  validate(regrid.launches, "amr_regrid_config.launches");
  if (regrid.launches.threshold != 0) {
    fail("amr_regrid_config.launches.threshold", regrid.launches.threshold,
         "0: blocks are all of one size");
  }
  const amr_step_config& step = config.step;
  if (!(step.cfl > 0 && step.cfl <= 1)) fail("amr_step_config.cfl", step.cfl, "in (0, 1]");
  if (step.limiter < limiter::minmod || step.limiter > limiter::monotonized_central) {
    fail("amr_step_config.limiter", int(step.limiter), "one of the enumerators");
  }
  if (to_string(config.route) == "?") fail("amr_config.route", "?", "one of the enumerators");
}

}  // namespace ramify
