// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// distributed_amr_run: an amr_run on several GPUs or CPU executors, one for each MPI rank.
///
///     mpirun -n 4 ./program
///
///     mpi_session session;
///     communicator ranks;
///     ranks.run([&] {
///       distributed_amr_run run(ranks, gas{}, gradient_criterion<gas>{}, sod<double, 2>{},
///                               options, {.stream = stream});
///       run.advance_to(0.2);
///       const mesh_snapshot mesh = run.snapshot();  // the values are on rank 0
///     });
///
/// Each rank has the tree of all blocks, about 100 bytes a node, and the values of its own blocks
/// and of the blocks next to them. The blocks are divided along the Morton curve by their cost, the
/// number of steps of their level, and divided again after each regrid. Before a stage of a step,
/// two layers of cells are exchanged at the faces between ranks, while the blocks that need none of
/// them are advanced. (distributed_amr/part_plan.cuh lists all messages.)
///
/// Results     The same bits as amr_run, for any number of ranks and each way of stepping.
/// Routes      Flat, with phases that the host launches: it communicates between grids.
/// Calls       All members are collective: all ranks call them, in the same order, with the same
///             arguments unless the description states otherwise. Call them in
///             communicator::run(), so that an error of one rank ends the others, too.
/// Memory      On each rank as amr_run for its part and its halo, and the tree. save() and
///             snapshot() need host memory for all values on rank 0.
/// Waits       Each call returns when its work is complete.
/// Complexity  O(cells / ranks) for each step. A regrid takes O(nodes of the whole mesh) on each
///             rank, without cells.
/// Not for     Captured streams. Ranks with different executables or number formats.
/// Sources     W. Zhang et al., Int. J. High Perform. Comput. Appl. 35 (2021) 508 (AMReX: metadata
///             on all ranks); C. Burstedde, L. C. Wilcox, O. Ghattas, SIAM J. Sci. Comput. 33
///             (2011) 1103 (division along a space-filling curve).

#include <ramify/runtime/detail/requirements.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <ramify/amr.cuh>
#include <ramify/amr/argument_types.cuh>
#include <ramify/amr/begin_run.cuh>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/kernel_backend.cuh>
#include <ramify/distributed_amr/broadcast_state.cuh>
#include <ramify/distributed_amr/config.hpp>
#include <ramify/distributed_amr/program.cuh>
#include <ramify/distributed_amr/settings.hpp>
#include <stdexcept>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The data of a distributed_amr_run.
template <class Physics, int n, class Criterion>
struct distributed_run_parts : basic_run_parts<distributed_mesh<Physics, n, Criterion>> {
  using basic_run_parts<distributed_mesh<Physics, n, Criterion>>::basic_run_parts;
  template <class Fill>
  using program = distributed_program<typename distributed_run_parts::mesh_type, Fill>;
};

/// A distributed mesh whose values are gathered on rank 0, or on their ranks.
template <class Mesh>
struct gathered_mesh {
  static constexpr int dim = Mesh::dim;
  static constexpr int variables = Mesh::variables;
  static constexpr int cells_along = Mesh::cells_along;
  using real = typename Mesh::real;
  using physics_type = typename Mesh::physics_type;

  const Mesh& mesh;
  bool on_first_rank;

  [[nodiscard]] const amr_options::mesh_fields& options() const { return mesh.options(); }
  [[nodiscard]] run_state read_state() const { return mesh.read_state(); }
  [[nodiscard]] auto gather(unsigned first, std::size_t leaves, std::vector<real>* packed) const {
    return on_first_rank ? mesh.gather_to_first_rank(first, leaves, packed)
                         : mesh.gather_own(first, leaves, packed);
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The primary template, for types that lack a member. Its instantiation is an error that names it.
template <class Physics, class Criterion = gradient_criterion<Physics>,
          int n = default_block_cells<Physics>>
class distributed_amr_run : detail::amr::refused_run<Physics, Criterion> {
 public:
  using detail::amr::refused_run<Physics, Criterion>::refused_run;
};
/// Deduces the types of the physics and of the criterion.
template <class Physics, class Criterion, class Initial>
distributed_amr_run(communicator&, const Physics&, const Criterion&, const Initial&,
                    const amr_options&, const environment& = {})
    -> distributed_amr_run<Physics, Criterion>;

/// A run on all ranks of a communicator. Move-only; the communicator and the stream must outlive
/// it. After an exception other than std::invalid_argument and amr_error it may only be destroyed.
/// All calls that advance it have the environment of its constructor.
///
/// The template parameters are those of amr_run.
template <class Physics, class Criterion, int n>
requires detail::amr::simulable<Physics, Criterion>
class distributed_amr_run<Physics, Criterion, n> {
 public:
  static constexpr int dim = Physics::dimensions;       ///< dimensions of space
  static constexpr int variables = Physics::variables;  ///< values of a cell
  using real = typename Physics::real;                  ///< the number type
  using values = typename Physics::values;              ///< the values of a cell

  /// Builds the mesh for an initial state and fills it. The arguments are those of amr_run, and
  /// must be the same on all ranks. The ranks compare `options`, `env` without its stream and its
  /// trace, the types, and buffer_cells of the criterion. They do not compare the other arguments.
  /// \param env  its memory must be empty
  /// \throws std::invalid_argument naming a field of `options` or `env`, also for route::device and
  ///         flat_loop::graph; if buffer_cells of the criterion is out of range, as in amr_run; if
  ///         this code was compiled for another backend than that of `ranks`; on all ranks, if a
  ///         rank has another field than rank 0, other sizes, or the other constructor
  /// \throws unavailable for another env.backend, or if the stream is being captured;
  ///         amr_error as amr_run; cluster_error; cuda_error
  template <class Initial>
  distributed_amr_run(communicator& ranks, const Physics& physics, const Criterion& criterion,
                      const Initial& initial, const amr_options& options,
                      const environment& env = {})
      : ranks_(&ranks) {
    static_assert(detail::amr::is_initial_state<Physics, Initial>,
                  "distributed_amr_run: the initial state needs values operator()(const real "
                  "(&where)[dimensions]) const");
    start(physics, criterion, options, env, false, [&](detail::run_setup& setup) {
      detail::amr::build_mesh(*parts_, setup,
                              detail::amr::fill_from_initial_state<Initial>{initial});
    });
  }

  /// Continues a run from a state that save(), or amr_run::save(), returned, with any number of
  /// ranks. Only rank 0 reads `state`; it may be empty on the others.
  /// \param env  its memory must be empty
  /// \throws std::invalid_argument, on all ranks, if amr_run would throw it; the other exceptions
  ///         of the first constructor
  distributed_amr_run(communicator& ranks, const Physics& physics, const Criterion& criterion,
                      const amr_state& state, const amr_options& options,
                      const environment& env = {})
      : ranks_(&ranks) {
    start(physics, criterion, options, env, true, [&](detail::run_setup& setup) {
      const amr_state copy =
          detail::amr::broadcast_state<Physics, n>(ranks, state, options.mesh, setup.stream);
      detail::amr::restore_mesh(*parts_, setup, copy, state.values.data());
    });
  }

  /// Returns everything that is needed to continue the run, as amr_run::save() does. The values are
  /// on rank 0; on the others amr_state::values is empty. \throws cluster_error, cuda_error
  [[nodiscard]] amr_state save() const {
    const phase_range range("amr: save");
    return saved_state_of(gathered());
  }

  /// Takes steps as amr_run::advance() does.
  /// \throws std::invalid_argument if `stop_time` is NaN, and, on all ranks, if a rank has another
  ///         argument than rank 0; amr_error, on all ranks, as
  ///         amr_run::advance(); cluster_error; cuda_error. If the device of one rank has no
  ///         memory, this rank alone throws amr_error, and the run may only be destroyed
  void advance(std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity()) {
    shared_settings settings("distributed_amr_run::advance");
    settings.add("distributed_amr_run: steps", steps);
    settings.add("distributed_amr_run: stop_time", stop_time);
    ranks_->require_equal(settings);
    detail::amr::require(!std::isnan(stop_time), "distributed_amr_run: stop_time", stop_time,
                         "a number");
    detail::run_setup setup(name, detail::by_get(parts_->env));
    detail::amr::phase_run<parts, detail::amr::fill_from_parent> run(setup, *parts_, {});
    run.start({.steps = steps, .stop = stop_time});
    static_cast<void>(run.get());
    name_route();
  }
  /// Takes steps until the time is `stop_time`, as advance() does.
  void advance_to(double stop_time) {
    advance(std::numeric_limits<std::uint64_t>::max(), stop_time);
  }

  /// Returns the time of the run. Not collective.
  [[nodiscard]] double time() const { return parts_->report.time; }
  /// Returns the number of steps since the initial state. Not collective.
  [[nodiscard]] std::uint64_t steps() const { return parts_->report.steps; }
  /// Returns the number of leaves of this rank. Not collective.
  [[nodiscard]] std::size_t own_leaves() const { return parts_->mesh.plan().leaves.size(); }

  /// Returns the leaves of this rank in device memory, as amr_run::leaves() does. Not collective.
  [[nodiscard]] mesh_leaves<Physics, n, detail::amr::slot_by_table> leaves() const {
    return parts_->mesh.leaves_for_kernels(parts_->report.time);
  }

  /// Returns the report of the run until now. \throws cluster_error
  [[nodiscard]] distributed_amr_report report() const {
    const auto& mesh = parts_->mesh;
    distributed_amr_report report;
    static_cast<amr_report&>(report) = parts_->report;
    const std::uint64_t halo = mesh.plan().present.size() - mesh.plan().nodes.size();
    report.fallback_cells = ranks_->all_reduce(report.fallback_cells, reduction::sum);
    report.floored_cells = ranks_->all_reduce(report.floored_cells, reduction::sum);
    report.halo_blocks = ranks_->all_reduce(halo, reduction::sum);
    report.moved_blocks = ranks_->all_reduce(mesh.moved_blocks(), reduction::sum);
    report.cost_imbalance = mesh.imbalance();
    report.cluster = ranks_->report();
    return report;
  }

  /// Returns the integrals of the conserved values over the domain, with the bits of
  /// amr_run::totals(). \throws cluster_error, cuda_error
  [[nodiscard]] std::vector<double> totals() const {
    const phase_range range("amr: totals");
    return totals_of(parts_->mesh, parts_->report.leaves);
  }

  /// Returns the leaves with their conserved values. The values are on rank 0; on the others
  /// mesh_snapshot::values is empty. \throws cluster_error, cuda_error
  [[nodiscard]] mesh_snapshot snapshot() const {
    const phase_range range("amr: snapshot");
    return snapshot_of(gathered(), parts_->report);
  }

  /// Returns the leaves with the conserved values of the own ones. Not collective.
  /// \throws cuda_error
  [[nodiscard]] mesh_part_snapshot own_snapshot() const {
    const phase_range range("amr: snapshot");
    return {snapshot_of(gathered(false), parts_->report), parts_->mesh.plan().leaf_owners};
  }

 private:
  using parts = detail::amr::distributed_run_parts<Physics, n, Criterion>;

  static constexpr const char* name = "distributed_amr_run";

  /// Checks the arguments, allocates the parts, and calls `fill(setup)`, which builds the mesh.
  /// Collective.
  template <class Fill>
  void start(const Physics& physics, const Criterion& criterion, const amr_options& options,
             environment env, bool continues, Fill fill) {
    shared_settings settings =
        detail::amr::settings_of(options, env, dim, variables, sizeof(real), n, continues);
    settings.add("distributed_amr_run: criterion.buffer_cells",
                 detail::amr::buffer_cells_of(criterion));
    ranks_->require_equal(settings);
    detail::amr::check_arguments<Physics, n>(name, criterion, options, env);
    detail::amr::check_launches_of_ranks(env);
    detail::cluster::check_kernel_backend(*ranks_, name);
    env.route = route::flat;
    env.flat_loop = flat_loop::host;
    detail::run_setup setup(name, detail::by_get(env));
    if (setup.captured) throw unavailable("distributed_amr_run: communication cannot be captured");
    parts_ = std::make_unique<parts>(physics, criterion, options, env, *ranks_);
    fill(setup);
    name_route();
  }

  void name_route() {
    parts_->report.route_reason = "the host communicates between grids";
    parts_->report.flat_loop_reason = parts_->report.route_reason;
  }

  [[nodiscard]] auto gathered(bool on_first_rank = true) const {
    return detail::amr::gathered_mesh<typename parts::mesh_type>{parts_->mesh, on_first_rank};
  }

  communicator* ranks_;
  std::unique_ptr<parts> parts_;
};

}  // namespace ramify::inline RAMIFY_BUILD
