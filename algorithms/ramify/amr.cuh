// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// amr_run: flow on a mesh that follows it, block-structured and refined by quadtrees or octrees.
///
///     amr_config config;
///     config.mesh.max_level = 4;
///     config.mesh.sides = all_sides(boundary::outflow);
///     euler<double, 2> gas;
///     amr_run run(gas, gradient_criterion<euler<double, 2>>{}, initial, config, stream);
///     run.advance_to(0.2);
///     run.totals();     // mass, momentum, energy
///     run.snapshot();   // the leaves and their values, on the host
///
/// The domain is a grid of root blocks. A block has n cells along each edge (a template parameter,
/// 16 in two dimensions and 8 in three unless said), and may be split into four (eight) blocks of n
/// cells of half the size, and so on. Values live in the leaves; they are averages over cells, as
/// `Physics::values`, of what is conserved.
///
/// A step is a second-order step of a finite-volume method (stage.cuh). Every few steps the mesh is
/// looked at: blocks in which the criterion is large are split, idle families of blocks become one
/// again, and neighbours differ by one level at most. What moves between levels is conserved: cells
/// are split with limited slopes and put together by averages, and where levels meet the coarse
/// flux is replaced by the fine ones.
///
/// Memory      2 (with subcycling 3) times the values of all blocks, inner ones too, and for flux
///             correction a quarter (in three dimensions three quarters) of them; taken from the
///             stream-ordered pool, and doubled when the mesh outgrows it, up to
///             amr_mesh_config::max_blocks.
/// Launches    Device route: one chain of tail launches for each call of advance(), 10 launch slots
///             (6 a level and 4 with subcycling); what finds no slot is launched by the host. Flat
///             route: the host reads a few bytes back for each phase of a look at the mesh, and once
///             for up to 8 steps.
/// Results     The same bits on either route, and whatever the order of blocks.
/// Sources     Berger & Colella, J. Comput. Phys. 82 (1989) 64 (refinement, flux correction);
///             MacNeice et al., Comput. Phys. Commun. 126 (2000) 330 (trees of blocks).
/// Not for     Flows that need the whole domain at the finest level: a uniform grid has less to
///             look up. Viscosity, magnetic fields, gravity.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ramify/amr/advection.cuh>
#include <ramify/amr/config.hpp>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/amr/drive.cuh>
#include <ramify/amr/euler.cuh>
#include <ramify/amr/gather.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/run_control.cuh>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// The customary number of cells along a block's edge.
template <class Physics>
inline constexpr int usual_cells = Physics::dimensions == 2 ? 16 : 8;

/// A flow on its mesh. Move-only; the stream must outlive it. After an exception other than
/// std::invalid_argument and amr_error it may only be destroyed.
template <class Physics, class Criterion = gradient_criterion<Physics>,
          int n = usual_cells<Physics>>
class amr_run {
 public:
  static constexpr int dim = Physics::dimensions;
  static constexpr int variables = Physics::variables;
  using real = typename Physics::real;
  using values = typename Physics::values;
  using view_type = amr_view<Physics, n, Criterion>;
  using cells = block_cells<dim, n>;

  /// Makes the mesh for an initial state: `initial(where)` gives the primitive values at a point.
  /// Blocks are split, level by level, where the criterion says so. Waits for `stream`.
  /// \throws std::invalid_argument naming a field of `config`; amr_error if a cell's initial values
  ///         are not sound, or the mesh needs more than mesh.max_blocks; cuda_error
  template <class Initial>
  amr_run(const Physics& physics, const Criterion& criterion, const Initial& initial,
          const amr_config& config, cudaStream_t stream = nullptr)
      : config_(validated(config)),
        stream_(stream),
        recorder_(config.trace, stream),
        mesh_(physics, criterion, config, stream) {
    build(fill_from_state<Initial>{initial});
  }

  /// Goes on with a run that save() kept. `physics`, `criterion` and `config` are not kept: give the
  /// same, and the results are the same to the bit. Waits for `stream`.
  /// \throws std::invalid_argument as above, and if `state` is of other blocks or numbers, or its
  ///         leaves make no balanced mesh; cuda_error
  amr_run(const Physics& physics, const Criterion& criterion, const amr_state& state,
          const amr_config& config, cudaStream_t stream = nullptr)
      : config_(validated(config)),
        stream_(stream),
        recorder_(config.trace, stream),
        mesh_(physics, criterion, config, stream) {
    check_kind<Physics, n>(state, config.mesh);
    restore(state);
  }

  /// All that is needed to go on. Waits for the stream.
  [[nodiscard]] amr_state save() const {
    const amr_clock clock = mesh_.read_clock();
    amr_state state;
    state.dimensions = dim;
    state.cells = n;
    state.variables = variables;
    state.real_bytes = sizeof(real);
    for (std::size_t axis = 0; axis < dim; ++axis) state.roots[axis] = config_.mesh.roots[axis];
    state.time = clock.time;
    state.steps = clock.steps;
    state.next_regrid = clock.next_regrid;
    state.cell_updates = clock.updates;
    state.regrids = clock.regrids;
    state.refined = clock.refined;
    state.coarsened = clock.coarsened;
    std::vector<real> packed;
    for (const leaf_record<dim>& record : mesh_.gather(0, report_.leaves, &packed)) {
      state.leaves.push_back(position_of<dim>(record.place));
      state.idle.push_back(record.idle);
    }
    state.values.resize(packed.size() * sizeof(real));
    std::memcpy(state.values.data(), packed.data(), state.values.size());
    return state;
  }

  /// Takes `steps` steps. With subcycling a step is one of level 0. Returns when they are taken, or
  /// when the time is `stop_time`, which the last step meets exactly.
  /// \throws amr_error if a cell is not sound any more, the mesh needs more than mesh.max_blocks, or
  ///         there is no time step; cuda_error; device_launch_error
  void advance(std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity()) {
    amr_clock clock = mesh_.read_clock();
    if (steps == 0 || clock.time >= stop_time) return;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - 1;
    clock.stop_step = steps > most - clock.steps ? most : clock.steps + steps;
    clock.stop_time = stop_time;
    clock.fault = amr_fault::none;
    clock.unsound = ~0ull;
    clock.stopped = 0;
    clock.batch = 0;  // nothing but a settling, which says what is next
    clock.next = amr_phase::step;
    clock.time_step = 1;
    mesh_.write_clock(clock);
    run_phases(fill_from_parent{});
  }
  /// Steps until the time is `stop_time`.
  void advance_to(double stop_time) {
    advance(std::numeric_limits<std::uint64_t>::max(), stop_time);
  }

  [[nodiscard]] double time() const { return report_.time; }
  [[nodiscard]] std::uint64_t steps() const { return report_.steps; }
  [[nodiscard]] const amr_report& report() const { return report_; }

  /// The integrals of the conserved values over the domain. Waits for the stream. Summed up in
  /// Morton order, so equal meshes with equal values give equal bits.
  [[nodiscard]] std::vector<double> totals() const {
    const auto leaves = static_cast<unsigned>(report_.leaves);
    const device_buffer<double> sums(std::size_t{leaves} * variables, stream_);
    check(launch(sum_leaves<view_type>, {leaves, adapt_threads}, stream_, mesh_.view(), sums.data())
              .code(),
          "launching the sums over the leaves");
    std::vector<double> host(sums.size());
    mesh_.copy_out(sums.data(), host.data(), host.size());
    const auto records = mesh_.gather(0, report_.leaves, nullptr);
    std::vector<double> total(variables, 0.0);
    std::vector<double> lost(variables, 0.0);  // Neumaier's compensation
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      double volume = 1;
      for (int axis = 0; axis < dim; ++axis) {
        volume *= mesh_.cell_edge(axis) / double(1u << records[leaf].place.level);
      }
      for (std::size_t v = 0; v < variables; ++v) {
        const double add = host[leaf * variables + v] * volume;
        const double sum = total[v] + add;
        lost[v] +=
            std::abs(total[v]) >= std::abs(add) ? (total[v] - sum) + add : (add - sum) + total[v];
        total[v] = sum;
      }
    }
    for (std::size_t v = 0; v < variables; ++v) total[v] += lost[v];
    return total;
  }

  /// The leaves with their conserved values. Waits for the stream.
  [[nodiscard]] mesh_snapshot snapshot() const {
    mesh_snapshot seen;
    seen.dimensions = dim;
    seen.cells = n;
    seen.roots = config_.mesh.roots;
    seen.lower = config_.mesh.lower;
    seen.upper = config_.mesh.upper;
    if (dim == 2) {
      seen.roots[2] = 1;
      seen.lower[2] = 0;
      seen.upper[2] = 1;
    }
    seen.time = report_.time;
    seen.step = report_.steps;
    for (int v = 0; v < variables; ++v) seen.fields.emplace_back(Physics::field_name(v));
    std::vector<real> packed;
    const auto records = mesh_.gather(0, report_.leaves, &packed);
    for (const leaf_record<dim>& record : records)
      seen.leaves.push_back(position_of<dim>(record.place));
    seen.values.assign(packed.begin(), packed.end());
    return seen;
  }

 private:
  static const amr_config& validated(const amr_config& config) {
    validate(config, dim);
    return config;
  }

  void restore(const amr_state& state) {
    const host_forest<dim> forest(mesh_.view().tree, state.leaves);
    if (forest.places().size() > mesh_.view().tree.capacity) mesh_.grow_to(forest.places().size());
    mesh_.order_roots();
    std::vector<unsigned> idle(forest.places().size(), 0);
    for (std::size_t leaf = 0; leaf < state.leaves.size(); ++leaf) {
      idle[static_cast<std::size_t>(forest.nodes_of_leaves()[leaf])] = state.idle[leaf];
    }
    mesh_.copy_in(forest.places(), mesh_.view().tree.place);
    mesh_.copy_in(forest.parents(), mesh_.view().tree.parent);
    mesh_.copy_in(forest.first_children(), mesh_.view().tree.first_child);
    mesh_.copy_in(idle, mesh_.view().lists.idle);
    mesh_.copy_in(std::vector<unsigned>(idle.size(), 0), mesh_.view().lists.is_marked);
    mesh_.scatter(forest.nodes_of_leaves(), state.values);

    amr_clock clock{};
    clock.unsound = ~0ull;
    clock.time = state.time;
    clock.steps = state.steps;
    clock.next_regrid = state.next_regrid;
    clock.updates = state.cell_updates;
    clock.regrids = state.regrids;
    clock.refined = state.refined;
    clock.coarsened = state.coarsened;
    clock.families = forest.families();
    clock.building = true;  // lists and averages are made as those of a first mesh
    clock.next = amr_phase::arrange;
    mesh_.write_clock(clock);
    run_phases(fill_from_parent{});
  }

  template <class Fill>
  void build(const Fill& fill) {
    const unsigned roots = mesh_.view().tree.root_count();
    mesh_.order_roots();
    amr_clock clock{};
    clock.unsound = ~0ull;
    clock.building = true;
    clock.rounds_left = config_.mesh.max_level;
    clock.next = config_.mesh.max_level > 0 ? amr_phase::examine : amr_phase::arrange;
    clock.next_regrid = config_.regrid.every;
    mesh_.write_clock(clock);
    mesh_.view().trace = recorder_.ticket();
    const auto run = [&](const launch_status& status) {
      check(status.code(), "launching the root blocks");
      ++report_.host_grids;
    };
    run(launch(plant_roots<view_type, Fill>, {roots, adapt_threads}, stream_, mesh_.view(), fill));
    run(launch(link_neighbors<view_type>,
               {blocks_for(1ull * roots * mesh_.view().tree.faces), list_threads}, stream_,
               mesh_.view(), roots));
    run(launch(order_blocks<view_type>, {1, order_threads}, stream_, mesh_.view()));
    run_phases(fill);
  }

  /// Runs phases until none is left, by the route that the configuration asks for.
  template <class Fill>
  void run_phases(const Fill& fill) {
    const std::size_t limit = *current_launch_limits().pending_launches;
    const device_buffer<std::byte> scratch(run_control::scratch_bytes, stream_);
    amr_clock clock = mesh_.read_clock();
    run_control control(scratch.data(),
                        choose_route(config_.route, limit,
                                     slots_of_phase(config_.mesh.max_level, config_.step.subcycle),
                                     plans_of_phase(clock), stream_),
                        limit, stream_);
    mesh_.view().slots = control.slots();
    mesh_.view().status = control.status();
    mesh_.view().trace = recorder_.ticket();
    if (config_.trace != nullptr) config_.trace->taken = control.report().taken;
    const auto give_slots_back = [&] {
      if (clock.held == 0) return;
      control.launched(launch(release_slots<view_type>, {1, 1}, stream_, mesh_.view()),
                       "launching the release of slots");
      clock.held = 0;
    };
    while (clock.next != amr_phase::idle) {
      if (control.on_device_route() && clock.stopped == 0) {
        if constexpr (device_launch_available) {
          control.launched(launch(drive<view_type, Fill>, {1, 1}, stream_, mesh_.view(), fill),
                           "launching the driver");
        }
      } else {
        launch_sequence run(stream_, clock.launched);
        launch_phase_from_host(mesh_.view(), clock, fill, run);
        check(run.error(), "launching a phase of a run on a mesh");
        control.count_grids(run.launched(), 0);
      }
      control.wait();
      clock = mesh_.read_clock();
      if (clock.fault == amr_fault::mesh_full) {
        give_slots_back();  // there may be no more memory
        try {
          mesh_.grow_to(2 * std::size_t{mesh_.view().tree.capacity});
        } catch (const amr_error&) {
          leave_phases();
          throw;
        }
        clock.fault = amr_fault::none;
        clock.stopped = 0;
        mesh_.write_clock(clock);
      }
    }
    give_slots_back();
    control.wait();
    leave_phases();
    take_report(clock, control.report());
    tell_fault(clock);
  }

  /// What launches and copies outside of phases is not the run's.
  void leave_phases() {
    view_type& view = mesh_.view();
    view.slots = {};
    view.status = nullptr;
    view.trace = {};
    recorder_.read();
  }

  /// Of the steps between two looks of the host.
  [[nodiscard]] route_plans plans_of_phase(const amr_clock& clock) const {
    double grids = grids_of_step * longest_batch;
    double tails = 1;
    if (config_.step.subcycle) {  // a step of the recursion over the levels
      const double level_steps = std::exp2(config_.mesh.max_level + 1) - 1;
      const double inner = std::exp2(config_.mesh.max_level) - 1;
      grids = 2 * level_steps + 2 * inner + 4;
      tails = 3 * inner + 3;
    }
    // Fewer blocks of a large grid are resident if a kernel launched it: a step of a uniform mesh of
    // 256^3 cells took 2.05 ms longer in double, 1.68 ms in float (H200).
    const double steps = config_.step.subcycle ? 1 : longest_batch;
    const double updates = steps * double(clock.leaves) * cells::count;
    return {{.host_launches = grids, .host_round_trips = 1},
            {.device_launches = grids, .tail_launches = tails, .extra_us = updates * 1.0e-4},
            route::flat};
  }

  void take_report(const amr_clock& clock, const run_report& part) {
    add_part(report_, part);
    report_.ran_on = part.ran_on;
    report_.backend_reason = part.backend_reason;
    report_.taken = part.taken;
    report_.route_reason = part.route_reason;
    report_.pending_launch_limit = part.pending_launch_limit;
    report_.scratch_bytes = mesh_.bytes() + run_control::scratch_bytes;
    report_.time = clock.time;
    report_.steps = clock.steps;
    report_.cell_updates = clock.updates;
    report_.regrids = clock.regrids;
    report_.refined = clock.refined;
    report_.coarsened = clock.coarsened;
    report_.leaves = clock.leaves;
    report_.blocks = clock.level_begin[mesh_.view().tree.max_level + 1];
    report_.peak_blocks = clock.peak_blocks;
    report_.max_blocks = config_.mesh.max_blocks;
    report_.finest_level = finest_level(clock, mesh_.view().tree.max_level);
  }

  void tell_fault(const amr_clock& clock) const {
    if (clock.fault == amr_fault::no_time_step) {
      throw amr_error("there is no time step at step " + std::to_string(clock.steps) + ", time " +
                      std::to_string(clock.time) +
                      ": waves are too fast for it, or nothing moves and no stop time is given");
    }
    if (clock.fault != amr_fault::unsound_cell) return;
    const auto leaf = static_cast<unsigned>(clock.unsound / cells::count);
    std::vector<real> seen;
    const leaf_record<dim> where = mesh_.gather(leaf, 1, &seen).front();
    int at[dim];
    const auto cell = static_cast<int>(clock.unsound % cells::count);
    cells::position(cell, at);
    std::string text = "the state at (";
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const double edge = mesh_.cell_edge(int(axis)) / double(1u << where.place.level);
      const double x =
          config_.mesh.lower[axis] + (double(where.place.index[axis]) * n + at[axis] + 0.5) * edge;
      text += (axis == 0 ? "" : ", ") + std::to_string(x);
    }
    text += "), level " + std::to_string(where.place.level) + ", is not one that can be:";
    for (int v = 0; v < variables; ++v) {
      text += std::string(v == 0 ? " " : ", ") + Physics::field_name(v) + " " +
              std::to_string(seen[std::size_t(v) * cells::count + std::size_t(cell)]);
    }
    throw amr_error(text + "; step " + std::to_string(clock.steps) + ", time " +
                    std::to_string(clock.time));
  }

  amr_config config_;
  cudaStream_t stream_;
  trace_recorder recorder_;
  device_mesh<Physics, n, Criterion> mesh_;
  amr_report report_;
};

}  // namespace ramify::inline RAMIFY_BUILD
