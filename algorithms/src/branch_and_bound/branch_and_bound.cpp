// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/branch_and_bound.hpp>

#include "branch_and_bound/on_backend.hpp"
#include "facade/backend_choice.hpp"

namespace ramify::inline RAMIFY_ABI {

knapsack_result knapsack(const knapsack_instance& instance, const branch_and_bound_options& options,
                         const environment& env) {
  validate(instance);
  validate(options);
  validate(env);
  knapsack_result result;
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::knapsack_on<where>(instance, options, env, result);
  });
  return result;
}

flow_shop_result flow_shop(const flow_shop_instance& shop, const branch_and_bound_options& options,
                           const environment& env) {
  validate(shop);
  validate(options);
  validate(env);
  flow_shop_result result;
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::flow_shop_on<where>(shop, options, env, result);
  });
  return result;
}

queens_result count_queens(unsigned n, const queens_options& options, const environment& env) {
  validate_queens(n);
  validate(options);
  validate(env);
  queens_result result{};
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::count_queens_on<where>(n, options, env, result.counts);
  });
  return result;
}

}  // namespace ramify::inline RAMIFY_ABI
