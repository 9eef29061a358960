// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts the elements of all ranks of a communicator, for CUDA code.
///
///     rank 0   keys <-- [8, 6, 7, 5]        rank 1   keys <-- [3, 0, 9]
///     ramify::distributed_sort(comm, keys);
///     rank 0   keys --> [0, 3, 5]           rank 1   keys --> [6, 7, 8, 9]
///
/// Keys, values   A device_buffer on each rank, also an empty one. The sort replaces it by the
///                rank's part, which may have another size: within about 5 % of the mean, or equal
///                up to one element (sorted_parts). Types as for quicksort().
/// Order          Any strict weak order, as for quicksort(): the keys of rank 0 come first. The
///                default orders NaN after all numbers. The sort is not stable. If the comparator
///                is not a strict weak order, the result is some permutation of the input.
/// Algorithm      Sample sort: each rank sorts its elements (quicksort), takes regular samples, and
///                sends each other rank its part. Equal keys are divided, too. The keys are sent
///                once; with equal parts, about 5 % of them a second time.
/// Scratch        Twice the memory of the elements of the rank's part, or that of quicksort() if it
///                is more, and 20 ranks^2 samples on each rank.
/// Collective     All ranks must call the function with the same options, and with environments
///                that differ in the stream and the trace only. It runs in communicator::run(): if
///                a rank throws, all do.
/// Stream         The sort is ordered in environment::stream. The functions return when the rank's
///                part is complete.
/// Errors         std::invalid_argument for a bad option or another backend than that of the
///                communicator, and, on all ranks, if a rank has other options or elements of
///                another size than rank 0; else cluster_error, also if a rank has not as many
///                values as keys. After a cluster_error the buffers are unspecified.
/// Complexity     O(n/ranks log n) comparisons on each rank if all ranks have equally many
///                elements, and O(ranks^3 log ranks) for the splitters.
/// Link           ramify::cluster

#include <ramify/runtime/detail/requirements.hpp>

#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/kernel_backend.cuh>
#include <ramify/distributed_sort/config.hpp>
#include <ramify/distributed_sort/parts.cuh>
#include <ramify/distributed_sort/settings.hpp>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/buffer.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// Sorts the keys of all ranks and moves each value with its key. Collective.
///
/// \param keys, values  the elements of this rank, equally many of both; on return its part, in
///                 memory that is freed in env.stream
/// \param compare  returns whether its first argument must come before its second
/// \param options  of the sorts on each rank
/// \param env      its memory must be empty
/// \throws std::invalid_argument, cluster_error
template <class Key, class Value, class Compare>
distributed_sort_report distributed_sort_pairs(communicator& comm, device_buffer<Key>& keys,
                                               device_buffer<Value>& values, Compare compare,
                                               sorted_parts parts, const quicksort_options& options,
                                               const environment& env = {}) {
  namespace family = detail::distributed_sort;
  static_assert(detail::quicksort::checked_types<Key, Value, Compare>::are_valid);
  using elements = family::rank_elements<Key, Value>;
  comm.require_equal(family::settings_of(sizeof(Key), elements::has_values ? sizeof(Value) : 0,
                                         parts, options, env));
  family::check_arguments(parts, options, env);
  detail::cluster::check_kernel_backend(comm, "distributed_sort");
  const auto local_sort = [&](elements& mine) {
    if constexpr (elements::has_values) {
      return quicksort_pairs(mine.keys.data(), mine.values.data(), mine.size(), compare, options,
                             env);
    } else {
      return quicksort(mine.keys.data(), mine.size(), compare, options, env);
    }
  };
  distributed_sort_report report;
  comm.run([&] {
    if (elements::has_values && keys.size() != values.size()) {
      throw std::invalid_argument("distributed_sort_pairs: " + std::to_string(keys.size()) +
                                  " keys, but " + std::to_string(values.size()) + " values");
    }
    family::sort_run<Key, Value, Compare, decltype(local_sort)> run(comm, compare, parts, env,
                                                                    local_sort);
    elements mine{std::move(keys), std::move(values)};
    report = run.sort(mine);
    keys = std::move(mine.keys);
    values = std::move(mine.values);
  });
  return report;
}
/// Overload with the default options.
template <class Key, class Value, class Compare = ascending>
distributed_sort_report distributed_sort_pairs(communicator& comm, device_buffer<Key>& keys,
                                               device_buffer<Value>& values, Compare compare = {},
                                               sorted_parts parts = sorted_parts::sampled,
                                               const environment& env = {}) {
  return distributed_sort_pairs(comm, keys, values, compare, parts, quicksort_options{}, env);
}

/// Sorts the keys of all ranks. Collective. The arguments are those of distributed_sort_pairs().
///
/// \param keys  the keys of this rank; on return its part, in memory that is freed in env.stream
/// \param env   its memory must be empty
/// \throws std::invalid_argument, cluster_error
template <class Key, class Compare>
distributed_sort_report distributed_sort(communicator& comm, device_buffer<Key>& keys,
                                         Compare compare, sorted_parts parts,
                                         const quicksort_options& options,
                                         const environment& env = {}) {
  device_buffer<no_value> none;
  return distributed_sort_pairs(comm, keys, none, compare, parts, options, env);
}
/// Overload with the default options.
template <class Key, class Compare = ascending>
distributed_sort_report distributed_sort(communicator& comm, device_buffer<Key>& keys,
                                         Compare compare = {},
                                         sorted_parts parts = sorted_parts::sampled,
                                         const environment& env = {}) {
  return distributed_sort(comm, keys, compare, parts, quicksort_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
