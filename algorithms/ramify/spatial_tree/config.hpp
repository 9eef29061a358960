// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and reports of spatial trees: of the build, of queries, and of clusters; plain C++.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// The id that fills a row of k neighbors after the last one, if the tree has fewer than k points.
inline constexpr std::uint32_t no_neighbor = 0xffffffffu;

/// Which threads visit the tree for balls. (The neighbors of a query are found by one thread.)
enum class query_method {
  /// Packets on a GPU, if the queries are sorted or were found to be in order, and if there are at
  /// least a quarter as many as points; otherwise threads.
  automatic,
  packets,  ///< a warp visits each node once for its 32 queries
  threads   ///< each thread visits the nodes of its query
};
/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(query_method m) {
  switch (m) {
    case query_method::automatic: return "automatic";
    case query_method::packets: return "packets";
    case query_method::threads: return "threads";
  }
  return "?";
}

/// Options of queries, and of a search for clusters.
struct spatial_query_options {
  /// Whether queries in another order are sorted along the Morton curve for the time of the call,
  /// so that neighboring threads have neighboring queries. The results stay in the caller's order.
  /// Threads of the CPU executor process the queries in the caller's order.
  bool sort = true;
  query_method ball_method = query_method::automatic;  ///< how points in balls are found
  /// The edges of a periodic box, 0 for an axis that is not periodic. Distances are those to the
  /// nearest image; a point has one distance, so it is in a ball or a row at most once. A ball may
  /// have any radius. The points may extend over one period; queries may be anywhere. In two
  /// dimensions period[2] must be 0. A period is rounded to the type of the coordinates.
  std::array<double, 3> period{};
  /// Whether the distances of nearest neighbors are squared. False: the distances themselves, which
  /// are in the range of the type of the coordinates also if their squares are not.
  bool squared = true;
  /// The maximum number of ids of all lists of a radius_list() or query_list(), which throws
  /// std::length_error if there are more, before it allocates the lists; 0: no limit.
  std::size_t max_listed_ids = 0;
};

/// The label of a point that is in no cluster.
inline constexpr std::uint32_t no_cluster = 0xffffffffu;

/// Checks options. \throws std::invalid_argument naming the field
inline void validate(const spatial_query_options& options) {
  check_enumerator(options.ball_method, "spatial_query_options.ball_method");
}

/// Options of the build of a tree.
struct spatial_tree_options {
  /// Maximum number of points of a leaf, in [1, 1024]. A small number makes the tree deep; a large
  /// number makes the scans of leaves long.
  unsigned leaf_size = 16;
  /// A block builds a subtree of at most this many points without a child grid, in [1, 65536]. The
  /// build never uses more than 256 (leaf_size + 1).
  unsigned block_points = 2048;
  /// The streams of child grids on the device route.
  child_streams streams = child_streams::fire_and_forget;
  /// Number of nodes for which memory is reserved. 0 selects 8 n / leaf_size + 1024, which suffices
  /// for most inputs; 2 n suffices for any. A tree with more nodes is built again in more memory.
  /// If memory was handed in, std::length_error is thrown instead.
  std::size_t max_nodes = 0;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const spatial_tree_options& options) {
  check_enumerator(options.streams, "spatial_tree_options.streams");
  detail::check_field(options.leaf_size >= 1 && options.leaf_size <= 1024,
                      "spatial_tree_options.leaf_size", options.leaf_size, "in [1, 1024]");
  detail::check_field(options.block_points >= 1 && options.block_points <= 65536,
                      "spatial_tree_options.block_points", options.block_points, "in [1, 65536]");
}

/// Returns the number of nodes that a build of n points reserves memory for. A tree has fewer than
/// 2n nodes: at least one point is in each leaf, and every inner node has two or more children.
[[nodiscard]] constexpr std::size_t reserved_nodes(std::size_t n,
                                                   const spatial_tree_options& options) {
  const std::size_t wanted =
      options.max_nodes == 0 ? 8 * n / options.leaf_size + 1024 : options.max_nodes;
  return wanted < 2 * n ? wanted : 2 * n;
}

/// Report of a build.
struct spatial_tree_report : run_report {
  std::uint64_t points = 0;  ///< number of points
  std::uint64_t nodes = 0;   ///< number of nodes
};

/// Report of a search for clusters.
struct spatial_cluster_report : run_report {
  std::uint64_t clusters = 0;     ///< number of clusters
  std::uint64_t core_points = 0;  ///< points with at least min_points neighbors
  std::uint64_t noise = 0;        ///< points in no cluster
};

/// Prints one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const spatial_cluster_report& r) {
  return out << "clusters: " << r.clusters << "\ncore points: " << r.core_points
             << "\nnoise: " << r.noise << '\n'
             << static_cast<const run_report&>(r);
}

/// Report of radius_rows().
struct radius_rows_report : run_report {
  std::uint64_t truncated = 0;  ///< number of balls with more points than a row has elements
};

/// Prints one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const spatial_tree_report& r) {
  return out << "points: " << r.points << "\nnodes: " << r.nodes << '\n'
             << static_cast<const run_report&>(r);
}

}  // namespace ramify::inline RAMIFY_ABI
