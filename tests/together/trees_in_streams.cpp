// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <ramify/graph.cuh>
#include <ramify/rooted_tree.cuh>
#include <random>

#include "stream_calls.cuh"

namespace stream_completion {
namespace {

using index = std::int32_t;

// ---- forests ----

/// Returns a forest in which the parent of a node is up to `back` nodes before it.
std::vector<index> parents_of(std::size_t n, unsigned back, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<index> parents(n, -1);
  for (std::size_t v = 1; v < n; ++v) {
    parents[v] = static_cast<index>(v - 1 - random() % std::min<std::size_t>(v, back));
  }
  return parents;
}

/// A run on a forest. `has_paths` is whether it folds the values of paths from the root, too.
stream_call forest(const std::string& name, const std::vector<index>& first,
                   const std::vector<index>& second, bool has_paths = true) {
  const std::size_t n = first.size();
  const auto shape_of = [n](const stream_call& c) {
    return tree_shape::of_parents({elements<const index>(c.inputs[0].data), n});
  };
  const auto numbers_of = [](const stream_call& c) {
    return tree_number_arrays{.levels = elements<index>(c.results[0]),
                              .preorder = elements<index>(c.results[1])};
  };
  const auto folds_of = [has_paths](const stream_call& c) {
    return make_tree_folds(elements<const word>(c.inputs[1].data), plus{},
                           elements<word>(c.results[2]),
                           has_paths ? elements<word>(c.results[3]) : nullptr);
  };
  std::vector<word> values(n);
  std::iota(values.begin(), values.end(), word{3});
  stream_call call{
      .name = "rooted_tree, " + name,
      .inputs = list_of(input_array(first, second), input_array(values)),
      .results = list_of(results_of<index>(n), results_of<index>(n), results_of<word>(n),
                         results_of<word>(n)),
      .scratch_bytes = 0,
      .start =
          [=](const stream_call& c, const environment& env) {
            return any_run_of(rooted_tree_async(shape_of(c), numbers_of(c), folds_of(c), env));
          },
      .needs_no_loop = !has_paths};
  call.scratch_bytes = rooted_tree_scratch_bytes(shape_of(call), numbers_of(call), folds_of(call));
  return call;
}

// ---- graphs ----

/// A directed graph.
struct edge_lists {
  std::vector<std::int64_t> offsets;
  std::vector<index> targets;

  [[nodiscard]] std::size_t vertices() const { return offsets.size() - 1; }
};

/// Returns a graph in which the edges stay in one of `parts` parts of the vertices.
edge_lists random_graph(std::size_t n, unsigned degree, std::size_t parts) {
  std::mt19937 random(1);
  const std::size_t size = n / parts;
  edge_lists graph;
  for (std::size_t v = 0; v <= n; ++v) graph.offsets.push_back(std::int64_t(v * degree));
  for (std::size_t e = 0; e < n * degree; ++e) {
    graph.targets.push_back(index(e / degree / size * size + random() % size));
  }
  return graph;
}

/// Returns the path 0 - 1 - ... - n-1. With `is_cut` the edge in its middle is a loop.
edge_lists path(std::size_t n, bool is_cut) {
  edge_lists graph;
  for (std::size_t v = 0; v <= n; ++v) graph.offsets.push_back(std::int64_t(std::min(v, n - 1)));
  for (std::size_t v = 1; v < n; ++v) graph.targets.push_back(index(v));
  if (is_cut) graph.targets[n / 2] = index(n / 2);
  return graph;
}

graph_view graph_in(const stream_call& c) {
  return graph_view::directed(
      {elements<const std::int64_t>(c.inputs[0].data), c.inputs[0].data.size() / 2},
      {elements<const index>(c.inputs[1].data), c.inputs[1].data.size()});
}

/// Returns a call of a graph algorithm with one array of results, of type T.
template <class T, class Bytes>
stream_call search(const std::string& name, const edge_lists& first, const edge_lists& second,
                   const Bytes& bytes, auto start) {
  std::vector<float> lengths(first.targets.size());
  for (std::size_t e = 0; e < lengths.size(); ++e) lengths[e] = static_cast<float>(e % 7 + 1);
  stream_call call{
      .name = name,
      .inputs = list_of(input_array(first.offsets, second.offsets),
                        input_array(first.targets, second.targets), input_array(lengths)),
      .results = list_of(results_of<T>(first.vertices())),
      .scratch_bytes = 0,
      .start = [start](const stream_call& c, const environment& env) {
        return any_run_of(start(graph_in(c), c, env));
      }};
  call.scratch_bytes = bytes(graph_in(call));
  return call;
}

stream_call breadth_first(const std::string& name, const edge_lists& first,
                          const edge_lists& second) {
  return search<index>(
      "breadth_first_search, " + name, first, second,
      [](const graph_view& g) { return bfs_scratch_bytes(g); },
      [](const graph_view& g, const stream_call& c, const environment& env) {
        return breadth_first_search_async(g, 0, {.levels = elements<index>(c.results[0])}, env);
      });
}

void add_searches(std::vector<stream_call>& all, const std::string& name, const edge_lists& first,
                  const edge_lists& second) {
  all.push_back(breadth_first(name, first, second));
  all.push_back(search<float>(
      "shortest_paths, " + name, first, second,
      [](const graph_view& g) { return sssp_scratch_bytes(g); },
      [](const graph_view& g, const stream_call& c, const environment& env) {
        return shortest_paths_async(
            g, std::span(elements<const float>(c.inputs[2].data), g.edges()), 0,
            sssp_arrays{.distances = elements<float>(c.results[0])}, env);
      }));
  all.push_back(search<index>(
      "connected_components, " + name, first, second,
      [](const graph_view& g) { return components_scratch_bytes(g); },
      [](const graph_view& g, const stream_call& c, const environment& env) {
        return connected_components_async(g, elements<index>(c.results[0]), env);
      }));
  all.push_back(search<double>(
      "pagerank, " + name, first, second,
      [](const graph_view& g) { return pagerank_scratch_bytes(g); },
      [](const graph_view& g, const stream_call& c, const environment& env) {
        return pagerank_async(g, elements<double>(c.results[0]), env);
      }));
}

}  // namespace

void add_trees(std::vector<stream_call>& all) {
  const std::size_t n = sized(200'000, 20'000);
  all.push_back(forest("random tree", parents_of(n, 1'000'000, 1), parents_of(n, 1'000'000, 2)));
  all.push_back(
      forest("no paths", parents_of(n, 1'000'000, 1), parents_of(n, 1'000'000, 2), false));
  // The rounds of pointer doubling depend on the depth: 15 for the path, 1 more than ten for both.
  all.push_back(forest("path", parents_of(20'000, 1, 1), parents_of(20'000, 2, 2)));
  all.push_back(forest("small tree", parents_of(100, 5, 1), parents_of(100, 5, 2)));
}

void add_graphs(std::vector<stream_call>& all) {
  const std::size_t n = sized(20'000, 2'000);
  add_searches(all, "random graph", random_graph(n, 8, 1), random_graph(n, 8, 2));
  const std::size_t length = sized(3'000, 500);
  add_searches(all, "path", path(length, false), path(length, true));
}

void add_faulty_graphs(std::vector<faulty_call>& all) {
  edge_lists faulty = path(1'000, false);
  faulty.targets[700] = 1'000;
  all.push_back({breadth_first("faulty graph", faulty, faulty), "targets[700]"});
  std::vector<index> parents = parents_of(1'000, 5, 1);
  parents[3] = 1'000;
  all.push_back({forest("faulty forest", parents, parents), "the parent of node 3 is 1000"});
}

}  // namespace stream_completion
