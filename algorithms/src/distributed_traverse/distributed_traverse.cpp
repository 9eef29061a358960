// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/distributed_traverse.hpp>

#include "distributed_traverse/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify {

distributed_tree_search_result distributed_tree_search(
    communicator& comm, const uts_parameters& tree,
    const distributed_tree_search_options& options) {
  validate(tree);
  validate(options);
  distributed_tree_search_result result{};
  result.report = detail::facade::on_ranks(
      comm, options, "distributed_tree_search_options.backend",
      [&](auto where, const distributed_tree_search_options& how) {
        return detail::facade::distributed_tree_search_on<where>(comm, tree, how, result.counts);
      });
  return result;
}

}  // namespace ramify
