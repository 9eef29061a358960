// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's distributed sort on the backend that this compiler builds for. The sorts on each
/// rank are those of the facade's quicksort, which are not instantiated here.

#include <ramify/distributed_sort/parts.cuh>
#include <ramify/version.hpp>
#include <type_traits>

#include "distributed_sort/on_backend.hpp"
#include "facade/device_arrays.cuh"
#include "quicksort/on_backend.cuh"

namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD {

/// The order in which quicksort_on() sorts keys that are held as Held.
template <class Held>
struct held_order {
  decltype(quicksort::order_of(static_cast<const Held*>(nullptr), facade::number_order{})) order;

  __host__ __device__ bool operator()(Held a, Held b) const {
    if constexpr (std::is_floating_point_v<Held>) {
      return order(a, b);
    } else {
      return order.encode(a) < order.encode(b);
    }
  }
};

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <build where, class Held, class Value>
distributed_sort_report distributed_sort_on(communicator& comm,
                                            distributed_sort::rank_vectors& vectors,
                                            const distributed_sort_call& how) {
  static_assert(where == this_build);
  namespace family = ramify::detail::distributed_sort;
  using moved = std::conditional_t<std::is_void_v<Value>, no_value, Value>;
  using elements = family::rank_elements<Held, moved>;
  facade_call call(how.env);
  // 1. Copy the elements of this rank to the device.
  const std::size_t n = vectors.size();
  auto mine = elements::make(n, call.stream());
  call.copy_in(mine.keys.data(), vectors.keys().data, n * sizeof(Held));
  if constexpr (elements::has_values) {
    call.copy_in(mine.values.data(), vectors.values(), n * sizeof(moved));
  }
  // 2. Sort with all ranks.
  const auto local_sort = [&](elements& part) {
    return quicksort_on<where, Held, Value>(part.keys.data(), part.values.data(), part.size(),
                                            how.numbers, how.options, how.env);
  };
  const family::held_order<Held> order{
      quicksort::order_of(static_cast<const Held*>(nullptr), how.numbers)};
  family::sort_run<Held, moved, family::held_order<Held>, decltype(local_sort)> run(
      comm, order, how.parts, how.env, local_sort);
  distributed_sort_report report = run.sort(mine);
  // 3. Copy the sorted part of this rank to the host. All ranks have sorted theirs.
  vectors.resize(mine.size());
  call.copy_out(vectors.keys().data, mine.keys.data(), mine.size() * sizeof(Held));
  if constexpr (elements::has_values) {
    call.copy_out(vectors.values(), mine.values.data(), mine.size() * sizeof(moved));
  }
  static_cast<run_times&>(report) = call.finish();
  return report;
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

// The quicksort family instantiates quicksort_on().
#define RAMIFY_SORT_HELD(Held)                                                           \
  extern template quicksort_report quicksort_on<this_build>(                             \
      Held*, void*, std::size_t, const number_order&, const quicksort_options&,          \
      const environment&);                                                               \
  extern template quicksort_report quicksort_on<this_build>(                             \
      Held*, std::uint64_t*, std::size_t, const number_order&, const quicksort_options&, \
      const environment&);                                                               \
  template distributed_sort_report distributed_sort_on<this_build, Held, void>(          \
      communicator&, distributed_sort::rank_vectors&, const distributed_sort_call&);     \
  template distributed_sort_report distributed_sort_on<this_build, Held, std::uint64_t>( \
      communicator&, distributed_sort::rank_vectors&, const distributed_sort_call&);

namespace ramify::detail::facade::inline RAMIFY_ABI {
RAMIFY_SORT_HELD(std::uint32_t)
RAMIFY_SORT_HELD(std::uint64_t)
RAMIFY_SORT_HELD(double)
}  // namespace ramify::detail::facade::inline RAMIFY_ABI
#undef RAMIFY_SORT_HELD
