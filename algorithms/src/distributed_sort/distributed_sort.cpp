// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <ramify/distributed_sort.hpp>
#include <ramify/distributed_sort/settings.hpp>
#include <stdexcept>
#include <string>

#include "distributed_sort/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify::detail::distributed_sort {
namespace {

shared_settings settings_of(const distributed_sort_options& options,
                            const quicksort::number_array& keys, bool has_values) {
  const std::string owner = "distributed_sort_options.";
  shared_settings settings("distributed_sort");
  settings.add("distributed_sort: the size of a key", keys.bytes);
  settings.add("distributed_sort: the kind of the keys (0: unsigned, 1: signed, 2: floating point)",
               keys.kind);
  settings.add("distributed_sort: whether keys have values", has_values);
  add_fields(settings, owner, options);
  settings.add(owner + "backend", options.backend);
  settings.add(owner + "descending", options.descending);
  settings.add(owner + "pending_launches", options.pending_launches);
  settings.add(owner + "device_memory", options.device_memory);
  settings.add(owner + "parts", options.parts);
  return settings;
}

}  // namespace

distributed_sort_report sort_vectors(communicator& comm, rank_vectors& vectors, bool has_values,
                                     const distributed_sort_options& options) {
  comm.require_equal(settings_of(options, vectors.keys(), has_values));
  validate(options);
  check_enumerator(options.parts, "distributed_sort_options.parts");
  if (options.device_memory != 0) {
    throw std::invalid_argument(
        "distributed_sort_options.device_memory is " + std::to_string(options.device_memory) +
        "; it must be 0, because each rank keeps its part in device memory");
  }
  return facade::on_ranks(
      comm, options, "distributed_sort_options.backend",
      [&](auto where, const distributed_sort_options& how) {
        vectors.check_values();  // on one rank only, perhaps
        const auto sort_as = [&](auto held) {
          using held_type = decltype(held);
          return has_values
                     ? facade::distributed_sort_on<where, held_type, std::uint64_t>(comm, vectors,
                                                                                    how)
                     : facade::distributed_sort_on<where, held_type, void>(comm, vectors, how);
        };
        const quicksort::number_array keys = vectors.keys();
        if (keys.bytes == 4) return sort_as(std::uint32_t{});
        return keys.kind == quicksort::number_kind::floating_point ? sort_as(double{})
                                                                   : sort_as(std::uint64_t{});
      });
}

}  // namespace ramify::detail::distributed_sort
