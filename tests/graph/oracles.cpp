// SPDX-License-Identifier: BSD-3-Clause
#include "oracles.hpp"

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

namespace tests {

std::vector<std::int32_t> boost_levels(std::size_t n, const edge_list& edges, std::int32_t source) {
  using boost_graph = boost::compressed_sparse_row_graph<boost::directedS>;
  const boost_graph graph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), n);
  std::vector<std::int32_t> levels(n, -1);
  levels[static_cast<std::size_t>(source)] = 0;
  boost::breadth_first_search(graph, boost::vertex(static_cast<std::size_t>(source), graph),
                              boost::visitor(boost::make_bfs_visitor(
                                  boost::record_distances(levels.data(), boost::on_tree_edge{}))));
  return levels;
}

}  // namespace tests
