// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a traced run launched: every grid, who launched it, when it ran. Plain C++.
///
///     ramify::launch_trace trace;
///     ramify::quicksort_options options;
///     options.trace = &trace;
///     ramify::quicksort(std::span(keys), options);
///     ramify::write_trace_file("sort.html", trace);  // or .json (Perfetto), or .dot (Graphviz)
///
///     sort, 3 levels        grids[0] {parent no_grid, kernel "sample_sort_sample_root", begin 0, ...}
///                           grids[5] {parent 2,       kernel "sample_sort_leaves", ...}

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ramify {

/// Which kind of stream a grid was launched into.
enum class launch_stream : std::uint8_t {
  host,             ///< by the host
  null,             ///< by a kernel: its block's NULL stream
  named,            ///< a stream that the kernel made
  fire_and_forget,  ///< at once, in no order
  tail,             ///< when the launching grid and all its other children are complete
};

[[nodiscard]] constexpr std::string_view to_string(launch_stream s) {
  switch (s) {
    case launch_stream::host: return "host";
    case launch_stream::null: return "NULL";
    case launch_stream::named: return "named";
    case launch_stream::fire_and_forget: return "fire-and-forget";
    case launch_stream::tail: return "tail";
  }
  return "?";
}

/// One grid that ran. Times are in nanoseconds from the first grid's begin on; under a reproducible
/// schedule of the CPU executor, in that schedule's steps.
struct traced_grid {
  static constexpr std::size_t no_grid = std::numeric_limits<std::size_t>::max();

  std::size_t parent = no_grid;  ///< index of the grid that launched it; no_grid: the host did
  std::string kernel;            ///< its name
  std::uint32_t depth = 0;       ///< in the launch tree; what the host launches has 0
  std::array<std::uint32_t, 3> blocks{};   ///< of the grid
  std::array<std::uint32_t, 3> threads{};  ///< a block
  std::uint32_t dynamic_shared = 0;        ///< bytes a block
  launch_stream stream = launch_stream::host;
  std::uint32_t parent_block =
      0;                       ///< the block that launched it, numbered x first; of the host's, 0
  std::uint64_t launched = 0;  ///< when the kernel asked for it; of the host's, its begin
  /// When its first block began. One that starts early (stream_serialization::programmatic) then waits for the grid before.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< when its last warp ended
  /// When it and all that is nested in it had ended. Only then does a grid count as complete: what
  /// waits for it in a stream begins later.
  std::uint64_t complete = 0;
  /// Times that it ran: more than once in the loop of a graph only. Then `begin` is the first time's, and
  /// `end` the last's.
  std::uint64_t turns = 1;
};

/// The grids of one run or several, in the order in which they began: a parent before its children.
struct launch_trace {
  /// Grids of a run, or of a call of a simulation, that there is room for: so many that kernels launch, and
  /// as many that the host does. In [1, 2^24]; each takes 120 bytes of device memory. Set it before the run.
  std::size_t capacity = 1 << 16;

  std::vector<traced_grid> grids;
  std::uint64_t lost = 0;  ///< grids that found no room, and are not among these
  backend ran_on = backend::automatic;
  route taken = route::automatic;  ///< the last run's
  bool counts_steps = false;       ///< times are a schedule's steps, not nanoseconds
  std::uint64_t origin = 0;        ///< the device's clock when grids[0] began

  /// Grids that ran, each as often as it did: what the report of the run counts.
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const traced_grid& g : grids) all += g.turns;
    return all;
  }
};

// The writers are compiled: ramify::runtime. In all of them a parent that does not come before its child
// is as good as none. What is no UTF-8 in a name is replaced. All throw std::ios_base::failure.

/// A JSON file for ui.perfetto.dev and chrome://tracing: a slice a grid, from begin to end, an arrow from
/// where its parent launched it to it, and its facts. Slices stand on as few lanes as hold them side by
/// side; no lane stands for a multiprocessor. A schedule's steps are shown as microseconds.
void write_chrome_trace(std::ostream& out, const launch_trace& trace);

/// The launch tree for Graphviz: `dot -Tsvg`. Of more than `most_children` children with the same kernel
/// and shape, launched in the same kind of stream, one node stands for the rest: it says how many they
/// are, and how many grids are below them, which are not drawn either.
void write_dot(std::ostream& out, const launch_trace& trace, std::size_t most_children = 16);

/// One page for a browser, which needs nothing else: the tree and the timeline, to zoom and to point at.
void write_html(std::ostream& out, const launch_trace& trace, std::string_view title);

/// Writes what the name's extension says: .json, .dot, or .html with the name as its title. The file
/// appears whole or not at all.
/// \throws std::invalid_argument naming the choices
/// \throws std::ios_base::failure naming the file
void write_trace_file(const std::filesystem::path& path, const launch_trace& trace);

/// Whether write_trace_file() knows the extension, for programs that would rather say so before they
/// run. \throws std::invalid_argument naming the choices
void check_trace_file(const std::filesystem::path& path);

}  // namespace ramify
