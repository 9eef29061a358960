// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What can be asked of a spatial_tree: points in a ball, and nearest neighbours. For CUDA code.
///
///     points        <-- [(0, 0), (1, 0), (0, 3)]        queries <-- [(0, 1), (9, 9)]
///     radius_count(tree.view(), queries, 2, 1.5f, counts);
///     counts        --> [2, 0]
///     nearest(tree.view(), queries, 2, 2, ids, distances2);
///     ids           --> [[0, 1], [2, 1]]                distances2 --> [[1, 2], [117, 145]]
///
/// Queries    n < 2^32 finite points in device memory. Queries near one another in space should be
///            near one another in the array: threads of a warp then walk nearly the same way. Of the
///            tree's own points that is taken care of: nearest_of_own_points().
/// Ball       closed: a point belongs to it if distance2(query, point) <= radius * radius, calculated
///            in Real (geometry.cuh says how, so that brute force can get the same bits).
/// Results    in device memory, and never overlapping the input. Ids are indices of the caller's
///            points. The same for every run, route, schedule and backend.
/// Stream     work before in the stream is ordered with the call, which waits for it.
/// Launches   one grid to look at the queries, and one for each pass over the tree: a thread a query,
///            whose walk keeps a stack of at most 225 nodes. No grid launches another, so the report
///            says "flat". On a GPU a walk takes up to 1.8 KB (3D double: 3.6 KB) of local memory a
///            thread, which the driver sets aside for all threads that fit on the device.
/// Errors     std::invalid_argument for a null array, k == 0, a radius that is negative or NaN, and
///            for a NaN or an infinity in a query, naming it; before anything is written. cuda_error.
/// Complexity O(log n + what is found) for points that are spread evenly; at worst brute force.
/// Not for    balls that hold most of the points (lists), very large k: the heap lies in the output.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/run_control.cuh>
#include <ramify/spatial_tree.cuh>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/radius.cuh>
#include <ramify/spatial_tree/scan.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// The host's side of one call: checks, launches, and the report.
class spatial_query {
 public:
  spatial_query(const char* name, cudaStream_t stream) : name_(name), stream_(stream) {
    report_.taken = route::flat;
    report_.route_reason = "a query launches nothing";
    report_.pending_launch_limit = *current_launch_limits().pending_launches;
  }

  /// \throws std::invalid_argument, cuda_error
  template <class Real, int dim>
  void look_at(const point<Real, dim>* queries, std::size_t n) {
    if (n >> 32 != 0) fail("n must be less than 2^32");
    if (n == 0) return;
    check_device_access(queries, (name_ + ": queries").c_str());
    (void)checked_extent(queries, n, (name_ + ": queries").c_str(), stream_);
    count(1);
  }
  template <class Real>
  void look_at_radius(Real radius) const {
    if (!(radius >= 0)) fail("radius is " + std::to_string(radius) + "; it must be 0 or more");
  }
  void look_at_k(std::size_t k) const {
    if (k == 0 || k >> 31 != 0) fail("k is " + std::to_string(k) + "; it must be in [1, 2^31 - 1]");
  }
  void look_at_result(const void* array, const char* field) const {
    check_device_access(array, (name_ + ": " + field).c_str());
  }

  /// A thread for each of n > 0 queries.
  template <class... Parameters, class... Arguments>
  void ask(void (*kernel)(Parameters...), std::size_t n, Arguments&&... arguments) {
    constexpr unsigned threads = 128;
    const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
    check(launch(kernel, {blocks, threads}, stream_, std::forward<Arguments>(arguments)...).code(),
          "asking a spatial tree");
    count(1);
  }
  void count(unsigned grids) { report_.host_grids += grids; }

  run_report finish() {
    check(cudaStreamSynchronize(stream_), "waiting for the answers of a spatial tree");
    return report_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(name_ + ": " + what);
  }

  std::string name_;
  cudaStream_t stream_;
  run_report report_ = report_of_this_build();
};

/// Counts the points in the ball around each query, into counts[n].
template <class Real, int dim>
run_report radius_count(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                        std::size_t n, std::type_identity_t<Real> radius, std::uint32_t* counts,
                        cudaStream_t stream = nullptr) {
  spatial_query query("radius_count", stream);
  query.look_at_radius(radius);
  if (n > 0) query.look_at_result(counts, "counts");
  query.look_at(queries, n);
  if (n > 0) query.ask(count_within<Real, dim>, n, tree, queries, n, radius * radius, counts);
  return query.finish();
}

/// The points in many balls. Those in ball i are ids[offsets[i]] to ids[offsets[i + 1] - 1].
struct radius_lists {
  device_buffer<std::uint64_t> offsets;  ///< one more than there are queries
  device_buffer<std::uint32_t> ids;
  run_report report;
};

/// Lists the points in the ball around each query, in the tree's order: along the Z curve, and by id
/// where the curve does not tell. The lists are allocated from the pool; a pass that counts tells how
/// long they are.
template <class Real, int dim>
radius_lists radius_list(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                         std::size_t n, std::type_identity_t<Real> radius,
                         cudaStream_t stream = nullptr) {
  spatial_query query("radius_list", stream);
  query.look_at_radius(radius);
  query.look_at(queries, n);
  radius_lists lists;
  lists.offsets = device_buffer<std::uint64_t>(n + 1, stream);
  if (n == 0) {
    check(cudaMemsetAsync(lists.offsets.data(), 0, sizeof(std::uint64_t), stream), "ending a list");
    lists.report = query.finish();
    return lists;
  }
  const device_buffer<std::uint32_t> counts(n, stream);
  const Real radius2 = radius * radius;
  query.ask(count_within<Real, dim>, n, tree, queries, n, radius2, counts.data());
  query.count(scan_counts(counts.data(), n, lists.offsets.data(), stream));
  std::uint64_t total = 0;
  check(cudaMemcpyAsync(&total, lists.offsets.data() + n, sizeof total, cudaMemcpyDeviceToHost,
                        stream),
        "reading the length of the lists");
  check(cudaStreamSynchronize(stream), "waiting for the length of the lists");
  lists.ids = device_buffer<std::uint32_t>(total, stream);
  if (total > 0) {
    query.ask(list_within<Real, dim>, n, tree, queries, n, radius2,
              static_cast<const std::uint64_t*>(lists.offsets.data()), lists.ids.data());
  }
  lists.report = query.finish();
  lists.report.scratch_bytes = n * sizeof(std::uint32_t);
  return lists;
}

/// Most neighbours that a thread keeps in registers.
inline constexpr unsigned nearest_in_registers = 16;

template <class Real, int dim>
run_report nearest_to(spatial_query& query, const spatial_tree_view<Real, dim>& tree,
                      const nearest_questions<Real, dim>& asked, std::uint32_t* ids,
                      Real* distances2) {
  if (asked.n > 0) {
    query.look_at_result(ids, "ids");
    query.look_at_result(distances2, "distances2");
    if (asked.k <= nearest_in_registers) {
      query.ask(nearest_neighbours<Real, dim, short_list<Real, nearest_in_registers>>, asked.n,
                tree, asked, ids, distances2);
    } else {
      query.ask(nearest_neighbours<Real, dim, long_list<Real>>, asked.n, tree, asked, ids,
                distances2);
    }
  }
  return query.finish();
}

/// The k points nearest to each query, nearest first, and of equally near ones those with smaller ids
/// first: ids[n][k] and squared distances distances2[n][k]. Where there are fewer than k points, the
/// rest of the row is no_neighbour and infinity.
template <class Real, int dim>
run_report nearest(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>* queries,
                   std::size_t n, std::size_t k, std::uint32_t* ids, Real* distances2,
                   cudaStream_t stream = nullptr) {
  spatial_query query("nearest", stream);
  query.look_at_k(k);
  query.look_at(queries, n);
  return nearest_to(query, tree, {queries, n, static_cast<unsigned>(k), false}, ids, distances2);
}

/// The same for all points of the tree: row i is of the caller's point i. With `except_self` a point
/// is not its own neighbour; copies of it are.
template <class Real, int dim>
run_report nearest_of_own_points(const spatial_tree_view<Real, dim>& tree, std::size_t k,
                                 bool except_self, std::uint32_t* ids, Real* distances2,
                                 cudaStream_t stream = nullptr) {
  spatial_query query("nearest_of_own_points", stream);
  query.look_at_k(k);
  return nearest_to(query, tree, {nullptr, tree.point_count, static_cast<unsigned>(k), except_self},
                    ids, distances2);
}

}  // namespace ramify::inline RAMIFY_BUILD
