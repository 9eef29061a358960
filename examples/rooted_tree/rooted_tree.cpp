// SPDX-License-Identifier: BSD-3-Clause
// Prints statistics of a rooted tree or a forest that is read from a file or generated.
//
//   rooted_tree --input parents.txt --output nodes.csv
//   rooted_tree --input edges.txt --format edges --single-root
//   rooted_tree --generate random --n 1000000 --route device --report json
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <ramify/rooted_tree.hpp>
#include <string>
#include <vector>

#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"
#include "forest_file.hpp"
#include "forests.hpp"

namespace {

using node_numbers = std::vector<std::int32_t>;

struct options {
  std::string input, output, trace, report = "text";
  std::optional<common::forest_kind> kind;
  common::forest_notation notation;
  std::size_t n = 0;
  std::uint64_t seed = 1;
  bool shuffle = false;
  bool verify = false;
  bool quiet = false;
  common::file_options files;
  ramify::rooted_tree_options tree;
  ramify::environment env;
};

void declare(CLI::App& app, options& o) {
  auto* input =
      o.files.add_input(app, "--input", o.input, "File of a forest, one line per node or edge");
  auto* format =
      common::add_choice(app, "--format", common::parse_forest_format, o.notation.format,
                         "Format of the input: parents (the parent of each node, -1 for a root) "
                         "or edges (parent and child)");
  app.add_option("--nodes", o.notation.nodes,
                 "Number of nodes of a list of edges (default: the largest node and those below)")
      ->transform(common::whole_number(0))
      ->needs(format);
  auto* first = app.add_option("--first-node", o.notation.first_node,
                               "Number of the first node of the input: 0, or 1. With 1, the "
                               "parent of a root may also be 0")
                    ->transform(common::whole_number(0, 1))
                    ->capture_default_str();
  auto* own = app.add_flag("--own-parents", o.notation.own_parents,
                           "A root of the input may be its own parent");
  auto* generate = app.add_option(
      "--generate", common::parsed_by(common::parse_forest_kind, o.kind),
      "Kind of the generated forest: random, path, star, caterpillar, complete, forest");
  input->excludes(generate);
  for (auto* option : {format, first, own}) option->needs(input);
  generate->type_name("NAME");
  auto* n = common::add_whole_number(app, "--n", o.n, "Number of nodes to generate");
  n->default_str("");
  auto* seed = common::add_whole_number(app, "--seed", o.seed, "Seed of the generator");
  auto* shuffle =
      app.add_flag("--shuffle", o.shuffle, "Permute the numbers of the generated nodes at random");
  n->needs(generate);
  seed->needs(generate);
  shuffle->needs(generate);
  generate->needs(n);
  app.add_flag("--single-root", o.tree.single_root, "Reject a forest of several trees");
  o.files.add_output(app, "--output", o.output,
                     "File for a table: node,parent,level,size,preorder,postorder");
  common::add_launch_options(app, o.env);
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--verify", o.verify, "Compare with a serial traversal");
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

node_numbers read(const options& o) {
  if (!o.kind) return common::read_forest(o.input, o.notation);
  const node_numbers parents = common::make_parents(*o.kind, o.n, o.seed);
  return o.shuffle ? common::relabeled(parents, o.seed) : parents;
}

/// Computes levels and sizes; orders only if --verify or --output needs them.
ramify::rooted_tree_report number(const node_numbers& parents, common::forest_numbers& numbers,
                                  const options& o) {
  const std::size_t n = parents.size();
  numbers.levels.resize(n);
  numbers.subtree_sizes.resize(n);
  if (o.verify || !o.output.empty()) {
    numbers.preorder.resize(n);
    numbers.postorder.resize(n);
  }
  try {
    return ramify::rooted_tree(
        ramify::tree_shape::of_parents(parents),
        {numbers.levels, numbers.subtree_sizes, numbers.preorder, numbers.postorder}, o.tree,
        o.env);
  } catch (const std::invalid_argument& e) {
    if (o.input.empty()) throw;  // the options, not a file, are at fault
    throw common::bad_input(common::name_of_input(o.input) + ": " + e.what() +
                            (o.notation.first_node == 0 ? "" : ", with nodes numbered from 0"));
  }
}

struct statistics {
  std::size_t nodes = 0, roots = 0, leaves = 0;
  std::vector<std::size_t> width;  ///< number of nodes of each level
  double mean_level = 0;
  std::size_t widest_level = 0;
  std::size_t largest_degree = 0, most_children = 0;  ///< degree of node `most_children`
  std::size_t largest_proper = 0, heaviest = 0;       ///< subtree size of non-root `heaviest`

  [[nodiscard]] std::size_t height() const { return width.empty() ? 0 : width.size() - 1; }
};

statistics statistics_of(const node_numbers& parents, const common::forest_numbers& numbers) {
  statistics s;
  s.nodes = parents.size();
  std::vector<std::size_t> degree(parents.size());
  double sum = 0;
  for (std::size_t v = 0; v < parents.size(); ++v) {
    const auto level = static_cast<std::size_t>(numbers.levels[v]);
    const auto size = static_cast<std::size_t>(numbers.subtree_sizes[v]);
    if (s.width.size() <= level) s.width.resize(level + 1);
    ++s.width[level];
    sum += static_cast<double>(level);
    if (size == 1) ++s.leaves;
    if (parents[v] == -1) {
      ++s.roots;
      continue;
    }
    ++degree[static_cast<std::size_t>(parents[v])];
    if (size > s.largest_proper) {
      s.largest_proper = size;
      s.heaviest = v;
    }
  }
  if (s.nodes == 0) return s;
  s.mean_level = sum / static_cast<double>(s.nodes);
  s.widest_level = static_cast<std::size_t>(std::ranges::max_element(s.width) - s.width.begin());
  const auto most = std::ranges::max_element(degree);
  s.largest_degree = *most;
  s.most_children = static_cast<std::size_t>(most - degree.begin());
  return s;
}

void print_histogram(std::ostream& out, const statistics& s) {
  constexpr std::size_t lines = 10;
  constexpr std::size_t bar = 40;
  const std::size_t levels = s.width.size();
  const std::size_t each = std::max<std::size_t>(1, (levels + lines - 1) / lines);
  std::vector<std::size_t> nodes((levels + each - 1) / each);
  for (std::size_t level = 0; level < levels; ++level) nodes[level / each] += s.width[level];
  const std::size_t most = *std::ranges::max_element(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t last = std::min((i + 1) * each, levels) - 1;
    out << "  level " << i * each;
    if (last > i * each) out << " to " << last;
    const auto share = static_cast<double>(nodes[i]) / static_cast<double>(most);
    const auto length = static_cast<std::size_t>(share * static_cast<double>(bar) + 0.5);
    out << ": " << nodes[i] << ' ' << std::string(length, '#') << '\n';
  }
}

nlohmann::ordered_json to_json(const statistics& s, const ramify::rooted_tree_report& report,
                               const options& o, double seconds) {
  auto json = common::new_report("rooted_tree");
  json.update(common::to_json(report));
  json.update(nlohmann::ordered_json{
      {"roots", s.roots},
      {"leaves", s.leaves},
      {"height", s.height()},
      {"mean_level", s.mean_level},
      {"widest_level", s.widest_level},
      {"width", s.width.empty() ? 0 : s.width[s.widest_level]},
      {"largest_degree", s.largest_degree},
      {"largest_proper_subtree", s.largest_proper},
      {"seconds", seconds},
  });
  if (!o.input.empty()) json["first_node"] = o.notation.first_node;
  if (o.verify) json["verified"] = true;
  return json;
}

void print(std::ostream& out, const statistics& s, const ramify::rooted_tree_report& report,
           const options& o, double seconds) {
  const auto first = static_cast<std::size_t>(o.notation.first_node);
  if (!o.input.empty()) out << "first node: " << first << '\n';
  out << "roots: " << s.roots << "\nleaves: " << s.leaves << "\nheight: " << s.height()
      << "\nmean level: " << s.mean_level << '\n';
  if (s.nodes > 0) {
    out << "widest level: " << s.widest_level << " (" << s.width[s.widest_level]
        << " nodes)\nlargest degree: " << s.largest_degree << " (node " << s.most_children + first
        << ")\nlargest proper subtree: " << s.largest_proper;
    if (s.largest_proper > 0) out << " (node " << s.heaviest + first << ')';
    out << "\nnodes by level:\n";
    print_histogram(out, s);
  }
  out << report << "seconds: " << seconds << '\n';
  common::print_launch_costs(out, report);
  if (o.verify) out << "verified: equal to a serial traversal\n";
}

void check_count(const char* option, std::size_t count) {
  if (count <= ramify::max_tree_nodes) return;
  throw std::invalid_argument(std::string(option) + " is " + std::to_string(count) +
                              "; the maximum is " + std::to_string(ramify::max_tree_nodes));
}

void check(const options& o) {
  check_count("--n", o.n);
  check_count("--nodes", o.notation.nodes.value_or(0));
  if (o.notation.nodes && o.notation.format != common::forest_format::edges) {
    throw std::invalid_argument("--nodes is for --format edges");
  }
  o.files.check();
  if (o.input.empty() && !o.kind) throw std::invalid_argument("give --input or --generate");
}

void run(options o) {
  common::progress_bar progress("numbering the nodes", o.quiet);
  const node_numbers parents = read(o);
  common::forest_numbers numbers;
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  const auto begin = std::chrono::steady_clock::now();
  const ramify::rooted_tree_report report = number(parents, numbers, o);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;

  if (o.verify && numbers != common::serial_numbers(common::child_lists_of(parents), parents)) {
    throw std::runtime_error(
        "verification failed: a serial traversal numbers the nodes differently");
  }
  progress.clear();
  if (!o.output.empty()) {
    common::write_file(o.output, [&](std::ostream& out) {
      common::write_forest_table(out, parents, numbers, o.notation.first_node);
    });
  }
  common::write_trace(o.trace, trace);
  const statistics s = statistics_of(parents, numbers);
  common::write_report(
      o.report, common::report_stream(o.output),
      [&] { return to_json(s, report, o, taken.count()); },
      [&](std::ostream& out) {
        print(out, s, report, o, taken.count());
        common::print_trace(out, o.trace, trace);
      });
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "rooted_tree", "Prints statistics of a rooted tree of any shape and depth.", argc, argv,
      [&](CLI::App& app) { declare(app, o); },
      [&] {
        check(o);
        run(o);
      });
}
