// SPDX-License-Identifier: BSD-3-Clause
// Solves a knapsack or a flow shop by branch and bound, or counts the solutions of n queens.
//
//   search knapsack --items 50 --seed 3 --verify
//   search flow-shop --taillard 1 --verify
//   search queens --n 12 --verify
//   mpirun -n 4 search queens --n 16 --verify
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <ramify/branch_and_bound.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cli.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"
#include "search_command_line.hpp"
#include "search_instances.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>
#include <ramify/distributed_branch_and_bound.hpp>

#include "common/cluster_program.hpp"
#endif

namespace {

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

// Throws std::runtime_error unless a search has found the optimum, or has a bound that includes it.
void verify_optimum(const char* what, std::int64_t found, const ramify::search_proof& proof,
                    std::int64_t optimum) {
  if (proof.is_optimal) return compare(what, found, optimum);
  const auto [least, most] = std::minmax(found, proof.bound);
  if (least <= optimum && optimum <= most) return;
  throw std::runtime_error("verification failed: the " + std::string(what) + " is " +
                           std::to_string(found) + " with the bound " +
                           std::to_string(proof.bound) + "; " + std::to_string(optimum) +
                           " is not between them");
}

// Adds what the search has proved. `value` is that of its solution.
void add_proof(outcome& all, std::int64_t value, const ramify::search_proof& proof) {
  all.numbers["proved_optimal"] = proof.is_optimal;
  all.numbers["bound"] = proof.bound;
  const std::int64_t gap = std::abs(proof.bound - value);
  all.numbers["gap"] = gap;
  all.numbers["gap_percent"] =
      gap == 0 ? 0.0 : 100 * double(gap) / double(std::max<std::int64_t>(value, 1));
}

// Adds how the input file was read.
void add_format(outcome& all, const std::string& format) {
  if (!format.empty()) all.numbers["input_format"] = format;
}

void add_counts(outcome& all, const ramify::branch_and_bound_report& r) {
  all.nodes = r.expanded + r.pruned + r.leaves + r.unexplored;
  all.numbers["expanded"] = r.expanded;
  all.numbers["pruned"] = r.pruned;
  all.numbers["leaves"] = r.leaves;
  all.numbers["incumbent_updates"] = r.incumbent_updates;
  all.numbers["left_unexplored"] = r.unexplored;
}

// The searches of one process.
struct one_process {
  const common::search_command_line& o;

  // Returns read().
  template <class Read>
  auto instance(Read read) const {
    return read();
  }
  [[nodiscard]] auto knapsack(const ramify::knapsack_instance& instance) const {
    return ramify::knapsack(instance, o.search, o.env);
  }
  [[nodiscard]] auto flow_shop(const ramify::flow_shop_instance& shop) const {
    return ramify::flow_shop(shop, o.search, o.env);
  }
  [[nodiscard]] auto count_queens(unsigned n) const {
    return ramify::count_queens(n, o.queens(), o.env);
  }
};

template <class Searches>
outcome solve_knapsack(const common::search_command_line& o, const Searches& searches) {
  std::string format;
  const auto instance = searches.instance([&] { return common::knapsack_of(o, format); });
  const std::int64_t expected = o.verify ? common::profit_by_dynamic_programming(instance) : 0;
  outcome all;
  const auto found = timed(all, [&] { return searches.knapsack(instance); });
  if (o.verify) verify_optimum("profit", found.profit, found.proof, expected);
  all.numbers = {{"items", instance.items.size()},
                 {"weight_limit", instance.capacity},
                 {"profit", found.profit},
                 {"weight", found.weight},
                 {"chosen", found.chosen}};
  add_format(all, format);
  add_proof(all, found.profit, found.proof);
  all.numbers["states"] = found.states;
  all.solution = found.chosen;
  add_counts(all, found.report);
  return all;
}

template <class Searches>
outcome solve_flow_shop(const common::search_command_line& o, const Searches& searches) {
  std::string format;
  const auto shop = searches.instance([&] { return common::flow_shop_of(o, format); });
  outcome all;
  const auto found = timed(all, [&] { return searches.flow_shop(shop); });
  if (o.verify) {
    verify_optimum("makespan", found.makespan, found.proof,
                   ramify::taillard_instance(o.taillard).optimum);
  }
  all.numbers = {{"jobs", shop.jobs},
                 {"machines", shop.machines},
                 {"makespan_of_heuristic", neh_order(shop).makespan},
                 {"makespan", found.makespan},
                 {"order", found.order}};
  add_format(all, format);
  add_proof(all, found.makespan, found.proof);
  all.solution = found.order;
  add_counts(all, found.report);
  return all;
}

template <class Searches>
outcome count_queens(const common::search_command_line& o, const Searches& searches) {
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
outcome solve(const common::search_command_line& o, const Searches& searches) {
  switch (o.chosen) {
    case common::search_problem::knapsack: return solve_knapsack(o, searches);
    case common::search_problem::flow_shop: return solve_flow_shop(o, searches);
    default: return count_queens(o, searches);
  }
}

nlohmann::ordered_json to_json(const outcome& all, const common::search_command_line& o) {
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

void print(std::ostream& out, const outcome& all, const common::search_command_line& o) {
  out << "problem: " << to_string(o.chosen) << '\n';
  common::print_numbers(out, all.numbers);
  out << "nodes: " << all.nodes << '\n' << all.report;
  if (all.cluster) common::print_numbers(out, all.shared);
  out << "seconds: " << all.seconds
      << "\nnodes per second: " << static_cast<double>(all.nodes) / all.seconds << '\n';
  common::print_launch_costs(out, all.report);
  if (all.cluster) out << *all.cluster;
  if (o.verify) out << "verified: as expected\n";
}

// Writes the files and the report.
void write(const outcome& all, const common::search_command_line& o,
           const ramify::launch_trace& trace) {
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

void run(common::search_command_line& o) {
  common::check(o);
  common::progress_bar progress("searching", o.quiet);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  const outcome all = solve(o, one_process{o});
  progress.clear();
  write(all, o, trace);
}

int run_program(int argc, char** argv, common::search_command_line& o,
                const std::function<void()>& body, const common::rank_agreement& agree = {}) {
  return common::run_program(
      "search",
      "Searches a tree by branch and bound or backtracking, with grids that launch grids.", argc,
      argv, [&](CLI::App& app) { common::declare(app, o); }, body, agree);
}

#if RAMIFY_HAS_MPI

// ---- under mpirun: the ranks share the nodes ----

// The searches of all ranks. Rank 0 reads the instance.
struct all_ranks {
  ramify::communicator& comm;
  const common::search_command_line& o;

  template <class Read>
  auto instance(Read read) const {
    std::invoke_result_t<Read> all;
    if (comm.rank() == 0) all = read();
    share(all);
    return all;
  }
  [[nodiscard]] auto knapsack(const ramify::knapsack_instance& instance) const {
    return ramify::distributed_knapsack(comm, instance, o.search, {}, o.env);
  }
  [[nodiscard]] auto flow_shop(const ramify::flow_shop_instance& shop) const {
    return ramify::distributed_flow_shop(comm, shop, o.search, {}, o.env);
  }
  [[nodiscard]] auto count_queens(unsigned n) const {
    return ramify::distributed_count_queens(comm, n, o.queens(), {}, o.env);
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

void run_on_ranks(ramify::communicator& comm, common::search_command_line& o) {
  const bool is_first = comm.rank() == 0;
  if (is_first) common::check(o);
  common::progress_bar progress("searching", o.quiet || !is_first);
  ramify::launch_trace trace;
  if (!o.trace.empty() && is_first) o.env.trace = &trace;
  if (!is_first) o.verify = false;  // all ranks have the same result
  outcome all = solve(o, all_ranks{comm, o});
  all.cluster = comm.report();
  progress.clear();
  if (is_first) write(all, o, trace);
}

int main_of_rank(int argc, char** argv, const std::function<int()>& alone) {
  common::search_command_line o;
  return common::main_of_rank(
      [&](const auto& body, const auto& agree) { return run_program(argc, argv, o, body, agree); },
      o.env.backend, [&](ramify::communicator& comm) { run_on_ranks(comm, o); }, alone);
}

#endif

}  // namespace

int main(int argc, char** argv) {
  const auto alone = [&] {
    common::search_command_line o;
    return run_program(argc, argv, o, [&] { run(o); });
  };
#if RAMIFY_HAS_MPI
  if (ramify::mpi_session::is_launched()) return main_of_rank(argc, argv, alone);
#endif
  return alone();
}
