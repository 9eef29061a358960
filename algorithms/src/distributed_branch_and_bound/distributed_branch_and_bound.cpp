// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/distributed_branch_and_bound.hpp>
#include <ramify/distributed_branch_and_bound/settings.hpp>

#include "distributed_branch_and_bound/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

void require_equal(communicator& comm, const knapsack_instance& instance,
                   const branch_and_bound_options& options, const exchange_options& exchange,
                   const environment& env) {
  shared_settings settings("distributed_knapsack");
  detail::distributed_traverse::add_arguments(settings, options, exchange, env);
  detail::branch_and_bound::add_limits(settings, options.limits);
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
                   const branch_and_bound_options& options, const exchange_options& exchange,
                   const environment& env) {
  shared_settings settings("distributed_flow_shop");
  detail::distributed_traverse::add_arguments(settings, options, exchange, env);
  detail::branch_and_bound::add_limits(settings, options.limits);
  settings.add("flow_shop_instance.jobs", shop.jobs);
  settings.add("flow_shop_instance.machines", shop.machines);
  settings.add("flow_shop_instance.times.size()", shop.times.size());
  for (std::size_t i = 0; i < shop.times.size(); ++i) {
    settings.add("flow_shop_instance.times[" + std::to_string(i) + "]", shop.times[i]);
  }
  comm.require_equal(settings);
}

void require_equal(communicator& comm, unsigned n, const queens_options& options,
                   const exchange_options& exchange, const environment& env) {
  shared_settings settings("distributed_count_queens");
  settings.add("distributed_count_queens: n", n);
  detail::distributed_traverse::add_arguments(settings, options, exchange, env);
  settings.add("queens_options.symmetry", options.symmetry);
  settings.add("queens_options.leaf_rows", options.leaf_rows);
  comm.require_equal(settings);
}

/// Returns the result of a search by all ranks, whose arguments are valid. solve(on<build>, env,
/// result) runs it on a backend, stores the solution, and returns the report. Collective.
/// \throws std::invalid_argument, cluster_error
template <class Result, class Solve>
Result solve_on_ranks(communicator& comm, const environment& env, Solve solve) {
  Result result{};
  result.report = detail::facade::on_ranks(comm, env, [&](auto where, const environment& chosen) {
    return solve(where, chosen, result);
  });
  return result;
}

}  // namespace

distributed_knapsack_result distributed_knapsack(communicator& comm,
                                                 const knapsack_instance& instance,
                                                 const branch_and_bound_options& options,
                                                 const exchange_options& exchange,
                                                 const environment& env) {
  require_equal(comm, instance, options, exchange, env);
  validate(instance);
  detail::branch_and_bound::check_arguments(options, exchange, env);
  return solve_on_ranks<distributed_knapsack_result>(
      comm, env, [&](auto where, const environment& chosen, knapsack_solution& solution) {
        return detail::facade::distributed_knapsack_on<where>(comm, instance, options, exchange,
                                                              chosen, solution);
      });
}

distributed_flow_shop_result distributed_flow_shop(communicator& comm,
                                                   const flow_shop_instance& shop,
                                                   const branch_and_bound_options& options,
                                                   const exchange_options& exchange,
                                                   const environment& env) {
  require_equal(comm, shop, options, exchange, env);
  validate(shop);
  detail::branch_and_bound::check_arguments(options, exchange, env);
  return solve_on_ranks<distributed_flow_shop_result>(
      comm, env, [&](auto where, const environment& chosen, flow_shop_solution& solution) {
        return detail::facade::distributed_flow_shop_on<where>(comm, shop, options, exchange,
                                                               chosen, solution);
      });
}

distributed_queens_result distributed_count_queens(communicator& comm, unsigned n,
                                                   const queens_options& options,
                                                   const exchange_options& exchange,
                                                   const environment& env) {
  require_equal(comm, n, options, exchange, env);
  validate_queens(n);
  validate(options);
  detail::distributed_traverse::check_arguments(options, exchange, env);
  return solve_on_ranks<distributed_queens_result>(
      comm, env, [&](auto where, const environment& chosen, distributed_queens_result& result) {
        return detail::facade::distributed_count_queens_on<where>(comm, n, options, exchange,
                                                                  chosen, result.counts);
      });
}

}  // namespace ramify::inline RAMIFY_ABI
