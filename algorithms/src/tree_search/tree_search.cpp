// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/tree_search.hpp>

#include "facade/backend_choice.hpp"
#include "tree_search/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {

tree_search_result tree_search(const uts_parameters& tree, const traverse_options& options,
                               const environment& env) {
  validate(tree);
  validate(options);
  validate(env);
  tree_search_result result{};
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::tree_search_on<where>(tree, options, env, result.counts);
  });
  return result;
}

}  // namespace ramify::inline RAMIFY_ABI
