// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a chain of phases. It chooses the route, and grows the mesh.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/amr/config.hpp>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/amr/results.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/route_plan.hpp>
#include <ramify/runtime/run_control.cuh>
#include <string>
#include <utility>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The data that a run keeps between its calls, at a fixed address.
template <class Mesh>
struct basic_run_parts {
  using mesh_type = Mesh;

  /// The other arguments of the mesh's constructor follow those of device_mesh.
  template <class Physics, class Criterion, class... Others>
  basic_run_parts(const Physics& physics, const Criterion& criterion, const amr_options& wanted,
                  const environment& where, Others&... others)
      : options(wanted),
        env(where),
        stream(where.stream.as<cudaStream_t>()),
        recorder(where.trace, stream),
        mesh(physics, criterion, wanted, stream, others...),
        scratch(scratch_bytes, stream) {
    mesh.use_state(reinterpret_cast<run_state*>(scratch.data() + run_control::scratch_bytes));
  }
  basic_run_parts(const basic_run_parts&) = delete;
  basic_run_parts& operator=(const basic_run_parts&) = delete;

  amr_options options;
  environment env;  ///< of all calls that advance the run
  cudaStream_t stream;
  trace_recorder recorder;
  mesh_type mesh;
  /// The memory of the run_controls, which use it one after another, and the state of the run. The
  /// host reads both by one copy.
  static constexpr std::size_t scratch_bytes = run_control::scratch_bytes + sizeof(run_state);
  static_assert(scratch_bytes <= run_control::max_seen_bytes);
  static_assert(run_control::scratch_bytes % alignof(run_state) == 0);
  device_buffer<std::byte> scratch;
  amr_report report;
  run_state state{};       ///< after the last complete chain
  unsigned graphs = 0;     ///< captured chains, which contain the addresses of the mesh
  bool under_way = false;  ///< advance_async() was called, and get() has not completed its steps
};

/// The data of an amr_run.
template <class Physics, int n, class Criterion>
struct run_parts : basic_run_parts<device_mesh<Physics, n, Criterion>> {
  using basic_run_parts<device_mesh<Physics, n, Criterion>>::basic_run_parts;
  template <class Fill>
  using program = run_program<typename run_parts::mesh_type::view_type, Fill>;
};

/// One chain of phases on a mesh, for a constructor or for a call of advance(). get() waits until
/// no phase is left. It launches the phases that kernels did not launch, and allocates more memory
/// if the mesh is full. It returns the report of the amr_run, also for the earlier chains.
template <class Parts, class Fill>
class phase_run final : public runtime::started_run<amr_report> {
  using view_type = typename Parts::mesh_type::view_type;
  using cells = typename Parts::mesh_type::cells;
  using program = typename Parts::template program<Fill>;

 public:
  /// Chooses the route, and prepares the chain. If the stream is being captured, `steps` is the
  /// number of steps. `parts` must outlive the run.
  /// \throws unavailable if the route is not available or the stream cannot be captured; cuda_error
  phase_run(runtime::run_setup& setup, Parts& parts, const Fill& fill, std::uint64_t steps = 0)
      : started_run(with_route(setup, parts, steps)),
        parts_(&parts),
        fill_(fill),
        // A graph that is requested takes all steps.
        launches_ahead_(setup.loop.wanted != flat_loop::graph && setup.choice.taken == route::flat),
        control_(parts.scratch.data(), setup, parts.recorder, parts.scratch.size()),
        chain_(control_, make_program(), setup.loop) {
    if (captured()) {
      ++parts.graphs;
    } else {
      parts.under_way = true;
    }
  }
  ~phase_run() override {
    if (captured()) --parts_->graphs;
  }

  /// Launches a grid before the phases. Its first argument is the view. \throws cuda_error
  template <class... Parameters, class... Arguments>
  void launch_before(void (*kernel)(view_type, Parameters...), const launch_shape& shape,
                     const Arguments&... arguments) {
    const view_type& view = chain_.program();
    control_.launch_grid("launching a run on a mesh", kernel, shape, view, arguments...);
  }

  /// Launches the phases that are due. Asynchronous. \throws cuda_error
  void start() {
    chain_.start(parts_->state);
    if (captured() && control_.on_device_route()) {
      launch_before(end_captured_advance<view_type>, {1, 1});
    }
  }

  /// Launches the steps of a call of advance(). Asynchronous. \throws cuda_error
  void start(advance_request wanted) {
    const phase_range range("amr: start steps");
    // The grids of a captured loop fit only one version of the mesh.
    if (captured() && !control_.on_device_route()) {
      wanted.mesh_version = parts_->state.mesh.version;
    }
    launch_before(begin_advance<view_type>, {1, 1}, wanted);
    start();
  }

 private:
  /// \throws amr_error if the run cannot continue; cuda_error, device_launch_error
  amr_report finish() override {
    const phase_range range("amr: finish phases");
    for (;;) {
      chain_.finish();
      parts_->state = chain_.state();
      if (parts_->state.fault.code != fault::mesh_full) break;
      grow_mesh();
    }
    conclude();
    throw_fault(parts_->mesh, parts_->state);
    return parts_->report;
  }

  [[nodiscard]] program make_program() const {
    program result{parts_->mesh.view(), fill_};
    if constexpr (requires { result.launches_ahead; }) {
      result.launches_ahead = launches_ahead_;
      if (control_.on_device_route()) result.batch_limit = batch_limit();
    }
    return result;
  }

  /// Returns the number of steps of a phase for which the run may have launch slots. If other runs
  /// hold them when the phase begins, the host launches its steps and those that follow.
  [[nodiscard]] unsigned batch_limit() const {
    const auto& [mesh, regrid, step] = parts_->options;
    unsigned steps = parts_->mesh.view().batch_limit;
    while (steps > 1 && slots_of_phase<view_type>(mesh.max_level, step.subcycle, steps) >=
                            control_.slots().allowed) {
      --steps;
    }
    return steps;
  }

  /// Chooses the route. Returns `setup`.
  static const runtime::run_setup& with_route(runtime::run_setup& setup, const Parts& parts,
                                              std::uint64_t steps) {
    // On an H200, a step of a mesh of 64^2 cells with 3 levels takes 28 us by the host and 32 us
    // by a graph; with subcycling, 171 and 214 us. On large meshes launches overlap with grids.
    setup.prefer_host("the host launches steps ahead, which costs less than a graph");
    const auto& [mesh, regrid, step] = parts.options;
    const unsigned slots = slots_of_phase<view_type>(mesh.max_level, step.subcycle) + 1;
    const bool has_regrids = mesh.max_level > 0 && regrid.every > 0 && steps >= regrid.every;
    if (setup.captured && has_regrids && !setup.by_host()) {
      // The loop of a graph contains no regrids, so on the flat route the host would launch steps.
      runtime::loop_choice loop =
          std::exchange(setup.loop, {flat_loop::host, "the host would launch regrids, one every " +
                                                          std::to_string(regrid.every) + " steps"});
      setup.choose_route(slots, plans(parts, loop));
      setup.loop = std::move(loop);
    } else {
      setup.choose_route(slots, plans(parts, setup.loop));
    }
    return setup;
  }

  /// Returns the numbers of launches for the steps between two round trips of the host.
  [[nodiscard]] static route_plans plans(const Parts& parts, const runtime::loop_choice& loop) {
    const auto& [mesh, regrid, step] = parts.options;
    const double steps = parts.mesh.view().batch_limit;
    double grids_of_step = max_grids_of_step + callback_grids<view_type>;
    double tails = 1;
    if (step.subcycle) {
      const double fine = std::exp2(mesh.max_level);  // steps of the finest level
      grids_of_step = 6 * fine - 3 + callback_grids<view_type>;
      tails = std::ceil(steps * fine / max_fine_steps);
    }
    const double grids = grids_of_step * steps;
    double advanced = 0;  // blocks in a step of level 0
    for (int level = 0; level <= mesh.max_level; ++level) {
      const double steps_of_level = step.subcycle ? std::exp2(level) : 1;
      advanced += steps_of_level * parts.state.mesh.leaves_of_level[level];
    }
    route_plan flat{.host_launches = grids, .host_round_trips = 1};
    const bool never_regrids = regrid.every == 0 || mesh.max_level == 0;
    const double steps_of_loop = never_regrids ? 100 : regrid.every;
    if (loop.wanted == flat_loop::graph) {
      constexpr double us_of_grid = 0.7;  // cost of a grid in the loop of a graph
      flat = {.graph_iterations = steps,
              .graph_loops = steps / steps_of_loop,
              .extra_us = grids * us_of_grid};
    }
    // An H200 takes 0.21 ns for each cell of a uniform mesh and step in double, 0.12 ns in float.
    constexpr double us_of_cell = sizeof(typename view_type::real) == 4 ? 1.2e-4 : 2.1e-4;
    return {flat,
            {.device_launches = grids, .tail_launches = tails},
            route::flat,
            steps * advanced * cells::count * us_of_cell};
  }

  /// Continues a chain that ended because the mesh was full.
  void grow_mesh() {
    try {
      if (parts_->graphs != 0) {
        throw amr_error(
            "the mesh needs more memory than it had when its steps were captured: destroy the "
            "captured steps and continue with advance(), or call reserve() before the capture");
      }
      parts_->mesh.grow();
    } catch (const amr_error&) {
      conclude();
      throw;
    }
    run_state state = parts_->state;
    state.fault.code = fault::none;
    chain_.write_state(state);
    chain_.restart(make_program());
  }

  /// Updates the trace and the report.
  void conclude() {
    control_.read_trace();
    update_report(parts_->report, control_.report(), parts_->state, parts_->mesh);
    if (!captured()) parts_->under_way = false;
  }

  Parts* parts_;
  Fill fill_;
  bool launches_ahead_;
  run_control control_;
  runtime::launch_chain<program> chain_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
