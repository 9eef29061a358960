// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_trace: every grid of a traced run, its parent, and when it ran. Plain C++.
///
///     ramify::launch_trace trace;
///     ramify::quicksort(keys, ramify::sort_order::ascending, {.trace = &trace});
///     ramify::write_trace_file("sort.html", trace);  // or .json (Perfetto), or .dot (Graphviz)
///
///     sort, 3 levels     grids[0] {parent no_grid, kernel "sample_sort_sample_root", begin 0, ...}
///                        grids[5] {parent 2,       kernel "sample_sort_leaves", ...}

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The kind of stream that a grid was launched into.
enum class launch_stream : std::uint8_t {
  host,             ///< a stream of the host
  null,             ///< the NULL stream of the launching block
  named,            ///< a stream that the launching grid created
  fire_and_forget,  ///< the fire-and-forget stream of the launching grid: no order
  tail,             ///< the tail stream: after the launching grid and all its other children
};

/// Returns the name of the kind of stream.
[[nodiscard]] constexpr std::string_view to_string(launch_stream s) {
  return choice_name(s, {"host", "NULL", "named", "fire-and-forget", "tail"});
}

/// One grid that ran.
///
/// Times are in nanoseconds since the first grid began. Under a reproducible schedule of the CPU
/// executor they are steps of the schedule.
struct traced_grid {
  /// The parent of a grid that the host launched.
  static constexpr std::size_t no_grid = std::numeric_limits<std::size_t>::max();

  std::size_t parent = no_grid;  ///< index of the launching grid; no_grid: launched by the host
  std::string kernel;            ///< name of the kernel
  std::uint32_t depth = 0;       ///< depth in the launch tree; 0 for a grid that the host launched
  std::array<std::uint32_t, 3> blocks{};       ///< grid dimensions
  std::array<std::uint32_t, 3> threads{};      ///< block dimensions
  std::uint32_t dynamic_shared = 0;            ///< bytes per block
  launch_stream stream = launch_stream::host;  ///< the kind of stream that it was launched into
  /// The linear index (x first) of the launching block; 0 for a grid that the host launched.
  std::uint32_t parent_block = 0;
  /// When the kernel launched it; equal to `begin` for a grid that the host launched.
  std::uint64_t launched = 0;
  /// When its first block began. With stream_serialization::programmatic, the grid may then still
  /// wait for the previous one.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< when its last warp ended
  /// When the grid and all its descendants had ended. Work that waits for the grid in a stream
  /// begins later.
  std::uint64_t complete = 0;
  /// How often the grid ran. It is more than 1 only in a graph loop; then `begin` is the first
  /// run's and `end` the last run's.
  std::uint64_t runs = 1;
};

/// The grids of one run or of several runs, in the order in which they began. A parent comes before
/// its children.
struct launch_trace {
  /// The maximum number of grids that kernels launch in a run, or in one call of a simulation, and
  /// the maximum number of grids that the host launches there. Range [1, 2^24]; each takes 120
  /// bytes of device memory. Set it before the run.
  std::size_t capacity = 1 << 16;

  std::vector<traced_grid> grids;  ///< in the order in which they began
  std::uint64_t lost = 0;  ///< number of grids that exceeded the capacity and are missing here
  backend ran_on = backend::automatic;  ///< the backend of the run
  route taken = route::automatic;       ///< the route of the last run
  bool counts_steps = false;            ///< times are steps of a schedule, not nanoseconds
  std::uint64_t origin = 0;             ///< the device clock when grids[0] began

  /// Returns the number of runs of all grids. It equals the number of grids in the report of the
  /// run.
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const traced_grid& g : grids) all += g.runs;
    return all;
  }
};

// The writers are compiled into ramify::runtime. They ignore a parent that does not come before its
// child, and replace invalid UTF-8 in names.

/// Writes a JSON file for ui.perfetto.dev and chrome://tracing.
///
/// Each grid is a slice from its begin to its end, with an arrow from its launch in the parent.
/// Slices use as few tracks as possible without overlap; a track does not stand for a
/// multiprocessor. Steps of a schedule are written as microseconds. \throws std::ios_base::failure
void write_chrome_trace(std::ostream& out, const launch_trace& trace);

/// Writes the launch tree for Graphviz: `dot -Tsvg`.
///
/// If a grid has more than `max_children` children with the same kernel, shape and kind of stream,
/// one node stands for the rest. It shows their number and the number of their descendants.
/// \throws std::ios_base::failure
void write_dot(std::ostream& out, const launch_trace& trace, std::size_t max_children = 16);

/// Writes one self-contained page for a browser: the launch tree and the timeline, interactive.
/// \throws std::ios_base::failure
void write_html(std::ostream& out, const launch_trace& trace, std::string_view title);

/// Writes the trace in the format that the extension of `path` names: .json, .dot, or .html (the
/// title is the file's stem). Does not access the file `path`. \throws std::ios_base::failure;
/// std::invalid_argument for another extension
void write_trace(std::ostream& out, const launch_trace& trace, const std::string& path);

/// Writes the file in the format of its extension: .json, .dot, or .html (whose title is the file's
/// stem). It writes a temporary file and renames it, so an incomplete file never appears.
/// \throws std::invalid_argument naming the extensions
/// \throws std::ios_base::failure naming the file
void write_trace_file(const std::string& path, const launch_trace& trace);

/// Checks, before a run, that write_trace_file() supports the extension.
/// \throws std::invalid_argument naming the extensions
void check_trace_file(const std::string& path);

}  // namespace ramify::inline RAMIFY_ABI
