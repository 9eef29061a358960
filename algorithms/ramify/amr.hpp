// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Flow on an adaptive mesh for plain C++: compiled code for standard problems, on both backends.
///
///     auto setup = ramify::recommended_setup(ramify::amr_problem::kelvin_helmholtz, 2);
///     setup.options.mesh.max_level = 4;
///     ramify::amr_simulation flow(setup);
///     flow.advance_to(setup.end_time);
///     const ramify::mesh_snapshot mesh = flow.snapshot(ramify::amr_fields::primitive);
///     std::cout << mesh.leaves.size() << " blocks\n" << flow.report();
///
/// Blocks    16 x 16 cells in two dimensions, 8 x 8 x 8 in three.
/// Units     Those of the problems (<ramify/amr/physics/problems.cuh> and the headers beside it);
///           all lengths are about 1. Those of amr_problem::regions are the caller's.
/// Stream    Each call is ordered after earlier work in the environment's stream, and returns when
///           its work is complete.
/// Errors    Before anything begins: std::invalid_argument naming the field for a bad field or
///           state; unavailable for a backend or a route that this machine or build cannot run.
///           Later: amr_error if a run cannot continue; cuda_error; device_launch_error.
/// Method, memory, launches   See <ramify/amr.cuh>, which also takes a user's own physics, criteria
///           and initial states.

#include <ramify/runtime/detail/requirements.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ramify/amr/config.hpp>
#include <ramify/amr/derived_field.hpp>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The problems: of a concentration in a given flow (advect_gaussian, vortex_in_box), of shallow
/// water (dam_break), of a plasma with a magnetic field (brio_wu, orszag_tang, rotor), and of an
/// ideal gas.
enum class amr_problem {
  sod,               ///< a shock tube, along x
  sedov,             ///< a blast from the center of the domain
  kelvin_helmholtz,  ///< two streams with a shear instability
  linear_wave,       ///< a weak sound wave along the diagonal
  advect_gaussian,   ///< a Gaussian that moves along the diagonal
  vortex_in_box,     ///< a disc or ball that a vortex stretches, and then restores
  double_mach,       ///< a shock that runs obliquely into a wall; only in 2D
  noh,               ///< a cold gas that falls on a corner, and stops at a shock
  rayleigh_taylor,   ///< a heavy gas above a light one, in gravity
  dam_break,         ///< water of two depths; only in 2D
  brio_wu,           ///< a shock tube of a plasma, along x; only in 2D
  orszag_tang,       ///< a vortex of a plasma, with shocks; only in 2D
  rotor,             ///< a dense disc that spins in a magnetic field; only in 2D
  forward_step,      ///< a wind of Mach 3 that meets a step, a solid body; only in 2D
  regions            ///< a gas with the states of amr_setup::regions
};

/// The shapes of a region.
enum class amr_shape { everywhere, box, ball, half_space };

/// A part of the domain of amr_problem::regions. In two dimensions the third entry of each triple
/// is not read.
struct amr_region {
  amr_shape shape = amr_shape::everywhere;  ///< which of the fields below count
  /// The lower corner of a box, the center of a ball, or a point of the plane of a half-space.
  std::array<double, 3> point{};
  std::array<double, 3> upper{};     ///< the upper corner of a box; above `point`
  double radius = 0;                 ///< of a ball; > 0
  std::array<double, 3> normal{};    ///< of the plane; it points out of the half-space; not all 0
  double density = 1;                ///< > 0
  std::array<double, 3> velocity{};  ///< along each axis
  double pressure = 1;               ///< > 0

  /// Returns whether all fields are equal.
  friend bool operator==(const amr_region&, const amr_region&) = default;
};

/// A box in which all leaves have at least a level, independently of the criterion. In two
/// dimensions the third entry of each triple is not read.
struct amr_refined_box {
  std::array<double, 3> lower{};  ///< the lower corner; below the upper corner of the domain
  std::array<double, 3> upper{};  ///< the upper corner; above `lower`
  int level = 0;                  ///< of the coarsest leaves; in [0, mesh.max_level]

  /// Returns whether all fields are equal.
  friend bool operator==(const amr_refined_box&, const amr_refined_box&) = default;
};

/// The refinement criteria of criteria.cuh.
enum class amr_criterion { gradient, loehner };

/// The type of the values; the time is always a double.
enum class amr_precision { double_, float_ };

/// Which values of a gas or a plasma a snapshot contains. For a concentration both are the same.
enum class amr_fields {
  conserved,  ///< density, momentum along each axis, total energy, all per volume
  primitive   ///< density, velocity along each axis, pressure; of a plasma also field and psi
};

/// Returns the name of the enumerator, or "?" for a value that is none.
[[nodiscard]] constexpr std::string_view to_string(amr_problem problem) {
  return choice_name(
      problem, {"sod", "sedov", "kelvin-helmholtz", "linear-wave", "advect-gaussian",
                "vortex-in-box", "double-mach", "noh", "rayleigh-taylor", "dam-break", "brio-wu",
                "orszag-tang", "rotor", "forward-step", "regions"});
}
/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(amr_shape shape) {
  return choice_name(shape, {"everywhere", "box", "ball", "half-space"});
}
/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(amr_criterion criterion) {
  return choice_name(criterion, {"gradient", "loehner"});
}
/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(amr_precision precision) {
  return choice_name(precision, {"double", "float"});
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline amr_problem parse_amr_problem(std::string_view text) {
  return parse_choice<amr_problem>("problem", text);
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline amr_criterion parse_amr_criterion(std::string_view text) {
  return parse_choice<amr_criterion>("criterion", text);
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline amr_precision parse_amr_precision(std::string_view text) {
  return parse_choice<amr_precision>("precision", text);
}

/// A problem and the options of its run. recommended_setup() returns suitable values.
struct amr_setup {
  amr_problem problem = amr_problem::kelvin_helmholtz;  ///< the flow to simulate
  int dimensions = 2;                                   ///< 2 or 3
  amr_precision precision = amr_precision::double_;     ///< the number type of the values
  amr_criterion criterion = amr_criterion::gradient;    ///< where the mesh is refined
  int criterion_variable = 0;                           ///< index of a primitive field
  double gradient_floor = 1e-10;                        ///< gradient_criterion::floor, in [0, 1e30]
  double loehner_filter = 0.01;                         ///< loehner_criterion::filter, in [0, 1e30]
  double gamma = 1.4;  ///< ratio of specific heats of a gas or a plasma, > 1, at most 1e6
  /// Gravity along each axis, on a gas; 0 for the other problems.
  std::array<double, 3> gravity{};
  /// Whether density and pressure of a gas stay positive near a vacuum and at any Mach number
  /// (<ramify/amr/physics/positivity.cuh>); true for forward_step, and false for problems of no
  /// gas. amr_report counts the cells. A step takes longer.
  bool keep_positive = false;
  /// Of amr_problem::regions: 1 to 12. Where several contain a point, the last one has its state;
  /// the first one must be everywhere.
  std::vector<amr_region> regions{};
  /// At most 8 boxes that stay refined. A block belongs to a box if they share a volume.
  std::vector<amr_refined_box> refined_boxes{};
  /// A block is also refined, and not coarsened, if it is within so many cells, along each axis, of
  /// a cell in another leaf above regrid.refine_above. In [0, 16] in two dimensions, [0, 8] in
  /// three.
  int buffer_cells = 0;
  double end_time = 1;    ///< the customary end, >= 0; a simulation does not stop there by itself
  amr_options options{};  ///< mesh, regrids and steps
};

/// Returns the customary domain, boundaries, gamma and end time of a problem, a mesh of moderate
/// size, and thresholds for the criterion. Those of amr_problem::regions are outflow, and one
/// region: the setup needs the others.
/// \throws std::invalid_argument if `dimensions` is neither 2 nor 3, or 3 for a problem in 2D only
[[nodiscard]] amr_setup recommended_setup(amr_problem problem, int dimensions,
                                          amr_criterion criterion = amr_criterion::gradient);

/// Checks all fields. Sides can be boundary::prescribed for double_mach and noh, whose sides have
/// the exact solution, for forward_step, which has the wind there, and for regions, which continue
/// beyond the domain.
/// \throws std::invalid_argument naming the field and its range
void validate(const amr_setup& setup);

/// Returns the names of the conserved or primitive fields, such as "density" and "momentum_x".
[[nodiscard]] std::vector<std::string> field_names(const amr_setup& setup, amr_fields kind);

/// Returns the period of the exact solution on the domain of recommended_setup(). The solution
/// equals the initial state at each whole multiple. Returns 0 if there is no period.
[[nodiscard]] double return_time(const amr_setup& setup);

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::facade::inline RAMIFY_ABI {
class amr_on_backend;
}

namespace ramify::inline RAMIFY_ABI {

/// A simulation of a problem. Move-only; a moved-from simulation may only be assigned or destroyed.
/// All calls have the environment of the constructor. Its stream must outlive the simulation, and
/// its memory must be empty.
class amr_simulation {
 public:
  /// Builds the mesh for the initial state of the problem.
  /// \param env  its memory must be empty
  /// \throws std::invalid_argument, unavailable, amr_error, cuda_error, device_launch_error
  explicit amr_simulation(const amr_setup& setup, const environment& env = {});

  /// Continues from state(), on any backend and route; with the same setup on the same backend
  /// the results have the same bits.
  /// \param env  its memory must be empty
  /// \throws std::invalid_argument also if the state belongs to another mesh or another kind of
  ///         values; the other exceptions of the first constructor
  amr_simulation(const amr_setup& setup, const amr_state& state, const environment& env = {});

  ~amr_simulation();
  /// The other object may then only be destroyed or assigned.
  amr_simulation(amr_simulation&&) noexcept;
  /// The other object may then only be destroyed or assigned.
  amr_simulation& operator=(amr_simulation&&) noexcept;

  /// Takes `steps` steps; with subcycling these are steps of level 0. It returns earlier when the
  /// time is `stop_time`, which the last step meets exactly.
  /// \throws amr_error if a cell becomes invalid, the mesh needs more than mesh.max_blocks, or
  ///         there is no time step; cuda_error; device_launch_error
  void advance(std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity());
  /// Takes steps until the time is `stop_time`, as advance() does.
  void advance_to(double stop_time);

  /// Returns the time of the simulation.
  [[nodiscard]] double time() const;
  /// Returns the number of steps since the initial state.
  [[nodiscard]] std::uint64_t steps() const;

  /// Returns the integrals over the domain of the conserved fields, in the order of field_names().
  [[nodiscard]] std::vector<double> totals() const;

  /// Returns the leaves and the values of their cells.
  [[nodiscard]] mesh_snapshot snapshot(amr_fields kind = amr_fields::conserved) const;

  /// Returns the leaves and fields of a gas or a plasma that follow from its values, in the order
  /// of `fields`.
  /// Differences near a side of a leaf use ghost cells, so those at a side of the domain depend on
  /// its boundary condition.
  /// \throws std::invalid_argument if the problem is not one of a gas or a plasma, or an entry of
  ///         `fields` is no enumerator, or one of a magnetic field that a gas does not have
  [[nodiscard]] mesh_snapshot derived_snapshot(const std::vector<derived_field>& fields) const;

  /// Returns, for each conserved field, the mean over the domain of the absolute difference between
  /// the field and the averages of the initial state over the same cells. At multiples of
  /// return_time() this is the L1 error.
  [[nodiscard]] std::vector<double> change_since_start() const;

  /// Returns everything that is needed to continue the simulation.
  [[nodiscard]] amr_state state() const;

  /// Returns the report of the simulation until now. snapshot() and state() count as copies out; a
  /// constructor from a state counts as work.
  [[nodiscard]] amr_report report() const;

 private:
  amr_setup setup_;
  std::unique_ptr<detail::facade::amr_on_backend> run_;
  std::string backend_reason_;
};

}  // namespace ramify::inline RAMIFY_ABI
