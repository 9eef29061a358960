// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a chain of phases. It chooses the route, grows the mesh, and checks captures.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/amr/config.hpp>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/amr/results.cuh>
#include <ramify/runtime/launch_chain.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/route_plan.hpp>
#include <ramify/runtime/run_control.cuh>
#include <string>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The data that a run keeps between its calls, at a fixed address.
template <class Mesh>
struct basic_run_parts {
  using mesh_type = Mesh;

  /// The other arguments of the mesh's constructor follow those of device_mesh.
  template <class Physics, class Criterion, class... Others>
  basic_run_parts(const Physics& physics, const Criterion& criterion, const amr_config& wanted,
                  cudaStream_t in_stream, Others&... others)
      : config(wanted),
        stream(in_stream),
        recorder(wanted.trace, in_stream),
        mesh(physics, criterion, wanted, in_stream, others...),
        scratch(run_control::scratch_bytes, in_stream) {}
  basic_run_parts(const basic_run_parts&) = delete;
  basic_run_parts& operator=(const basic_run_parts&) = delete;

  amr_config config;
  cudaStream_t stream;
  trace_recorder recorder;
  mesh_type mesh;
  device_buffer<std::byte> scratch;  ///< used by the run_controls, one after another
  pinned_buffer<run_state> pinned_state{1};
  amr_report report;
  run_state state{};       ///< after the last complete chain
  unsigned graphs = 0;     ///< captured chains, which contain the addresses of the mesh
  bool under_way = false;  ///< advance_async() was called, and get() was not
};

/// The data of an amr_run.
template <class Physics, int n, class Criterion>
struct run_parts : basic_run_parts<device_mesh<Physics, n, Criterion>> {
  using basic_run_parts<device_mesh<Physics, n, Criterion>>::basic_run_parts;
  template <class Fill>
  using program = run_program<typename run_parts::mesh_type::view_type, Fill>;
};

/// One chain of phases on a mesh, for a constructor or for a call of advance(). Not movable.
template <class Parts, class Fill>
class phase_run {
  using view_type = typename Parts::mesh_type::view_type;
  using cells = typename Parts::mesh_type::cells;
  using program = typename Parts::template program<Fill>;

 public:
  /// Chooses the route, and prepares the chain. If the stream is being captured, `steps` is the
  /// number of steps. `parts` must outlive the run.
  /// \throws unavailable if the route is not available or the stream cannot be captured; cuda_error
  phase_run(Parts& parts, const Fill& fill, std::uint64_t steps = 0) : parts_(&parts), fill_(fill) {
    const relaxed_capture_scope relaxed;  // the queries below do not affect a captured stream
    const amr_config& config = parts.config;
    captured_ = is_being_captured(parts.stream);
    if (captured_) check_capture();
    if (config.pending_launches != 0) {
      limits_.emplace(launch_limit_values{.pending_launches = config.pending_launches});
    }
    runtime::run_setup setup("amr_run", config, "amr_config.flat_loop", parts.stream, {});
    // On an H200, a step of a mesh of 64^2 cells with 3 levels takes 28 us by the host and 32 us
    // by a graph; with subcycling, 171 and 214 us. On large meshes launches overlap with grids.
    setup.prefer_host("the host launches steps ahead, which costs less than a graph");
    choose_route(setup, steps);
    control_.emplace(parts.scratch.data(), setup, parts.recorder);
    // A graph that is requested takes all steps.
    launches_ahead_ = setup.loop.wanted != flat_loop::graph && !control_->on_device_route();
    chain_.emplace(*control_, make_program(), setup.loop);
    if (captured_) {
      ++parts.graphs;
    } else {
      parts.under_way = true;
    }
  }
  ~phase_run() {
    if (captured_) --parts_->graphs;
  }
  phase_run(const phase_run&) = delete;
  phase_run& operator=(const phase_run&) = delete;

  [[nodiscard]] bool captured() const { return captured_; }

  /// Launches a grid before the phases. Its first argument is the view. \throws cuda_error
  template <class... Parameters, class... Arguments>
  void launch_before(void (*kernel)(view_type, Parameters...), const launch_shape& shape,
                     const Arguments&... arguments) {
    const view_type& view = chain_->program();
    control_->launch_grid("launching a run on a mesh", kernel, shape, view, arguments...);
  }

  /// Launches the phases that are due. Asynchronous. \throws cuda_error
  void start() {
    chain_->start(parts_->state);
    if (captured_ && control_->on_device_route()) {
      launch_before(end_captured_advance<view_type>, {1, 1});
    }
  }

  /// Launches the steps of a call of advance(). Asynchronous. \throws cuda_error
  void start(advance_request wanted) {
    const phase_range range("amr: start steps");
    // The grids of a captured loop fit only one version of the mesh.
    if (captured_ && !control_->on_device_route()) {
      wanted.mesh_version = parts_->state.mesh.version;
    }
    launch_before(begin_advance<view_type>, {1, 1}, wanted);
    start();
  }

  /// Waits until no phase is left. Launches the phases that kernels did not launch, and allocates
  /// more memory if the mesh is full. Updates the report of the run.
  /// \throws amr_error if the run cannot continue; cuda_error, device_launch_error;
  ///         std::logic_error while the stream is being captured
  void finish() {
    const phase_range range("amr: finish phases");
    for (;;) {
      chain_->finish();
      parts_->state = chain_->state();
      if (parts_->state.fault.code != fault::mesh_full) break;
      grow_mesh();
    }
    conclude();
    throw_fault(parts_->mesh, parts_->state);
  }

 private:
  [[nodiscard]] program make_program() const {
    program result{parts_->mesh.view(), fill_};
    if constexpr (requires { result.pinned_state; }) {
      result.pinned_state = parts_->pinned_state.data();
      result.launches_ahead = launches_ahead_;
    }
    return result;
  }

  void check_capture() const {
    if (parts_->config.trace != nullptr) {
      throw unavailable("amr_run: a trace cannot record steps that are captured");
    }
    if (parts_->config.pending_launches != 0) {
      throw unavailable(
          "amr_run: steps cannot be captured with amr_config.pending_launches; set the limit with "
          "launch_limits while the graph is launched");
    }
  }

  /// Chooses the route. In a captured stream the flat route requires the loop of a graph.
  void choose_route(runtime::run_setup& setup, std::uint64_t steps) const {
    const amr_config& config = parts_->config;
    const unsigned slots = slots_of_phase(config.mesh.max_level, config.step.subcycle) + 1;
    const std::string obstacle = captured_ ? obstacle_of_loop(setup.loop, steps) : "";
    if (obstacle.empty()) {
      setup.choose_route(slots, plans(setup.loop));
      return;
    }
    setup.choice = ramify::choose_route(config.route, setup.limit, slots,
                                        {route::device, "captured, and " + obstacle});
    if (setup.choice.taken == route::flat) {
      throw unavailable("amr_run: the flat route cannot be captured: " + obstacle +
                        "; flat because: " + setup.choice.reason);
    }
  }

  /// Returns the reason why the loop of a graph cannot take all of the steps; empty if it can.
  [[nodiscard]] std::string obstacle_of_loop(const runtime::loop_choice& loop,
                                             std::uint64_t steps) const {
    const amr_config& config = parts_->config;
    if (loop.wanted == flat_loop::host) {
      return "the host would launch the steps one by one: " + loop.reason;
    }
    const unsigned every = config.regrid.every;
    if (config.mesh.max_level == 0 || every == 0 || steps < every) return {};
    return "the host would launch regrids, one every " + std::to_string(every) + " steps";
  }

  /// Returns the numbers of launches for the steps between two round trips of the host.
  [[nodiscard]] route_plans plans(const runtime::loop_choice& loop) const {
    const amr_config& config = parts_->config;
    double grids = max_grids_of_step * max_batch;
    double tails = 1;
    if (config.step.subcycle) {  // a step of the recursion over the levels
      const double level_steps = std::exp2(config.mesh.max_level + 1) - 1;
      const double inner = std::exp2(config.mesh.max_level) - 1;
      grids = 2 * level_steps + 2 * inner + 4;
      tails = 3 * inner + 3;
    }
    const double steps = config.step.subcycle ? 1 : max_batch;
    const std::size_t cells_of_mesh = std::size_t{parts_->state.mesh.leaves} * cells::count;
    route_plan flat{.host_launches = grids, .host_round_trips = 1};
    const unsigned every = config.regrid.every;
    const double steps_of_loop = every == 0 || config.mesh.max_level == 0 ? 100 : every;
    if (loop.wanted == flat_loop::graph) {
      constexpr double us_of_grid = 0.7;  // cost of a grid in the loop of a graph
      flat = {.graph_iterations = steps,
              .graph_loops = steps / steps_of_loop,
              .extra_us = grids * us_of_grid};
    }
    // Grids that a kernel launched take longer: a step of a uniform mesh of 256^3 cells took
    // 0.64 ms longer in double, 0.24 ms in float (H200), or 0.72 and 0.29 in an earlier run.
    constexpr double extra_us_of_cell = sizeof(typename view_type::real) == 4 ? 1.7e-5 : 4.3e-5;
    const double extra_us = steps * double(cells_of_mesh) * extra_us_of_cell;
    return {flat,
            {.device_launches = grids, .tail_launches = tails, .extra_us = extra_us},
            route::flat};
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
    chain_->write_state(state);
    chain_->restart(make_program());
  }

  /// Updates the trace and the report.
  void conclude() {
    control_->read_trace();
    update_report(parts_->report, control_->report(), parts_->state, parts_->mesh);
    if (!captured_) parts_->under_way = false;
  }

  Parts* parts_;
  Fill fill_;
  bool captured_ = false;
  bool launches_ahead_ = false;
  std::optional<launch_limits> limits_;
  std::optional<run_control> control_;
  std::optional<runtime::launch_chain<program>> chain_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
