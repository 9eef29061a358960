// SPDX-License-Identifier: BSD-3-Clause
#include "ordered_calls.cuh"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <ramify/graph.hpp>
#include <ramify/mandelbrot.hpp>
#include <ramify/nbody.hpp>
#include <ramify/quicksort.hpp>
#include <ramify/rooted_tree.hpp>
#include <ramify/segmented_sort.hpp>
#include <ramify/spatial_tree.hpp>
#include <random>

namespace stream_order {

using tests::any_run_of;

namespace {

constexpr unsigned n = 4'000;

template <class T>
std::vector<T> numbers_of(const std::vector<word>& words) {
  std::vector<T> numbers(words.size() * sizeof(word) / sizeof(T));
  std::memcpy(numbers.data(), words.data(), words.size() * sizeof(word));
  return numbers;
}

auto expects(std::vector<word> expected) {
  return [expected](const std::vector<std::vector<word>>& seen) { return seen[0] == expected; };
}

std::vector<word> shuffled(unsigned seed) {
  std::vector<word> keys(n);
  std::iota(keys.begin(), keys.end(), word{seed});
  std::shuffle(keys.begin(), keys.end(), std::mt19937(seed));
  return keys;
}
std::vector<word> numbers_from(word first) {
  std::vector<word> numbers(n);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

void add_sorts(std::vector<family_call>& all) {
  all.push_back({"quicksort",
                 list(late_array(shuffled(1), shuffled(7))),
                 {},
                 [](const family_call& c, const environment& env) {
                   quicksort(c.inputs[0].as<word>(), sort_order::ascending, env);
                 },
                 expects(numbers_from(7)),
                 [](const family_call& c, const environment& env) {
                   return any_run_of(
                       quicksort_async(c.inputs[0].as<word>(), sort_order::ascending, env));
                 }});
  const auto keys = shuffled(7);
  all.push_back(
      {"quicksort_pairs",
       list(late_array(shuffled(1), keys), late_array(numbers_from(0), keys)),
       {},
       [](const family_call& c, const environment& env) {
         quicksort_pairs(c.inputs[0].as<word>(), c.inputs[1].as<word>(), sort_order::ascending,
                         env);
       },
       [](const auto& seen) { return seen[0] == numbers_from(7) && seen[1] == numbers_from(7); }});
  // The offsets before the slow kernel are those of one segment, and those after it of two.
  all.push_back({"segmented_sort",
                 list(late_array(shuffled(1), keys),
                      late_array(std::array{word{0}, n, n}, std::array{word{0}, n / 2, n})),
                 {},
                 [](const family_call& c, const environment& env) {
                   segmented_sort(c.inputs[0].as<word>(), c.inputs[1].as<word>(),
                                  sort_order::ascending, env);
                 },
                 [keys](const auto& seen) {
                   auto expected = keys;
                   std::sort(expected.begin(), expected.begin() + n / 2);
                   std::sort(expected.begin() + n / 2, expected.end());
                   return seen[0] == expected;
                 }});
}

/// The binary heap: the children of node v are 2 v + 1 and 2 v + 2. Returns the level of each node.
std::vector<std::int32_t> heap_levels() {
  std::vector<std::int32_t> levels(n);
  for (unsigned v = 0; v < n; ++v) levels[v] = std::bit_width(v + 1) - 1;
  return levels;
}

void add_trees(std::vector<family_call>& all) {
  std::vector<std::int32_t> parents(n);
  for (unsigned v = 0; v < n; ++v) parents[v] = v == 0 ? -1 : std::int32_t(v - 1) / 2;
  // The nodes 1 and 62 exchange their children: each node has as many as before.
  auto other_parents = parents;
  other_parents[3] = other_parents[4] = 62;
  other_parents[125] = other_parents[126] = 1;
  all.push_back({"rooted_tree", list(late_array(other_parents, parents)),
                 list(result<std::int32_t>(n)),
                 [](const family_call& c, const environment& env) {
                   rooted_tree(tree_shape::of_parents(c.inputs[0].as<const std::int32_t>()),
                               {.levels = c.results[0].as<std::int32_t>()}, env);
                 },
                 expects(words_of(heap_levels())),
                 [](const family_call& c, const environment& env) {
                   return any_run_of(rooted_tree_async(
                       tree_shape::of_parents(c.inputs[0].as<const std::int32_t>()),
                       {.levels = c.results[0].as<std::int32_t>()}, env));
                 }});
  std::vector<std::int64_t> sizes(n, 1);
  for (unsigned v = n - 1; v > 0; --v) sizes[(v - 1) / 2] += sizes[v];
  all.push_back({"leaffix",
                 list(late_array(std::vector<std::int64_t>(n, 5), std::vector<std::int64_t>(n, 1)),
                      late_array(parents, parents)),
                 list(result<std::int64_t>(n)),
                 [](const family_call& c, const environment& env) {
                   leaffix(tree_shape::of_parents(c.inputs[1].as<const std::int32_t>()),
                           c.inputs[0].as<const std::int64_t>(), c.results[0].as<std::int64_t>(),
                           tree_operator::sum, env);
                 },
                 expects(words_of(sizes)),
                 [](const family_call& c, const environment& env) {
                   return any_run_of(
                       leaffix_async(tree_shape::of_parents(c.inputs[1].as<const std::int32_t>()),
                                     c.inputs[0].as<const std::int64_t>(),
                                     c.results[0].as<std::int64_t>(), tree_operator::sum, env));
                 }});
  // Values increase along each path, so the maximum on the path to a node is its own value.
  std::vector<double> depths(n);
  for (unsigned v = 0; v < n; ++v) depths[v] = heap_levels()[v];
  all.push_back(
      {"rootfix",
       list(late_array(std::vector<double>(n, 100), depths), late_array(parents, parents)),
       list(result<double>(n)),
       [](const family_call& c, const environment& env) {
         rootfix(tree_shape::of_parents(c.inputs[1].as<const std::int32_t>()),
                 c.inputs[0].as<const double>(), c.results[0].as<double>(), tree_operator::maximum,
                 env);
       },
       expects(words_of(depths)),
       [](const family_call& c, const environment& env) {
         return any_run_of(
             rootfix_async(tree_shape::of_parents(c.inputs[1].as<const std::int32_t>()),
                           c.inputs[0].as<const double>(), c.results[0].as<double>(),
                           tree_operator::maximum, env));
       }});
}

/// The heap as a directed graph with n - 1 edges. Before the slow kernel all edges end at vertex 0.
struct heap_graph {
  heap_graph() : offsets(n + 1), targets(n - 1) {
    for (std::size_t v = 0; v <= n; ++v) offsets[v] = std::int64_t(std::min(2 * v, targets.size()));
    std::iota(targets.begin(), targets.end(), 1);
  }
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> targets;
};

graph_view graph_in(const family_call& c) {
  return graph_view::directed(c.inputs[0].as<const std::int64_t>(),
                              c.inputs[1].as<const std::int32_t>());
}

/// The vertices of a ring have the same rank. Before the slow kernel all edges end at vertex 0.
void add_ring(std::vector<family_call>& all) {
  std::vector<std::int64_t> offsets(n + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  std::vector<std::int32_t> targets(n);
  for (unsigned v = 0; v < n; ++v) targets[v] = std::int32_t((v + 1) % n);
  all.push_back(
      {"pagerank",
       list(late_array(offsets, offsets), late_array(std::vector<std::int32_t>(n, 0), targets)),
       list(result<double>(n)),
       [](const family_call& c, const environment& env) {
         pagerank(graph_in(c), c.results[0].as<double>(), env);
       },
       [](const auto& seen) {
         return std::ranges::all_of(numbers_of<double>(seen[0]),
                                    [](double rank) { return std::fabs(rank * n - 1) < 1e-5; });
       },
       [](const family_call& c, const environment& env) {
         return any_run_of(pagerank_async(graph_in(c), c.results[0].as<double>(), env));
       }});
}

void add_graphs(std::vector<family_call>& all) {
  const heap_graph heap;
  all.push_back({"breadth_first_search",
                 list(late_array(heap.offsets, heap.offsets),
                      late_array(std::vector<std::int32_t>(n - 1, 0), heap.targets)),
                 list(result<std::int32_t>(n)),
                 [](const family_call& c, const environment& env) {
                   breadth_first_search(graph_in(c), 0, {.levels = c.results[0].as<std::int32_t>()},
                                        env);
                 },
                 expects(words_of(heap_levels())),
                 [](const family_call& c, const environment& env) {
                   return any_run_of(breadth_first_search_async(
                       graph_in(c), 0, {.levels = c.results[0].as<std::int32_t>()}, env));
                 }});
  std::vector<float> distances;
  for (const std::int32_t level : heap_levels()) distances.push_back(2.0f * float(level));
  all.push_back(
      {"shortest_paths",
       list(late_array(heap.offsets, heap.offsets), late_array(heap.targets, heap.targets),
            late_array(std::vector<float>(n - 1, 1.0f), std::vector<float>(n - 1, 2.0f))),
       list(result<float>(n)),
       [](const family_call& c, const environment& env) {
         shortest_paths(graph_in(c), c.inputs[2].as<const float>(), 0,
                        {.distances = c.results[0].as<float>()}, env);
       },
       expects(words_of(distances)),
       [](const family_call& c, const environment& env) {
         return any_run_of(shortest_paths_async(graph_in(c), c.inputs[2].as<const float>(), 0,
                                                {.distances = c.results[0].as<float>()}, env));
       }});
  // Before the slow kernel each vertex has edges to itself only.
  std::vector<std::int32_t> loops(n - 1);
  for (unsigned e = 0; e < n - 1; ++e) loops[e] = std::int32_t(e / 2);
  all.push_back({"connected_components",
                 list(late_array(heap.offsets, heap.offsets), late_array(loops, heap.targets)),
                 list(result<std::int32_t>(n)),
                 [](const family_call& c, const environment& env) {
                   connected_components(graph_in(c), c.results[0].as<std::int32_t>(), env);
                 },
                 expects(std::vector<word>(n, 0)),
                 [](const family_call& c, const environment& env) {
                   return any_run_of(connected_components_async(
                       graph_in(c), c.results[0].as<std::int32_t>(), env));
                 }});
  add_ring(all);
}

using place = std::array<float, 3>;

/// Returns points on a line, at the squares. The nearest neighbor of point i > 0 is point i - 1.
std::vector<place> squares(bool reversed) {
  std::vector<place> places(n);
  for (unsigned i = 0; i < n; ++i) {
    const auto x = float(reversed ? n - 1 - i : i);
    places[i] = {x * x, 0, 0};
  }
  return places;
}

void add_points(std::vector<family_call>& all) {
  std::vector<word> neighbors = numbers_from(word(-1));
  neighbors[0] = 1;
  all.push_back({"spatial_index", list(late_array(squares(true), squares(false))),
                 list(result<word>(n), result<float>(n)),
                 [](const family_call& c, const environment& env) {
                   const spatial_index<float, 3> index(c.inputs[0].as<const place>(), env);
                   environment flat = env;
                   flat.route = route::flat;  // queries have no other route
                   index.all_nearest_neighbors(1, true, c.results[0].as<word>(),
                                               c.results[1].as<float>(), flat);
                 },
                 expects(neighbors)});
}

/// Returns the accelerations on bodies of mass 1 at the squares, by direct sums.
std::vector<double> direct_sums() {
  std::vector<double> sums(n);
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      const double distance = double(j) * j - double(i) * i;
      if (i != j) sums[i] += std::copysign(1 / (distance * distance), distance);
    }
  }
  return sums;
}

void add_bodies(std::vector<family_call>& all) {
  all.push_back({"gravity",
                 list(late_array(squares(false), squares(false)),
                      late_array(std::vector<float>(n, 3.0f), std::vector<float>(n, 1.0f))),
                 list(result<place>(n)),
                 [](const family_call& c, const environment& env) {
                   gravity<float>(c.inputs[0].as<const place>(), c.inputs[1].as<const float>(),
                                  c.results[0].as<place>(), {}, env);
                 },
                 [](const auto& seen) {
                   const auto forces = numbers_of<place>(seen[0]);
                   const auto expected = direct_sums();
                   // The multipole expansions have an error.
                   const auto is_near = [](double a, double b) { return std::fabs(a - b) < 0.01; };
                   return is_near(forces[0][0], expected[0]) && is_near(forces[1][0], expected[1]);
                 },
                 [](const family_call& c, const environment& env) {
                   return any_run_of(gravity_async<float>(c.inputs[0].as<const place>(),
                                                          c.inputs[1].as<const float>(),
                                                          c.results[0].as<place>(), {}, env));
                 }});
}

void add_images(std::vector<family_call>& all) {
  const mandelbrot_view view{.width = 48, .height = 40};
  all.push_back({"mandelbrot",
                 {},
                 list(result<word>(view.pixels())),
                 [view](const family_call& c, const environment& env) {
                   mandelbrot(view, c.results[0].as<word>(), env);
                 },
                 [](const auto& seen) {
                   const auto& dwells = seen[0];
                   const auto inside = std::ranges::count(dwells, word{1'000});
                   return dwells[0] < 3 && std::ranges::max(dwells) == 1'000 && inside > 200;
                 },
                 [view](const family_call& c, const environment& env) {
                   return any_run_of(mandelbrot_async(view, c.results[0].as<word>(), env));
                 }});
}

}  // namespace

std::vector<family_call> calls_with_device_memory() {
  std::vector<family_call> all;
  add_sorts(all);
  add_trees(all);
  add_graphs(all);
  add_points(all);
  add_bodies(all);
  add_images(all);
  return all;
}

}  // namespace stream_order
