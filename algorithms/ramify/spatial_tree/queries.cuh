// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Queries of a spatial_tree for CUDA code: the points in a ball, and the k nearest neighbors.
/// <ramify/spatial_tree.cuh> includes this header.
///
///     points        <-- [(0, 0), (1, 0), (0, 3)]        queries <-- [(0, 1), (9, 9)]
///     radius_count(tree.view(), queries, 2, 1.5f, counts);
///     counts        --> [2, 0]
///     nearest(tree.view(), queries, 2, 2, ids, distances2);
///     ids           --> [[0, 1], [2, 1]]                distances2 --> [[1, 2], [117, 145]]
///
/// Queries    n < 2^32 finite points in device memory, in any order. On a GPU they are sorted along
///            the Morton curve, unless the queries of a warp are close together already or
///            options.sort is false. The points of the tree, which all_nearest_neighbors() takes,
///            are in this order.
/// Ball       closed: it contains the points p with distance2(query, p) <= radius * radius,
///            computed in Real. geometry.cuh states the arithmetic; brute force can get the same
///            bits.
/// Range      points, queries and radii of any magnitude: results are those of this arithmetic with
///            exponents of any size, although squares may leave the range of Real. Balls are exact
///            for every radius. In a search for neighbors, and in a periodic box, a power of two
///            scales the differences if the greatest of them is not in [2^-39, 2^62) (double:
///            [2^-458, 2^510)), or if a coordinate is less than 2^-62 (2^-510) and not 0. Then
///            distances lose precision if they are less than 2^-123 (2^-1019) of the greatest
///            difference for the same query, and may count as 0 if less than 2^-135 (2^-1046) of
///            it. Without a scale this holds for less than 2^-63 (2^-511) and 2^-75 (2^-538).
///            Squared distances of neighbors that are not in the range of Real become infinity or
///            0, in the right order; with options.squared = false the distances are right.
/// Period     options.period: the edges of a periodic box. Distances are those to the nearest
///            image. Each point is found at most once. A query outside of [upper - period,
///            lower + period], for the corners of the box around the points, is moved by periods,
///            with one rounding.
/// Results    in device memory; they must not overlap the input. Ids are indices into the caller's
///            points. The results are the same on every run, route, schedule and backend.
/// Stream     environment::stream: earlier work in it is ordered before the call. Every call waits
///            for it, so a graph cannot capture a query.
/// Refused    fields of the environment that queries do not use: handed-in memory, a trace, the
///            device route, a graph's loop and a launch limit.
/// Launches   one grid checks the queries, one computes their codes, and one grid is launched per
///            pass over the tree, with one thread per query; in addition the grids of the sort. On
///            a GPU these are CUB's, and radius_list() also calls CUB's device scan: the report
///            does not count them. No grid launches another, so the report has the route "flat". A
///            thread visits the tree with a stack of at most 225 nodes, in up to 1.8 KB (3D double:
///            3.6 KB) of local memory on a GPU, which the driver reserves for all resident threads.
///            Or a warp visits it for 32 balls, in 4.8 KB of shared memory (3D double: 7 KB).
/// Scratch    64 KB for the bounds of the queries; 8 bytes per query for codes and order, on a GPU
///            unless options.sort is false; and the scratch memory of a sort, if there is one:
///            about 9 bytes per query on a GPU. The memory comes from Ramify's stream-ordered pool,
///            or from environment::memory, which must be empty or a resource.
/// Errors     std::invalid_argument for a null array, k == 0, capacity == 0, a negative or NaN
///            radius, and for a NaN or an infinity in a query (the message names it), before any
///            result is written; cuda_error.
/// Complexity O(log n + results) per query for evenly distributed points; brute force in the worst
///            case.
/// Not for    lists of balls that contain most of the points; very large k, because the candidate
///            heap is in the output array.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/scan.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/query_call.cuh>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Runs checked nearest-neighbor queries.
template <class Real, int dim>
run_report run_nearest(query_call& call, const spatial_tree_view<Real, dim>& tree,
                       const nearest_queries<Real, dim>& batch, std::uint32_t* ids,
                       Real* distances2) {
  call.check_result(ids, "ids");
  call.check_result(distances2, "distances2");
  call.run_nearest(tree, batch, ids, distances2);
  return call.finish();
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Counts the points in the ball around each query.
/// \param queries  n points in device memory
/// \param radius   of all balls, 0 or more
/// \param counts   n counts in device memory
/// \param env      its memory: empty, or a resource
/// Waits for the stream.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report radius_count(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        std::size_t n, std::type_identity_t<Real> radius, std::uint32_t* counts,
                        const spatial_query_options& options, const environment& env = {}) {
  detail::spatial_tree::query_call call("radius_count", tree, n, options, env);
  call.check_radius(radius);
  call.check_result(counts, "counts");
  call.run_pass(tree, call.check_queries(queries, true), radius,
                detail::spatial_tree::count_pass{counts});
  return call.finish();
}
template <class Real, int dim>
run_report radius_count(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        std::size_t n, std::type_identity_t<Real> radius, std::uint32_t* counts,
                        const environment& env = {}) {
  return radius_count(tree, queries, n, radius, counts, spatial_query_options{}, env);
}

/// The points in many balls, in device memory. The list of ball i is ids[offsets[i]] to
/// ids[offsets[i + 1] - 1].
struct device_neighbor_lists {
  device_buffer<std::uint64_t> offsets;  ///< one more element than there are queries
  device_buffer<std::uint32_t> ids;
  run_report report;
};

/// Lists the points in the ball around each query, in the tree's order: by Morton code, then by id.
/// A first pass counts the points; the lists are then allocated from the stream-ordered pool.
/// \param queries  n points in device memory
/// \param radius   of all balls, 0 or more
/// \param env      its memory: empty, or a resource
/// \return lists whose memory is freed in the stream, which must outlive them
/// Waits for the stream several times. In addition to Scratch above it takes 4 bytes per query.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim>
device_neighbor_lists radius_list(const spatial_tree_view<Real, dim>& tree,
                                  const point<Real, dim>* queries, std::size_t n,
                                  std::type_identity_t<Real> radius,
                                  const spatial_query_options& options,
                                  const environment& env = {}) {
  detail::spatial_tree::query_call call("radius_list", tree, n, options, env);
  call.check_radius(radius);
  const auto batch = call.check_queries(queries, true);
  // 1. Count the points of each list.
  const auto counts = call.allocate<std::uint32_t>(n + 1);
  clear_memory(counts.data() + n, 1, call.stream(), "writing the end of the counts");
  call.run_pass(tree, batch, radius, detail::spatial_tree::count_pass{counts.data()});
  // 2. Each list begins where the one before it ends.
  device_neighbor_lists lists;
  lists.offsets = device_buffer<std::uint64_t>(n + 1, call.stream());
  detail::scan_counts(counts.data(), n + 1, lists.offsets.data(), call.stream());
  lists.ids = device_buffer<std::uint32_t>(
      read_back(lists.offsets.data() + n, call.stream(), "reading the length of the lists"),
      call.stream());
  // 3. Write the lists.
  if (lists.ids.size() > 0) {
    call.run_pass(
        tree, batch, radius,
        detail::spatial_tree::list_pass{tree.ids, lists.offsets.data(), lists.ids.data()});
  }
  lists.report = call.finish();
  lists.report.scratch_bytes += n * sizeof(std::uint32_t);
  return lists;
}
template <class Real, int dim>
device_neighbor_lists radius_list(const spatial_tree_view<Real, dim>& tree,
                                  const point<Real, dim>* queries, std::size_t n,
                                  std::type_identity_t<Real> radius, const environment& env = {}) {
  return radius_list(tree, queries, n, radius, spatial_query_options{}, env);
}

/// The result of radius_rows(), in device memory: n rows of `capacity` ids, and n counts.
struct radius_row_arrays {
  std::size_t capacity;
  std::uint32_t* ids;
  std::uint32_t* counts;
};

/// Lists the points in the ball around each query in rows of `capacity` elements, in one pass. Row
/// i has the first points of the list that radius_list() returns; its rest is no_neighbor. All
/// points are counted: if counts[i] exceeds the capacity, the row is not complete.
/// \param queries  n points in device memory
/// \param radius   of all balls, 0 or more
/// \param rows     the result; the capacity is in [1, 2^31 - 1]
/// \param env      its memory: empty, or a resource
/// \return a report with the number of rows that are not complete
/// Waits for the stream. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
radius_rows_report radius_rows(const spatial_tree_view<Real, dim>& tree,
                               const point<Real, dim>* queries, std::size_t n,
                               std::type_identity_t<Real> radius, const radius_row_arrays& rows,
                               const spatial_query_options& options, const environment& env = {}) {
  detail::spatial_tree::query_call call("radius_rows", tree, n, options, env);
  call.check_radius(radius);
  call.check_row("capacity", rows.capacity);
  call.check_result(rows.ids, "ids");
  call.check_result(rows.counts, "counts");
  const auto truncated = call.allocate<unsigned long long>(1);
  clear_memory(truncated.data(), 1, call.stream(), "clearing the number of truncated rows");
  call.run_pass(
      tree, call.check_queries(queries, true), radius,
      detail::spatial_tree::row_pass{tree.ids, rows.ids, rows.counts,
                                     static_cast<std::uint32_t>(rows.capacity), truncated.data()});
  const auto found =
      read_back(truncated.data(), call.stream(), "reading the number of truncated rows");
  return {call.finish(), found};
}
template <class Real, int dim>
radius_rows_report radius_rows(const spatial_tree_view<Real, dim>& tree,
                               const point<Real, dim>* queries, std::size_t n,
                               std::type_identity_t<Real> radius, const radius_row_arrays& rows,
                               const environment& env = {}) {
  return radius_rows(tree, queries, n, radius, rows, spatial_query_options{}, env);
}

/// Finds the k points nearest to each query, sorted by distance, then by id. If the tree has fewer
/// than k points, the rest of a row is no_neighbor and infinity.
/// \param queries     n points in device memory
/// \param k           in [1, 2^31 - 1]; up to 64 candidates are kept in registers, more in the
///                    result
/// \param ids         n rows of k ids in device memory
/// \param distances2  n rows of k squared distances in device memory, or distances: see
///                    options.squared
/// \param env         its memory: empty, or a resource
/// Waits for the stream. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report nearest(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   std::size_t n, std::size_t k, std::uint32_t* ids, Real* distances2,
                   const spatial_query_options& options, const environment& env = {}) {
  detail::spatial_tree::query_call call("nearest", tree, n, options, env);
  call.check_row("k", k);
  return detail::spatial_tree::run_nearest(
      call, tree,
      {call.check_queries(queries, false), static_cast<unsigned>(k), false, options.squared}, ids,
      distances2);
}
template <class Real, int dim>
run_report nearest(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   std::size_t n, std::size_t k, std::uint32_t* ids, Real* distances2,
                   const environment& env = {}) {
  return nearest(tree, queries, n, k, ids, distances2, spatial_query_options{}, env);
}

/// Finds the k nearest neighbors of every point of the tree, sorted by distance, then by id. Row i
/// belongs to the caller's point i. If there are fewer than k neighbors, the rest of a row is
/// no_neighbor and infinity.
/// \param k             in [1, 2^31 - 1]
/// \param exclude_self  a point is not its own neighbor; copies of it are neighbors
/// \param ids           a row of k ids per point, in device memory
/// \param distances2    a row of k squared distances per point, in device memory, or distances: see
///                      options.squared
/// \param env           its memory: empty, or a resource
/// Waits for the stream. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report all_nearest_neighbors(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool exclude_self, std::uint32_t* ids, Real* distances2,
                                 const spatial_query_options& options,
                                 const environment& env = {}) {
  detail::spatial_tree::query_call call("all_nearest_neighbors", tree, tree.point_count, options,
                                        env);
  call.check_row("k", k);
  return detail::spatial_tree::run_nearest(call, tree,
                                           {{nullptr, nullptr, tree.point_count},
                                            static_cast<unsigned>(k),
                                            exclude_self,
                                            options.squared},
                                           ids, distances2);
}
template <class Real, int dim>
run_report all_nearest_neighbors(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool exclude_self, std::uint32_t* ids, Real* distances2,
                                 const environment& env = {}) {
  return all_nearest_neighbors(tree, k, exclude_self, ids, distances2, spatial_query_options{},
                               env);
}

}  // namespace ramify::inline RAMIFY_BUILD
