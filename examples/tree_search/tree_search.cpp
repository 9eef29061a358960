// SPDX-License-Identifier: BSD-3-Clause
// Searches an unbalanced tree that is generated while it is visited, and counts its nodes.
//
//   tree_search --tree T1 --verify
//   tree_search --type binomial --root-branches 2000 --branches 8 --probability 0.124 --report json
//   mpirun -n 4 tree_search --tree T1L --verify
//
// Option --help prints the exit statuses.
#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <ramify/tree_search.hpp>
#include <string>

#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>
#include <ramify/distributed_traverse.hpp>

#include "common/cluster_program.hpp"
#endif

namespace {

struct options {
  std::string name, trace, report = "text";
  ramify::uts_parameters tree;
  ramify::traverse_options search;
  ramify::environment env;
  bool verify = false;
  bool quiet = false;
  common::file_options files;
};

// Declares the options that decide how the work is distributed over grids.
void declare_strategy(CLI::App& app, options& o) {
  using common::add_choice;
  using common::add_whole_number;
  ramify::traverse_options& search = o.search;
  add_choice(app, "--strategy", ramify::parse_traverse_strategy, search.strategy,
             "work_sharing or task_per_node");
  add_whole_number(app, "--capacity", search.capacity,
                   "Maximum number of frontier nodes; 0 selects a default");
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
             "What begins the rounds of work_sharing on the flat route: automatic, graph, host");
  add_choice(app, "--granularity", ramify::parse_granularity, search.launches.grain,
             "Tasks of task_per_node that share a grid: per_task, per_block, per_grid");
  add_whole_number(app, "--threshold", search.launches.threshold,
                   "Least number of children of a task of task_per_node");
  add_whole_number(app, "--coarsening", search.launches.coarsening,
                   "Tasks of task_per_node that one block runs", 1);
}

// Declares the tree: its name, or its parameters.
void declare_tree(CLI::App& app, options& o) {
  using common::add_choice;
  using common::add_number;
  using common::add_whole_number;
  std::string names;
  for (const auto& tree : ramify::uts_trees()) {
    names += (names.empty() ? "" : ", ") + std::string(tree.name);
  }
  auto* named = app.add_option("--tree", o.name, "A published tree: " + names)->type_name("NAME");
  const auto parameter = [&](CLI::Option* option) { option->excludes(named); };
  parameter(add_choice(app, "--type", ramify::parse_uts_type, o.tree.type,
                       "binomial, geometric or hybrid"));
  parameter(add_choice(app, "--shape", ramify::parse_uts_shape, o.tree.shape,
                       "Of a geometric tree: linear, exponential, cyclic, fixed"));
  parameter(add_whole_number(app, "--depth", o.tree.depth,
                             "Depth of a geometric tree (parameter of its shape)", 1));
  parameter(add_number(app, "--root-branches", o.tree.root_branches, {0, 1e30},
                       "Children of a binomial root, or average of a geometric root"));
  parameter(add_number(app, "--probability", o.tree.probability, {0, 1},
                       "Probability that a binomial node has children"));
  parameter(add_whole_number(app, "--branches", o.tree.branches, "Children of a binomial node"));
  parameter(add_number(app, "--shift", o.tree.shift, {0, 1},
                       "Share of the depth at which a hybrid tree becomes binomial"));
  parameter(add_whole_number(app, "--seed", o.tree.seed, "Seed of the root"));
}

void declare(CLI::App& app, options& o) {
  declare_tree(app, o);
  common::add_launch_options(app, o.env);
  declare_strategy(app, o);
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--verify", o.verify, "Compare with the published counts")
      ->needs(app.get_option("--tree"));
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

// Compares counts with those of the published tree. Throws std::runtime_error if they differ.
void compare_with_published(const std::string& name, const ramify::uts_counts& found) {
  for (const auto& tree : ramify::uts_trees()) {
    if (tree.name != name || tree.counts == found) continue;
    throw std::runtime_error(
        "verification failed: " + name + " has " + std::to_string(tree.counts.nodes) + " nodes, " +
        std::to_string(tree.counts.leaves) + " leaves and depth " +
        std::to_string(tree.counts.depth) + ", but " + std::to_string(found.nodes) + ", " +
        std::to_string(found.leaves) + " and " + std::to_string(found.depth) + " were found");
  }
}

// `found` is the result of one process, or of several.
template <class Result>
nlohmann::ordered_json to_json(const Result& found, const options& o, double seconds) {
  auto json = common::new_report("tree_search");
  json["nodes"] = found.counts.nodes;
  json["leaves"] = found.counts.leaves;
  json["depth"] = found.counts.depth;
  json.update(common::to_json(found.report));
  json["rounds"] = found.report.rounds;
  json["peak_frontier_nodes"] = found.report.peak_frontier_nodes;
  json["seconds"] = seconds;
  json["nodes_per_second"] = static_cast<double>(found.counts.nodes) / seconds;
  if (o.verify) json["verified"] = true;
  return json;
}

template <class Result>
void print(std::ostream& out, const Result& found, const options& o, double seconds) {
  const auto& [nodes, leaves, depth] = found.counts;
  out << "nodes: " << nodes << "\nleaves: " << leaves << "\ndepth: " << depth << '\n'
      << found.report << "seconds: " << seconds
      << "\nnodes per second: " << static_cast<double>(nodes) / seconds << '\n';
  common::print_launch_costs(out, found.report);
  if (o.verify) out << "verified: as published\n";
}

void run(options o) {
  o.files.check();
  common::progress_bar progress("searching", o.quiet);
  if (!o.name.empty()) o.tree = ramify::parse_uts_tree(o.name);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  const auto begin = std::chrono::steady_clock::now();
  const ramify::tree_search_result found = ramify::tree_search(o.tree, o.search, o.env);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (o.verify) compare_with_published(o.name, found.counts);
  progress.clear();
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, std::cout, [&] { return to_json(found, o, taken.count()); },
      [&](std::ostream& out) {
        print(out, found, o, taken.count());
        common::print_trace(out, o.trace, trace);
      });
}

int run_program(int argc, char** argv, options& o, const std::function<void()>& body,
                const common::rank_agreement& agree = {}) {
  return common::run_program(
      "tree_search", "Counts the nodes of an unbalanced tree with grids that launch grids.", argc,
      argv, [&](CLI::App& app) { declare(app, o); }, body, agree);
}

#if RAMIFY_HAS_MPI

// ---- under mpirun: the ranks share the nodes ----

nlohmann::ordered_json to_json(const ramify::distributed_tree_search_result& found,
                               const ramify::cluster_report& cluster, const options& o,
                               double seconds) {
  auto json = to_json(found, o, seconds);
  json["comparisons"] = found.report.comparisons;
  json["exchanges"] = found.report.exchanges;
  json["moved_nodes"] = found.report.moved_nodes;
  json.update(common::to_json(cluster));
  return json;
}

void run_on_ranks(ramify::communicator& comm, options o) {
  const bool is_first = comm.rank() == 0;
  if (is_first) o.files.check();
  common::progress_bar progress("searching", o.quiet || !is_first);
  if (!o.name.empty()) o.tree = ramify::parse_uts_tree(o.name);
  ramify::launch_trace trace;
  if (!o.trace.empty() && is_first) o.env.trace = &trace;

  const auto begin = std::chrono::steady_clock::now();
  const auto found = ramify::distributed_tree_search(comm, o.tree, o.search, {}, o.env);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const ramify::cluster_report cluster = comm.report();
  if (o.verify) compare_with_published(o.name, found.counts);
  progress.clear();
  if (!is_first) return;
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, std::cout, [&] { return to_json(found, cluster, o, taken.count()); },
      [&](std::ostream& out) {
        print(out, found, o, taken.count());
        out << cluster;
        common::print_trace(out, o.trace, trace, common::of_first_rank);
      });
}

int main_of_rank(int argc, char** argv) {
  options o;
  return common::main_of_rank(
      [&](const auto& body, const auto& agree) { return run_program(argc, argv, o, body, agree); },
      o.env.backend, [&](ramify::communicator& comm) { run_on_ranks(comm, o); });
}

#endif

}  // namespace

int main(int argc, char** argv) {
#if RAMIFY_HAS_MPI
  if (ramify::mpi_session::is_launched()) return main_of_rank(argc, argv);
#endif
  options o;
  return run_program(argc, argv, o, [&] { run(o); });
}
