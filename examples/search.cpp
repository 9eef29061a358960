// SPDX-License-Identifier: BSD-3-Clause
// Solves a knapsack or a flow shop by branch and bound, or counts the solutions of n queens.
//
//   search knapsack --items 50 --seed 3 --verify
//   search flow-shop --taillard 1 --verify
//   search queens --n 12 --verify
//   mpirun -n 4 search queens --n 16 --verify
//
// Option --help prints the exit statuses.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <ramify/branch_and_bound.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>
#include <ramify/distributed_branch_and_bound.hpp>

#include "common/cluster_program.hpp"
#endif

namespace {

enum class problem { knapsack, flow_shop, queens };

[[nodiscard]] std::string_view to_string(problem p) {
  return ramify::choice_name(p, {"knapsack", "flow-shop", "queens"});
}
[[nodiscard]] problem parse_problem(std::string_view text) {
  return ramify::parse_choice<problem>("problem", text);
}

constexpr std::uint64_t no_limit = std::uint64_t{1} << 63;  // --weight-limit is not given

struct options {
  problem chosen = problem::knapsack;
  std::string input, output, trace, report = "text";
  // The numbers have one type, so that CLI11 is compiled for one type of numbers only.
  std::uint64_t items = 40, largest = 1000, correlation = 100, weight_limit = no_limit;
  std::uint64_t taillard = 0, jobs = 10, machines = 5;
  std::uint64_t seed = 1;
  std::uint64_t n = 8;
  ramify::queens_options search;  ///< the other problems use the options that all share
  bool verify = false;
  bool quiet = false;
  common::file_options files;
  std::multimap<problem, const CLI::Option*> special;  ///< options that not all problems have
  const CLI::Option* seed_option = nullptr;
};

void declare_problems(CLI::App& app, options& o) {
  const auto whole = [&](problem of, const char* name, std::uint64_t& value, const char* about,
                         std::uint64_t least, std::uint64_t most) {
    auto* option = app.add_option(name, value, about)
                       ->transform(common::whole_number(least, most))
                       ->capture_default_str();
    o.special.emplace(of, option);
    return option;
  };
  constexpr std::uint64_t billion = 1'000'000'000;
  common::add_choice(app, "problem", parse_problem, o.chosen, "knapsack, flow-shop or queens")
      ->required()
      ->default_str("");
  auto* input = o.files.add_input(app, "--input", o.input,
                                  "knapsack: one line per item, its weight and profit; flow-shop: "
                                  "one line per machine, the times of the jobs");
  whole(problem::knapsack, "--items", o.items, "knapsack: number of random items", 0,
        ramify::max_knapsack_items)
      ->excludes(input);
  whole(problem::knapsack, "--largest", o.largest, "knapsack: largest random weight", 1, billion)
      ->excludes(input);
  whole(problem::knapsack, "--correlation", o.correlation,
        "knapsack: largest difference of a random profit from the weight", 0, billion)
      ->excludes(input);
  whole(problem::knapsack, "--weight-limit", o.weight_limit,
        "knapsack: maximum weight (default: half of the weight of all items)", 0,
        std::uint64_t{1} << 62)
      ->default_str("");
  auto* taillard = whole(problem::flow_shop, "--taillard", o.taillard,
                         "flow-shop: number of an instance of Taillard's benchmark", 1,
                         ramify::taillard_benchmarks().size())
                       ->excludes(input)
                       ->default_str("");
  for (CLI::Option* option :
       {whole(problem::flow_shop, "--jobs", o.jobs, "flow-shop: number of jobs", 0,
              ramify::max_flow_shop_jobs),
        whole(problem::flow_shop, "--machines", o.machines, "flow-shop: number of machines", 1,
              ramify::max_flow_shop_machines)}) {
    option->excludes(input)->excludes(taillard);
  }
  auto* seed = common::add_whole_number(app, "--seed", o.seed,
                                        "Seed of the generator, for flow-shop that of Taillard");
  seed->excludes(input)->excludes(taillard);
  o.special.emplace(problem::knapsack, seed);
  o.seed_option = seed;
  whole(problem::queens, "--n", o.n, "queens: number of queens", 1, ramify::max_queens);
  o.special.emplace(
      problem::queens,
      app.add_flag(
          "--symmetry", o.search.symmetry,
          "queens: use the symmetries of the board (default); --symmetry=off: visit all boards"));
}

void declare(CLI::App& app, options& o) {
  using common::add_choice;
  declare_problems(app, o);
  common::add_launch_options(app, o.search);
  add_choice(app, "--strategy", ramify::parse_traverse_strategy, o.search.strategy,
             "work_sharing or task_per_node");
  common::add_whole_number(app, "--capacity", o.search.capacity,
                           "Maximum number of frontier nodes; 0 selects a default");
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.search.flat_loop,
             "What begins the rounds of work_sharing on the flat route: automatic, graph, host");
  o.files.add_output(app, "--output", o.output,
                     "File for the solution: the chosen items, or the order of the jobs, from 0 "
                     "on, one number per line");
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--verify", o.verify,
               "Compare with dynamic programming (knapsack), or with the published result");
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

// Throws std::invalid_argument for an option that the problem does not have.
void check(const options& o) {
  const auto refuse = [&](const std::string& option) {
    throw std::invalid_argument(option + " is no option of " + std::string(to_string(o.chosen)));
  };
  for (const auto& [of, option] : o.special) {
    const bool belongs =
        of == o.chosen || (option == o.seed_option && o.chosen == problem::flow_shop);
    if (!belongs && option->count() > 0) refuse(option->get_name());
  }
  if (o.chosen == problem::queens && !o.input.empty()) refuse("--input");
  if (o.chosen == problem::queens && !o.output.empty()) refuse("--output");
  if (o.chosen == problem::flow_shop && o.verify && o.taillard == 0) {
    throw std::invalid_argument("--verify of flow-shop needs --taillard");
  }
  const auto known = ramify::published_queens().size();
  if (o.chosen == problem::queens && o.verify && o.n >= known) {
    throw std::invalid_argument("--verify of queens needs --n of at most " +
                                std::to_string(known - 1));
  }
  o.files.check();
}

// Reads the lines of a file as rows of whole numbers. Empty lines, and lines that begin with '#',
// are skipped.
std::vector<std::vector<std::int64_t>> read_rows(const std::string& file) {
  std::vector<std::vector<std::int64_t>> rows;
  common::for_each_line(file, [&](const common::text_line& line) {
    if (line.text.empty() || line.text.front() == '#') return;
    rows.emplace_back();
    constexpr std::string_view blank = " \t,";
    for (std::string_view rest = line.text;;) {
      rest.remove_prefix(std::min(rest.find_first_not_of(blank), rest.size()));
      if (rest.empty()) break;
      const std::string_view word = rest.substr(0, rest.find_first_of(blank));
      rest.remove_prefix(word.size());
      const auto number = common::parse<std::int64_t>(word);
      if (!number) line.reject("is not a list of whole numbers");
      rows.back().push_back(*number);
    }
    if (rows.back().size() != rows.front().size()) {
      line.reject("has " + std::to_string(rows.back().size()) + " numbers; the first line has " +
                  std::to_string(rows.front().size()));
    }
  });
  return rows;
}

// Checks an instance from a file. Throws common::bad_input.
template <class Instance>
Instance checked(const std::string& file, Instance instance) {
  try {
    validate(instance);
  } catch (const std::invalid_argument& e) {
    throw common::bad_input(common::name_of_input(file) + ": " + e.what());
  }
  return instance;
}

ramify::knapsack_instance knapsack_of(const options& o) {
  if (o.input.empty()) {
    auto instance =
        ramify::random_knapsack({.items = o.items,
                                 .largest = static_cast<std::int64_t>(o.largest),
                                 .correlation = static_cast<std::int64_t>(o.correlation),
                                 .seed = o.seed});
    if (o.weight_limit != no_limit) instance.capacity = static_cast<std::int64_t>(o.weight_limit);
    return instance;
  }
  ramify::knapsack_instance instance;
  for (const auto& row : read_rows(o.input)) {
    if (row.size() != 2) {
      throw common::bad_input(common::name_of_input(o.input) +
                              ": a line must have two numbers, the weight and the profit");
    }
    instance.items.push_back({row[0], row[1]});
  }
  instance = checked(o.input, std::move(instance));
  for (const auto& item : instance.items) instance.capacity += item.weight;
  instance.capacity = o.weight_limit == no_limit ? instance.capacity / 2
                                                 : static_cast<std::int64_t>(o.weight_limit);
  return instance;
}

ramify::flow_shop_instance flow_shop_of(const options& o) {
  if (o.input.empty()) {
    const auto& all = ramify::taillard_benchmarks();
    if (o.taillard > 0) {
      const auto& [machines, seed, optimum] = all[o.taillard - 1];
      return ramify::taillard_flow_shop(20, machines, seed);
    }
    if (o.seed < 1 || o.seed > 2'147'483'646) {
      throw std::invalid_argument("--seed is " + std::to_string(o.seed) +
                                  "; of flow-shop it must be in [1, 2147483646]");
    }
    return ramify::taillard_flow_shop(o.jobs, o.machines, static_cast<std::int64_t>(o.seed));
  }
  const auto rows = read_rows(o.input);
  ramify::flow_shop_instance shop{rows.empty() ? 0 : rows.front().size(), rows.size(), {}};
  for (const auto& row : rows) shop.times.insert(shop.times.end(), row.begin(), row.end());
  return checked(o.input, std::move(shop));
}

// Returns the largest profit, by dynamic programming over the weights.
std::int64_t profit_by_dynamic_programming(const ramify::knapsack_instance& instance) {
  constexpr std::int64_t most = 10'000'000;
  std::int64_t sum = 0;
  for (const auto& item : instance.items) sum += item.weight;
  const std::int64_t limit = std::min(instance.capacity, sum);
  if (limit > most) {
    throw std::invalid_argument("--verify of knapsack needs a maximum weight of at most 10^7");
  }
  std::vector<std::int64_t> best(static_cast<std::size_t>(limit) + 1, 0);
  for (const auto& [weight, profit] : instance.items) {
    for (auto c = limit; c >= weight; --c) {
      auto& here = best[static_cast<std::size_t>(c)];
      here = std::max(here, best[static_cast<std::size_t>(c - weight)] + profit);
    }
  }
  return best.back();
}

// What a search has found.
struct outcome {
  nlohmann::ordered_json numbers;     ///< of the problem and its solution
  std::vector<std::size_t> solution;  ///< the lines of --output
  ramify::traverse_report report;
  nlohmann::ordered_json shared;  ///< how ranks shared the nodes; null: one process
  std::optional<ramify::cluster_report> cluster;
  double seconds = 0;
  std::uint64_t nodes = 0;
};

// Throws std::runtime_error if a result differs from the expected one.
template <class Number>
void compare(const char* what, Number found, Number expected) {
  if (found == expected) return;
  throw std::runtime_error("verification failed: the " + std::string(what) + " is " +
                           std::to_string(found) + " instead of " + std::to_string(expected));
}

// Calls `search`, and returns the time and the report of its result.
template <class Search>
auto timed(outcome& all, Search search) {
  const auto begin = std::chrono::steady_clock::now();
  auto found = search();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  all.seconds = taken.count();
  all.report = found.report;
  if constexpr (requires { found.report.moved_nodes; }) {
    all.shared = {{"comparisons", found.report.comparisons},
                  {"exchanges", found.report.exchanges},
                  {"moved_nodes", found.report.moved_nodes}};
  }
  return found;
}

void add_counts(outcome& all, const ramify::branch_and_bound_report& r) {
  all.nodes = r.expanded + r.pruned + r.leaves;
  all.numbers["expanded"] = r.expanded;
  all.numbers["pruned"] = r.pruned;
  all.numbers["leaves"] = r.leaves;
  all.numbers["incumbent_updates"] = r.incumbent_updates;
}

// The searches of one process.
struct one_process {
  const options& o;

  // Returns read().
  template <class Read>
  auto instance(Read read) const {
    return read();
  }
  [[nodiscard]] auto knapsack(const ramify::knapsack_instance& instance) const {
    return ramify::knapsack(instance, o.search);
  }
  [[nodiscard]] auto flow_shop(const ramify::flow_shop_instance& shop) const {
    return ramify::flow_shop(shop, o.search);
  }
  [[nodiscard]] auto count_queens(unsigned n) const { return ramify::count_queens(n, o.search); }
};

template <class Searches>
outcome solve_knapsack(const options& o, const Searches& searches) {
  const auto instance = searches.instance([&] { return knapsack_of(o); });
  const std::int64_t expected = o.verify ? profit_by_dynamic_programming(instance) : 0;
  outcome all;
  const auto found = timed(all, [&] { return searches.knapsack(instance); });
  if (o.verify) compare("profit", found.profit, expected);
  all.numbers = {{"items", instance.items.size()},
                 {"weight_limit", instance.capacity},
                 {"profit", found.profit},
                 {"weight", found.weight},
                 {"chosen", found.chosen}};
  all.solution = found.chosen;
  add_counts(all, found.report);
  return all;
}

template <class Searches>
outcome solve_flow_shop(const options& o, const Searches& searches) {
  const auto shop = searches.instance([&] { return flow_shop_of(o); });
  outcome all;
  const auto found = timed(all, [&] { return searches.flow_shop(shop); });
  if (o.verify) {
    compare("makespan", found.makespan, ramify::taillard_benchmarks()[o.taillard - 1].optimum);
  }
  all.numbers = {{"jobs", shop.jobs},
                 {"machines", shop.machines},
                 {"makespan_of_heuristic", neh_order(shop).makespan},
                 {"makespan", found.makespan},
                 {"order", found.order}};
  all.solution = found.order;
  add_counts(all, found.report);
  return all;
}

template <class Searches>
outcome count_queens(const options& o, const Searches& searches) {
  outcome all;
  const auto found = timed(all, [&] { return searches.count_queens(static_cast<unsigned>(o.n)); });
  if (o.verify) {
    compare("number of solutions", found.counts.solutions, ramify::published_queens()[o.n]);
  }
  all.nodes = found.counts.nodes;
  all.numbers = {{"n", o.n}, {"solutions", found.counts.solutions}};
  return all;
}

template <class Searches>
outcome solve(const options& o, const Searches& searches) {
  switch (o.chosen) {
    case problem::knapsack: return solve_knapsack(o, searches);
    case problem::flow_shop: return solve_flow_shop(o, searches);
    default: return count_queens(o, searches);
  }
}

nlohmann::ordered_json to_json(const outcome& all, const options& o) {
  auto json = common::new_report("search");
  json["problem"] = to_string(o.chosen);
  json.update(all.numbers);
  json["nodes"] = all.nodes;
  json.update(common::to_json(static_cast<const ramify::run_report&>(all.report)));
  json["rounds"] = all.report.rounds;
  json["peak_frontier_nodes"] = all.report.peak_frontier_nodes;
  json["seconds"] = all.seconds;
  json["nodes_per_second"] = static_cast<double>(all.nodes) / all.seconds;
  if (all.cluster) {
    json.update(all.shared);
    json.update(common::to_json(*all.cluster));
  }
  if (o.verify) json["verified"] = true;
  return json;
}

// Prints one line for each number or list of numbers.
void print_numbers(std::ostream& out, const nlohmann::ordered_json& numbers) {
  for (const auto& [name, value] : numbers.items()) {
    std::string text = name;
    std::ranges::replace(text, '_', ' ');
    out << text << ':';
    if (!value.is_array()) out << ' ' << value;
    for (const auto& element : value.is_array() ? value : nlohmann::ordered_json::array()) {
      out << ' ' << element;
    }
    out << '\n';
  }
}

void print(std::ostream& out, const outcome& all, const options& o) {
  out << "problem: " << to_string(o.chosen) << '\n';
  print_numbers(out, all.numbers);
  out << "nodes: " << all.nodes << '\n' << all.report;
  if (all.cluster) print_numbers(out, all.shared);
  out << "seconds: " << all.seconds
      << "\nnodes per second: " << static_cast<double>(all.nodes) / all.seconds << '\n';
  common::print_launch_costs(out, all.report);
  if (all.cluster) out << *all.cluster;
  if (o.verify) out << "verified: as expected\n";
}

// Writes the files and the report.
void write(const outcome& all, const options& o, const ramify::launch_trace& trace) {
  if (!o.output.empty()) {
    common::write_file(o.output, [&](std::ostream& out) {
      for (const std::size_t number : all.solution) out << number << '\n';
    });
  }
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, common::report_stream(o.output), [&] { return to_json(all, o); },
      [&](std::ostream& out) {
        print(out, all, o);
        common::print_trace(out, o.trace, trace, all.cluster ? common::of_first_rank : "");
      });
}

void run(options& o) {
  check(o);
  common::progress_bar progress("searching", o.quiet);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.search.trace = &trace;
  const outcome all = solve(o, one_process{o});
  progress.clear();
  write(all, o, trace);
}

int run_program(int argc, char** argv, options& o, const std::function<void()>& body,
                bool is_rank = false) {
  return common::run_program(
      "search",
      "Searches a tree by branch and bound or backtracking, with grids that launch grids.", argc,
      argv, [&](CLI::App& app) { declare(app, o); }, body, is_rank);
}

#if RAMIFY_HAS_MPI

// ---- under mpirun: the ranks share the nodes ----

// The searches of all ranks. Rank 0 reads the instance.
struct all_ranks {
  ramify::communicator& comm;
  const options& o;

  template <class Read>
  auto instance(Read read) const {
    std::invoke_result_t<Read> all;
    if (comm.rank() == 0) all = read();
    share(all);
    return all;
  }
  [[nodiscard]] auto knapsack(const ramify::knapsack_instance& instance) const {
    return ramify::distributed_knapsack(comm, instance, {o.search});
  }
  [[nodiscard]] auto flow_shop(const ramify::flow_shop_instance& shop) const {
    return ramify::distributed_flow_shop(comm, shop, {o.search});
  }
  [[nodiscard]] auto count_queens(unsigned n) const {
    return ramify::distributed_count_queens(comm, n, {o.search});
  }

 private:
  void share(ramify::knapsack_instance& instance) const {
    common::share_first(comm, instance.items);
    instance.capacity = comm.broadcast(instance.capacity, 0);
  }
  void share(ramify::flow_shop_instance& shop) const {
    shop.jobs = comm.broadcast(shop.jobs, 0);
    shop.machines = comm.broadcast(shop.machines, 0);
    common::share_first(comm, shop.times);
  }
};

void run_on_ranks(ramify::communicator& comm, options& o) {
  const bool is_first = comm.rank() == 0;
  if (is_first) check(o);
  common::progress_bar progress("searching", o.quiet || !is_first);
  ramify::launch_trace trace;
  if (!o.trace.empty() && is_first) o.search.trace = &trace;
  if (!is_first) o.verify = false;  // all ranks have the same result
  outcome all = solve(o, all_ranks{comm, o});
  all.cluster = comm.report();
  progress.clear();
  if (is_first) write(all, o, trace);
}

int main_of_rank(int argc, char** argv, const std::function<int()>& alone) {
  options o;
  return common::main_of_rank(
      [&](const auto& body) { return run_program(argc, argv, o, body, true); }, o.search.backend,
      [&](ramify::communicator& comm) { run_on_ranks(comm, o); }, alone);
}

#endif

}  // namespace

int main(int argc, char** argv) {
  const auto alone = [&] {
    options o;
    return run_program(argc, argv, o, [&] { run(o); });
  };
#if RAMIFY_HAS_MPI
  if (ramify::mpi_session::is_launched()) return main_of_rank(argc, argv, alone);
#endif
  return alone();
}
