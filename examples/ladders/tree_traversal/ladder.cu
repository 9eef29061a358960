// SPDX-License-Identifier: BSD-3-Clause
// Counts the nodes of an unbalanced tree in nine ways, from a grid for each node to the library's traversal.
// Checks each against a plain loop, then times it.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <ramify/runtime/limits.cuh>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "1_grid_a_node.cuh"
#include "2_grid_for_children.cuh"
#include "3_threshold.cuh"
#include "4_grid_for_a_block.cuh"
#include "5_grid_for_a_level.cuh"
#include "6_flat.cuh"
#include "7_persistent_blocks.cuh"
#include "8_rounds.cuh"
#include "9_library.cuh"

namespace {

using namespace ladder;

struct rung {
  const char* name;
  const char* changed;
  std::uint64_t (*count_nodes)(const node&, ladder_run&);
  bool is_naive = false;  ///< it would take too long, or too many grids, on a large tree
};

const rung rungs[] = {
    {"a grid for each node", "a launch for each call of the recursion", rung_1::count_nodes, true},
    {"a grid for a node's children", "siblings share a grid; leaves need none", rung_2::count_nodes,
     true},
    {"threshold", "small subtrees are finished in place by a thread", rung_3::count_nodes, true},
    {"a grid for a block", "what the threads of a block find becomes one grid",
     rung_4::count_nodes},
    {"a grid for a level", "what the blocks of a grid find becomes one grid", rung_5::count_nodes},
    {"flat", "the host launches the levels", rung_6::count_nodes},
    {"blocks that stay", "no levels: depth first in shared memory, a queue for the rest",
     rung_7::count_nodes},
    {"rounds", "no queue: when many are idle, work is shared out anew by the next grid",
     rung_8::count_nodes},
    {"ramify::traverse()", "walkers are warps; memory for stacks and not for the tree",
     rung_9::count_nodes},
};
constexpr std::size_t rung_count = std::size(rungs);

struct options {
  std::size_t rung = 0;  ///< 0: all
  std::size_t nodes = RAMIFY_ON_CUDA ? 1 << 20 : 1 << 16;
  std::size_t large = RAMIFY_ON_CUDA ? 1 << 26 : 1 << 20;  ///< of the table's second half
  std::size_t repeats = 5;
  std::size_t pending_launches = 16'384;
  std::string trace;
  bool table = false;
};

constexpr const char* usage = R"(Counts the nodes of an unbalanced tree in nine ways.

  --rung N              only rung N, 1 to 9
  --n N                 a tree of about N nodes: of a power of two, rounded down
  --large N             the same for the second half of the table
  --repeats N           times that each rung is timed; the median counts (5)
  --pending-launches N  room in the pending launch pool, half of which is used (16384)
  --trace FILE          all grids of that rung: .html, .json (Perfetto), .dot (Graphviz)
  --table               a Markdown table
)";

std::size_t parse_number(std::string_view name, std::string_view text, std::size_t least,
                         std::size_t most) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument(std::string(name) + " must be a number in [" +
                                std::to_string(least) + ", " + std::to_string(most) + "], not '" +
                                std::string(text) + "'");
  }
  return value;
}

options parse(const std::vector<std::string>& words) {
  options o;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& name = words[i];
    const auto value = [&]() -> const std::string& {
      if (++i == words.size()) throw std::invalid_argument(name + " needs a value");
      return words[i];
    };
    constexpr std::size_t most_nodes = std::size_t{1} << 28;
    if (name == "--rung") {
      o.rung = parse_number(name, value(), 1, rung_count);
    } else if (name == "--n") {
      o.nodes = parse_number(name, value(), 1, most_nodes);
    } else if (name == "--large") {
      o.large = parse_number(name, value(), 1, most_nodes);
    } else if (name == "--repeats") {
      o.repeats = parse_number(name, value(), 1, 1000);
    } else if (name == "--pending-launches") {
      o.pending_launches = parse_number(name, value(), 1, 500'000);
    } else if (name == "--trace") {
      o.trace = value();
      check_trace_file(o.trace);
    } else if (name == "--table") {
      o.table = true;
    } else {
      throw std::invalid_argument("there is no option '" + name + "'");
    }
  }
  if (!o.trace.empty() && o.rung == 0) throw std::invalid_argument("--trace needs --rung");
  if (!o.trace.empty() && o.rung == rung_count) {
    throw std::invalid_argument("--trace: the library's traversal does not record its launches");
  }
  return o;
}

/// What there is to tell of a rung on a tree.
struct outcome {
  std::uint64_t nodes;
  run_report report;
  double milliseconds;
};

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

struct tree_and_count {
  node root;
  std::uint64_t nodes;
  double milliseconds;  ///< of the plain loop
};

tree_and_count make_tree(std::size_t about) {
  tree_and_count tree{root_of(about), 0, 0};
  const auto begin = std::chrono::steady_clock::now();
  tree.nodes = count_on_host(tree.root);
  tree.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return tree;
}

/// Runs a rung once to see whether it counts right, then as often as asked for its time.
/// \throws std::runtime_error if it does not
outcome measure(const rung& r, const tree_and_count& tree, const tree_memory& memory,
                std::size_t repeats, cudaStream_t stream) {
  outcome seen{};
  std::vector<double> times;
  host_event begin;
  host_event end;
  for (std::size_t i = 0; i <= repeats; ++i) {
    ladder_run run(memory, stream, nullptr);
    begin.record(stream);
    seen.nodes = r.count_nodes(tree.root, run);
    end.record(stream);
    if (i > 0) times.push_back(end.milliseconds_since(begin));
    seen.report = run.report();
    if (seen.nodes != tree.nodes) {
      throw std::runtime_error(std::string(r.name) + ": counted " + std::to_string(seen.nodes) +
                               " nodes of " + std::to_string(tree.nodes));
    }
  }
  seen.milliseconds = median(times);
  return seen;
}

std::string three_digits(double value) {
  std::ostringstream text;
  const int digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string machine() {
#if RAMIFY_ON_CUDA
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking what the device is");
  return properties.name;
#else
  return "CPU executor, " + std::to_string(std::thread::hardware_concurrency()) + " cores";
#endif
}

void print_rungs(const options& o, cudaStream_t stream) {
  const tree_and_count tree = make_tree(o.nodes);
  std::cout << machine() << "; " << tree.nodes
            << " nodes; a plain loop on one core of the host: " << three_digits(tree.milliseconds)
            << " ms\n";
  const tree_memory memory(tree.nodes, stream);
  double before = 0;
  for (std::size_t i = 0; i < rung_count; ++i) {
    if (o.rung != 0 && o.rung != i + 1) continue;
    const outcome seen = measure(rungs[i], tree, memory, o.repeats, stream);
    const run_report& r = seen.report;
    std::cout << "rung " << i + 1 << ", " << rungs[i].name << ": " << rungs[i].changed << "\n  "
              << seen.nodes << " nodes; grids: " << r.host_grids << " by the host, "
              << r.child_grids << " by kernels, deepest level " << r.deepest_level
              << "; tasks that waited: " << r.spilled_tasks << "\n  "
              << three_digits(seen.milliseconds) << " ms";
    if (before > 0)
      std::cout << ", rung before / this: " << three_digits(before / seen.milliseconds);
    std::cout << std::endl;
    before = seen.milliseconds;
  }
}

void print_table(const options& o, cudaStream_t stream) {
  const tree_and_count small = make_tree(o.nodes);
  const tree_and_count large = make_tree(o.large);
  const tree_memory memory(std::max(small.nodes, large.nodes), stream);
  std::cout << machine() << "; `ladder_tree_traversal --table`; medians of " << o.repeats
            << "; pending-launch limit " << o.pending_launches << "\n\n"
            << "| rung | changed | grids by the host | by kernels | deepest level | " << small.nodes
            << " nodes, ms | rung before / this | " << large.nodes
            << " nodes, ms | rung before / this | Mnodes/s |\n"
            << "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            << "| plain loop | one core of the host | | | | " << three_digits(small.milliseconds)
            << " | | " << three_digits(large.milliseconds) << " | | "
            << three_digits(large.nodes / large.milliseconds / 1e3) << " |\n";
  double small_before = 0;
  double large_before = 0;
  const auto ratio = [](double before, double now) {
    return before > 0 ? three_digits(before / now) : std::string();
  };
  for (std::size_t i = 0; i < rung_count; ++i) {
    const rung& r = rungs[i];
    const outcome seen = measure(r, small, memory, o.repeats, stream);
    std::cout << "| " << i + 1 << " " << r.name << " | " << r.changed << " | "
              << seen.report.host_grids << " | " << seen.report.child_grids << " | "
              << seen.report.deepest_level << " | " << three_digits(seen.milliseconds) << " | "
              << ratio(small_before, seen.milliseconds) << " | ";
    small_before = seen.milliseconds;
    if (r.is_naive) {
      std::cout << "| | |" << std::endl;
      continue;
    }
    const outcome more = measure(r, large, memory, o.repeats, stream);
    std::cout << three_digits(more.milliseconds) << " | " << ratio(large_before, more.milliseconds)
              << " | " << three_digits(more.nodes / more.milliseconds / 1e3) << " |" << std::endl;
    large_before = more.milliseconds;
  }
}

void write_trace(const options& o, cudaStream_t stream) {
  const tree_and_count tree = make_tree(o.nodes);
  const tree_memory memory(tree.nodes, stream);
  launch_trace trace;
  ladder_run run(memory, stream, &trace);
  const std::uint64_t nodes = rungs[o.rung - 1].count_nodes(tree.root, run);
  write_trace_file(o.trace, trace);
  std::cout << "rung " << o.rung << ", " << rungs[o.rung - 1].name << ": " << nodes << " nodes of "
            << tree.nodes << ", " << trace.count() << " grids in " << o.trace << '\n';
  if (nodes != tree.nodes) throw std::runtime_error("counted wrong");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end()) {
    std::cout << usage;
    return 0;
  }
  options o;
  try {
    o = parse(words);
  } catch (const std::invalid_argument& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 2;
  }
#if RAMIFY_ON_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cout << "skipped: there is no CUDA device\n";
    return 77;
  }
#endif
  try {
    const launch_limits limits({.pending_launches = o.pending_launches});
    const host_stream stream;
    if (!o.trace.empty()) {
      write_trace(o, stream.get());
    } else if (o.table) {
      print_table(o, stream.get());
    } else {
      print_rungs(o, stream.get());
    }
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
