// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/distributed_traverse.hpp>
#include <stdexcept>
#include <string>

#include "distributed_traverse/on_backend.hpp"
#include "facade/backend_choice.hpp"

namespace ramify {

distributed_tree_search_result distributed_tree_search(
    communicator& comm, const uts_parameters& tree,
    const distributed_tree_search_options& options) {
  validate(tree);
  validate(options);
  check_enumerator(options.backend, "distributed_tree_search_options.backend");
  if (options.backend != backend::automatic && options.backend != comm.backend()) {
    throw std::invalid_argument(
        "distributed_tree_search_options.backend is " + std::string(to_string(options.backend)) +
        ", but that of the communicator is " + std::string(to_string(comm.backend())));
  }
  distributed_tree_search_options chosen = options;
  chosen.backend = comm.backend();
  distributed_tree_search_result result{};
  comm.run([&] {
    result.report = detail::facade::on_backend(chosen, [&](auto where) {
      return detail::facade::distributed_tree_search_on<where>(comm, tree, chosen, result.counts);
    });
  });
  result.report.backend_reason = comm.backend_reason();
  return result;
}

}  // namespace ramify
