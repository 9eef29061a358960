// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reader of graph files that may be compressed by gzip.

#include <filesystem>
#include <ramify/graph_file.hpp>

#include "common/text_file.hpp"
#include "graphs.hpp"

namespace common {

using ramify::graph_file_options;
using ramify::graph_format;
using ramify::graph_from_file;
using ramify::parse_graph_format;
using ramify::parse_length_type;

/// Reads a graph with ramify::read_graph_text(), after decompression if necessary.
/// \throws bad_input
[[nodiscard]] graph_from_file read_graph(const std::filesystem::path& path,
                                         const graph_file_options& options);

}  // namespace common
