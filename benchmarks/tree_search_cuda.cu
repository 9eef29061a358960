// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced Tree Search on a GPU: the published trees, by route. The counts are compared with the
// published ones before a time is reported.
#include <algorithm>
#include <chrono>
#include <ramify/runtime/stream.cuh>
#include <ramify/tree_search.cuh>
#include <string>

#include "measure_cuda.cuh"

using namespace ramify;

namespace {

// Measures whole calls by the host's clock, because rounds may wait for the host.
benchmark::timing measure(const uts_named_tree& tree, environment env, int repetitions,
                          traverse_report& report) {
  const host_stream stream;
  const device_buffer<std::byte> scratch(tree_search_scratch_bytes(), stream.get());
  env.stream = stream;
  env.memory = scratch;
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    stream.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    const auto found = tree_search_async(tree.parameters, env).get();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (!(found.value == tree.counts)) {
      throw std::runtime_error(std::string(tree.name) + ": counted " +
                               std::to_string(found.value.nodes) + " nodes");
    }
    times.push_back(taken.count());
    report = found.report;
  }
  return benchmark::summarize(times);
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  // The trees named on the command line, or all but the largest.
  const auto wanted = [&](const uts_named_tree& tree) {
    if (asked.words.empty()) return tree.name != "small" && tree.counts.nodes < 2'000'000'000;
    return std::ranges::count(asked.words, tree.name) > 0;
  };
  out.table("trees",
            {"tree", "nodes", "depth", "route", "rounds begun by", "took", "ms", "Mnodes/s",
             "host grids", "child grids", "graph's grids", "rounds", "frontier nodes"},
            "Medians of 11, of 3 for trees of more than 10^9 nodes (least–most)");
  const environment ways[] = {
      {.route = route::device},
      {.route = route::flat, .flat_loop = flat_loop::graph},
      {.route = route::flat, .flat_loop = flat_loop::host},
      {.route = route::flat},
      {},
  };
  for (const uts_named_tree& tree : uts_trees()) {
    if (!wanted(tree)) continue;
    for (const environment& env : ways) {
      traverse_report report;
      const benchmark::timing time =
          measure(tree, env, tree.counts.nodes > 1'000'000'000 ? 3 : 11, report);
      const bool loops = env.route == route::flat;
      std::string took(to_string(report.taken));
      if (report.taken == route::flat) took += ", by " + std::string(to_string(report.looped_by));
      out.row({tree.name, tree.counts.nodes, tree.counts.depth, to_string(env.route),
               loops ? to_string(env.flat_loop) : "", took, time,
               static_cast<double>(tree.counts.nodes) / time.median_ms / 1e3, report.host_grids,
               report.child_grids, report.graph_grids, report.rounds, report.peak_frontier_nodes});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "tree_search_cuda",
                         .about = "Unbalanced Tree Search on a GPU.",
                         .machine = benchmark::this_gpu,
                         .words = "names of trees; by default all but the largest"},
                        argc, argv, measure_all);
}
