// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/distributed_traverse.hpp>
#include <ramify/distributed_traverse/settings.hpp>

#include "distributed_traverse/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

shared_settings settings_of(const uts_parameters& tree, const traverse_options& options,
                            const exchange_options& exchange, const environment& env) {
  const auto& [type, shape, depth, root_branches, probability, branches, shift, seed] = tree;
  shared_settings settings("distributed_tree_search");
  settings.add("uts_parameters.type", type);
  settings.add("uts_parameters.shape", shape);
  settings.add("uts_parameters.depth", depth);
  settings.add("uts_parameters.root_branches", root_branches);
  settings.add("uts_parameters.probability", probability);
  settings.add("uts_parameters.branches", branches);
  settings.add("uts_parameters.shift", shift);
  settings.add("uts_parameters.seed", seed);
  detail::distributed_traverse::add_arguments(settings, options, exchange, env);
  return settings;
}

}  // namespace

distributed_tree_search_result distributed_tree_search(communicator& comm,
                                                       const uts_parameters& tree,
                                                       const traverse_options& options,
                                                       const exchange_options& exchange,
                                                       const environment& env) {
  comm.require_equal(settings_of(tree, options, exchange, env));
  validate(tree);
  detail::distributed_traverse::check_arguments(options, exchange, env);
  distributed_tree_search_result result{};
  result.report = detail::facade::on_ranks(comm, env, [&](auto where, const environment& chosen) {
    return detail::facade::distributed_tree_search_on<where>(comm, tree, options, exchange, chosen,
                                                             result.counts);
  });
  return result;
}

}  // namespace ramify::inline RAMIFY_ABI
