// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced Tree Search on the CPU executor against a plain serial depth-first search of the same
// tree with the same functors. The counts are compared with the published ones before a time is
// reported.
#include <chrono>
#include <ramify/tree_search.cuh>
#include <string>
#include <vector>

#include "measure.hpp"

using namespace ramify;
using namespace ramify::detail::tree_search;

namespace {

constexpr int repeats = 5;

uts_counts serial_search(const uts_parameters& tree) {
  const uts_expand expand(tree);
  uts_counts counts{};
  std::vector<uts_node> stack{uts_root(tree)};
  while (!stack.empty()) {
    const uts_node node = stack.back();
    stack.pop_back();
    const unsigned degree = expand.degree(node);
    counts = uts_reduce{}(counts, uts_visit{}(node, degree));
    for (unsigned i = 0; i < degree; ++i) stack.push_back(expand.child(node, i));
  }
  return counts;
}

template <class Search>
benchmark::timing measure(const uts_named_tree& tree, Search search) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const uts_counts counts = search();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (!(counts == tree.counts)) throw std::runtime_error(std::string(tree.name) + " is wrong");
    times.push_back(taken.count());
  }
  return benchmark::summarize(times);
}

void measure_all(benchmark::recorder& out) {
  out.table("trees", {"tree", "search", "ms", "Mnodes/s", "of the serial time"},
            "Medians of " + std::to_string(repeats) + " (least–most)");
  for (const uts_named_tree& tree : uts_trees()) {
    if (tree.name != "T1" && tree.name != "T3") continue;
    const benchmark::timing serial = measure(tree, [&] { return serial_search(tree.parameters); });
    const auto row = [&](std::string_view search, const benchmark::timing& time) {
      out.row({tree.name, search, time, double(tree.counts.nodes) / time.median_ms / 1e3,
               time.median_ms / serial.median_ms});
    };
    row("serial, one core", serial);
    for (const route how : {route::device, route::flat}) {
      row(to_string(how), measure(tree, [&] {
            return tree_search_async(tree.parameters, {.route = how}).get().value;
          }));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "tree_search_cpu",
       .about = "Unbalanced Tree Search on the CPU executor against a serial search.",
       .machine = benchmark::this_cpu},
      argc, argv,
      [](benchmark::recorder& out, const benchmark::command_line&) { measure_all(out); });
}
