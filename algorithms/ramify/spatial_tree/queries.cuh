// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Queries of a spatial_tree for CUDA code: the points in a ball, and the k nearest neighbors.
/// <ramify/spatial_tree.cuh> includes this header.
///
///     points        <-- [(0, 0), (1, 0), (0, 3)]        queries <-- [(0, 1), (9, 9)]
///     radius_count(tree.view(), queries, 2, 1.5f, counts);
///     counts        --> [2, 0]
///     auto run = nearest_async(tree.view(), queries, 2, 2, ids, distances2);   // does not wait
///     run.get();
///     ids           --> [[0, 1], [2, 1]]                distances2 --> [[1, 2], [117, 145]]
///
/// Queries    n < 2^32 finite points in device memory, in any order. On a GPU they are sorted along
///            the Morton curve, unless the queries of a warp are close together already or
///            options.sort is false. The points of the tree, which all_nearest_neighbors() takes,
///            are in this order.
/// n          a number, or, except for radius_list(), a device_count: then the memory and the sort
///            have the size of its upper bound, and one grid more reads the number. The grids of
///            the search have a bounded number of blocks, which loop over the queries. Neighbors in
///            a scaled metric (Range) are an exception: each 128 queries of the bound have a block.
/// Tree       the view of a complete tree. Or that of spatial_tree_view_in(), before get() of the
///            build, for radius_count(), radius_rows(), nearest() and find_clusters() without
///            periods: then kernels read the numbers and the bounds of the tree. If the build is
///            not complete, because its get() will throw or has grids to launch, no result is
///            written, and get() throws std::logic_error.
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
/// Stream     environment::stream. An _async function returns without waiting, except for
///            radius_list_async(), and later work in the stream sees the complete results before
///            get(), which waits, checks the queries and returns the report. The other functions
///            are _async and get(). The tree, the queries and the results must exist until get()
///            has returned.
/// Memory     environment::memory, spatial_query_scratch_bytes() bytes; radius_list_scratch_bytes()
///            for radius_list(). all_nearest_neighbors() needs none.
/// Graphs     a graph can capture the _async functions, except radius_list_async(), if memory is
///            handed in. Each launch reads the queries that the array then has.
/// Launches   one grid checks the queries, one computes their codes, and one grid is launched per
///            pass over the tree, with one thread per query; in addition the grids of the sort. On
///            a GPU these are CUB's, and radius_list() also calls CUB's device scan: the report
///            does not count them. No grid launches another, so the report has the route "flat" for
///            every environment::route. A thread visits the tree with a stack of at most 225 nodes,
///            in up to 1.8 KB (3D double: 3.6 KB) of local memory on a GPU, which the driver
///            reserves for all resident threads. Or a warp visits it for 32 balls, in 4.8 KB of
///            shared memory (3D double: 7 KB).
/// Async      with completion::in_stream, and in a graph, the host does not read the bounds of the
///            queries. One grid more decides the metric, and the grids of both metrics are
///            launched, of which one ends at once. The queries are always sorted, unless
///            options.sort is false. With completion::by_get, and in functions that wait, get()
///            reads the bounds, launches the search, and does not sort queries in order.
/// Scratch    64 KB for the bounds of the queries; 8 bytes per query for codes and order, on a GPU
///            unless options.sort is false; and the scratch memory of a sort, if there is one:
///            about 9 bytes per query on a GPU. radius_list(): 4 bytes per query more. By default
///            the memory comes from Ramify's stream-ordered pool.
/// Errors     std::length_error if a device_count exceeds its upper bound.
///            std::invalid_argument for a null array, k == 0, capacity == 0, a negative or NaN
///            radius; cuda_error. get() throws std::invalid_argument for a NaN or an infinity in a
///            query (the message names the first such query), and no result is written.
/// Complexity O(log n + results) per query for evenly distributed points; brute force in the worst
///            case.
/// Not for    lists of balls that contain most of the points; very large k, because the candidate
///            heap is in the output array.

#include <cstddef>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/neighbor_queries.cuh>
#include <ramify/spatial_tree/query_checks.cuh>
#include <ramify/spatial_tree/radius_queries.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Returns the memory that radius_count(), radius_rows() or nearest() needs for n queries if it is
/// handed in, in bytes. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
[[nodiscard]] std::size_t spatial_query_scratch_bytes(std::size_t n,
                                                      const spatial_query_options& options = {}) {
  validate(options);
  return detail::spatial_tree::query_sizes::of_call(n, options).template bytes<Real, dim>();
}

/// Returns the memory that radius_list() needs for n queries if it is handed in, in bytes, without
/// the lists. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
[[nodiscard]] std::size_t radius_list_scratch_bytes(std::size_t n,
                                                    const spatial_query_options& options = {}) {
  validate(options);
  auto sizes = detail::spatial_tree::query_sizes::of_call(n, options);
  sizes.has_list_lengths = true;
  return sizes.template bytes<Real, dim>();
}

}  // namespace ramify::inline RAMIFY_BUILD
