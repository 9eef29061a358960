// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Where a run may go, and what it tells about itself afterwards.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify {

/// Where kernels run.
enum class backend {
  automatic,  ///< a CUDA device if there is one, else the CPU executor
  cuda,
  cpu,
};

/// How a recursion is launched.
enum class route {
  automatic,  ///< device or flat, by cost
  device,     ///< grids launch child grids
  flat,       ///< no launch from the device: one grid for all tasks of a level
};

/// Who begins the rounds of a flat run, one after another.
enum class flat_loop {
  automatic,  ///< the device if it can and it pays, else the host
  graph,      ///< the device: a CUDA graph with a WHILE node
  host,       ///< the host, which looks after each round whether there is another
};

/// Which streams a grid puts independent children into.
enum class child_streams {
  fire_and_forget,  ///< the fastest
  named,            ///< a named non-blocking stream for each, the classic form
};

[[nodiscard]] constexpr std::string_view to_string(backend b) {
  switch (b) {
    case backend::automatic: return "automatic";
    case backend::cuda: return "cuda";
    case backend::cpu: return "cpu";
  }
  return "?";
}

[[nodiscard]] constexpr std::string_view to_string(route r) {
  switch (r) {
    case route::automatic: return "automatic";
    case route::device: return "device";
    case route::flat: return "flat";
  }
  return "?";
}

[[nodiscard]] constexpr std::string_view to_string(flat_loop l) {
  switch (l) {
    case flat_loop::automatic: return "automatic";
    case flat_loop::graph: return "graph";
    case flat_loop::host: return "host";
  }
  return "?";
}

/// The one of `choices`, a range of enumerators, whose to_string is `text`. `what` is for the message.
/// \throws std::invalid_argument naming the choices
template <class Choices>
[[nodiscard]] auto parse_choice(std::string_view what, std::string_view text,
                                const Choices& choices) {
  const std::size_t count = std::size(choices);
  std::string names;
  for (const auto& choice : choices) {
    if (text == to_string(choice)) return choice;
    if (!names.empty()) names += count == 2 ? " nor " : ", ";
    names += to_string(choice);
  }
  throw std::invalid_argument(std::string(what) + " '" + std::string(text) + "' is " +
                              (count == 2 ? "neither " : "none of ") + names);
}

/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline backend parse_backend(std::string_view text) {
  return parse_choice("backend", text, std::array{backend::automatic, backend::cuda, backend::cpu});
}

/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline route parse_route(std::string_view text) {
  return parse_choice("route", text, std::array{route::automatic, route::device, route::flat});
}

/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline flat_loop parse_flat_loop(std::string_view text) {
  return parse_choice("flat_loop", text,
                      std::array{flat_loop::automatic, flat_loop::graph, flat_loop::host});
}

/// How the time of a call of a facade splits, in milliseconds; of a simulation, the sums of its calls.
/// One part begins when the one before is over: what overlaps, the packing of chunks and their
/// transfer, does so within a part. An array that is used in place, as all are on the CPU executor, is
/// not copied: 0. In reports of header doors, which copy nothing and need not wait, all are 0.
struct run_times {
  double copy_in_ms = 0;   ///< until the caller's arrays were on the device; by the device's clock
  double work_ms = 0;      ///< until the algorithm was done; likewise
  double copy_out_ms = 0;  ///< until the results were in the caller's arrays; likewise
  double total_ms = 0;     ///< of the call, by the host's clock, once its backend was known

  run_times& operator+=(const run_times& more) {
    copy_in_ms += more.copy_in_ms;
    work_ms += more.work_ms;
    copy_out_ms += more.copy_out_ms;
    total_ms += more.total_ms;
    return *this;
  }
};

/// What a run did.
struct run_report : run_times {
  backend ran_on = backend::automatic;
  std::string backend_reason;  ///< why it ran there
  route taken = route::automatic;
  std::string route_reason;                    ///< why this route
  flat_loop looped_by = flat_loop::automatic;  ///< who began the flat rounds, if there were any
  std::string flat_loop_reason;            ///< why; empty if there were none, or nobody to choose
  std::uint64_t host_grids = 0;            ///< launched by the host
  std::uint64_t child_grids = 0;           ///< launched by kernels
  std::uint64_t graph_grids = 0;           ///< begun by the loop of a graph
  std::uint32_t deepest_level = 0;         ///< of the launch tree, or of the levels; the root is 0
  std::uint64_t spilled_tasks = 0;         ///< found no launch slot and ran in a flat grid
  std::uint32_t peak_slots = 0;            ///< most launch slots in use at a time, of all runs
  std::uint64_t pending_launch_limit = 0;  ///< the device's, in launches
  std::size_t scratch_bytes = 0;           ///< temporary device memory
};

/// Counts the grids and the slots of a part of a run in the report of the whole. Where the whole ran,
/// by which route, and its scratch memory stay as they are.
inline void add_part(run_report& whole, const run_report& part) {
  whole.host_grids += part.host_grids;
  whole.child_grids += part.child_grids;
  whole.graph_grids += part.graph_grids;
  whole.deepest_level = std::max(whole.deepest_level, part.deepest_level);
  whole.spilled_tasks += part.spilled_tasks;
  whole.peak_slots = std::max(whole.peak_slots, part.peak_slots);
}

/// The same for a part that may have chosen another route; the reason then says so.
inline void add_part(run_report& whole, const run_report& part, std::string_view name) {
  add_part(whole, part);
  if (part.host_grids > 0 && part.taken != whole.taken) {
    whole.route_reason += "; " + std::string(name) + " chose " + std::string(to_string(part.taken));
  }
}

/// One "name: value" line a field.
inline std::ostream& operator<<(std::ostream& out, const run_report& r) {
  out << "backend: " << to_string(r.ran_on) << " (" << r.backend_reason << ")\n"
      << "route: " << to_string(r.taken) << " (" << r.route_reason << ")\n";
  if (!r.flat_loop_reason.empty()) {
    out << "flat rounds begun by: " << to_string(r.looped_by) << " (" << r.flat_loop_reason << ")\n"
        << "grids begun by a graph: " << r.graph_grids << '\n';
  }
  out << "grids launched by the host: " << r.host_grids << '\n'
      << "grids launched by kernels: " << r.child_grids << '\n'
      << "deepest level: " << r.deepest_level << '\n'
      << "tasks spilled to flat grids: " << r.spilled_tasks << '\n'
      << "peak launch slots in use: " << r.peak_slots << '\n'
      << "pending-launch limit: " << r.pending_launch_limit << '\n'
      << "scratch bytes: " << r.scratch_bytes << '\n';
  if (r.total_ms == 0) return out;  // nobody has looked at a clock
  return out << "milliseconds of copies in: " << r.copy_in_ms << '\n'
             << "milliseconds of work: " << r.work_ms << '\n'
             << "milliseconds of copies out: " << r.copy_out_ms << '\n'
             << "milliseconds in all: " << r.total_ms << '\n';
}

}  // namespace ramify
