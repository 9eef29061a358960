// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reader of graphs: Matrix Market files and lists of edges, also compressed by gzip.

#include <cstddef>
#include <filesystem>
#include <optional>

#include "graphs.hpp"

namespace common {

/// Reads a graph. A file that begins with "%%MatrixMarket" is a matrix in coordinates: entry (i, j)
/// is an edge from i to j, counted from 1; a symmetric matrix is an undirected graph. Any other
/// file has one edge a line, two vertices counted from 0 and possibly a length; lines that begin
/// with # or % are comments.
///
/// \param vertices       number of vertices of a list of edges; none: the largest vertex and those
///                       below
/// \param is_undirected  an edge of a list stands for both directions
/// \param has_lengths    the values or lengths are read, and must not be negative. An edge without
///                       one has length 1. Otherwise they are ignored
/// \throws bad_input with the number of the first line that is malformed
[[nodiscard]] edge_list read_graph(const std::filesystem::path& path,
                                   std::optional<std::size_t> vertices, bool is_undirected,
                                   bool has_lengths);

}  // namespace common
