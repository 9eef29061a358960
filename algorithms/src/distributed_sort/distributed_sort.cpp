// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <ramify/distributed_sort.hpp>
#include <string>

#include "distributed_sort/on_backend.hpp"
#include "facade/backend_choice.hpp"

namespace ramify::detail::distributed_sort {

distributed_sort_report sort_vectors(communicator& comm, rank_vectors& vectors, bool has_values,
                                     const distributed_sort_options& options) {
  validate(options);
  check_enumerator(options.backend, "distributed_sort_options.backend");
  check_enumerator(options.parts, "distributed_sort_options.parts");
  if (options.backend != backend::automatic && options.backend != comm.backend()) {
    throw std::invalid_argument(
        "distributed_sort_options.backend is " + std::string(to_string(options.backend)) +
        ", but that of the communicator is " + std::string(to_string(comm.backend())));
  }
  distributed_sort_options chosen = options;
  chosen.backend = comm.backend();
  distributed_sort_report report;
  comm.run([&] {
    vectors.check_values();  // on one rank only, perhaps
    report = facade::on_backend(chosen, [&](auto where) {
      const auto sort_as = [&](auto held) {
        using held_type = decltype(held);
        return has_values
                   ? facade::distributed_sort_on<where, held_type, std::uint64_t>(comm, vectors,
                                                                                  chosen)
                   : facade::distributed_sort_on<where, held_type, void>(comm, vectors, chosen);
      };
      const quicksort::number_array keys = vectors.keys();
      if (keys.bytes == 4) return sort_as(std::uint32_t{});
      return keys.kind == quicksort::number_kind::floating_point ? sort_as(double{})
                                                                 : sort_as(std::uint64_t{});
    });
  });
  report.backend_reason = comm.backend_reason();
  return report;
}

}  // namespace ramify::detail::distributed_sort
