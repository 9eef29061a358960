// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <ramify/graph_file.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::inline RAMIFY_ABI {
namespace {

/// Returns a list whose edges are between its vertices. \throws std::invalid_argument
const edge_list& checked(const edge_list& list) {
  const auto is_vertex = [&](std::int32_t v) {
    return v >= 0 && static_cast<std::size_t>(v) < list.vertices;
  };
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    const auto [from, to] = list.edges[i];
    if (is_vertex(from) && is_vertex(to)) continue;
    throw std::invalid_argument("edge_list: edges[" + std::to_string(i) + "] names vertex " +
                                std::to_string(is_vertex(from) ? to : from) +
                                "; it must be in [0, " + std::to_string(list.vertices) + ")");
  }
  const std::size_t lengths = std::visit([](const auto& all) { return all.size(); }, list.lengths);
  if (lengths != 0 && lengths != list.edges.size()) {
    throw std::invalid_argument("edge_list: lengths has " + std::to_string(lengths) +
                                " elements; it must have none, or as many as edges, " +
                                std::to_string(list.edges.size()));
  }
  return list;
}

}  // namespace

stored_graph::stored_graph(const edge_list& list)
    : is_undirected(checked(list).is_undirected),
      loops(static_cast<std::size_t>(
          std::ranges::count_if(list.edges, [](list_edge e) { return e.from == e.to; }))) {
  /// Calls put(from, to, i) for both directions of edge i, or for one of them. A self-loop has one.
  const auto for_each_direction = [&](bool forward, bool backward, const auto& put) {
    for (std::size_t i = 0; i < list.edges.size(); ++i) {
      const auto [from, to] = list.edges[i];
      if (forward) put(from, to, i);
      if (backward && !(forward && from == to)) put(to, from, i);
    }
  };
  const auto store = [&](auto& begins, auto& ends, bool forward, bool backward, auto& to_lengths,
                         const auto& from_lengths) {
    begins.assign(list.vertices + 1, 0);
    for_each_direction(forward, backward, [&](std::int32_t from, std::int32_t, std::size_t) {
      ++begins[static_cast<std::size_t>(from) + 1];
    });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    ends.resize(static_cast<std::size_t>(begins.back()));
    if (!from_lengths.empty()) to_lengths.resize(ends.size());
    auto next = begins;
    for_each_direction(forward, backward, [&](std::int32_t from, std::int32_t to, std::size_t i) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++);
      ends[place] = to;
      if (!from_lengths.empty()) to_lengths[place] = from_lengths[i];
    });
  };
  const auto store_out = [&](const auto& from_lengths) {
    std::remove_cvref_t<decltype(from_lengths)> stored;
    store(offsets, targets, true, is_undirected, stored, from_lengths);
    lengths = std::move(stored);
  };
  std::visit(store_out, list.lengths);
  std::vector<float> none;
  if (!is_undirected) store(in_offsets, in_sources, false, true, none, none);
}

graph_view stored_graph::view() const {
  if (is_undirected) return graph_view::symmetric(offsets, targets);
  return graph_view::directed(offsets, targets, in_offsets, in_sources);
}

}  // namespace ramify::inline RAMIFY_ABI
