// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/distributed_branch_and_bound.hpp>
#include <ramify/distributed_branch_and_bound/settings.hpp>

#include "distributed_branch_and_bound/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify {
namespace {

/// Returns the options of the traversal.
template <class Options>
distributed_traverse_config traversal_of(const Options& options) {
  return {static_cast<const traverse_config&>(options), options.steps, options.rounds};
}

/// Adds the options of a search. `owner` begins their names.
template <class Options>
void add_options(shared_settings& settings, const std::string& owner, const Options& options) {
  detail::distributed_traverse::add_fields(settings, owner, traversal_of(options));
  settings.add(owner + "backend", options.backend);
  settings.add(owner + "pending_launches", options.pending_launches);
  detail::branch_and_bound::add_fields(settings, owner + "limits.", options.limits);
}

void require_equal(communicator& comm, const knapsack_instance& instance,
                   const distributed_branch_and_bound_options& options) {
  shared_settings settings("distributed_knapsack");
  add_options(settings, "distributed_branch_and_bound_options.", options);
  settings.add("knapsack_instance.capacity", instance.capacity);
  settings.add("knapsack_instance.items.size()", instance.items.size());
  for (std::size_t i = 0; i < instance.items.size(); ++i) {
    const std::string item = "knapsack_instance.items[" + std::to_string(i) + "].";
    settings.add(item + "weight", instance.items[i].weight);
    settings.add(item + "profit", instance.items[i].profit);
  }
  comm.require_equal(settings);
}

void require_equal(communicator& comm, const flow_shop_instance& shop,
                   const distributed_branch_and_bound_options& options) {
  shared_settings settings("distributed_flow_shop");
  add_options(settings, "distributed_branch_and_bound_options.", options);
  settings.add("flow_shop_instance.jobs", shop.jobs);
  settings.add("flow_shop_instance.machines", shop.machines);
  settings.add("flow_shop_instance.times.size()", shop.times.size());
  for (std::size_t i = 0; i < shop.times.size(); ++i) {
    settings.add("flow_shop_instance.times[" + std::to_string(i) + "]", shop.times[i]);
  }
  comm.require_equal(settings);
}

void require_equal(communicator& comm, unsigned n, const distributed_queens_options& options) {
  shared_settings settings("distributed_count_queens");
  settings.add("distributed_count_queens: n", n);
  add_options(settings, "distributed_queens_options.", options);
  settings.add("distributed_queens_options.symmetry", options.symmetry);
  settings.add("distributed_queens_options.leaf_rows", options.leaf_rows);
  comm.require_equal(settings);
}

/// Checks the options that only searches by ranks have, and what ranks cannot do.
/// \throws std::invalid_argument naming the field
template <class Options>
void check_rounds(const Options& options) {
  validate(traversal_of(options));
}

/// Returns the result of a search by all ranks, whose instance is valid. solve(on<build>, options,
/// result) runs it on a backend, stores the solution, and returns the report. `field` is the name
/// of the backend in messages. Collective. \throws std::invalid_argument, cluster_error
template <class Result, class Options, class Solve>
Result solve_on_ranks(communicator& comm, const Options& options, const char* field, Solve solve) {
  validate(options);
  check_rounds(options);
  Result result{};
  result.report = detail::facade::on_ranks(
      comm, options, field,
      [&](auto where, const Options& chosen) { return solve(where, chosen, result); });
  return result;
}

}  // namespace

distributed_knapsack_result distributed_knapsack(
    communicator& comm, const knapsack_instance& instance,
    const distributed_branch_and_bound_options& options) {
  require_equal(comm, instance, options);
  validate(instance);
  return solve_on_ranks<distributed_knapsack_result>(
      comm, options, "distributed_branch_and_bound_options.backend",
      [&](auto where, const auto& chosen, knapsack_solution& solution) {
        return detail::facade::distributed_knapsack_on<where>(comm, instance, chosen, solution);
      });
}

distributed_flow_shop_result distributed_flow_shop(
    communicator& comm, const flow_shop_instance& shop,
    const distributed_branch_and_bound_options& options) {
  require_equal(comm, shop, options);
  validate(shop);
  return solve_on_ranks<distributed_flow_shop_result>(
      comm, options, "distributed_branch_and_bound_options.backend",
      [&](auto where, const auto& chosen, flow_shop_solution& solution) {
        return detail::facade::distributed_flow_shop_on<where>(comm, shop, chosen, solution);
      });
}

distributed_queens_result distributed_count_queens(communicator& comm, unsigned n,
                                                   const distributed_queens_options& options) {
  require_equal(comm, n, options);
  validate_queens(n);
  return solve_on_ranks<distributed_queens_result>(
      comm, options, "distributed_queens_options.backend",
      [&](auto where, const auto& chosen, distributed_queens_result& result) {
        return detail::facade::distributed_count_queens_on<where>(comm, n, chosen, result.counts);
      });
}

}  // namespace ramify
