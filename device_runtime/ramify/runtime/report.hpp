// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The choices of a run (backend, route, flat loop, completion, child streams) and its report.
/// Plain C++.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

/// Where kernels run.
enum class backend {
  automatic,  ///< a CUDA device if there is one, else the CPU executor
  cuda,
  cpu,
};

/// How a recursion is launched.
enum class route {
  automatic,  ///< device or flat, whichever costs less
  device,     ///< grids launch child grids
  flat,       ///< no launches from the device: one grid for all tasks of a level
};

/// How the iterations of a flat run are launched.
enum class flat_loop {
  automatic,  ///< a graph if the driver supports it and it costs less, else the host
  graph,      ///< a CUDA graph with a WHILE node
  host,       ///< the host, with a round trip after each iteration
};

/// When the results of a call whose name ends in _async are complete.
enum class completion {
  in_stream,  ///< for all work that enters the stream after the call
  by_get,     ///< when get() has returned; the stream gets no grids for what is left
  /// As by_get, for a call whose get() follows at once: the call puts the copy of the run's state
  /// into the stream, and the destructor of the run waits for it. Calls that wait use it.
  by_get_at_once,
};

/// The streams into which a grid launches independent children.
enum class child_streams {
  fire_and_forget,  ///< the fire-and-forget stream, which is the fastest
  named,            ///< a named non-blocking stream for each child, the classic form
};

/// Returns the name of an enumerator, or "?" for a value that is none. `names` has the order of the
/// enumerators.
template <class Choice>
[[nodiscard]] constexpr std::string_view choice_name(
    Choice choice, std::initializer_list<std::string_view> names) {
  const auto i = static_cast<std::size_t>(choice);
  return i < names.size() ? names.begin()[i] : "?";
}

/// Returns the name of the backend.
[[nodiscard]] constexpr std::string_view to_string(backend b) {
  return choice_name(b, {"automatic", "cuda", "cpu"});
}
/// Returns the name of the route.
[[nodiscard]] constexpr std::string_view to_string(route r) {
  return choice_name(r, {"automatic", "device", "flat"});
}
/// Returns the name of the kind of loop.
[[nodiscard]] constexpr std::string_view to_string(flat_loop l) {
  return choice_name(l, {"automatic", "graph", "host"});
}
/// Returns the name of the completion.
[[nodiscard]] constexpr std::string_view to_string(completion c) {
  return choice_name(c, {"in_stream", "by_get", "by_get_at_once"});
}
/// Returns the name of the kind of streams.
[[nodiscard]] constexpr std::string_view to_string(child_streams s) {
  return choice_name(s, {"fire_and_forget", "named"});
}

/// Returns all enumerators of a type whose values are 0, 1, and so on, each with a name.
template <class Enum>
[[nodiscard]] std::vector<Enum> all_choices() {
  std::vector<Enum> all;
  for (int i = 0; to_string(static_cast<Enum>(i)) != "?"; ++i) all.push_back(static_cast<Enum>(i));
  return all;
}

/// Returns the enumerator whose name is `text`. `what` is used in the message.
/// \throws std::invalid_argument naming the choices
template <class Enum>
[[nodiscard]] Enum parse_choice(std::string_view what, std::string_view text) {
  const std::vector<Enum> choices = all_choices<Enum>();
  std::string names;
  for (const Enum choice : choices) {
    if (text == to_string(choice)) return choice;
    if (!names.empty()) names += choices.size() == 2 ? " nor " : ", ";
    names += to_string(choice);
  }
  throw std::invalid_argument(std::string(what) + " '" + std::string(text) + "' is " +
                              (choices.size() == 2 ? "neither " : "none of ") + names);
}

/// Checks that `value` is an enumerator, and so has a name. \throws std::invalid_argument naming
/// `field`
template <class Enum>
void check_enumerator(Enum value, std::string_view field) {
  if (to_string(value) != "?") return;
  throw std::invalid_argument(std::string(field) + " is none of the enumerators");
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline backend parse_backend(std::string_view text) {
  return parse_choice<backend>("backend", text);
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline route parse_route(std::string_view text) {
  return parse_choice<route>("route", text);
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline flat_loop parse_flat_loop(std::string_view text) {
  return parse_choice<flat_loop>("flat_loop", text);
}

/// The times of a call of a facade in milliseconds. For a simulation, they are the sums of its
/// calls.
///
/// The parts do not overlap. A time of copies is 0 if the arrays are used in place, as always on
/// the CPU executor. All times are 0 in reports of the header templates, which copy nothing and do
/// not wait.
struct run_times {
  double copy_in_ms = 0;   ///< copies of the caller's arrays to the device, by the device clock
  double work_ms = 0;      ///< the algorithm, by the device clock
  double copy_out_ms = 0;  ///< copies of the results to the caller's arrays, by the device clock
  double total_ms = 0;     ///< the whole call after the choice of its backend, by the host clock

  /// Adds the times of another call.
  run_times& operator+=(const run_times& more) {
    copy_in_ms += more.copy_in_ms;
    work_ms += more.work_ms;
    copy_out_ms += more.copy_out_ms;
    total_ms += more.total_ms;
    return *this;
  }
};

/// The report of a run.
struct run_report : run_times {
  backend ran_on = backend::automatic;  ///< where the kernels ran
  std::string backend_reason;           ///< the reason for the backend
  route taken = route::automatic;       ///< the route that the run took
  std::string route_reason;             ///< the reason for the route
  /// What launched the iterations of the flat route, if any, or the rounds that kernels left.
  flat_loop looped_by = flat_loop::automatic;
  std::string flat_loop_reason;            ///< the reason for it; empty if there was no choice
  std::string completion_reason;           ///< why an _async call waited; empty if it did not
  std::uint64_t host_grids = 0;            ///< number of grids that the host launched
  std::uint64_t child_grids = 0;           ///< number of grids that kernels launched
  std::uint64_t graph_grids = 0;           ///< number of grids that a graph loop launched
  std::uint32_t deepest_level = 0;         ///< maximum depth in the launch tree; the root has 0
  std::uint64_t spilled_tasks = 0;         ///< tasks that got no launch slot and ran in a flat grid
  std::uint32_t peak_slots = 0;            ///< maximum number of launch slots in use, by all runs
  std::uint64_t pending_launch_limit = 0;  ///< the limit of the device, in launches
  std::size_t scratch_bytes = 0;           ///< temporary device memory
};

/// Adds the grids and the slots of a part of a run to the report of the whole run. The backend, the
/// route and the scratch memory of `whole` do not change.
inline void add_part(run_report& whole, const run_report& part) {
  whole.host_grids += part.host_grids;
  whole.child_grids += part.child_grids;
  whole.graph_grids += part.graph_grids;
  whole.deepest_level = std::max(whole.deepest_level, part.deepest_level);
  whole.spilled_tasks += part.spilled_tasks;
  whole.peak_slots = std::max(whole.peak_slots, part.peak_slots);
}

/// Adds a part that may have taken another route; then it appends `name` and the route to the
/// reason.
inline void add_part(run_report& whole, const run_report& part, std::string_view name) {
  add_part(whole, part);
  if (part.host_grids > 0 && part.taken != whole.taken) {
    whole.route_reason += "; " + std::string(name) + " chose " + std::string(to_string(part.taken));
  }
}

/// Writes one line "name: value" for each field.
inline std::ostream& operator<<(std::ostream& out, const run_report& r) {
  out << "backend: " << to_string(r.ran_on) << " (" << r.backend_reason << ")\n"
      << "route: " << to_string(r.taken) << " (" << r.route_reason << ")\n";
  if (!r.flat_loop_reason.empty()) {
    out << "flat loop: " << to_string(r.looped_by) << " (" << r.flat_loop_reason << ")\n"
        << "grids launched by a graph: " << r.graph_grids << '\n';
  }
  if (!r.completion_reason.empty()) {
    out << "complete before the call returned: " << r.completion_reason << '\n';
  }
  out << "grids launched by the host: " << r.host_grids << '\n'
      << "grids launched by kernels: " << r.child_grids << '\n'
      << "deepest level: " << r.deepest_level << '\n'
      << "tasks spilled to flat grids: " << r.spilled_tasks << '\n'
      << "peak launch slots in use: " << r.peak_slots << '\n'
      << "pending-launch limit: " << r.pending_launch_limit << '\n'
      << "scratch bytes: " << r.scratch_bytes << '\n';
  if (r.total_ms == 0) return out;  // the run was not timed
  return out << "milliseconds of copies in: " << r.copy_in_ms << '\n'
             << "milliseconds of work: " << r.work_ms << '\n'
             << "milliseconds of copies out: " << r.copy_out_ms << '\n'
             << "milliseconds in all: " << r.total_ms << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI
