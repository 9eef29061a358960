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
/// Memory      3 (with subcycling 4) times the values of all blocks, inner ones too, and half of
///             that for fluxes where levels meet; taken from the stream-ordered pool, and doubled
///             when the mesh outgrows it, up to amr_mesh_config::max_blocks.
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
#include <memory>
#include <numeric>
#include <optional>
#include <ramify/amr/advection.cuh>
#include <ramify/amr/config.hpp>
#include <ramify/amr/drive.cuh>
#include <ramify/amr/euler.cuh>
#include <ramify/amr/gather.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/run_control.cuh>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// The customary number of cells along a block's edge.
template <class Physics>
inline constexpr int usual_cells = Physics::dimensions == 2 ? 16 : 8;

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
      : config_(config), stream_(stream) {
    validate(config, dim);
    set_up(physics, criterion);
    build(fill_from_state<Initial>{initial});
  }

  /// Goes on with a run that save() kept. `physics`, `criterion` and `config` are not kept: give the
  /// same, and the results are the same to the bit. Waits for `stream`.
  /// \throws std::invalid_argument as above, and if `state` is of other blocks or numbers, or its
  ///         leaves make no balanced mesh; cuda_error
  amr_run(const Physics& physics, const Criterion& criterion, const amr_state& state,
          const amr_config& config, cudaStream_t stream = nullptr)
      : config_(config), stream_(stream) {
    validate(config, dim);
    check_kind(state);
    set_up(physics, criterion);
    restore(state);
  }

  /// All that is needed to go on. Waits for the stream.
  [[nodiscard]] amr_state save() const {
    const amr_clock clock = read_clock();
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
    for (const leaf_record<dim>& record : gather(&packed)) {
      state.leaves.push_back(position_of(record.place));
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
    amr_clock clock = read_clock();
    if (steps == 0 || clock.time >= stop_time) return;
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - 1;
    clock.stop_step = steps > most - clock.steps ? most : clock.steps + steps;
    clock.stop_time = stop_time;
    clock.fault = amr_fault::none;
    clock.unsound = ~0ull;
    clock.batch = 0;  // nothing but a settling, which says what is next
    clock.next = amr_phase::step;
    clock.time_step = 1;
    write_clock(clock);
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
    check(
        launch(sum_leaves<view_type>, {leaves, adapt_threads}, stream_, view_, sums.data()).code(),
        "launching the sums over the leaves");
    std::vector<double> host(sums.size());
    copy_out(sums.data(), host.data(), host.size());
    const auto records = gather(nullptr);
    std::vector<double> total(variables, 0.0);
    std::vector<double> lost(variables, 0.0);  // Neumaier's compensation
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      double volume = 1;
      for (int axis = 0; axis < dim; ++axis) {
        volume *= cell_edge(axis) / double(1u << records[leaf].place.level);
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
    const auto records = gather(&packed);
    for (const leaf_record<dim>& record : records) seen.leaves.push_back(position_of(record.place));
    seen.values.assign(packed.begin(), packed.end());
    return seen;
  }

 private:
  /// All that is kept for each node, in an order that stays: calls `use(pointer, count)`.
  template <class Use>
  static void for_each_array(view_type& view, std::size_t nodes, Use use) {
    const std::size_t all = nodes * variables * cells::count;
    const std::size_t faces = nodes * mesh_tree<dim>::faces;
    use(view.now.data, all);
    use(view.stage.data, all);
    use(view.before.data, view.step.subcycle ? all : 0);
    use(view.flows, view.step.reflux ? faces * variables * cells::of_a_face : 0);
    use(view.tree.place, nodes);
    use(view.tree.parent, nodes);
    use(view.tree.first_child, nodes);
    use(view.tree.neighbor, faces);
    use(view.lists.leaves, nodes);
    use(view.lists.nodes, nodes);
    use(view.lists.covered, nodes);
    use(view.lists.marked, nodes);
    use(view.lists.leaving, nodes);
    use(view.lists.free_families, nodes);
    use(view.lists.is_marked, nodes);
    use(view.lists.idle, nodes);
    use(view.lists.first_leaf, nodes);
    use(view.lists.leaves_below, nodes);
  }

  [[nodiscard]] double cell_edge(int axis) const {  // of level 0
    const auto a = static_cast<std::size_t>(axis);
    return (config_.mesh.upper[a] - config_.mesh.lower[a]) / (double(config_.mesh.roots[a]) * n);
  }

  void set_up(const Physics& physics, const Criterion& criterion) {
    view_.physics = physics;
    view_.criterion = criterion;
    view_.regrid = config_.regrid;
    view_.step = config_.step;
    mesh_tree<dim>& tree = view_.tree;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      tree.roots[axis] = config_.mesh.roots[axis];
      for (std::size_t side = 0; side < 2; ++side) {
        tree.sides[axis][side] = config_.mesh.sides[axis][side];
      }
      view_.lower[axis] = static_cast<real>(config_.mesh.lower[axis]);
      view_.root_spacing[axis] = static_cast<real>(cell_edge(static_cast<int>(axis)));
    }
    tree.max_level = config_.mesh.max_level;
    tree.reach = config_.mesh.balance == balance::face   ? 1
                 : config_.mesh.balance == balance::edge ? 2
                                                         : dim;
    clock_ = device_buffer<amr_clock>(1, stream_);
    view_.clock = clock_.data();
    grow_to(std::max<std::size_t>(2 * tree.root_count(), 1024));

    using storage = stage_storage<Physics, n>;
    using tuning = stage_tuning<Physics, n>;
    const std::size_t granted =
        std::min(grant_shared(advance_blocks<view_type, tuning::from_kernels>, sizeof(storage)),
                 grant_shared(advance_blocks<view_type, tuning::from_the_host>, sizeof(storage)));
    if (granted < sizeof(storage)) {
      throw unavailable("amr: blocks of " + std::to_string(n) + " cells along an edge need " +
                        std::to_string(sizeof(storage)) +
                        " bytes of shared memory, more than this device gives");
    }
  }

  /// Gets memory for `nodes` nodes and moves what there is into it.
  void grow_to(std::size_t nodes) {
    const std::size_t most = config_.mesh.max_blocks == 0
                                 ? std::size_t{std::numeric_limits<int>::max()}
                                 : config_.mesh.max_blocks;
    nodes = std::min(nodes, most);
    if (nodes <= view_.tree.capacity && memory_.data() != nullptr) {
      throw amr_error("the mesh needs more than amr_mesh_config.max_blocks, which is " +
                      std::to_string(most) + ", at step " + std::to_string(report_.steps));
    }
    view_type next = view_;
    memory_layout sizing(nullptr);
    for_each_array(next, nodes, [&]<class T>(T*& pointer, std::size_t count) {
      pointer = sizing.take<T>(count);
    });
    device_buffer<std::byte> memory(sizing.size(), stream_);
    memory_layout layout(memory.data());
    for_each_array(next, nodes, [&]<class T>(T*& pointer, std::size_t count) {
      pointer = layout.take<T>(count);
    });
    if (memory_.data() != nullptr) {
      // The arrays come in the same order.
      std::vector<std::pair<const void*, std::size_t>> old;
      for_each_array(view_, view_.tree.capacity, [&]<class T>(T*& pointer, std::size_t count) {
        old.emplace_back(pointer, count * sizeof(T));
      });
      auto from = old.begin();
      for_each_array(next, nodes, [&]<class T>(T*& pointer, std::size_t) {
        if (from->second > 0) {
          check(cudaMemcpyAsync(pointer, from->first, from->second, cudaMemcpyDeviceToDevice,
                                stream_),
                "moving the mesh to more memory");
        }
        ++from;
      });
    }
    view_ = next;
    view_.tree.capacity = static_cast<unsigned>(nodes);
    memory_ = std::move(memory);
  }

  [[nodiscard]] static block_position position_of(const block_place<dim>& place) {
    block_position position;
    position.level = place.level;
    for (std::size_t axis = 0; axis < dim; ++axis) position.index[axis] = place.index[axis];
    return position;
  }

  /// Puts the root blocks into the list of nodes in Morton order, whatever their number along the
  /// axes.
  void order_roots() {
    std::vector<int> order(view_.tree.root_count());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int root) { return morton_code(root); });
    copy_in(order, view_.lists.nodes);
  }

  void check_kind(const amr_state& state) const {
    const auto same = [](const char* what, auto found, auto wanted) {
      if (found == wanted) return;
      throw std::invalid_argument("amr_state." + std::string(what) + " is " +
                                  std::to_string(found) + "; this run's is " +
                                  std::to_string(wanted));
    };
    same("dimensions", state.dimensions, dim);
    same("cells", state.cells, n);
    same("variables", state.variables, variables);
    same("real_bytes", state.real_bytes, static_cast<int>(sizeof(real)));
    for (std::size_t axis = 0; axis < dim; ++axis) {
      same("roots", state.roots[axis], config_.mesh.roots[axis]);
    }
    same("idle.size()", state.idle.size(), state.leaves.size());
    same("values.size()", state.values.size(),
         state.leaves.size() * variables * cells::count * sizeof(real));
    if (!std::isfinite(state.time)) {
      throw std::invalid_argument("amr_state.time is " + std::to_string(state.time));
    }
  }

  void restore(const amr_state& state) {
    const host_forest<dim> forest(view_.tree, state.leaves);
    if (forest.places().size() > view_.tree.capacity) grow_to(forest.places().size());
    order_roots();
    std::vector<unsigned> idle(forest.places().size(), 0);
    for (std::size_t leaf = 0; leaf < state.leaves.size(); ++leaf) {
      idle[static_cast<std::size_t>(forest.nodes_of_leaves()[leaf])] = state.idle[leaf];
    }
    copy_in(forest.places(), view_.tree.place);
    copy_in(forest.parents(), view_.tree.parent);
    copy_in(forest.first_children(), view_.tree.first_child);
    copy_in(idle, view_.lists.idle);
    copy_in(std::vector<unsigned>(idle.size(), 0), view_.lists.is_marked);
    scatter(forest.nodes_of_leaves(), state.values);

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
    write_clock(clock);
    run_phases(fill_from_parent{});
  }

  /// Copies the values of leaves to their nodes, in pieces.
  void scatter(const std::vector<int>& nodes, const std::vector<std::byte>& values_of_leaves) {
    constexpr std::size_t of_leaf = std::size_t{variables} * cells::count;
    const std::size_t piece = std::min<std::size_t>(nodes.size(), 4096);
    const device_buffer<int> numbers(piece, stream_);
    const device_buffer<real> packed(piece * of_leaf, stream_);
    for (std::size_t first = 0; first < nodes.size(); first += piece) {
      const std::size_t count = std::min(piece, nodes.size() - first);
      check(cudaMemcpyAsync(numbers.data(), nodes.data() + first, count * sizeof(int),
                            cudaMemcpyHostToDevice, stream_),
            "restoring a run");
      check(cudaMemcpyAsync(packed.data(), values_of_leaves.data() + first * of_leaf * sizeof(real),
                            count * of_leaf * sizeof(real), cudaMemcpyHostToDevice, stream_),
            "restoring a run");
      check(launch(scatter_leaves<view_type>, {static_cast<unsigned>(count), adapt_threads},
                   stream_, view_, numbers.data(), packed.data())
                .code(),
            "launching the scattering of leaves");
    }
    check(cudaStreamSynchronize(stream_), "restoring a run");
  }

  template <class Fill>
  void build(const Fill& fill) {
    const unsigned roots = view_.tree.root_count();
    order_roots();
    amr_clock clock{};
    clock.unsound = ~0ull;
    clock.building = true;
    clock.rounds_left = config_.mesh.max_level;
    clock.next = config_.mesh.max_level > 0 ? amr_phase::examine : amr_phase::arrange;
    clock.next_regrid = config_.regrid.every;
    write_clock(clock);
    const auto run = [&](const launch_status& status) {
      check(status.code(), "launching the root blocks");
      ++report_.host_grids;
    };
    run(launch(plant_roots<view_type, Fill>, {roots, adapt_threads}, stream_, view_, fill));
    run(launch(link_neighbors<view_type>,
               {blocks_for(1ull * roots * view_.tree.faces), list_threads}, stream_, view_, roots));
    run(launch(order_blocks<view_type>, {1, order_threads}, stream_, view_));
    run_phases(fill);
  }

  /// Interleaves the bits of a root block's coordinates, x lowest.
  [[nodiscard]] std::uint64_t morton_code(int root) const {
    std::uint64_t code = 0;
    auto rest = static_cast<unsigned>(root);
    for (int axis = 0; axis < dim; ++axis) {
      const unsigned index = rest % view_.tree.roots[axis];
      rest /= view_.tree.roots[axis];
      for (int bit = 0; bit < 21; ++bit) {
        code |= std::uint64_t{index >> bit & 1} << (bit * dim + axis);
      }
    }
    return code;
  }

  /// Runs phases until none is left, by the route that the configuration asks for.
  template <class Fill>
  void run_phases(const Fill& fill) {
    const std::size_t limit = *current_launch_limits().pending_launches;
    const device_buffer<std::byte> scratch(run_control::scratch_bytes, stream_);
    const route_choice preferred =
        RAMIFY_ON_CUDA ? route_choice{route::flat, "a step's grids are long next to a launch"}
                       : route_choice{route::device, "as quick as flat on the CPU executor"};
    run_control control(
        scratch.data(),
        choose_route(config_.route, limit,
                     slots_of_phase(config_.mesh.max_level, config_.step.subcycle), preferred),
        limit, stream_);
    view_.slots = control.slots();
    view_.status = control.status();
    amr_clock clock = read_clock();
    const auto give_slots_back = [&] {
      if (clock.held == 0) return;
      control.launched(launch(release_slots<view_type>, {1, 1}, stream_, view_),
                       "launching the release of slots");
      clock.held = 0;
    };
    while (clock.next != amr_phase::idle) {
      if (control.on_device_route() && clock.stopped == 0) {
        if constexpr (device_launch_available) {
          control.launched(launch(drive<view_type, Fill>, {1, 1}, stream_, view_, fill),
                           "launching the driver");
        }
      } else {
        launch_sequence run(stream_, clock.launched);
        launch_phase_from_host(view_, clock, fill, run);
        check(run.error(), "launching a phase of a run on a mesh");
        control.count_grids(run.launched(), 0);
      }
      control.wait();
      clock = read_clock();
      if (clock.fault == amr_fault::mesh_full) {
        give_slots_back();  // there may be no more memory
        grow_to(2 * std::size_t{view_.tree.capacity});
        clock.fault = amr_fault::none;
        clock.stopped = 0;
        write_clock(clock);
      }
    }
    give_slots_back();
    control.wait();
    view_.slots = {};
    view_.status = nullptr;
    take_report(clock, control.report());
    tell_fault(clock);
  }

  [[nodiscard]] amr_clock read_clock() const {
    amr_clock clock;
    copy_out(clock_.data(), &clock, 1);
    return clock;
  }
  void write_clock(const amr_clock& clock) {
    check(cudaMemcpyAsync(clock_.data(), &clock, sizeof clock, cudaMemcpyHostToDevice, stream_),
          "writing the clock of a run");
    check(cudaStreamSynchronize(stream_), "writing the clock of a run");
  }
  template <class T>
  void copy_out(const T* from, T* to, std::size_t count) const {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "reading from a run");
    check(cudaStreamSynchronize(stream_), "reading from a run");
  }

  template <class T>
  void copy_in(const std::vector<T>& from, T* to) {
    check(
        cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream_),
        "writing to a run");
    check(cudaStreamSynchronize(stream_), "writing to a run");
  }

  /// The leaves in Morton order; their values too where `packed` is there.
  [[nodiscard]] std::vector<leaf_record<dim>> gather(std::vector<real>* packed) const {
    constexpr std::size_t of_leaf = std::size_t{variables} * cells::count;
    const std::size_t leaves = report_.leaves;
    const std::size_t piece = std::min<std::size_t>(leaves, 4096);  // spares device memory
    const device_buffer<leaf_record<dim>> records(piece, stream_);
    const device_buffer<real> values(packed == nullptr ? 0 : piece * of_leaf, stream_);
    std::vector<leaf_record<dim>> all(leaves);
    if (packed != nullptr) packed->resize(leaves * of_leaf);
    for (std::size_t first = 0; first < leaves; first += piece) {
      const std::size_t count = std::min(piece, leaves - first);
      check(launch(gather_leaves<view_type>, {static_cast<unsigned>(count), adapt_threads}, stream_,
                   view_, static_cast<unsigned>(first), records.data(), values.data())
                .code(),
            "launching the gathering of leaves");
      copy_out(records.data(), all.data() + first, count);
      if (packed != nullptr) {
        copy_out(values.data(), packed->data() + first * of_leaf, count * of_leaf);
      }
    }
    return all;
  }

  void take_report(const amr_clock& clock, const run_report& part) {
    add_part(report_, part);
    report_.ran_on = part.ran_on;
    report_.backend_reason = part.backend_reason;
    report_.taken = part.taken;
    report_.route_reason = part.route_reason;
    report_.pending_launch_limit = part.pending_launch_limit;
    report_.scratch_bytes = memory_.size() + sizeof(amr_clock) + run_control::scratch_bytes;
    report_.time = clock.time;
    report_.steps = clock.steps;
    report_.cell_updates = clock.updates;
    report_.regrids = clock.regrids;
    report_.refined = clock.refined;
    report_.coarsened = clock.coarsened;
    report_.leaves = clock.leaves;
    report_.blocks = clock.level_begin[view_.tree.max_level + 1];
    report_.peak_blocks = clock.peak_blocks;
    report_.max_blocks = config_.mesh.max_blocks;
    report_.finest_level = finest_level(clock, view_.tree.max_level);
  }

  void tell_fault(const amr_clock& clock) const {
    if (clock.fault == amr_fault::no_time_step) {
      throw amr_error("there is no time step at step " + std::to_string(clock.steps) + ", time " +
                      std::to_string(clock.time) +
                      ": waves are too fast for it, or nothing moves and no stop time is given");
    }
    if (clock.fault != amr_fault::unsound_cell) return;
    const auto leaf = static_cast<unsigned>(clock.unsound / cells::count);
    const device_buffer<leaf_record<dim>> record(1, stream_);
    const device_buffer<real> packed(std::size_t{variables} * cells::count, stream_);
    check(launch(gather_leaves<view_type>, {1, adapt_threads}, stream_, view_, leaf, record.data(),
                 packed.data())
              .code(),
          "launching the gathering of a leaf");
    leaf_record<dim> where{};
    std::vector<real> seen(packed.size());
    copy_out(record.data(), &where, 1);
    copy_out(packed.data(), seen.data(), seen.size());
    int at[dim];
    const auto cell = static_cast<int>(clock.unsound % cells::count);
    cells::position(cell, at);
    std::string text = "the state at (";
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const double edge = cell_edge(int(axis)) / double(1u << where.place.level);
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
  device_buffer<amr_clock> clock_;
  device_buffer<std::byte> memory_;
  view_type view_{};
  amr_report report_;
};

}  // namespace ramify::inline RAMIFY_BUILD
