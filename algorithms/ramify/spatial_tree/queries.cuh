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
/// Queries    n < 2^32 finite points in device memory. Queries that are close in space should be
///            close in the array: the threads of a warp then visit nearly the same nodes.
///            all_nearest_neighbors() does this for the tree's own points.
/// Ball       closed: it contains the points p with distance2(query, p) <= radius * radius,
///            computed in Real. geometry.cuh states the arithmetic; brute force can get the same
///            bits.
/// Results    in device memory; they must not overlap the input. Ids are indices into the caller's
///            points. The results are the same on every run, route, schedule and backend.
/// Stream     earlier work in the stream is ordered before the call. Every call waits for the
///            stream.
/// Launches   one grid checks the queries, and one grid is launched per pass over the tree, with
///            one thread per query. radius_list() also calls CUB's device scan, whose grids are not
///            in the report. A thread keeps a stack of at most 225 nodes. No grid launches
///            another, so the report has the route "flat". On a GPU a thread needs up to 1.8 KB (3D
///            double: 3.6 KB) of local memory, which the driver reserves for all resident threads.
/// Errors     std::invalid_argument for a null array, k == 0, a negative or NaN radius, and for a
///            NaN or an infinity in a query (the message names it), before any result is written;
///            cuda_error.
/// Complexity O(log n + results) per query for evenly distributed points; brute force in the worst
///            case.
/// Not for    lists of balls that contain most of the points; very large k, because the candidate
///            heap is in the output array.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/scan.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/radius.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The host side of one call over n queries: checks, launches, and the report.
class query_call {
 public:
  /// \throws std::invalid_argument if the build of `tree` may be incomplete
  template <class Real, int dim>
  query_call(const char* name, const spatial_tree_view<Real, dim>& tree, std::size_t n,
             cudaStream_t stream)
      : name_(name), n_(n), stream_(stream) {
    if (tree.built != nullptr) fail("the build of the tree may be incomplete: call get() first");
    report_.pending_launch_limit = *current_launch_limits().pending_launches;
  }

  /// Checks that all queries are finite. Waits for the stream if there are any.
  /// \throws std::invalid_argument, cuda_error
  template <class Real, int dim>
  void check_queries(const point<Real, dim>* queries) {
    if (n_ >> 32 != 0) fail("n must be less than 2^32");
    if (n_ == 0) return;
    const std::string field = name_ + ": queries";
    check_device_access(queries, field.c_str());
    (void)checked_bounds(queries, n_, field.c_str(), stream_);
    ++report_.host_grids;
  }
  template <class Real>
  void check_radius(Real radius) const {
    if (!(radius >= 0)) fail("radius is " + std::to_string(radius) + "; it must be 0 or more");
  }
  void check_k(std::size_t k) const {
    if (k == 0 || k >> 31 != 0) fail("k is " + std::to_string(k) + "; it must be in [1, 2^31 - 1]");
  }
  void check_result(const void* array, const char* field) const {
    if (n_ > 0) check_device_access(array, (name_ + ": " + field).c_str());
  }

  /// Launches `kernel` with one thread for each query, if there are any.
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), const Arguments&... arguments) {
    if (n_ == 0) return;
    launch_each<128>(kernel, n_, stream_, "querying a spatial tree", arguments...);
    ++report_.host_grids;
  }

  /// Waits for the stream and returns the report.
  run_report finish() {
    check(cudaStreamSynchronize(stream_), "waiting for the queries of a spatial tree");
    return report_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(name_ + ": " + what);
  }

  phase_range range_{"spatial_tree: query"};
  std::string name_;
  std::size_t n_;
  cudaStream_t stream_;
  run_report report_ = report_of_this_build({route::flat, "queries launch no child grids"});
};

/// Maximum k for which a thread keeps its candidates in registers.
inline constexpr unsigned max_k_in_registers = 16;

/// Runs checked nearest-neighbor queries.
template <class Real, int dim>
run_report run_nearest(query_call& call, const spatial_tree_view<Real, dim>& tree,
                       const nearest_queries<Real, dim>& batch, std::uint32_t* ids,
                       Real* distances2) {
  call.check_result(ids, "ids");
  call.check_result(distances2, "distances2");
  call.run(batch.k <= max_k_in_registers
               ? nearest_neighbors<Real, dim, candidate_list<Real, max_k_in_registers>>
               : nearest_neighbors<Real, dim, candidate_heap<Real>>,
           tree, batch, ids, distances2);
  return call.finish();
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Counts the points in the ball around each query.
/// \param queries  n points in device memory
/// \param radius   of all balls, 0 or more
/// \param counts   n counts in device memory
/// Waits for `stream`. Scratch: at most 64 KB, from the stream-ordered pool.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report radius_count(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        std::size_t n, std::type_identity_t<Real> radius, std::uint32_t* counts,
                        cudaStream_t stream = nullptr) {
  detail::spatial_tree::query_call call("radius_count", tree, n, stream);
  call.check_radius(radius);
  call.check_result(counts, "counts");
  call.check_queries(queries);
  call.run(detail::spatial_tree::count_within<Real, dim>, tree, queries, n, radius * radius,
           counts);
  return call.finish();
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
/// \return lists whose memory is freed in `stream`, which must outlive them
/// Waits for `stream` twice. Scratch: 4 bytes per query. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
device_neighbor_lists radius_list(const spatial_tree_view<Real, dim>& tree,
                                  const point<Real, dim>* queries, std::size_t n,
                                  std::type_identity_t<Real> radius,
                                  cudaStream_t stream = nullptr) {
  detail::spatial_tree::query_call call("radius_list", tree, n, stream);
  call.check_radius(radius);
  call.check_queries(queries);
  // 1. Count the points of each list.
  const device_buffer<std::uint32_t> counts(n + 1, stream);
  clear_memory(counts.data() + n, 1, stream, "writing the end of the counts");
  call.run(detail::spatial_tree::count_within<Real, dim>, tree, queries, n, radius * radius,
           counts.data());
  // 2. Each list begins where the one before it ends.
  device_neighbor_lists lists;
  lists.offsets = device_buffer<std::uint64_t>(n + 1, stream);
  detail::scan_counts(counts.data(), n + 1, lists.offsets.data(), stream);
  lists.ids = device_buffer<std::uint32_t>(
      read_back(lists.offsets.data() + n, stream, "reading the length of the lists"), stream);
  // 3. Write the lists.
  if (lists.ids.size() > 0) {
    call.run(detail::spatial_tree::list_within<Real, dim>, tree, queries, n, radius * radius,
             lists.offsets.data(), lists.ids.data());
  }
  lists.report = call.finish();
  lists.report.scratch_bytes = n * sizeof(std::uint32_t);
  return lists;
}

/// Finds the k points nearest to each query, sorted by distance, then by id. If the tree has fewer
/// than k points, the rest of a row is no_neighbor and infinity.
/// \param queries     n points in device memory
/// \param k           in [1, 2^31 - 1]; up to 16 candidates are kept in registers
/// \param ids         n rows of k ids in device memory
/// \param distances2  n rows of k squared distances in device memory
/// Waits for `stream`. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report nearest(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   std::size_t n, std::size_t k, std::uint32_t* ids, Real* distances2,
                   cudaStream_t stream = nullptr) {
  detail::spatial_tree::query_call call("nearest", tree, n, stream);
  call.check_k(k);
  call.check_queries(queries);
  return detail::spatial_tree::run_nearest(
      call, tree, {queries, n, static_cast<unsigned>(k), false}, ids, distances2);
}

/// Finds the k nearest neighbors of every point of the tree, sorted by distance, then by id. Row i
/// belongs to the caller's point i. If there are fewer than k neighbors, the rest of a row is
/// no_neighbor and infinity.
/// \param k             in [1, 2^31 - 1]
/// \param exclude_self  a point is not its own neighbor; copies of it are neighbors
/// \param ids           a row of k ids per point, in device memory
/// \param distances2    a row of k squared distances per point, in device memory
/// Waits for `stream`. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
run_report all_nearest_neighbors(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool exclude_self, std::uint32_t* ids, Real* distances2,
                                 cudaStream_t stream = nullptr) {
  detail::spatial_tree::query_call call("all_nearest_neighbors", tree, tree.point_count, stream);
  call.check_k(k);
  return detail::spatial_tree::run_nearest(
      call, tree, {nullptr, tree.point_count, static_cast<unsigned>(k), exclude_self}, ids,
      distances2);
}

}  // namespace ramify::inline RAMIFY_BUILD
