// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// query_list(): the points that each query finds, as lists; and the callbacks that count and list
/// points. Public: <ramify/spatial_tree.cuh> includes this header.

#include <cstddef>
#include <cstdint>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/query.cuh>
#include <ramify/spatial_tree/radius_queries.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The callback of query() that writes the number of matches of each query to `counts`.
struct count_matches {
  std::uint32_t* counts;  ///< one for each query

  /// Returns the state of a query: its count.
  [[nodiscard]] __device__ std::uint32_t begin(std::uint32_t) const { return 0; }
  /// Counts a match.
  template <class Real>
  __device__ void operator()(std::uint32_t& count, const spatial_match<Real>&) const {
    ++count;
  }
  /// Stores the count.
  __device__ void end(std::uint32_t query, std::uint32_t count) const { counts[query] = count; }
};

/// The callback of query() that writes the points of query i to ids[offsets[i]] and what follows.
struct list_matches {
  const std::uint64_t* offsets;  ///< of the list of each query
  std::uint32_t* ids;            ///< of all lists

  /// Returns the place of the list.
  [[nodiscard]] __device__ std::uint32_t* begin(std::uint32_t query) const {
    return ids + offsets[query];
  }
  /// Appends a match to the list.
  template <class Real>
  __device__ void operator()(std::uint32_t*& next, const spatial_match<Real>& m) const {
    *next++ = m.point;
  }
};

/// Lists the points that each query finds, in two passes: with count_matches, and with list_matches
/// after the lists were allocated from the stream-ordered pool. The list of a query
/// has the order of the calls of a callback (query.cuh). For pairs_within() there is a list for
/// each point, in the caller's order. Waits for the stream several times.
/// \param predicates  see predicates.cuh; their n must be a number of the host
/// \param env         its memory: query_scratch_bytes()
/// \return lists; their memory is freed in the stream, which must outlive them
/// \throws std::invalid_argument, unavailable, cuda_error, as query(); std::length_error if
///         options.max_listed_ids is exceeded; unavailable while the stream is being captured
template <class Real, int dim, class Predicates>
device_neighbor_lists query_list(const spatial_tree_view<Real, dim>& tree,
                                 const Predicates& predicates, const spatial_query_options& options,
                                 const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  const detail::element_count of_queries = internal::count_of(predicates, tree);
  const internal::query_setup setup("query_list", tree, of_queries, options, detail::waiting(env));
  setup.require_complete_tree();
  setup.require_number();
  if (setup.captured) {
    throw unavailable("query_list: a graph cannot capture lists, whose memory the call allocates");
  }
  const device_buffer<std::uint32_t> lengths(setup.n + 1, setup.stream);
  const auto write_lists = [&](auto& call, device_neighbor_lists& lists) {
    // 2. Allocate the lists, and write them.
    internal::allocate_lists(lengths.data(), setup.n, options, setup.stream, lists);
    if (lists.ids.size() == 0) return;
    internal::search_of(predicates, tree,
                        list_matches{lists.offsets.data(), lists.ids.data()})(call);
  };
  // 1. Count the points of each list.
  const count_matches count{lengths.data()};
  if (setup.n > 0) {
    return internal::start_search<device_neighbor_lists>(setup, predicates, count, write_lists)
        .get();
  }
  device_neighbor_lists none;
  none.report = query(tree, predicates, count, options, env);
  internal::allocate_lists(lengths.data(), 0, options, setup.stream, none);
  return none;
}
/// Overload with the default options.
template <class Real, int dim, class Predicates>
device_neighbor_lists query_list(const spatial_tree_view<Real, dim>& tree,
                                 const Predicates& predicates, const environment& env = {}) {
  return query_list(tree, predicates, spatial_query_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
