// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// amr_run: a flow on an adaptive mesh of blocks, refined by quadtrees or octrees.
///
///     using gas = euler<double, 2>;
///     amr_options options;
///     options.mesh.max_level = 4;
///     options.mesh.sides.fill({boundary::outflow, boundary::outflow});
///     amr_run run(gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, options, {.stream = s});
///     run.advance_to(0.2);
///     run.totals();     // mass, momentum, energy
///     run.snapshot();   // the leaves and their values, on the host
///
/// The domain is a grid of root blocks. A block has n cells along each edge (a template parameter;
/// by default 16 in two dimensions and 8 in three). It can be refined into four (eight) blocks of n
/// cells of half the size, and so on. The leaves hold the solution: averages over cells of the
/// conserved values.
///
/// A step is a second-order step of a finite-volume method (advance.cuh). Every few steps the run
/// regrids: blocks with a large indicator are refined, families of blocks that stay below the
/// threshold are coarsened, and neighbors differ by at most one level. All transfers between levels
/// are conservative: cells are split with limited slopes and averaged down, and at coarse-fine
/// faces the coarse flux is replaced by the fine ones.
///
/// Memory      2 (with subcycling 3) times the values of all blocks, inner ones included, and for
///             flux correction a quarter (in three dimensions three quarters) of them; taken from
///             Ramify's stream-ordered pool, and doubled when the mesh outgrows it, up to
///             amr_options::mesh.max_blocks; if memory is short it grows by less.
///             environment::memory must be empty.
/// Launches    Device route: one chain of tail launches for each call of advance(), with 10 to 52
///             launch slots (with subcycling up to 160); without a slot the host launches. Flat
///             route: the host reads a few bytes back twice for each regrid that changes the mesh,
///             and once for at most 23 steps; or the loop of a graph takes the steps between two
///             regrids.
/// Waits       advance() waits; advance_async() does not. A stream that is being captured records
///             the steps; see advance_async().
/// Results     The same bits on both routes and for any order of blocks.
/// Complexity  O(cells) for each step and each regrid.
/// Sources     Berger & Colella, J. Comput. Phys. 82 (1989) 64 (refinement, flux correction);
///             MacNeice et al., Comput. Phys. Commun. 126 (2000) 330 (trees of blocks).
/// Ranks       For several GPUs or processes see <ramify/distributed_amr.cuh>.
/// Not for     Flows that need the finest level in the whole domain: a uniform grid needs no tree.
///             Viscosity, resistance of a plasma, gravity of the gas itself.

#include <ramify/runtime/detail/requirements.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <ramify/amr/argument_types.cuh>
#include <ramify/amr/begin_run.cuh>
#include <ramify/amr/config.hpp>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/amr/leaves.cuh>
#include <ramify/amr/phase_run.cuh>
#include <ramify/amr/physics/advection.cuh>
#include <ramify/amr/physics/combined_criteria.cuh>
#include <ramify/amr/physics/criteria.cuh>
#include <ramify/amr/physics/derived_fields.cuh>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/extensions.cuh>
#include <ramify/amr/physics/mhd.cuh>
#include <ramify/amr/physics/positivity.cuh>
#include <ramify/amr/physics/ppm.cuh>
#include <ramify/amr/physics/problems.cuh>
#include <ramify/amr/physics/shallow_water.cuh>
#include <ramify/amr/physics/solid.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/results.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// The default number of cells along a block's edge: 16 in two dimensions, 8 in three.
template <class Physics>
inline constexpr int default_block_cells = 8;
/// The default in two dimensions.
template <class Physics>
requires(Physics::dimensions == 2) inline constexpr int default_block_cells<Physics> = 16;

/// The primary template, for types that lack a member. Its instantiation is an error that names it.
template <class Physics, class Criterion = gradient_criterion<Physics>,
          int n = default_block_cells<Physics>>
class amr_run : detail::amr::refused_run<Physics, Criterion> {
 public:
  using detail::amr::refused_run<Physics, Criterion>::refused_run;
};
/// Deduces the types of the physics and of the criterion.
template <class Physics, class Criterion, class Initial>
amr_run(const Physics&, const Criterion&, const Initial&, const amr_options&,
        const environment& = {}) -> amr_run<Physics, Criterion>;

/// A run: a flow and its mesh. Move-only; the stream must outlive it. After an exception other than
/// std::invalid_argument and amr_error it may only be destroyed. All calls that advance it have the
/// environment of its constructor.
///
/// `Physics` is a mesh_physics; physics/README.md lists its members. criteria.cuh describes
/// `Criterion`. `n` is the number of cells along a block's edge, even and at least 4.
template <class Physics, class Criterion, int n>
requires detail::amr::simulable<Physics, Criterion>
class amr_run<Physics, Criterion, n> {
 public:
  static constexpr int dim = Physics::dimensions;       ///< dimensions of space
  static constexpr int variables = Physics::variables;  ///< values of a cell
  using real = typename Physics::real;                  ///< the number type
  using values = typename Physics::values;              ///< the values of a cell

  /// Builds the mesh for an initial state and fills it. Blocks are refined, level by level, where
  /// the criterion requires it. Waits for the stream.
  /// \param initial  `initial(where)` returns the primitive values at a point, on the device; it is
  ///         evaluated at 3 Gauss points along each axis of a cell, unless it has the member
  ///         average() (cell_average.cuh), for features that are smaller than a cell
  /// \param env  its memory must be empty
  /// \throws std::invalid_argument naming a field of `options` or `env`, or buffer_cells of the
  ///         criterion if it is negative or greater than n; unavailable if this build cannot run on
  ///         the backend or the route; amr_error if a cell's initial values are invalid or below a
  ///         floor of the physics, or the mesh needs more than mesh.max_blocks; cuda_error;
  ///         device_launch_error
  template <class Initial>
  amr_run(const Physics& physics, const Criterion& criterion, const Initial& initial,
          const amr_options& options, const environment& env = {}) {
    constexpr bool is_valid = detail::amr::is_initial_state<Physics, Initial>;
    static_assert(is_valid,
                  "amr_run: the initial state needs values operator()(const real "
                  "(&where)[dimensions]) const");
    if constexpr (is_valid) {
      detail::amr::check_arguments<Physics, n>("amr_run", criterion, options, env);
      detail::run_setup setup("amr_run", detail::by_get(env));
      parts_ = std::make_unique<parts>(physics, criterion, options, env);
      detail::amr::build_mesh(*parts_, setup,
                              detail::amr::fill_from_initial_state<Initial>{initial});
    }
  }

  /// Continues a run from a state that save() returned. A state does not contain `physics`,
  /// `criterion` and `options`; if they are the same, the results have the same bits. Waits for the
  /// stream.
  /// \param env  its memory must be empty
  /// \throws std::invalid_argument also if `state` has another block size, number type or other
  ///         root blocks, or its leaves are not a balanced mesh; the other exceptions of the first
  ///         constructor
  amr_run(const Physics& physics, const Criterion& criterion, const amr_state& state,
          const amr_options& options, const environment& env = {}) {
    detail::amr::check_arguments<Physics, n>("amr_run", criterion, options, env);
    detail::amr::check_kind<Physics, n>(state, options.mesh);
    detail::run_setup setup("amr_run", detail::by_get(env));
    parts_ = std::make_unique<parts>(physics, criterion, options, env);
    detail::amr::restore_mesh(*parts_, setup, state, state.values.data());
  }

  /// Returns everything that is needed to continue the run. Waits for the stream.
  /// \throws cuda_error
  [[nodiscard]] amr_state save() const {
    const phase_range range("amr: save");
    return saved_state_of(complete().mesh);
  }

  /// Takes `steps` steps; with subcycling these are steps of level 0. Returns after the last step,
  /// or when the time is `stop_time`, which the last step meets exactly. Waits for the stream.
  /// \throws amr_error if a cell becomes invalid, the mesh needs more than mesh.max_blocks, or
  ///         there is no time step; cuda_error; device_launch_error; std::logic_error if steps are
  ///         under way; what advance_async() throws
  void advance(std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity()) {
    static_cast<void>(advance_async(steps, stop_time).get());
  }
  /// Takes steps until the time is `stop_time`, as advance() does.
  void advance_to(double stop_time) {
    advance(std::numeric_limits<std::uint64_t>::max(), stop_time);
  }

  /// Starts the steps of advance(). get() of the result waits for the steps and completes them: it
  /// launches the phases that kernels could not launch, on the flat route all phases, and allocates
  /// memory if the mesh grows. It returns the report of the run until now. The amr_run must outlive
  /// the result. If the result is destroyed before get(), and its steps were not captured, the
  /// amr_run may only be destroyed.
  ///
  /// Returns without waiting on the device route, unless environment::pending_launches is set; the
  /// first call with the automatic route may measure launch costs (see choose_route()). On the flat
  /// route get() launches the phases. Until get() returns, no other member may be called. The
  /// arrays of a mesh are available after get() only, so the call does not read
  /// environment::completion.
  ///
  /// If the stream is being captured, the graph records the steps: each launch of the graph takes
  /// `steps` steps. On the device route they may contain regrids. The flat route requires a GPU
  /// with loops in graphs, and steps without regrids: mesh.max_level or regrid.every is 0, or
  /// `steps` is less than regrid.every. If a regrid is due nevertheless, get() completes the steps.
  /// The graph contains the addresses of the mesh, so the mesh cannot grow until the result is
  /// destroyed. Call reserve() before the capture. The result must live as long as the graph is
  /// launched. Call get() after each launch, or after the last of several launches, before any
  /// other member of the amr_run and before another graph.
  /// \throws std::invalid_argument if `stop_time` is NaN; unavailable if the steps cannot be
  ///         captured, with the reason; cuda_error; std::logic_error if other steps are under way.
  ///         get() also throws amr_error as advance(), and if captured steps need more memory for
  ///         the mesh: the graph cannot continue then, and advance() can once the result is
  ///         destroyed
  [[nodiscard]] async_run<amr_report> advance_async(
      std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity()) {
    detail::amr::require(!std::isnan(stop_time), "amr_run: stop_time", stop_time, "a number");
    parts& all = complete();
    // Only get() returns results, so the stream need not complete them.
    detail::run_setup setup("amr_run", detail::by_get(all.env));
    using steps_run = detail::amr::phase_run<parts, detail::amr::fill_from_parent>;
    auto run = std::make_unique<steps_run>(setup, all, detail::amr::fill_from_parent{}, steps);
    run->start({.steps = steps, .stop = stop_time});
    return async_run<amr_report>(std::move(run));
  }

  /// Allocates memory of the mesh for `blocks` blocks, inner ones included, but at most for
  /// mesh.max_blocks. It does nothing if the mesh has enough memory. Asynchronous.
  /// \throws std::logic_error if steps are under way or were captured; cuda_error
  void reserve(std::size_t blocks) {
    auto& mesh = complete().mesh;
    blocks = std::min(blocks, mesh.max_nodes());
    if (blocks <= mesh.view().tree.capacity) return;
    if (parts_->graphs != 0) {
      throw std::logic_error("amr_run: captured steps contain the addresses of the mesh");
    }
    const std::size_t before = mesh.bytes();
    mesh.grow_to(blocks);
    parts_->report.scratch_bytes += mesh.bytes() - before;
  }

  /// Returns the time of the run.
  [[nodiscard]] double time() const { return parts_->report.time; }
  /// Returns the number of steps since the initial state.
  [[nodiscard]] std::uint64_t steps() const { return parts_->report.steps; }
  /// Returns the report of the run until now.
  [[nodiscard]] const amr_report& report() const { return parts_->report; }

  /// Returns the leaves in device memory, for kernels of the caller in the run's stream. Does not
  /// wait. Valid until the next call that advances the run, or reserve().
  /// \throws std::logic_error if steps are under way
  [[nodiscard]] mesh_leaves<Physics, n> leaves() const {
    return complete().mesh.view().leaves_of(parts_->report.time,
                                            static_cast<unsigned>(parts_->report.leaves));
  }

  /// Returns the integrals of the conserved values over the domain. Waits for the stream. They are
  /// summed in Morton order, so equal meshes with equal values give equal bits.
  /// \throws cuda_error
  [[nodiscard]] std::vector<double> totals() const {
    const phase_range range("amr: totals");
    return totals_of(complete().mesh, parts_->report.leaves);
  }

  /// Returns the leaves with their conserved values. Waits for the stream. \throws cuda_error
  [[nodiscard]] mesh_snapshot snapshot() const {
    const phase_range range("amr: snapshot");
    return snapshot_of(complete().mesh, parts_->report);
  }

  /// Returns the leaves with derived fields of a gas, in the order of `fields`; differences near a
  /// side of a leaf are those of mesh_leaves::stencil(). Waits for the stream.
  /// \throws std::invalid_argument if an entry of `fields` is no enumerator, or one of a magnetic
  ///         field that the physics does not have; cuda_error
  [[nodiscard]] mesh_snapshot derived_snapshot(const std::vector<derived_field>& fields)
      const requires detail::amr::has_derived_fields<Physics> {
    const phase_range range("amr: derived snapshot");
    for (const derived_field f : fields) {
      check_enumerator(f, "derived_snapshot: a field");
      detail::amr::require(!is_magnetic(f) || detail::amr::has_magnetic_field<Physics>,
                           "derived_snapshot: a field", to_string(f),
                           "one of a gas without a magnetic field");
    }
    return derived_snapshot_of(complete().mesh, parts_->report, leaves(), fields, parts_->stream);
  }

 private:
  using parts = detail::amr::run_parts<Physics, n, Criterion>;

  /// Returns the parts of the run. \throws std::logic_error if steps are under way
  [[nodiscard]] parts& complete() const {
    if (parts_->under_way) {
      throw std::logic_error("amr_run: call get() of the steps under way first");
    }
    return *parts_;
  }

  std::unique_ptr<parts> parts_;
};

}  // namespace ramify::inline RAMIFY_BUILD
