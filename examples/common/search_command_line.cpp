// SPDX-License-Identifier: BSD-3-Clause
#include "search_command_line.hpp"

#include <stdexcept>

#include "cli.hpp"
#include "trace_option.hpp"

namespace common {
namespace {

[[nodiscard]] search_problem parse_search_problem(std::string_view text) {
  return ramify::parse_choice<search_problem>("problem", text);
}

void declare_problems(CLI::App& app, search_command_line& o) {
  const auto whole = [&](search_problem of, const char* name, std::uint64_t& value,
                         const char* about, std::uint64_t least, std::uint64_t most) {
    auto* option = app.add_option(name, value, about)
                       ->transform(whole_number(least, most))
                       ->capture_default_str();
    o.special.emplace(of, option);
    return option;
  };
  constexpr std::uint64_t billion = 1'000'000'000;
  add_choice(app, "problem", parse_search_problem, o.chosen, "knapsack, flow-shop or queens")
      ->required()
      ->default_str("");
  auto* input = o.files.add_input(app, "--input", o.input,
                                  "knapsack: one line per item, its weight and profit; flow-shop: "
                                  "one line per machine, the times of the jobs");
  whole(search_problem::knapsack, "--items", o.items, "knapsack: number of random items", 0,
        ramify::max_knapsack_items)
      ->excludes(input);
  whole(search_problem::knapsack, "--largest", o.largest, "knapsack: largest random weight", 1,
        billion)
      ->excludes(input);
  whole(search_problem::knapsack, "--correlation", o.correlation,
        "knapsack: largest difference of a random profit from the weight", 0, billion)
      ->excludes(input);
  whole(search_problem::knapsack, "--weight-limit", o.weight_limit,
        "knapsack: maximum weight (default: half of the weight of all items)", 0,
        std::uint64_t{1} << 62)
      ->default_str("");
  auto* taillard = whole(search_problem::flow_shop, "--taillard", o.taillard,
                         "flow-shop: number of an instance of Taillard's benchmark", 1,
                         ramify::taillard_benchmarks().size())
                       ->excludes(input)
                       ->default_str("");
  for (CLI::Option* option :
       {whole(search_problem::flow_shop, "--jobs", o.jobs, "flow-shop: number of jobs", 0,
              ramify::max_flow_shop_jobs),
        whole(search_problem::flow_shop, "--machines", o.machines, "flow-shop: number of machines",
              1, ramify::max_flow_shop_machines)}) {
    option->excludes(input)->excludes(taillard);
  }
  auto* seed = add_whole_number(app, "--seed", o.seed,
                                "Seed of the generator, for flow-shop that of Taillard");
  seed->excludes(input)->excludes(taillard);
  o.special.emplace(search_problem::knapsack, seed);
  o.seed_option = seed;
  whole(search_problem::queens, "--n", o.n, "queens: number of queens", 1, ramify::max_queens);
  o.special.emplace(
      search_problem::queens,
      app.add_flag(
          "--symmetry", o.search.symmetry,
          "queens: use the symmetries of the board (default); --symmetry=off: visit all boards"));
}

}  // namespace

void declare(CLI::App& app, search_command_line& o) {
  declare_problems(app, o);
  add_launch_options(app, o.search);
  add_choice(app, "--strategy", ramify::parse_traverse_strategy, o.search.strategy,
             "work_sharing or task_per_node");
  add_whole_number(app, "--capacity", o.search.capacity,
                   "Maximum number of frontier nodes; 0 selects a default");
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.search.flat_loop,
             "What begins the rounds of work_sharing on the flat route: automatic, graph, host");
  o.files.add_output(app, "--output", o.output,
                     "File for the solution: the chosen items, or the order of the jobs, from 0 "
                     "on, one number per line");
  add_trace_option(app, o.files, o.trace);
  app.add_flag("--verify", o.verify,
               "Compare with dynamic programming (knapsack), or with the published result");
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

void check(const search_command_line& o) {
  const auto refuse = [&](const std::string& option) {
    throw std::invalid_argument(option + " is no option of " + std::string(to_string(o.chosen)));
  };
  for (const auto& [of, option] : o.special) {
    const bool belongs =
        of == o.chosen || (option == o.seed_option && o.chosen == search_problem::flow_shop);
    if (!belongs && option->count() > 0) refuse(option->get_name());
  }
  if (o.chosen == search_problem::queens && !o.input.empty()) refuse("--input");
  if (o.chosen == search_problem::queens && !o.output.empty()) refuse("--output");
  if (o.chosen == search_problem::flow_shop && o.verify && o.taillard == 0) {
    throw std::invalid_argument("--verify of flow-shop needs --taillard");
  }
  const auto known = ramify::published_queens().size();
  if (o.chosen == search_problem::queens && o.verify && o.n >= known) {
    throw std::invalid_argument("--verify of queens needs --n of at most " +
                                std::to_string(known - 1));
  }
  o.files.check();
}

}  // namespace common
