// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced Tree Search on a GPU: the published trees, by route. The counts are compared with the
// published ones before a time is reported.
#include <chrono>
#include <ramify/runtime/stream.cuh>
#include <ramify/tree_search/uts.cuh>
#include <string>

#include "measure.hpp"

using namespace ramify;

namespace {

// By the host's clock, around the whole call: rounds may wait for the host.
benchmark::timing measure(const uts_named_tree& tree, const traverse_config& config,
                          int repetitions, traverse_report& report) {
  const host_stream stream;
  const std::size_t bytes =
      traverse_scratch_bytes<uts_node, uts_expand, uts_visit, uts_reduce, uts_counts>(config);
  const device_buffer<std::byte> scratch(bytes, stream.get());
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    stream.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    const auto found =
        tree_search(tree.parameters, stream.get(), config, {scratch.data(), scratch.size()});
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

}  // namespace

int main(int argc, char** argv) {
  // A name, or several, instead of all but the largest trees.
  const auto wanted = [&](const uts_named_tree& tree) {
    if (argc == 1) return tree.name != "small" && tree.counts.nodes < 2'000'000'000;
    for (int i = 1; i < argc; ++i) {
      if (tree.name == argv[i]) return true;
    }
    return false;
  };
  try {
    benchmark::print_header({"tree", "nodes", "depth", "route", "rounds begun by", "ms",
                             "least–most", "Mnodes/s", "host grids", "child grids", "graph's grids",
                             "rounds", "open nodes"});
    constexpr traverse_config ways[] = {
        {.route = route::device},
        {.route = route::flat, .flat_loop = flat_loop::graph},
        {.route = route::flat, .flat_loop = flat_loop::host},
        {.route = route::flat},
        {},
    };
    for (const uts_named_tree& tree : uts_trees()) {
      if (!wanted(tree)) continue;
      for (const traverse_config& config : ways) {
        traverse_report report;
        const benchmark::timing time =
            measure(tree, config, tree.counts.nodes > 1'000'000'000 ? 3 : 11, report);
        std::string name(to_string(config.route));
        if (config.route == route::automatic) {
          name += " (" + std::string(to_string(report.taken)) + ")";
        }
        std::string loop;
        if (report.taken == route::flat) {
          loop = to_string(config.flat_loop);
          if (config.flat_loop == flat_loop::automatic) {
            loop += " (" + std::string(to_string(report.looped_by)) + ")";
          }
        }
        benchmark::print_row(
            {std::string(tree.name), std::to_string(tree.counts.nodes),
             std::to_string(tree.counts.depth), name, loop, benchmark::number(time.median_ms),
             benchmark::spread(time),
             benchmark::number(static_cast<double>(tree.counts.nodes) / time.median_ms / 1e3),
             std::to_string(report.host_grids), std::to_string(report.child_grids),
             std::to_string(report.graph_grids), std::to_string(report.rounds),
             std::to_string(report.peak_open_nodes)});
      }
    }
  } catch (const std::exception& e) {
    std::cerr << "benchmark_tree_search_cuda: " << e.what() << '\n';
    return 1;
  }
}
