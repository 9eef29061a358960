// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The choices at the start of a run: its route, and what launches the rounds of a flat run.
/// run_setup makes them, before the run allocates memory or launches grids.

#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/detail/launch_costs.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/route_plan.hpp>
#include <ramify/runtime/slots.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Returns the route if there is no choice: the caller requested one, or only flat is possible.
/// Otherwise it returns nothing.
/// \throws unavailable if the device route is requested in a build without -rdc=true
inline std::optional<route_choice> only_route(route wanted, std::size_t pending_launch_limit,
                                              unsigned slots_needed) {
  if (wanted == route::flat) return route_choice{route::flat, "requested"};
  if (!device_launch_available) {
    if (wanted == route::device) {
      throw unavailable("the device route needs a build with -rdc=true");
    }
    return route_choice{route::flat, "built without -rdc=true, so kernels cannot launch"};
  }
  const unsigned quota = launch_quota(pending_launch_limit);
  if (quota < slots_needed) {
    return route_choice{route::flat, "the pending-launch limit of " +
                                         std::to_string(pending_launch_limit) + " gives " +
                                         std::to_string(quota) +
                                         " launch slots, and the device route needs " +
                                         std::to_string(slots_needed)};
  }
  if (wanted == route::device) return route_choice{route::device, "requested"};
  return std::nullopt;
}

/// Returns the requested route, or `preferred` if `wanted` is automatic and both are possible. The
/// device route requires at least `slots_needed` launch slots; with fewer the route is flat.
/// \throws unavailable if the device route is requested in a build without -rdc=true
inline route_choice choose_route(route wanted, std::size_t pending_launch_limit,
                                 unsigned slots_needed, const route_choice& preferred) {
  return only_route(wanted, pending_launch_limit, slots_needed).value_or(preferred);
}

/// Chooses the route whose plan is cheaper on the current device. If the launch costs of the device
/// are neither in memory nor on disk, the function measures them, which takes well under a second.
/// Before that it waits up to one second for the work in `stream`. If it cannot measure, for
/// example while `stream` is being captured, it returns plans.unmeasured. On the CPU executor it
/// returns the device route, because launches cost no time there.
/// \throws unavailable if the device route is requested in a build without -rdc=true; cuda_error
inline route_choice choose_route(route wanted, std::size_t pending_launch_limit,
                                 unsigned slots_needed, const route_plans& plans,
                                 [[maybe_unused]] cudaStream_t stream) {
  if (const auto only = only_route(wanted, pending_launch_limit, slots_needed)) return *only;
#if RAMIFY_ON_CUDA && RAMIFY_DEVICE_LAUNCH
  const detail::launch_costs_answer known = detail::find_launch_costs(stream);
  if (known.costs) return detail::cheaper_route(plans, *known.costs);
  return {plans.unmeasured, "launches have not been measured: " + known.obstacle};
#else
  static_cast<void>(plans);
  return {route::device, "as quick as flat on the CPU executor"};
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The way in which the rounds of a flat chain are launched, and the reason.
struct loop_choice {
  flat_loop wanted;
  std::string reason;
};

/// Returns the stream of an environment. `algorithm` begins the message, if it is not null.
/// \throws std::invalid_argument if it is a stream of another backend
[[nodiscard]] inline cudaStream_t stream_of(const environment& env,
                                            const char* algorithm = nullptr) {
  if (RAMIFY_ON_CUDA ? env.stream.is_cpu() : env.stream.is_cuda()) {
    throw std::invalid_argument(
        (algorithm == nullptr ? std::string() : std::string(algorithm) + ": ") +
        "environment.stream is a stream of another backend than " +
        (RAMIFY_ON_CUDA ? "cuda" : "cpu"));
  }
  return env.stream.as<cudaStream_t>();
}

/// Returns the loop to use if `wanted` is requested. `option` is the option's name in the message.
/// \throws unavailable if a graph is requested and the driver has no loops in graphs; cuda_error
[[nodiscard]] inline loop_choice choose_loop(flat_loop wanted, const char* option) {
  if (wanted == flat_loop::host) return {wanted, "requested"};
  const std::string obstacle = graph_loop_obstacle();
  if (obstacle.empty()) return {wanted, wanted == flat_loop::graph ? "requested" : ""};
  if (wanted == flat_loop::graph) {
    throw unavailable(std::string(option) + " graph is not available: " + obstacle);
  }
  return {flat_loop::host, obstacle};
}

/// Checks that a graph can capture a flat chain with this loop.
/// \throws unavailable with the reason
inline void require_capturable(const loop_choice& loop, bool has_loop) {
  if (has_loop && loop.wanted != flat_loop::host) return;
  throw unavailable("a graph cannot capture rounds that the host launches one by one; " +
                    (has_loop ? loop.reason : "the program has no loop for graphs"));
}

/// The arguments of a run, and what it has chosen.
struct run_choices {
  const char* algorithm;  ///< begins the messages of exceptions
  cudaStream_t stream;
  memory_ref given;
  route wanted;
  flat_loop wanted_loop;
  launch_trace* trace;
  ramify::completion completion;
  int device;                                   ///< the current device at the start of the run
  bool captured;                                ///< whether a graph captures the run
  std::shared_ptr<const launch_limits> limits;  ///< in force while it exists; null: unchanged
  std::size_t limit;                            ///< the pending-launch limit
  loop_choice loop;
  route_choice choice{};
  /// The host need not clear the status and the progress: the first grid of the run clears them
  /// (chain_link::clear_status()), or nothing reads them. Must be false for a run with slots,
  /// because the host may release them before that grid has run.
  bool first_grid_clears = false;
  /// The chain of the run ends with grids that complete it from any state, without a graph's loop.
  bool completes_without_loop = false;

  /// Returns whether the host launches the rounds of the flat route one by one.
  [[nodiscard]] bool by_host() const { return loop.wanted == flat_loop::host; }

  /// Returns the environment of a run that is a part of this one. It has the limits of this run.
  [[nodiscard]] environment of_part(const memory_ref& memory) const {
    const bool in_stream = completion == completion::in_stream;
    return {.stream = stream,
            .memory = memory,
            .route = wanted,
            .flat_loop = wanted_loop,
            .trace = trace,
            .completion = in_stream ? completion : completion::by_get};
  }

  /// Returns why a stream cannot complete a run; empty if it can. \throws cuda_error
  [[nodiscard]] std::string completion_obstacle() const {
    const bool needs_loop = !completes_without_loop;
    if (needs_loop && wanted_loop == flat_loop::host) return "environment.flat_loop is host";
    if (trace != nullptr) return "a trace records the grids of the call";
    return needs_loop ? graph_loop_obstacle() : std::string();
  }

  /// Returns whether grids in the stream launch what would otherwise wait for get().
  /// \throws cuda_error
  [[nodiscard]] bool needs_completion() const {
    return completion == completion::in_stream && completion_obstacle().empty();
  }
};

/// The beginning of a run: checks the environment, and makes the choices of the run. While it
/// exists, driver queries do not affect a captured stream.
struct run_setup : private relaxed_capture_scope, run_choices {
  /// Sets the limits of the environment.
  /// \throws std::invalid_argument for a bad environment; unavailable if the environment has
  ///         another backend, or a graph's loop that the driver does not have, or if a graph
  ///         captures the stream and the environment has a trace or a limit; cuda_error
  run_setup(const char* name, const environment& env)
      : run_choices{.algorithm = checked(name, env),
                    .stream = stream_of(env, name),
                    .given = env.memory,
                    .wanted = env.route,
                    .wanted_loop = env.flat_loop,
                    .trace = env.trace,
                    .completion = env.completion,
                    .device = current_device(),
                    .captured = is_captured(name, env),
                    .limits = limits_of(env),
                    .limit = current_pending_launch_limit(),
                    .loop = choose_loop(env.flat_loop, "environment.flat_loop")} {}

  /// Checks that kernels can access a number of elements, if only the device has it.
  /// \throws std::invalid_argument; cuda_error
  void check_count(const element_count& count) const {
    if (!count.on_device()) return;
    check_device_access(count.address, count.bytes,
                        (std::string(algorithm) + ": the address of device_count").c_str());
  }

  /// Lets the host launch the rounds of the flat route, for `reason`, unless a graph is requested
  /// or captures the run.
  void prefer_host(const char* reason) {
    if (loop.wanted == flat_loop::automatic && !captured) loop = {flat_loop::host, reason};
  }

  /// Chooses the requested route, or else `preferred`. A captured run without a graph's loop
  /// prefers the device route.
  /// \throws unavailable if a graph cannot capture the route, or the route is not available
  void choose_route(unsigned slots_needed, const route_choice& preferred) {
    choice = ramify::choose_route(
        wanted, limit, slots_needed,
        captured && by_host() ? route_choice{route::device, without_loop} : preferred);
    if (captured && choice.taken == route::flat) require_capturable(loop, true);
  }

  /// Chooses the requested route, or else the cheaper one. A captured run without a graph's loop
  /// prefers the device route. \throws as the overload; cuda_error
  void choose_route(unsigned slots_needed, const route_plans& plans) {
    if (captured && by_host()) {
      choose_route(slots_needed, route_choice{});
    } else {
      choose_route(slots_needed, ramify::choose_route(wanted, limit, slots_needed, plans, stream));
    }
  }

 private:
  static constexpr const char* without_loop = "captured without a graph's loop";

  /// Checks the fields that need no driver. Returns `name`.
  static const char* checked(const char* name, const environment& env) {
    validate(env);
    constexpr backend here = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
    if (env.backend != backend::automatic && env.backend != here) {
      throw unavailable(std::string(name) + ": environment.backend is " +
                        std::string(to_string(env.backend)) + ", but this call was compiled for " +
                        std::string(to_string(here)));
    }
    return name;
  }

  /// Returns whether the stream is being captured, and checks what excludes it.
  static bool is_captured(const char* name, const environment& env) {
    if (!is_being_captured(env.stream.as<cudaStream_t>())) return false;
    const auto refuse = [&](const char* what) {
      throw unavailable(std::string(name) + ": a graph cannot capture " + what);
    };
    if (env.trace != nullptr) refuse("the recording of a trace");
    if (env.pending_launches != 0) refuse("a change of the pending-launch limit");
    return true;
  }

  static std::shared_ptr<const launch_limits> limits_of(const environment& env) {
    if (env.pending_launches == 0) return nullptr;
    return std::make_shared<const launch_limits>(
        launch_limit_values{.pending_launches = env.pending_launches});
  }
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
