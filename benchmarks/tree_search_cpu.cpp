// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced Tree Search on the CPU executor against a plain serial depth-first walk of the same tree
// with the same functors. The counts are compared with the published ones before a time is reported.
#include <chrono>
#include <ramify/tree_search/uts.cuh>
#include <string>
#include <thread>
#include <vector>

#include "measure.hpp"

using namespace ramify;

namespace {

uts_counts serial_walk(const uts_parameters& tree) {
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
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const uts_counts counts = search();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (!(counts == tree.counts)) throw std::runtime_error(std::string(tree.name) + " is wrong");
    times.push_back(taken.count());
  }
  return benchmark::summarize(times);
}

void print(const uts_named_tree& tree, const std::string& search, const benchmark::timing& time,
           const benchmark::timing& serial) {
  benchmark::print_row({std::string(tree.name), search, benchmark::number(time.median_ms),
                        benchmark::spread(time),
                        benchmark::number(double(tree.counts.nodes) / time.median_ms / 1e3),
                        benchmark::number(time.median_ms / serial.median_ms)});
}

}  // namespace

int main() {
  try {
    std::cout << std::thread::hardware_concurrency() << " cores, medians of 5\n\n";
    benchmark::print_header(
        {"tree", "search", "ms", "least–most", "Mnodes/s", "of the serial walk's time"});
    for (const uts_named_tree& tree : uts_trees()) {
      if (tree.name != "T1" && tree.name != "T3") continue;
      const benchmark::timing serial = measure(tree, [&] { return serial_walk(tree.parameters); });
      print(tree, "serial, one core", serial, serial);
      for (const route how : {route::device, route::flat}) {
        const benchmark::timing time = measure(
            tree, [&] { return tree_search(tree.parameters, nullptr, {.route = how}).value; });
        print(tree, std::string(to_string(how)), time, serial);
      }
    }
  } catch (const std::exception& e) {
    std::cerr << "benchmark_tree_search_cpu: " << e.what() << '\n';
    return 1;
  }
}
