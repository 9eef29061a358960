// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The nearest neighbors of queries: nearest(), all_nearest_neighbors(). queries.cuh states what
/// holds for all queries.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/query_run.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Starts to find the k points nearest to each query, sorted by distance, then by id. If the tree
/// has fewer than k points, the rest of a row is no_neighbor and infinity.
/// \param queries     n points in device memory
/// \param n           a number, or a device_count
/// \param k           in [1, 2^31 - 1]; up to 64 candidates are kept in registers, more in the
///                    result
/// \param ids         n rows of k ids in device memory
/// \param distances2  n rows of k squared distances in device memory, or distances: see
///                    options.squared
/// \param env         its memory: spatial_query_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
async_run<run_report> nearest_async(const spatial_tree_view<Real, dim>& tree,
                                    const point<Real, dim>* queries, const detail::element_count& n,
                                    std::size_t k, std::uint32_t* ids, Real* distances2,
                                    const spatial_query_options& options,
                                    const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  const internal::query_setup setup("nearest", tree, n, options, env);
  setup.check_row("k", k);
  setup.check_array(ids, "ids");
  setup.check_array(distances2, "distances2");
  return internal::start_query<run_report>(
      setup, queries, internal::metric_choice(tree, options.period),
      [k, ids, distances2](auto& call) {
        call.run_nearest(static_cast<unsigned>(k), false, ids, distances2);
      });
}
/// Overload with the default options.
template <class Real, int dim>
auto nearest_async(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   const detail::element_count& n, std::size_t k, std::uint32_t* ids,
                   Real* distances2, const environment& env = {}) {
  return nearest_async(tree, queries, n, k, ids, distances2, spatial_query_options{}, env);
}

/// Finds the k points nearest to each query: nearest_async() and get().
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
run_report nearest(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   const detail::element_count& n, std::size_t k, std::uint32_t* ids,
                   Real* distances2, const spatial_query_options& options,
                   const environment& env = {}) {
  return nearest_async(tree, queries, n, k, ids, distances2, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class Real, int dim>
run_report nearest(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   const detail::element_count& n, std::size_t k, std::uint32_t* ids,
                   Real* distances2, const environment& env = {}) {
  return nearest(tree, queries, n, k, ids, distances2, spatial_query_options{}, env);
}

/// Starts to find the k nearest neighbors of every point of the tree, sorted by distance, then by
/// id. Row i belongs to the caller's point i. If there are fewer than k neighbors, the rest of a
/// row is no_neighbor and infinity.
/// \param k             in [1, 2^31 - 1]
/// \param exclude_self  a point is not its own neighbor; copies of it are neighbors
/// \param ids           a row of k ids per point, in device memory
/// \param distances2    a row of k squared distances per point, in device memory, or distances: see
///                      options.squared
/// \param env           its memory is not used
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
async_run<run_report> all_nearest_neighbors_async(const spatial_tree_view<Real, dim>& tree,
                                                  std::size_t k, bool exclude_self,
                                                  std::uint32_t* ids, Real* distances2,
                                                  const spatial_query_options& options,
                                                  const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  const internal::query_setup setup("all_nearest_neighbors", tree, tree.point_count, options, env);
  setup.require_complete_tree();
  setup.check_row("k", k);
  setup.check_array(ids, "ids");
  setup.check_array(distances2, "distances2");
  if (setup.n == 0) return run_without_work(setup, run_report{}, internal::without_queries);
  return std::make_unique<internal::own_neighbors_run<Real, dim>>(setup, static_cast<unsigned>(k),
                                                                  exclude_self, ids, distances2);
}
/// Overload with the default options.
template <class Real, int dim>
auto all_nearest_neighbors_async(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool exclude_self, std::uint32_t* ids, Real* distances2,
                                 const environment& env = {}) {
  return all_nearest_neighbors_async(tree, k, exclude_self, ids, distances2,
                                     spatial_query_options{}, env);
}

/// Finds the k nearest neighbors of every point of the tree: all_nearest_neighbors_async() and
/// get(). \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
run_report all_nearest_neighbors(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool exclude_self, std::uint32_t* ids, Real* distances2,
                                 const spatial_query_options& options,
                                 const environment& env = {}) {
  return all_nearest_neighbors_async(tree, k, exclude_self, ids, distances2, options,
                                     detail::waiting(env))
      .get();
}
/// Overload with the default options.
template <class Real, int dim>
run_report all_nearest_neighbors(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool exclude_self, std::uint32_t* ids, Real* distances2,
                                 const environment& env = {}) {
  return all_nearest_neighbors(tree, k, exclude_self, ids, distances2, spatial_query_options{},
                               env);
}

}  // namespace ramify::inline RAMIFY_BUILD
