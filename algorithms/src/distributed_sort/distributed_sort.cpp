// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <ramify/distributed_sort.hpp>
#include <ramify/distributed_sort/settings.hpp>

#include "distributed_sort/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify::detail::distributed_sort::inline RAMIFY_ABI {

distributed_sort_report sort_vectors(communicator& comm, rank_vectors& vectors, bool has_values,
                                     ramify::sort_order order, sorted_parts parts,
                                     const quicksort_options& options, const environment& env) {
  const quicksort::number_array numbers = vectors.keys();
  shared_settings settings =
      settings_of(numbers.bytes, has_values ? sizeof(std::uint64_t) : 0, parts, options, env);
  settings.add("distributed_sort: the kind of the keys (0: unsigned, 1: signed, 2: floating point)",
               numbers.kind);
  settings.add("distributed_sort: order", order);
  comm.require_equal(settings);
  check_arguments(parts, options, env);
  check_enumerator(order, "distributed_sort: order");
  return facade::on_ranks(comm, env, [&](auto where, const environment& chosen) {
    vectors.check_values();  // on one rank only, perhaps
    const auto sort_as = [&](auto held) {
      using held_type = decltype(held);
      const facade::distributed_sort_call how{{numbers.kind, order}, parts, options, chosen};
      return has_values
                 ? facade::distributed_sort_on<where, held_type, std::uint64_t>(comm, vectors, how)
                 : facade::distributed_sort_on<where, held_type, void>(comm, vectors, how);
    };
    if (numbers.bytes == 4) return sort_as(std::uint32_t{});
    const facade::number_order wanted{numbers.kind, order};
    return wanted.has_doubles() ? sort_as(double{}) : sort_as(std::uint64_t{});
  });
}

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_ABI
