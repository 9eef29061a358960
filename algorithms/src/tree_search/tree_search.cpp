// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/tree_search.hpp>

#include "facade/backend_choice.hpp"
#include "tree_search/on_backend.hpp"

namespace ramify {

tree_search_result tree_search(const uts_parameters& tree, const tree_search_options& options) {
  validate(tree);
  validate(options);
  tree_search_result result{};
  result.report = detail::facade::on_backend(options, [&](auto where) {
    return detail::facade::tree_search_on<where>(tree, options, result.counts);
  });
  return result;
}

}  // namespace ramify
