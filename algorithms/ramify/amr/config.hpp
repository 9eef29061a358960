// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of a run on an adaptive mesh; plain C++, for both interfaces.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// The boundary condition at a side of the domain.
enum class boundary {
  periodic,    ///< ghost cells have the values of the opposite side; must hold for both sides
  outflow,     ///< ghost cells have the values of the last cell
  reflecting,  ///< ghost cells are the mirror image: a wall without friction
  /// ghost_state() of the physics computes the ghost cells (physics/README.md): inflow, a wall that
  /// moves. AMReX calls it ext_dir, Athena++ user.
  prescribed
};

/// Which neighboring blocks may differ by at most one level. In two dimensions an edge is a corner.
enum class balance {
  face,   ///< blocks that share a face
  edge,   ///< blocks that share a face or an edge
  corner  ///< all neighboring blocks
};

/// The slope limiters of the reconstruction, from the most diffusive one.
enum class limiter { minmod, van_leer, monotonized_central };

/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(balance b) {
  return choice_name(b, {"face", "edge", "corner"});
}
/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(limiter l) {
  return choice_name(l, {"minmod", "van-leer", "monotonized-central"});
}

/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline balance parse_balance(std::string_view text) {
  return parse_choice<balance>("balance", text);
}
/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline limiter parse_limiter(std::string_view text) {
  return parse_choice<limiter>("limiter", text);
}

/// The options of a run on an adaptive mesh.
struct amr_options {
  /// The domain and its blocks. In two dimensions the third entry of each triple is not read.
  struct mesh_fields {
    std::array<unsigned, 3> roots{1, 1, 1};  ///< root blocks along each axis, in [1, 4096]
    std::array<double, 3> lower{0, 0, 0};    ///< corner of the domain; within 1e90, for float 1e18
    std::array<double, 3> upper{1, 1, 1};    ///< the opposite corner, above `lower`; same range
    /// [axis][0: the lower side, 1: the upper side]
    std::array<std::array<boundary, 2>, 3> sides{};
    ramify::balance balance = ramify::balance::face;  ///< of neighbors
    int max_level = 3;           ///< level of the finest blocks, in [0, 18]; the roots are level 0
    std::size_t max_blocks = 0;  ///< limit for all blocks, inner ones included; 0: no limit
  };

  /// When a block is refined, and when eight (in two dimensions four) blocks are coarsened into
  /// one. The criterion computes an indicator for each cell. The largest indicator of a block is
  /// compared with the limits below.
  struct regrid_fields {
    double refine_above = 0.1;     ///< a block with a larger indicator is refined; >= 0
    double coarsen_below = 0.025;  ///< a block with a smaller indicator may be coarsened ...
    unsigned patience = 2;         ///< ... after so many regrids in a row; >= 1
    unsigned every = 4;            ///< steps between two regrids; 0: the mesh never changes
    /// Device route: which tagged blocks share the child grid that refines them. The flat route has
    /// one grid for all. `threshold` must be 0, because all blocks have the same size.
    launch_granularity launches{granularity::per_grid};
  };

  /// How a step is taken.
  struct step_fields {
    double cfl = 0.4;  ///< share of the largest stable step of an unsplit scheme, in (0, 1]
    ramify::limiter limiter = ramify::limiter::monotonized_central;  ///< of slopes
    bool subcycle = false;  ///< each level takes two steps for one step of the next coarser level
    bool reflux = true;     ///< corrects the fluxes between levels, which makes them conservative
  };

  mesh_fields mesh{};      ///< the mesh
  regrid_fields regrid{};  ///< when and where it changes
  step_fields step{};      ///< how a step is taken
};

/// What a run has done since it began.
struct amr_progress {
  double time = 0;                 ///< after the last step
  std::uint64_t steps = 0;         ///< steps of level 0
  std::uint64_t cell_updates = 0;  ///< one cell advanced by one full step is one update
  std::uint64_t regrids = 0;       ///< regrids until now
  std::uint64_t refined = 0;       ///< blocks that were refined
  std::uint64_t coarsened = 0;     ///< families of blocks that were coarsened
};

/// The report of a run, and the current state of its mesh.
struct amr_report : run_report, amr_progress {
  std::size_t leaves = 0;       ///< current number of leaves
  std::size_t blocks = 0;       ///< current number of blocks, inner blocks included
  std::size_t peak_blocks = 0;  ///< maximum number of blocks during the run
  std::size_t max_blocks = 0;   ///< amr_options::mesh.max_blocks
  int finest_level = 0;         ///< finest level that has blocks
  /// Cells that got fluxes of first order because they would have become invalid, and cells that
  /// were raised to floors, which is not conservative. A cell counts once in each of the two stages
  /// of a step of its level. 0 unless the physics keeps cells valid (with_positivity). A run that
  /// continues from a saved state counts from 0.
  std::uint64_t fallback_cells = 0;  ///< cells with fluxes of first order
  std::uint64_t floored_cells = 0;   ///< cells raised to floors
};

/// A run cannot continue: a cell is invalid, the mesh needs more blocks than are allowed, or the
/// time step is 0 or infinite. The values are those of the last complete step.
class amr_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::amr::inline RAMIFY_ABI {

inline constexpr int max_levels = 19;  ///< of a mesh, level 0 included

/// \throws std::invalid_argument naming `field`, its value and its range, unless it is `valid`
template <class Value>
void require(bool valid, const std::string& field, const Value& value, const std::string& range) {
  if (valid) return;
  std::ostringstream text;
  text << field << " is " << value << "; it must be " << range;
  throw std::invalid_argument(text.str());
}

/// Checks the domain along one axis. \throws std::invalid_argument naming the field
inline void validate_axis(const amr_options::mesh_fields& mesh, std::size_t axis) {
  const std::string field = "amr_options.mesh.";
  const std::string which = "[" + std::to_string(axis) + "]";
  const unsigned roots = mesh.roots[axis];
  const double lower = mesh.lower[axis];
  const double upper = mesh.upper[axis];
  const auto& sides = mesh.sides[axis];
  require(roots >= 1 && roots <= 4096, field + "roots" + which, roots, "in [1, 4096]");
  require(std::isfinite(lower), field + "lower" + which, lower, "finite");
  require(upper > lower && std::isfinite(upper), field + "upper" + which, upper,
          "finite and above lower");
  const std::string name = field + "sides" + which;
  for (const boundary side : sides) {
    require(side >= boundary::periodic && side <= boundary::prescribed, name, int(side),
            "one of the enumerators");
  }
  require((sides[0] == boundary::periodic) == (sides[1] == boundary::periodic), name,
          "periodic on one side", "periodic on both sides or on neither");
}

/// \throws std::invalid_argument naming the field and its range
inline void validate(const amr_options::mesh_fields& mesh, int dimensions) {
  double blocks = 1;
  for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
    validate_axis(mesh, axis);
    blocks *= mesh.roots[axis];
  }
  require(blocks <= 1e7, "amr_options.mesh.roots", blocks, "at most 10^7 blocks in all");
  require(mesh.max_level >= 0 && mesh.max_level < max_levels, "amr_options.mesh.max_level",
          mesh.max_level, "in [0, 18]");
  check_enumerator(mesh.balance, "amr_options.mesh.balance");
  const std::size_t most = mesh.max_blocks;
  require(most == 0 || (double(most) >= blocks && most <= 1u << 30), "amr_options.mesh.max_blocks",
          most, "0 (no limit), or at least the number of root blocks and at most 2^30");
}

/// Checks that numbers of type Real can describe the cells of a valid mesh, with n cells along the
/// edge of a block: that squares of lengths, and volumes in double, are in their range, and that
/// the cells of level 0 have different places.
/// \throws std::invalid_argument naming the field and its range
template <class Real>
void validate_cells(const amr_options::mesh_fields& mesh, int dimensions, int n) {
  constexpr bool is_double = sizeof(Real) > 4;
  constexpr double largest = is_double ? 1e90 : 1e18;
  const char* const range = is_double ? "in [-1e90, 1e90]" : "in [-1e18, 1e18] for float";
  for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
    const std::string index = std::to_string(axis);
    const std::string lower_name = "amr_options.mesh.lower[" + index + "]";
    const std::string upper_name = "amr_options.mesh.upper[" + index + "]";
    const double lower = mesh.lower[axis];
    const double upper = mesh.upper[axis];
    require(std::fabs(lower) <= largest, lower_name, lower, range);
    require(std::fabs(upper) <= largest, upper_name, upper, range);
    const double cell = (upper - lower) / (double(mesh.roots[axis]) * n);
    require(cell / double(1u << mesh.max_level) >= 1 / largest, upper_name, upper,
            is_double ? "so far above lower that the finest cells have edges of at least 1e-90"
                      : "so far above lower that the finest cells have edges of at least 1e-18");
    const double far = std::fmax(std::fabs(lower), std::fabs(upper));
    require(cell > 2 * far * double(std::numeric_limits<Real>::epsilon()), upper_name, upper,
            "so far above lower that rounding does not merge the cells of level 0");
  }
}

/// \throws std::invalid_argument naming the field and its range
inline void validate(const amr_options::regrid_fields& regrid) {
  require(regrid.refine_above >= 0, "amr_options.regrid.refine_above", regrid.refine_above,
          "at least 0");
  require(regrid.coarsen_below <= regrid.refine_above, "amr_options.regrid.coarsen_below",
          regrid.coarsen_below, "at most refine_above");
  require(regrid.patience >= 1, "amr_options.regrid.patience", regrid.patience, "at least 1");
  ramify::validate(regrid.launches, "amr_options.regrid.launches");
  require(regrid.launches.threshold == 0, "amr_options.regrid.launches.threshold",
          regrid.launches.threshold, "0: all blocks have the same size");
}

/// \throws std::invalid_argument naming the field and its range
inline void validate(const amr_options::step_fields& step) {
  require(step.cfl > 0 && step.cfl <= 1, "amr_options.step.cfl", step.cfl, "in (0, 1]");
  check_enumerator(step.limiter, "amr_options.step.limiter");
}

}  // namespace ramify::detail::amr::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Checks the options of a mesh of 2 or 3 `dimensions`.
/// \throws std::invalid_argument naming the field and its range
inline void validate(const amr_options& options, int dimensions) {
  detail::amr::validate(options.mesh, dimensions);
  detail::amr::validate(options.regrid);
  detail::amr::validate(options.step);
}

}  // namespace ramify::inline RAMIFY_ABI
