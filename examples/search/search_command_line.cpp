// SPDX-License-Identifier: BSD-3-Clause
#include "search_command_line.hpp"

#include <stdexcept>

#include "common/cli.hpp"
#include "common/trace_option.hpp"

namespace common {
namespace {

[[nodiscard]] search_problem parse_search_problem(std::string_view text) {
  return ramify::parse_choice<search_problem>("problem", text);
}

[[nodiscard]] number_format parse_number_format(std::string_view text) {
  return ramify::parse_choice<number_format>("format", text);
}

/// Declares options that only one problem has.
class options_of_problem {
 public:
  options_of_problem(CLI::App& app, search_command_line& o, search_problem of)
      : app_(app), o_(o), of_(of) {}

  /// Adds an option for a whole number in `range`, the result of whole_number().
  CLI::Option* whole(const char* name, std::uint64_t& value, const CLI::Validator& range,
                     const char* about) const {
    auto* option = app_.add_option(name, value, about)->transform(range)->capture_default_str();
    o_.special.emplace(of_, option);
    return option;
  }

 private:
  CLI::App& app_;
  search_command_line& o_;
  search_problem of_;
};

void declare_knapsack(CLI::App& app, search_command_line& o, CLI::Option* input) {
  constexpr std::uint64_t billion = 1'000'000'000;
  const options_of_problem knapsack(app, o, search_problem::knapsack);
  knapsack
      .whole("--items", o.items, whole_number(0, ramify::max_knapsack_items),
             "knapsack: number of random items")
      ->excludes(input);
  knapsack
      .whole("--largest", o.largest, whole_number(1, billion), "knapsack: largest random weight")
      ->excludes(input);
  knapsack
      .whole("--correlation", o.correlation, whole_number(0, billion),
             "knapsack: largest difference of a random profit from the weight")
      ->excludes(input);
  knapsack
      .whole("--weight-limit", o.weight_limit, whole_number(0, std::uint64_t{1} << 62),
             "knapsack: maximum weight (default: half of the weight of all items)")
      ->default_str("");
}

/// Also declares --seed, which knapsack has, too.
void declare_flow_shop(CLI::App& app, search_command_line& o, CLI::Option* input) {
  const options_of_problem shop(app, o, search_problem::flow_shop);
  auto* taillard = shop.whole("--taillard", o.taillard, whole_number(1, ramify::taillard_instances),
                              "flow-shop: number of an instance of Taillard's benchmark")
                       ->excludes(input)
                       ->default_str("");
  shop.whole("--jobs", o.jobs, whole_number(0, ramify::max_flow_shop_jobs),
             "flow-shop: number of jobs")
      ->excludes(input)
      ->excludes(taillard);
  shop.whole("--machines", o.machines, whole_number(1, ramify::max_flow_shop_machines),
             "flow-shop: number of machines")
      ->excludes(input)
      ->excludes(taillard);
  shop.whole("--instance", o.instance, whole_number(1, 1'000'000),
             "flow-shop: number of an instance in a file of Taillard with several ones")
      ->needs(input)
      ->default_str("");
  auto* seed = add_whole_number(app, "--seed", o.seed,
                                "Seed of the generator, for flow-shop that of Taillard");
  seed->excludes(input)->excludes(taillard);
  o.special.emplace(search_problem::knapsack, seed);
  o.seed_option = seed;
}

void declare_queens(CLI::App& app, search_command_line& o) {
  options_of_problem(app, o, search_problem::queens)
      .whole("--n", o.n, whole_number(1, ramify::max_queens), "queens: number of queens");
  o.special.emplace(
      search_problem::queens,
      app.add_flag(
          "--symmetry", o.symmetry,
          "queens: use the symmetries of the board (default); --symmetry=off: visit all boards"));
}

}  // namespace

void declare(CLI::App& app, search_command_line& o) {
  add_choice(app, "problem", parse_search_problem, o.chosen, "knapsack, flow-shop or queens")
      ->required()
      ->default_str("");
  auto* input = o.files.add_input(app, "--input", o.input,
                                  "knapsack: one line per item, its weight and profit; flow-shop: "
                                  "one line per machine, the times of the jobs, or a file of "
                                  "Taillard; the first line may have the sizes");
  add_choice(app, "--format", parse_number_format, o.format,
             "How --input is read: automatic; plain: each line is an item or a machine; sizes: the "
             "first line has the number of items and the maximum weight, and the others the profit "
             "and the weight of an item; or it has the numbers of jobs and machines")
      ->needs(input);
  declare_knapsack(app, o, input);
  declare_flow_shop(app, o, input);
  declare_queens(app, o);
  add_launch_options(app, o.env);
  add_choice(app, "--strategy", ramify::parse_traverse_strategy, o.search.strategy,
             "work_sharing or task_per_node");
  add_whole_number(app, "--capacity", o.search.capacity,
                   "Maximum number of frontier nodes; 0 selects a default");
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
             "What begins the rounds of work_sharing on the flat route: automatic, graph, host");
  add_whole_number(app, "--max-nodes", o.search.limits.max_nodes,
                   "End after so many expanded nodes with the best solution so far and a bound; 0: "
                   "no limit");
  add_number(app, "--max-seconds", o.search.limits.max_seconds, {0, 1e9},
             "End after so many seconds with the best solution so far and a bound; 0: no limit");
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
  if (o.chosen == search_problem::queens && o.search.limits.max_nodes != 0) refuse("--max-nodes");
  if (o.chosen == search_problem::queens && o.search.limits.any()) refuse("--max-seconds");
  if (o.chosen == search_problem::flow_shop && o.verify &&
      (o.taillard == 0 || o.taillard > ramify::taillard_optima)) {
    throw std::invalid_argument("--verify of flow-shop needs --taillard of at most " +
                                std::to_string(ramify::taillard_optima));
  }
  const auto known = ramify::published_queens().size();
  if (o.chosen == search_problem::queens && o.verify && o.n >= known) {
    throw std::invalid_argument("--verify of queens needs --n of at most " +
                                std::to_string(known - 1));
  }
  o.files.check();
}

}  // namespace common
