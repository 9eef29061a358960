// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reader of graphs: Matrix Market files and lists of edges, also compressed by gzip.

#include <cstddef>
#include <filesystem>
#include <optional>

#include "graphs.hpp"

namespace common {

/// Reads a graph. A file that begins with "%%MatrixMarket" is a coordinate matrix: entry (i, j)
/// is an edge from i to j, counted from 1; a symmetric matrix is an undirected graph. Any other
/// file has one edge a line, two vertices counted from 0 and possibly a length; lines that begin
/// with # or % are comments.
///
/// \param vertices       number of vertices of a list of edges; none: the largest vertex plus one.
///                       A matrix must have the same number, if it is given
/// \param is_undirected  each edge stands for both directions; a symmetric matrix is undirected in
///                       any case
/// \param has_lengths    true: values and lengths are stored, and must not be negative; an edge
///                       without a length has length 1. false: all lengths are 1
/// \throws bad_input for a file that cannot be read or decompressed, and for the first malformed
///         line, with its number
[[nodiscard]] edge_list read_graph(const std::filesystem::path& path,
                                   std::optional<std::size_t> vertices, bool is_undirected,
                                   bool has_lengths);

}  // namespace common
