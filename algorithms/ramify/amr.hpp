// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Flow on an adaptive mesh for plain C++: compiled code for the problems that everybody solves, on
/// whatever machine runs it.
///
///     auto options = ramify::recommended_options(ramify::amr_problem::kelvin_helmholtz, 2);
///     options.mesh.max_level = 4;
///     ramify::amr_simulation flow(options);
///     flow.advance_to(options.end_time);
///     const ramify::mesh_snapshot seen = flow.snapshot(ramify::amr_fields::primitive);
///     std::cout << seen.leaves.size() << " blocks\n" << flow.report();
///
/// Blocks    of 16 x 16 cells in two dimensions, of 8 x 8 x 8 in three.
/// Units     those of the problems (<ramify/amr/problems.cuh>); all have a length of about 1.
/// Waits     every call, until its work is done.
/// Errors    std::invalid_argument for a bad option or state, naming the field, and unavailable for
///           a backend or a route that this machine or this build cannot run, before anything
///           begins; amr_error for a run that cannot go on; cuda_error, device_launch_error.
/// Method, memory, launches   see <ramify/amr.cuh>, which takes physics, criteria and initial
///           states of your own.

#include <cstdint>
#include <limits>
#include <memory>
#include <ramify/amr/config.hpp>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/options.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ramify {

/// What flows. The first four are of an ideal gas, the others of a concentration in a given flow.
enum class amr_problem {
  sod,               ///< a shock tube, along x
  sedov,             ///< a blast from the domain's middle
  kelvin_helmholtz,  ///< two streams that roll one another up
  linear_wave,       ///< a weak sound wave, along the diagonal
  advect_gaussian,   ///< a Gaussian hill, carried along the diagonal
  vortex_in_box      ///< a disc or ball that a vortex draws out, and takes back
};

/// What is looked at to find where the mesh should be fine: criteria.cuh.
enum class amr_criterion { gradient, loehner };

/// Of the values; the time is a double always.
enum class amr_precision { double_, float_ };

/// Which values of a gas are asked for; of a concentration they are the same.
enum class amr_fields {
  conserved,  ///< density, momentum along each axis, total energy, all per volume
  primitive   ///< density, velocity along each axis, pressure
};

[[nodiscard]] std::string_view to_string(amr_problem problem);
[[nodiscard]] std::string_view to_string(amr_criterion criterion);
[[nodiscard]] std::string_view to_string(amr_precision precision);

/// The inverses of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] amr_problem parse_amr_problem(std::string_view text);
[[nodiscard]] amr_criterion parse_amr_criterion(std::string_view text);
[[nodiscard]] amr_precision parse_amr_precision(std::string_view text);

/// A problem and how it is solved. To be made by recommended_options().
struct amr_options : run_options {
  amr_problem problem = amr_problem::kelvin_helmholtz;
  int dimensions = 2;  ///< 2 or 3
  amr_precision precision = amr_precision::double_;
  amr_criterion criterion = amr_criterion::gradient;
  int criterion_variable = 0;     ///< of the primitive fields, from 0 on
  double gradient_floor = 1e-10;  ///< smaller jumps hardly count, >= 0: gradient_criterion::floor
  double loehner_filter = 0.01;   ///< >= 0: loehner_criterion::filter
  double gamma = 1.4;             ///< of a gas: ratio of specific heats, > 1
  double end_time = 1;            ///< the customary one, >= 0; nothing stops there by itself
  amr_mesh_config mesh;
  amr_regrid_config regrid;
  amr_step_config step;
};

/// A problem's customary domain, boundaries, gamma and end, on a mesh of moderate size, and what a
/// criterion has to be compared with there.
/// \throws std::invalid_argument `dimensions` other than 2 and 3
[[nodiscard]] amr_options recommended_options(amr_problem problem, int dimensions,
                                              amr_criterion criterion = amr_criterion::gradient);

/// \throws std::invalid_argument naming the field and its range
void validate(const amr_options& options);

/// The names of the conserved or primitive fields, such as "density" and "momentum_x".
[[nodiscard]] std::vector<std::string> field_names(const amr_options& options, amr_fields kind);

/// The exact solution is the initial state again at each whole multiple of this time, on the domain
/// of recommended_options(); 0 if it never is.
[[nodiscard]] double return_time(const amr_options& options);

namespace facade {
class amr_on_backend;
}

/// A problem on its way. Move-only; moved-from it may only be assigned or destroyed.
class amr_simulation {
 public:
  /// Makes the mesh for the problem's initial state.
  explicit amr_simulation(const amr_options& options);

  /// Goes on from state(), to the bit if the options are the same; on any backend and route.
  /// \throws std::invalid_argument if the state is of another mesh, or of another kind of values
  amr_simulation(const amr_options& options, const amr_state& state);

  ~amr_simulation();
  amr_simulation(amr_simulation&&) noexcept;
  amr_simulation& operator=(amr_simulation&&) noexcept;

  /// Takes `steps` steps, of level 0 with subcycling, or fewer if the time is `stop_time` before,
  /// which the last one meets exactly.
  /// \throws amr_error if a cell is not sound any more, the mesh needs more than mesh.max_blocks,
  ///         or the time step vanishes
  void advance(std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity());
  /// Steps until the time is `stop_time`.
  void advance_to(double stop_time);

  [[nodiscard]] double time() const;
  [[nodiscard]] std::uint64_t steps() const;

  /// The integrals over the domain of the conserved fields, in the order of field_names().
  [[nodiscard]] std::vector<double> totals() const;

  /// The leaves and the values in their cells.
  [[nodiscard]] mesh_snapshot snapshot(amr_fields kind = amr_fields::conserved) const;

  /// The mean over the domain of the absolute difference between each conserved field and the
  /// initial state's averages over the same cells: the L1 error at multiples of return_time().
  [[nodiscard]] std::vector<double> change_since_start() const;

  [[nodiscard]] amr_state state() const;
  /// Copies out are snapshot() and state(); what a state is started from counts as work.
  [[nodiscard]] amr_report report() const;

 private:
  amr_options options_;
  std::unique_ptr<facade::amr_on_backend> run_;
  std::string backend_reason_;
};

}  // namespace ramify
