// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The points in balls: radius_count(), radius_list(), radius_rows(). queries.cuh states what holds
/// for all queries.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/detail/scan.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/query_run.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// Starts to count the points in the ball around each query.
/// \param queries  n points in device memory
/// \param n        a number, or a device_count
/// \param radius   of all balls, 0 or more
/// \param counts   n counts in device memory
/// \param env      its memory: spatial_query_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
async_run<run_report> radius_count_async(const spatial_tree_view<Real, dim>& tree,
                                         const point<Real, dim>* queries,
                                         const detail::element_count& n,
                                         std::type_identity_t<Real> radius, std::uint32_t* counts,
                                         const spatial_query_options& options,
                                         const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  const internal::query_setup setup("radius_count", tree, n, options, env);
  setup.check_radius(radius);
  setup.check_array(counts, "counts");
  return internal::start_query<run_report>(
      setup, queries, internal::metric_choice(tree, options.period, radius),
      [counts](auto& call) { call.run_pass(internal::count_pass{counts}); });
}
/// Overload with the default options.
template <class Real, int dim>
auto radius_count_async(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        const detail::element_count& n, std::type_identity_t<Real> radius,
                        std::uint32_t* counts, const environment& env = {}) {
  return radius_count_async(tree, queries, n, radius, counts, spatial_query_options{}, env);
}

/// Counts the points in the ball around each query: radius_count_async() and get().
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
run_report radius_count(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        const detail::element_count& n, std::type_identity_t<Real> radius,
                        std::uint32_t* counts, const spatial_query_options& options,
                        const environment& env = {}) {
  return radius_count_async(tree, queries, n, radius, counts, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class Real, int dim>
run_report radius_count(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        const detail::element_count& n, std::type_identity_t<Real> radius,
                        std::uint32_t* counts, const environment& env = {}) {
  return radius_count(tree, queries, n, radius, counts, spatial_query_options{}, env);
}

/// The points in many balls, in device memory. The list of ball i is ids[offsets[i]] to
/// ids[offsets[i + 1] - 1].
struct device_neighbor_lists {
  device_buffer<std::uint64_t> offsets;  ///< one more element than there are queries
  device_buffer<std::uint32_t> ids;      ///< indices of points, list after list
  run_report report;                     ///< the report of the run
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Allocates lists of these lengths, of which there is one element more than lists. Waits for the
/// stream. \throws std::length_error if they exceed options.max_listed_ids in sum; cuda_error
template <class = void>
void allocate_lists(std::uint32_t* lengths, std::size_t n, const spatial_query_options& options,
                    cudaStream_t stream, device_neighbor_lists& lists) {
  // Each list begins where the one before it ends.
  clear_memory(lengths + n, 1, stream, "writing the end of the counts");
  lists.offsets = device_buffer<std::uint64_t>(n + 1, stream);
  scan_counts(lengths, n + 1, lists.offsets.data(), stream);
  const std::uint64_t ids =
      read_back(lists.offsets.data() + n, stream, "reading the length of lists");
  if (options.max_listed_ids != 0 && ids > options.max_listed_ids) {
    throw std::length_error("the lists of a query have " + std::to_string(ids) +
                            " ids, which exceeds spatial_query_options.max_listed_ids, " +
                            std::to_string(options.max_listed_ids));
  }
  lists.ids = device_buffer<std::uint32_t>(ids, stream);
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Lists the points in the ball around each query, in the tree's order: by Morton code, then by id.
/// A first pass counts the points; the lists are then allocated from the stream-ordered pool. Only
/// the device has their sizes, so the call waits for the stream, and a graph cannot capture it.
/// With completion::by_get it only starts the checks of the queries; get() does the rest, and the
/// queries must not change before it has returned.
/// \param queries  n points in device memory
/// \param radius   of all balls, 0 or more
/// \param env      its memory: radius_list_scratch_bytes()
/// \return a run whose get() returns lists; their memory is freed in the stream, which must outlive
///         them. get() throws std::length_error if options.max_listed_ids is exceeded
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
async_run<device_neighbor_lists> radius_list_async(const spatial_tree_view<Real, dim>& tree,
                                                   const point<Real, dim>* queries, std::size_t n,
                                                   std::type_identity_t<Real> radius,
                                                   const spatial_query_options& options,
                                                   const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  const internal::query_setup setup("radius_list", tree, n, options, env);
  setup.require_complete_tree();
  setup.check_radius(radius);
  if (setup.captured) {
    throw unavailable("radius_list: a graph cannot capture lists, whose memory get() allocates");
  }
  const auto write_lists = [options](auto& call, device_neighbor_lists& lists) {
    // 2. Allocate the lists.
    internal::allocate_lists(call.memory().list_lengths, call.n(), options, call.stream(), lists);
    // 3. Write the lists.
    if (lists.ids.size() == 0) return;
    call.run_pass(internal::list_pass{call.tree().ids, lists.offsets.data(), lists.ids.data()});
  };
  return internal::start_query<device_neighbor_lists>(
      setup, queries, internal::metric_choice(tree, options.period, radius),
      [](auto& call) {
        // 1. Count the points of each list.
        call.run_pass(internal::count_pass{call.memory().list_lengths});
      },
      write_lists);
}
/// Overload with the default options.
template <class Real, int dim>
auto radius_list_async(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                       std::size_t n, std::type_identity_t<Real> radius,
                       const environment& env = {}) {
  return radius_list_async(tree, queries, n, radius, spatial_query_options{}, env);
}

/// Lists the points in the ball around each query: radius_list_async() and get(). Waits for the
/// stream several times. \throws std::invalid_argument, std::length_error, unavailable, cuda_error
template <class Real, int dim>
device_neighbor_lists radius_list(const spatial_tree_view<Real, dim>& tree,
                                  const point<Real, dim>* queries, std::size_t n,
                                  std::type_identity_t<Real> radius,
                                  const spatial_query_options& options,
                                  const environment& env = {}) {
  return radius_list_async(tree, queries, n, radius, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class Real, int dim>
device_neighbor_lists radius_list(const spatial_tree_view<Real, dim>& tree,
                                  const point<Real, dim>* queries, std::size_t n,
                                  std::type_identity_t<Real> radius, const environment& env = {}) {
  return radius_list(tree, queries, n, radius, spatial_query_options{}, env);
}

/// The result of radius_rows(), in device memory: n rows of `capacity` ids, and n counts.
struct radius_row_arrays {
  std::size_t capacity;   ///< of a row, in points
  std::uint32_t* ids;     ///< rows of indices of points
  std::uint32_t* counts;  ///< matches of each query
};

/// Starts to list the points in the ball around each query in rows of `capacity` elements, in one
/// pass. Row i has the first points of the list that radius_list() returns; its rest is
/// no_neighbor. All points are counted: if counts[i] exceeds the capacity, the row is not complete.
/// \param queries  n points in device memory
/// \param n        a number, or a device_count
/// \param radius   of all balls, 0 or more
/// \param rows     the result; the capacity is in [1, 2^31 - 1]
/// \param env      its memory: spatial_query_scratch_bytes()
/// \return a run whose report has the number of rows that are not complete
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
async_run<radius_rows_report> radius_rows_async(const spatial_tree_view<Real, dim>& tree,
                                                const point<Real, dim>* queries,
                                                const detail::element_count& n,
                                                std::type_identity_t<Real> radius,
                                                const radius_row_arrays& rows,
                                                const spatial_query_options& options,
                                                const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  const internal::query_setup setup("radius_rows", tree, n, options, env);
  setup.check_radius(radius);
  setup.check_row("capacity", rows.capacity);
  setup.check_array(rows.ids, "ids");
  setup.check_array(rows.counts, "counts");
  return internal::start_query<radius_rows_report>(
      setup, queries, internal::metric_choice(tree, options.period, radius),
      [rows](auto& call) {
        call.run_pass(internal::row_pass{call.tree().ids, rows.ids, rows.counts,
                                         static_cast<std::uint32_t>(rows.capacity),
                                         &call.memory().state->counts.truncated});
      },
      [](auto& call, radius_rows_report& report) {
        report.truncated = call.read_counts().truncated;
      });
}
/// Overload with the default options.
template <class Real, int dim>
auto radius_rows_async(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                       const detail::element_count& n, std::type_identity_t<Real> radius,
                       const radius_row_arrays& rows, const environment& env = {}) {
  return radius_rows_async(tree, queries, n, radius, rows, spatial_query_options{}, env);
}

/// Lists the points in the ball around each query in rows: radius_rows_async() and get().
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
radius_rows_report radius_rows(const spatial_tree_view<Real, dim>& tree,
                               const point<Real, dim>* queries, const detail::element_count& n,
                               std::type_identity_t<Real> radius, const radius_row_arrays& rows,
                               const spatial_query_options& options, const environment& env = {}) {
  return radius_rows_async(tree, queries, n, radius, rows, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class Real, int dim>
radius_rows_report radius_rows(const spatial_tree_view<Real, dim>& tree,
                               const point<Real, dim>* queries, const detail::element_count& n,
                               std::type_identity_t<Real> radius, const radius_row_arrays& rows,
                               const environment& env = {}) {
  return radius_rows(tree, queries, n, radius, rows, spatial_query_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
