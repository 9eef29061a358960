// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of `graph`.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/graph.hpp>
#include <string>
#include <string_view>

#include "common/file_options.hpp"
#include "graph_file.hpp"
#include "graphs.hpp"

namespace common {

enum class graph_algorithm { bfs, sssp, components, pagerank };

[[nodiscard]] constexpr std::string_view to_string(graph_algorithm a) {
  return ramify::choice_name(a, {"bfs", "sssp", "components", "pagerank"});
}

/// Returns whether an algorithm begins at a source.
[[nodiscard]] constexpr bool has_source(graph_algorithm a) {
  return a == graph_algorithm::bfs || a == graph_algorithm::sssp;
}

/// The options on the command line.
struct graph_command_line {
  std::string input, output, trace, report = "text";
  std::optional<graph_kind> kind;
  graph_file_options file;
  unsigned scale = 16, factor = 16, holes = 20;
  std::size_t side = 256;
  std::uint64_t seed = 1;
  graph_algorithm chosen = graph_algorithm::bfs;
  std::optional<std::int64_t> source;
  unsigned searches = 1;
  bool verify = false, quiet = false;
  file_options files;
  // `search` also holds the options that all algorithms share.
  ramify::bfs_options search;
  ramify::sssp_options paths;
  ramify::pagerank_options ranks;
  ramify::environment env;
};

/// Declares the options, whose values CLI11 writes to `o`.
void declare(CLI::App& app, graph_command_line& o);

/// Checks the options. \throws std::invalid_argument naming the option
void check(const graph_command_line& o);

}  // namespace common
