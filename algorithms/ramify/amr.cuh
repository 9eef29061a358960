// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// amr_run: a flow on an adaptive mesh of blocks, refined by quadtrees or octrees.
///
///     using gas = euler<double, 2>;
///     amr_config config;
///     config.mesh.max_level = 4;
///     config.mesh.sides.fill({boundary::outflow, boundary::outflow});
///     amr_run run(gas{}, gradient_criterion<gas>{}, sod<double, 2>{}, config, stream);
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
///             the stream-ordered pool, and doubled when the mesh outgrows it, up to
///             amr_mesh_config::max_blocks.
/// Launches    Device route: one chain of tail launches for each call of advance(), with 10 launch
///             slots (6 a level and 4 with subcycling); without a slot the host launches. Flat
///             route: the host reads a few bytes back for each phase of a regrid, and once for at
///             most 8 steps.
/// Results     The same bits on both routes and for any order of blocks.
/// Complexity  O(cells) for each step and each regrid.
/// Sources     Berger & Colella, J. Comput. Phys. 82 (1989) 64 (refinement, flux correction);
///             MacNeice et al., Comput. Phys. Commun. 126 (2000) 330 (trees of blocks).
/// Not for     Flows that need the finest level in the whole domain: a uniform grid needs no tree.
///             Viscosity, magnetic fields, gravity.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <ramify/amr/advection.cuh>
#include <ramify/amr/config.hpp>
#include <ramify/amr/criteria.cuh>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/amr/drive.cuh>
#include <ramify/amr/euler.cuh>
#include <ramify/amr/problems.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/results.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/run_control.cuh>
#include <utility>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// The default number of cells along a block's edge.
template <class Physics>
inline constexpr int default_block_cells = Physics::dimensions == 2 ? 16 : 8;

/// A flow on its mesh. Move-only; the stream must outlive it. After an exception other than
/// std::invalid_argument and amr_error it may only be destroyed.
///
/// `Physics` has the members of euler (euler.cuh), `Criterion` is described in criteria.cuh; `n` is
/// the number of cells along a block's edge, even and at least 4.
template <class Physics, class Criterion = gradient_criterion<Physics>,
          int n = default_block_cells<Physics>>
class amr_run {
 public:
  static constexpr int dim = Physics::dimensions;
  static constexpr int variables = Physics::variables;
  using real = typename Physics::real;
  using values = typename Physics::values;

  /// Builds the mesh for an initial state and fills it. Blocks are refined, level by level, where
  /// the criterion requires it. Waits for `stream`.
  /// \param initial  `initial(where)` returns the primitive values at a point, on the device
  /// \throws std::invalid_argument naming a field of `config`; unavailable if this build cannot run
  ///         on the configured backend or route; amr_error if a cell's initial values are invalid,
  ///         or the mesh needs more than mesh.max_blocks; cuda_error; device_launch_error
  template <class Initial>
  amr_run(const Physics& physics, const Criterion& criterion, const Initial& initial,
          const amr_config& config, cudaStream_t stream = nullptr)
      : config_(validated(config)),
        stream_(stream),
        recorder_(config.trace, stream),
        mesh_(physics, criterion, config, stream) {
    const auto limits = configured_limits();
    build(detail::amr::fill_from_initial_state<Initial>{initial});
  }

  /// Continues a run from a state that save() returned. A state contains neither `physics` nor
  /// `criterion` nor `config`: with the same ones the results have the same bits. Waits for
  /// `stream`.
  /// \throws std::invalid_argument also if `state` has other blocks or numbers, or its leaves are
  ///         not a balanced mesh; the other exceptions of the first constructor
  amr_run(const Physics& physics, const Criterion& criterion, const amr_state& state,
          const amr_config& config, cudaStream_t stream = nullptr)
      : config_(validated(config)),
        stream_(stream),
        recorder_(config.trace, stream),
        mesh_(physics, criterion, config, stream) {
    const auto limits = configured_limits();
    detail::amr::check_kind<Physics, n>(state, config.mesh);
    restore(state);
  }

  /// Returns everything that is needed to continue the run. Waits for the stream.
  /// \throws cuda_error
  [[nodiscard]] amr_state save() const {
    return saved_state_of(mesh_, config_.mesh, report_.leaves);
  }

  /// Takes `steps` steps; with subcycling these are steps of level 0. Returns after the last step,
  /// or when the time is `stop_time`, which the last step meets exactly. Waits for the stream.
  /// \throws amr_error if a cell becomes invalid, the mesh needs more than mesh.max_blocks, or
  ///         there is no time step; cuda_error; device_launch_error
  void advance(std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity()) {
    using namespace detail::amr;
    const auto limits = configured_limits();
    run_state state = mesh_.read_state();
    if (steps == 0 || state.time.now >= stop_time) return;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - 1;
    state.time.stop_step = steps > most - state.time.steps ? most : state.time.steps + steps;
    state.time.stop = stop_time;
    state.fault = {fault::none, no_invalid_cell};
    state.launches.stopped = 0;
    state.time.batch = 0;  // the first phase is next_phase() alone, which decides what to do
    state.next = phase::step;
    state.time.dt = 1;
    mesh_.write_state(state);
    run_phases(fill_from_parent{});
  }
  /// Takes steps until the time is `stop_time`, as advance() does.
  void advance_to(double stop_time) {
    advance(std::numeric_limits<std::uint64_t>::max(), stop_time);
  }

  [[nodiscard]] double time() const { return report_.time; }
  [[nodiscard]] std::uint64_t steps() const { return report_.steps; }
  [[nodiscard]] const amr_report& report() const { return report_; }

  /// Returns the integrals of the conserved values over the domain. Waits for the stream. They are
  /// summed in Morton order, so equal meshes with equal values give equal bits.
  /// \throws cuda_error
  [[nodiscard]] std::vector<double> totals() const { return totals_of(mesh_, report_.leaves); }

  /// Returns the leaves with their conserved values. Waits for the stream. \throws cuda_error
  [[nodiscard]] mesh_snapshot snapshot() const { return snapshot_of(mesh_, config_.mesh, report_); }

 private:
  using device_mesh = detail::amr::device_mesh<Physics, n, Criterion>;
  using view_type = typename device_mesh::view_type;
  using cells = typename device_mesh::cells;

  static const amr_config& validated(const amr_config& config) {
    validate(config, dim);
    constexpr backend here = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
    if (config.backend != backend::automatic && config.backend != here) {
      throw unavailable("amr_run: this code was compiled for the backend " +
                        std::string(to_string(here)));
    }
    return config;
  }

  /// The configured limit, in force while the result lives.
  [[nodiscard]] std::optional<launch_limits> configured_limits() const {
    if (config_.pending_launches == 0) return std::nullopt;
    return std::optional<launch_limits>(
        std::in_place, launch_limit_values{.pending_launches = config_.pending_launches});
  }

  void restore(const amr_state& saved) {
    using namespace detail::amr;
    const host_forest<dim> forest(mesh_.view().tree, saved.leaves);
    if (forest.places().size() > mesh_.view().tree.capacity) mesh_.grow_to(forest.places().size());
    mesh_.order_roots();
    std::vector<unsigned> idle(forest.places().size(), 0);
    for (std::size_t leaf = 0; leaf < saved.leaves.size(); ++leaf) {
      idle[static_cast<std::size_t>(forest.nodes_of_leaves()[leaf])] = saved.idle[leaf];
    }
    mesh_.copy_in(forest.places(), mesh_.view().tree.place);
    mesh_.copy_in(forest.parents(), mesh_.view().tree.parent);
    mesh_.copy_in(forest.first_children(), mesh_.view().tree.first_child);
    mesh_.copy_in(idle, mesh_.view().lists.idle);
    mesh_.copy_in(std::vector<unsigned>(idle.size(), 0), mesh_.view().lists.is_tagged);
    mesh_.scatter(forest.nodes_of_leaves(), saved.values);

    run_state state = initial_run_state();  // lists and averages are made as for a first mesh
    state.time.now = saved.time;
    state.time.steps = saved.steps;
    state.time.next_regrid = saved.next_regrid;
    state.time.cell_updates = saved.cell_updates;
    state.mesh.regrids = saved.regrids;
    state.mesh.refined = saved.refined;
    state.mesh.coarsened = saved.coarsened;
    state.mesh.families = forest.families();
    state.next = phase::rebuild_lists;
    mesh_.write_state(state);
    run_phases(fill_from_parent{});
  }

  template <class Fill>
  void build(const Fill& fill) {
    using namespace detail::amr;
    const unsigned roots = mesh_.view().tree.root_count();
    mesh_.order_roots();
    run_state state = initial_run_state();
    state.regrid.rounds_left = config_.mesh.max_level;
    state.next = config_.mesh.max_level > 0 ? phase::tag : phase::rebuild_lists;
    state.time.next_regrid = config_.regrid.every;
    mesh_.write_state(state);
    mesh_.view().trace = recorder_.ticket();
    const auto run = [&](const launch_status& status) {
      check(status.code(), "launching the root blocks");
      ++report_.host_grids;
    };
    run(launch(fill_roots<view_type, Fill>, {roots, regrid_threads}, stream_, mesh_.view(), fill));
    run(launch(link_neighbors<view_type>,
               {blocks_for(1ull * roots * mesh_.view().tree.faces), list_threads}, stream_,
               mesh_.view(), roots));
    run(launch(order_blocks<view_type>, {1, order_threads}, stream_, mesh_.view()));
    run_phases(fill);
  }

  /// Runs phases until none is left, on the configured route.
  template <class Fill>
  void run_phases(const Fill& fill) {
    using namespace detail::amr;
    const std::size_t limit = *current_launch_limits().pending_launches;
    const device_buffer<std::byte> scratch(run_control::scratch_bytes, stream_);
    run_state state = mesh_.read_state();
    run_control control(scratch.data(),
                        choose_route(config_.route, limit,
                                     slots_of_phase(config_.mesh.max_level, config_.step.subcycle),
                                     plans_of_phase(state), stream_),
                        limit, stream_);
    mesh_.view().slots = control.slots();
    mesh_.view().status = control.status();
    mesh_.view().trace = recorder_.ticket();
    if (config_.trace != nullptr) config_.trace->taken = control.report().taken;
    const auto release_held_slots = [&] {
      if (state.launches.slots_held == 0) return;
      control.launched(launch(release_slots<view_type>, {1, 1}, stream_, mesh_.view()),
                       "launching the release of slots");
      state.launches.slots_held = 0;
    };
    while (state.next != phase::idle) {
      if (control.on_device_route() && state.launches.stopped == 0) {
        if constexpr (device_launch_available) {
          control.launched(launch(drive<view_type, Fill>, {1, 1}, stream_, mesh_.view(), fill),
                           "launching the driver");
        }
      } else {
        launch_sequence run(stream_, state.launches.grids_launched);
        launch_phase_from_host(mesh_.view(), state, fill, run);
        check(run.error(), "launching a phase of a run on a mesh");
        control.count_grids(run.launched(), 0);
      }
      control.wait();
      state = mesh_.read_state();
      if (state.fault.code == fault::mesh_full) {
        release_held_slots();  // grow_to() may throw
        try {
          mesh_.grow_to(2 * std::size_t{mesh_.view().tree.capacity});
        } catch (const amr_error&) {
          leave_phases();
          throw;
        }
        state.fault.code = fault::none;
        state.launches.stopped = 0;
        mesh_.write_state(state);
      }
    }
    release_held_slots();
    control.wait();
    leave_phases();
    update_report(report_, control.report(), state, mesh_);
    report_.max_blocks = config_.mesh.max_blocks;
    throw_fault(mesh_, config_.mesh, state);
  }

  /// Outside of phases, grids use no slots and are not recorded.
  void leave_phases() {
    view_type& view = mesh_.view();
    view.slots = {};
    view.status = nullptr;
    view.trace = {};
    recorder_.read();
  }

  /// The launches of the steps between two round trips of the host.
  [[nodiscard]] route_plans plans_of_phase(const detail::amr::run_state& state) const {
    using namespace detail::amr;
    double grids = max_grids_of_step * max_batch;
    double tails = 1;
    if (config_.step.subcycle) {  // a step of the recursion over the levels
      const double level_steps = std::exp2(config_.mesh.max_level + 1) - 1;
      const double inner = std::exp2(config_.mesh.max_level) - 1;
      grids = 2 * level_steps + 2 * inner + 4;
      tails = 3 * inner + 3;
    }
    // Fewer blocks of a large grid are resident if a kernel launched it: a step of a uniform mesh
    // of 256^3 cells took 2.05 ms longer in double, 1.68 ms in float (H200).
    const double steps = config_.step.subcycle ? 1 : max_batch;
    const double updates = steps * double(state.mesh.leaves) * cells::count;
    return {{.host_launches = grids, .host_round_trips = 1},
            {.device_launches = grids, .tail_launches = tails, .extra_us = updates * 1.0e-4},
            route::flat};
  }

  amr_config config_;
  cudaStream_t stream_;
  detail::runtime::trace_recorder recorder_;
  device_mesh mesh_;
  amr_report report_;
};

}  // namespace ramify::inline RAMIFY_BUILD
