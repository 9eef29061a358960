// SPDX-License-Identifier: BSD-3-Clause
// Searches an unbalanced tree that is generated while it is visited, and counts its nodes.
//
//   tree_search --tree T1 --verify
//   tree_search --type binomial --root-branches 2000 --branches 8 --probability 0.124 --report json
//
// Exit status: 0 success; 1 the search failed; 2 a bad option; 4 this machine or build cannot run
// the backend or the route; 5 the trace cannot be written.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <ramify/tree_search.hpp>
#include <string>

#include "common/cli.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"

namespace {

struct options {
  std::string name, trace, report = "text";
  ramify::uts_parameters tree;
  ramify::tree_search_options search;
  bool verify = false;
};

// Declares the options that decide how the work is distributed over grids.
void declare_strategy(CLI::App& app, ramify::tree_search_options& search) {
  using common::parsed_by;
  using common::whole_number;
  app.add_option("--strategy", parsed_by(ramify::parse_traverse_strategy, search.strategy),
                 "work_sharing (the default) or task_per_node");
  app.add_option("--capacity", search.capacity,
                 "Maximum number of frontier nodes; 0 selects a default")
      ->check(whole_number<0>)
      ->capture_default_str();
  app.add_option(
      "--flat-loop", parsed_by(ramify::parse_flat_loop, search.flat_loop),
      "What begins the rounds of work_sharing on the flat route: automatic, graph, host");
  app.add_option("--granularity", parsed_by(ramify::parse_granularity, search.launches.grain),
                 "Tasks of task_per_node that share a grid: per_task, per_block, per_grid");
  app.add_option("--threshold", search.launches.threshold,
                 "Least number of children of a task of task_per_node")
      ->check(whole_number<0>)
      ->capture_default_str();
  app.add_option("--coarsening", search.launches.coarsening,
                 "Tasks of task_per_node that one block runs")
      ->check(whole_number<1>)
      ->capture_default_str();
}

void declare(CLI::App& app, options& o) {
  using common::parsed_by;
  using common::whole_number;
  std::string names;
  for (const auto& tree : ramify::uts_trees()) {
    names += (names.empty() ? "" : ", ") + std::string(tree.name);
  }
  auto* named = app.add_option("--tree", o.name, "A published tree: " + names);
  const auto parameter = [&](CLI::Option* option) {
    option->excludes(named);
    return option;
  };
  parameter(app.add_option("--type", parsed_by(ramify::parse_uts_type, o.tree.type),
                           "binomial, geometric (the default) or hybrid"));
  parameter(
      app.add_option("--shape", parsed_by(ramify::parse_uts_shape, o.tree.shape),
                     "Of a geometric tree: linear (the default), exponential, cyclic, fixed"));
  parameter(
      app.add_option("--depth", o.tree.depth, "Depth of a geometric tree (parameter of its shape)"))
      ->check(whole_number<1>)
      ->capture_default_str();
  parameter(app.add_option("--root-branches", o.tree.root_branches,
                           "Children of a binomial root, or average of a geometric root"))
      ->capture_default_str();
  parameter(app.add_option("--probability", o.tree.probability,
                           "Probability that a binomial node has children"))
      ->capture_default_str();
  parameter(app.add_option("--branches", o.tree.branches, "Children of a binomial node"))
      ->check(whole_number<0>)
      ->capture_default_str();
  parameter(app.add_option("--shift", o.tree.shift,
                           "Share of the depth at which a hybrid tree becomes binomial"))
      ->capture_default_str();
  parameter(app.add_option("--seed", o.tree.seed, "Seed of the root"))
      ->check(whole_number<0>)
      ->capture_default_str();
  common::add_launch_options(app, o.search);
  declare_strategy(app, o.search);
  common::add_trace_option(app, o.trace);
  app.add_flag("--verify", o.verify, "Compare with the published counts")->needs(named);
  app.add_option("--report", o.report, "text or json")->check(CLI::IsMember({"text", "json"}));
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

void print(const ramify::tree_search_result& found, const options& o, double seconds,
           const ramify::launch_trace& trace) {
  const auto& [nodes, leaves, depth] = found.counts;
  const double rate = static_cast<double>(nodes) / seconds;
  if (o.report == "json") {
    nlohmann::ordered_json json{{"nodes", nodes}, {"leaves", leaves}, {"depth", depth}};
    json.update(common::to_json(found.report));
    json["rounds"] = found.report.rounds;
    json["peak_frontier_nodes"] = found.report.peak_frontier_nodes;
    json["seconds"] = seconds;
    json["nodes_per_second"] = rate;
    if (o.verify) json["verified"] = true;
    std::cout << json.dump(2) << '\n';
    return;
  }
  std::cout << "nodes: " << nodes << "\nleaves: " << leaves << "\ndepth: " << depth << '\n'
            << found.report << "seconds: " << seconds << "\nnodes per second: " << rate << '\n';
  common::print_launch_costs(std::cout, found.report);
  common::print_trace(std::cout, o.trace, trace);
  if (o.verify) std::cout << "verified: as published\n";
}

void run(options o) {
  if (!o.name.empty()) o.tree = ramify::parse_uts_tree(o.name);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.search.trace = &trace;
  const auto begin = std::chrono::steady_clock::now();
  const ramify::tree_search_result found = ramify::tree_search(o.tree, o.search);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (o.verify) compare_with_published(o.name, found.counts);
  common::write_trace(o.trace, trace);
  print(found, o, taken.count(), trace);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "tree_search", "Counts the nodes of an unbalanced tree with grids that launch grids.", argc,
      argv, [&](CLI::App& app) { declare(app, o); }, [&] { run(o); });
}
