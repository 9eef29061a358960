// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/distributed_branch_and_bound.hpp>

#include "distributed_branch_and_bound/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify {
namespace {

/// Checks the options that only searches by ranks have, and what ranks cannot do.
/// \throws std::invalid_argument naming the field
template <class Options>
void check_rounds(const Options& options) {
  validate(distributed_traverse_config{options, options.steps, options.rounds});
}

}  // namespace

distributed_knapsack_result distributed_knapsack(
    communicator& comm, const knapsack_instance& instance,
    const distributed_branch_and_bound_options& options) {
  validate(instance);
  validate(options);
  check_rounds(options);
  distributed_knapsack_result result;
  result.report = detail::facade::on_ranks(
      comm, options, "distributed_branch_and_bound_options.backend",
      [&](auto where, const distributed_branch_and_bound_options& how) {
        return detail::facade::distributed_knapsack_on<where>(comm, instance, how, result);
      });
  return result;
}

distributed_flow_shop_result distributed_flow_shop(
    communicator& comm, const flow_shop_instance& shop,
    const distributed_branch_and_bound_options& options) {
  validate(shop);
  validate(options);
  check_rounds(options);
  distributed_flow_shop_result result;
  result.report = detail::facade::on_ranks(
      comm, options, "distributed_branch_and_bound_options.backend",
      [&](auto where, const distributed_branch_and_bound_options& how) {
        return detail::facade::distributed_flow_shop_on<where>(comm, shop, how, result);
      });
  return result;
}

distributed_queens_result distributed_count_queens(communicator& comm, unsigned n,
                                                   const distributed_queens_options& options) {
  validate_queens(n);
  validate(options);
  check_rounds(options);
  distributed_queens_result result{};
  result.report = detail::facade::on_ranks(
      comm, options, "distributed_queens_options.backend",
      [&](auto where, const distributed_queens_options& how) {
        return detail::facade::distributed_count_queens_on<where>(comm, n, how, result.counts);
      });
  return result;
}

}  // namespace ramify
