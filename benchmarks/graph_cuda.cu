// SPDX-License-Identifier: BSD-3-Clause
// Graph algorithms on a GPU: breadth-first search by direction, strategy for edges and route;
// searches from 64 sources at once; a search by operators; shortest paths, connected components and
// PageRank. The graphs are a Kronecker graph as in Graph
// 500, and a grid with holes. The first result for each graph and source is checked by a serial
// program, and all others are compared with it, before a time is reported.
//   benchmark_graph_cuda --scale 20 --part bfs
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/graph.cuh>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph_checks.hpp"
#include "graph/operators/breadth_first.cuh"
#include "measure_cuda.cuh"

namespace {

using namespace ramify;
using benchmark::download;
using benchmark::scratch_places;
using benchmark::upload;

constexpr edge_strategy strategies[] = {edge_strategy::thread,     edge_strategy::warp,
                                        edge_strategy::block,      edge_strategy::child_grid,
                                        edge_strategy::aggregated, edge_strategy::balanced};
constexpr route routes[] = {route::device, route::flat};

void require(bool valid, const std::string& what) {
  if (!valid) throw std::runtime_error(what);
}

/// Returns the time, in milliseconds, of a copy in device memory that reads and writes `bytes`
/// bytes together. It is the floor of an algorithm that moves as many bytes.
double copy_ms(std::size_t bytes) {
  const device_buffer<std::byte> memory(bytes, nullptr);
  const std::size_t half = bytes / 2;
  return benchmark::host_time_of(5,
                                 [&] {
                                   check(cudaMemcpyAsync(memory.data() + half, memory.data(), half,
                                                         cudaMemcpyDeviceToDevice),
                                         "copying");
                                 })
      .median_ms;
}

/// A graph in host and in device memory, and the sources of the searches.
struct test_graph {
  test_graph(std::string title, const common::edge_list& list, unsigned searches)
      : name(std::move(title)),
        host(list),
        offsets(upload(host.offsets)),
        targets(upload(host.targets)),
        lengths(upload(std::get<std::vector<float>>(host.lengths))),
        numbers(host.vertices(), nullptr),
        parents(host.vertices(), nullptr),
        distances(host.vertices(), nullptr),
        ranks(host.vertices(), nullptr) {
    for (const std::int64_t source : spread_sources(searches)) {
      sources.push_back(static_cast<std::int32_t>(source));
    }
  }

  /// Returns sources that are spread over the numbers of the vertices, and have edges.
  [[nodiscard]] std::vector<std::int64_t> spread_sources(unsigned count) const {
    std::vector<std::int64_t> all;
    for (unsigned i = 0; i < count; ++i) {
      std::size_t v = host.vertices() / count * i + host.vertices() / count / 2;
      while (host.degree(v) == 0) v = (v + 1) % host.vertices();
      all.push_back(static_cast<std::int64_t>(v));
    }
    return all;
  }

  [[nodiscard]] graph_view view() const {
    return graph_view::symmetric({offsets.data(), offsets.size()},
                                 {targets.data(), targets.size()});
  }
  [[nodiscard]] double undirected_edges() const {
    return static_cast<double>(host.targets.size() + host.loops) / 2;
  }

  std::string name;
  common::stored_graph host;
  std::vector<std::int32_t> sources{};
  device_buffer<std::int64_t> offsets;
  device_buffer<std::int32_t> targets;
  device_buffer<float> lengths;
  // Outputs.
  device_buffer<std::int32_t> numbers, parents;
  device_buffer<float> distances;
  device_buffer<double> ranks;
};

/// A source, and the checked result of the breadth-first search from it.
struct checked_search {
  std::int32_t source;
  std::vector<std::int32_t> levels;
  double edges;  ///< undirected edges of the reached part, as Graph 500 counts them
};

/// Searches from all sources. \throws std::runtime_error if a result is wrong
std::vector<checked_search> check_searches(const test_graph& graph) {
  std::vector<checked_search> all;
  for (const std::int32_t source : graph.sources) {
    breadth_first_search(graph.view(), source,
                         {.levels = graph.numbers.data(), .parents = graph.parents.data()});
    checked_search one{source, download(graph.numbers.data(), graph.numbers.size()), 0};
    const auto parents = download(graph.parents.data(), graph.parents.size());
    const std::string fault = common::search_fault(graph.host, source, one.levels, parents);
    require(fault.empty(), "breadth-first search of " + graph.name + ": " + fault);
    for (std::size_t v = 0; v < one.levels.size(); ++v) {
      if (one.levels[v] >= 0) one.edges += static_cast<double>(graph.host.degree(v)) / 2;
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Searches from all sources, each once after a search that is not counted, and writes a row.
/// Returns the median time. `plain_ms` is the time of the plain strategy, or 0, and `floor_ms` that
/// of a copy.
double search_row(benchmark::recorder& out, const test_graph& graph,
                  const std::vector<checked_search>& checked, const bfs_options& options,
                  route taken, double plain_ms, double floor_ms) {
  std::vector<double> times;
  double reciprocals = 0;
  bfs_report report;
  for (const checked_search& expected : checked) {
    const auto search = [&] {
      report =
          breadth_first_search(graph.view(), expected.source,
                               {.levels = graph.numbers.data(), .parents = graph.parents.data()},
                               options, {.route = taken});
    };
    const double ms = benchmark::host_time_of(1, search).median_ms;
    require(download(graph.numbers.data(), graph.numbers.size()) == expected.levels,
            "levels of " + graph.name + " differ");
    times.push_back(ms);
    reciprocals += ms / expected.edges;
  }
  const benchmark::timing time = benchmark::summarize(times);
  // Graph 500 reports the harmonic mean over the searches.
  const double gteps = static_cast<double>(checked.size()) / reciprocals / 1e6;
  out.row({graph.name, to_string(options.direction), to_string(options.strategy), to_string(taken),
           to_string(report.taken), time, gteps,
           plain_ms > 0 ? benchmark::cell(plain_ms / time.median_ms) : benchmark::cell(),
           time.median_ms / floor_ms, report.levels, report.bottom_up_levels, report.host_grids,
           report.child_grids, report.graph_grids});
  return time.median_ms;
}

void measure_bfs(benchmark::recorder& out, const test_graph& kronecker, const test_graph& grid) {
  out.table(
      "bfs",
      {"graph", "direction", "strategy", "route", "took", "ms", "GTEPS", "plain / this",
       "time / copy", "levels", "bottom-up levels", "host grids", "child grids", "graph's grids"},
      "Medians over the sources (least–most); GTEPS: 10^9 undirected edges of the reached part "
      "a second, harmonic mean. Plain: top-down, one thread for each vertex, flat. Copy: of as "
      "many bytes as all edges and 24 a vertex");
  for (const test_graph* graph : {&kronecker, &grid}) {
    const auto checked = check_searches(*graph);
    const double floor_ms =
        copy_ms(graph->targets.size() * sizeof(std::int32_t) + 24 * graph->host.vertices());
    const bfs_options plain{{.strategy = edge_strategy::thread, .check_graph = false},
                            bfs_direction::top_down};
    const double plain_ms = search_row(out, *graph, checked, plain, route::flat, 0, floor_ms);
    for (const bfs_direction direction :
         {bfs_direction::top_down, bfs_direction::bottom_up, bfs_direction::optimizing}) {
      // The grid has thousands of levels. Bottom-up, each reads all unreached vertices.
      if (graph == &grid && direction == bfs_direction::bottom_up) continue;
      for (const edge_strategy strategy : strategies) {
        const bool is_default = strategy == edge_strategy::balanced;
        if (graph == &grid && direction != bfs_direction::top_down && !is_default) continue;
        for (const route taken : routes) {
          if (direction == plain.direction && strategy == plain.strategy && taken == route::flat) {
            continue;  // measured already
          }
          const bfs_options options{{.strategy = strategy, .check_graph = false}, direction};
          search_row(out, *graph, checked, options, taken, plain_ms, floor_ms);
        }
      }
    }
  }
}

void measure_operators(benchmark::recorder& out, const test_graph& kronecker,
                       const test_graph& grid) {
  out.table("operators", {"graph", "route", "search, ms", "by operators, ms", "search / operators"},
            "Medians of 15 (least–most) of top-down searches that compute levels, each with its "
            "scratch memory at another place");
  for (const test_graph* graph : {&kronecker, &grid}) {
    const std::size_t n = graph->host.vertices();
    const bfs_options options{{.check_graph = false}, bfs_direction::top_down};
    const std::size_t bytes =
        std::max(bfs_scratch_bytes(graph->view(), options),
                 graph_rounds_scratch_bytes<examples::breadth_first>(graph->view(), options));
    scratch_places places(bytes + (n / 32 + 1) * sizeof(unsigned));  // and a bit for each vertex
    for (const route taken : routes) {
      const auto search = [&] {
        const environment env{.memory = {places.next(), bytes}, .route = taken};
        breadth_first_search(graph->view(), graph->sources[0], {.levels = graph->numbers.data()},
                             options, env);
      };
      const auto search_by_operators = [&] {
        std::byte* const place = places.next();
        const environment env{.memory = {place, bytes}, .route = taken};
        const examples::breadth_first algorithm{graph->sources[0], graph->numbers.data(),
                                                reinterpret_cast<unsigned*>(place + bytes)};
        graph_rounds(graph->view(), algorithm, options, env);
      };
      const benchmark::timing ours = benchmark::host_time_of(scratch_places::count, search);
      const auto expected = download(graph->numbers.data(), n);
      check(cudaMemset(graph->numbers.data(), 0, n * sizeof(std::int32_t)), "clearing the levels");
      const benchmark::timing by_operators =
          benchmark::host_time_of(scratch_places::count, search_by_operators);
      require(download(graph->numbers.data(), n) == expected, "levels by operators differ");
      out.row({graph->name, to_string(taken), ours, by_operators,
               ours.median_ms / by_operators.median_ms});
    }
  }
}

void measure_many_sources(benchmark::recorder& out, const test_graph& kronecker,
                          const test_graph& grid) {
  out.table("many sources",
            {"graph", "route", "64 at once, ms", "64 calls, ms", "64 calls top-down, ms",
             "64 calls / at once"},
            "Medians of 3 (least–most) of searches that compute levels; 64 calls: one after the "
            "other, in any direction");
  for (const test_graph* graph : {&kronecker, &grid}) {
    const std::size_t n = graph->host.vertices();
    const auto sources = graph->spread_sources(64);
    const device_buffer<std::int32_t> levels(64 * n, nullptr);
    for (const route taken : routes) {
      const environment env{.route = taken};
      const auto single = [&](std::int64_t source, bfs_direction direction) {
        breadth_first_search(graph->view(), source, {.levels = graph->numbers.data()},
                             {{.check_graph = false}, direction}, env);
      };
      const auto calls = [&](bfs_direction direction) {
        return benchmark::host_time_of(3, [&] {
          for (const std::int64_t source : sources) single(source, direction);
        });
      };
      const benchmark::timing at_once = benchmark::host_time_of(3, [&] {
        breadth_first_searches(graph->view(), sources, levels.data(), {.check_graph = false}, env);
      });
      for (std::size_t i = 0; i < sources.size(); ++i) {
        single(sources[i], bfs_direction::automatic);
        require(download(levels.data() + i * n, n) == download(graph->numbers.data(), n),
                "levels of many searches differ");
      }
      const benchmark::timing any = calls(bfs_direction::automatic);
      out.row({graph->name, to_string(taken), at_once, any, calls(bfs_direction::top_down),
               any.median_ms / at_once.median_ms});
    }
  }
}

/// Writes rows of an algorithm: the plain strategy and the default one, on each route. `call` runs
/// it with options on a route and returns the report; `verify` throws if the outputs are wrong. The
/// algorithm reads and writes at least `bytes`.
template <class Options, class Call, class Verify>
void rows_of(benchmark::recorder& out, const test_graph& graph, const char* algorithm,
             std::size_t bytes, Call call, Verify verify) {
  const double floor_ms = copy_ms(bytes);
  double plain_ms = 0;
  for (const edge_strategy strategy : {edge_strategy::thread, edge_strategy::balanced}) {
    for (const route taken : {route::flat, route::device}) {
      Options options{};
      options.strategy = strategy;
      options.check_graph = false;
      auto report = call(options, taken);
      verify(report);
      const benchmark::timing time =
          benchmark::host_time_of(3, [&] { report = call(options, taken); });
      if (plain_ms == 0) plain_ms = time.median_ms;
      out.row({graph.name, algorithm, to_string(strategy), to_string(taken),
               to_string(report.taken), time, graph.undirected_edges() / time.median_ms / 1e6,
               plain_ms / time.median_ms, time.median_ms / floor_ms, report.rounds,
               report.host_grids, report.child_grids, report.graph_grids});
    }
  }
}

void measure_paths(benchmark::recorder& out, const test_graph& graph) {
  const std::int32_t source = graph.sources[0];
  const auto call = [&](const sssp_options& options, route taken) {
    return shortest_paths(graph.view(), {graph.lengths.data(), graph.lengths.size()}, source,
                          {.distances = graph.distances.data(), .parents = graph.parents.data()},
                          options, {.route = taken});
  };
  std::vector<float> expected;
  const auto verify = [&](const sssp_report&) {
    const auto found = download(graph.distances.data(), graph.distances.size());
    if (expected.empty()) {
      const auto parents = download(graph.parents.data(), graph.parents.size());
      const std::string fault = common::paths_fault<float>(graph.host, source, found, parents);
      require(fault.empty(), "shortest paths of " + graph.name + ": " + fault);
      expected = found;
    }
    require(found == expected, "distances of " + graph.name + " differ");
  };
  const std::size_t n = graph.host.vertices();
  rows_of<sssp_options>(out, graph, "shortest paths", graph.targets.size() * 8 + n * 16, call,
                        verify);
}

void measure_components(benchmark::recorder& out, const test_graph& graph) {
  const auto call = [&](const graph_options& options, route taken) {
    return connected_components(graph.view(), graph.numbers.data(), options, {.route = taken});
  };
  std::vector<std::int32_t> expected;
  const auto verify = [&](const components_report&) {
    const auto found = download(graph.numbers.data(), graph.numbers.size());
    if (expected.empty()) {
      const std::string fault = common::components_fault(graph.host, found);
      require(fault.empty(), "components of " + graph.name + ": " + fault);
      expected = found;
    }
    require(found == expected, "components of " + graph.name + " differ");
  };
  const std::size_t n = graph.host.vertices();
  rows_of<graph_options>(out, graph, "components", graph.targets.size() * 4 + n * 12, call, verify);
}

void measure_pagerank(benchmark::recorder& out, const test_graph& graph) {
  const auto call = [&](pagerank_options options, route taken) {
    options.tolerance = 1e-4;  // the serial check repeats all iterations
    return pagerank(graph.view(), graph.ranks.data(), options, {.route = taken});
  };
  std::vector<double> expected;
  const auto verify = [&](const pagerank_report& report) {
    require(report.converged, "PageRank of " + graph.name + " has not converged");
    const auto found = download(graph.ranks.data(), graph.ranks.size());
    if (expected.empty()) {
      const std::string fault =
          common::ranks_fault(graph.host, pagerank_options{}.damping, report.iterations, found);
      require(fault.empty(), "PageRank of " + graph.name + ": " + fault);
      expected = found;
    }
    require(found == expected, "ranks of " + graph.name + " differ");
  };
  const std::uint64_t iterations = call({}, route::automatic).iterations;
  const std::size_t n = graph.host.vertices();
  rows_of<pagerank_options>(out, graph, "PageRank",
                            iterations * (graph.targets.size() * 4 + n * 24), call, verify);
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  const test_graph kronecker(
      "kronecker " + std::to_string(asked.scale),
      common::make_random_graph(common::graph_kind::kronecker, asked.scale, 16, 1), 4);
  const test_graph grid("grid 4096 x 4096", common::make_grid(4096, 20, 1), 1);
  if (asked.has_part("bfs")) measure_bfs(out, kronecker, grid);
  if (asked.has_part("operators")) {
    const test_graph smaller("grid 2048 x 2048", common::make_grid(2048, 20, 1), 1);
    measure_operators(out, kronecker, smaller);
  }
  if (asked.has_part("many_sources")) measure_many_sources(out, kronecker, grid);
  if (!asked.has_part("sssp") && !asked.has_part("components") && !asked.has_part("pagerank")) {
    return;
  }
  out.table("others",
            {"graph", "algorithm", "strategy", "route", "took", "ms", "10^9 edges/s",
             "plain / this", "time / copy", "rounds", "host grids", "child grids", "graph's grids"},
            "Medians of 3 (least–most); all undirected edges. Plain: one thread for each vertex, "
            "flat. Copy: of as many bytes as all edges and the outputs, in PageRank once for each "
            "iteration");
  for (const test_graph* graph : {&kronecker, &grid}) {
    if (asked.has_part("sssp")) measure_paths(out, *graph);
    if (asked.has_part("components")) measure_components(out, *graph);
    if (asked.has_part("pagerank")) measure_pagerank(out, *graph);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "graph_cuda",
       .about = "Graph algorithms on a GPU.",
       .machine = benchmark::this_gpu,
       .parts = {"bfs", "operators", "many_sources", "sssp", "components", "pagerank"},
       .scale = 21},
      argc, argv, measure_all);
}
