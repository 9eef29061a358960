// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// spatial_index for plain C++: compiled spatial trees over std::span, on any backend.
///
///     std::vector<std::array<float, 3>> points = ...;
///     const ramify::spatial_index<float, 3> index(points);
///     std::cout << index.report();                         // the backend and the route
///     std::vector<std::uint32_t> ids(10 * points.size());
///     std::vector<float> distances2(ids.size());
///     index.all_nearest_neighbors(10, true, ids, distances2);
///
/// Points    fewer than 2^31 finite points of float or double, in two or three dimensions, in any
///           order and of any magnitude: <ramify/spatial_tree/queries.cuh> states how squares that
///           leave the range of the type are compared.
/// Options   of a query: spatial_query_options, such as {.period = {1, 1, 1}} for a periodic box,
///           and {.squared = false} for distances instead of their squares.
/// Stream    each call is ordered after earlier work in environment::stream. The stream and the
///           memory of the constructor's environment must outlive the index. A query has its own
///           environment, and runs on the backend of the index. It is flat on either route.
/// Memory    ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back; device and managed memory is used in place.
///           Results must not overlap the queries or one another. The tree has its own copy of the
///           points; the caller's points are read only by the constructor.
/// Waits     each call returns when its result is complete, except functions whose names end in
///           _async: work that enters the stream after such a call sees the result, and get() of
///           the run waits. On the CUDA backend their arrays must be in device, managed or pinned
///           memory. Arrays and index must exist until get() has returned. Several threads may call
///           const members of an index at the same time.
/// Capture   a graph can capture the _async functions. Arrays, index and run must exist as long as
///           the graph may be launched. If no memory is handed in, the run has memory of its own.
/// Errors    std::invalid_argument for a bad argument, and for a NaN or an infinity (the message
///           names the point); unavailable for a backend or a route that this machine or this build
///           cannot run. All of these are thrown before any result is written. cuda_error,
///           device_launch_error.
/// Cost      as stated in <ramify/spatial_tree.cuh> and <ramify/spatial_tree/queries.cuh>, which
///           also describe the tree. On the CUDA backend host memory adds the copies.

#include <ramify/runtime/detail/requirements.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/version.hpp>
#include <span>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The points in many balls. The list of ball i is ids[offsets[i]] to ids[offsets[i + 1] - 1].
struct neighbor_lists {
  std::vector<std::uint64_t> offsets;  ///< one more element than there are queries
  std::vector<std::uint32_t> ids;      ///< indices of points, list after list
  run_report report;                   ///< the report of the run
};

/// A node of the tree of a spatial_index: some of the points, and the smallest box around them. An
/// inner node has two or more children, which are consecutive nodes.
template <class Real, int dim>
struct spatial_index_node {
  std::array<Real, std::size_t{dim}> lower;  ///< the lower corner of the box around the points
  std::array<Real, std::size_t{dim}> upper;  ///< the upper corner
  std::uint32_t points;                      ///< number of points in the box
  std::uint32_t first_child;                 ///< index of a node; 0 if there is none
  std::uint16_t children;                    ///< number of children; a leaf has 0
  std::uint16_t level;                       ///< the root has level 0

  bool operator==(const spatial_index_node&) const = default;  ///< Compares all members.
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// The tree of a spatial_index on one backend. Its functions are those of spatial_index.
template <class Real, int dim>
class spatial_backend {
 public:
  using point = std::array<Real, std::size_t{dim}>;
  virtual ~spatial_backend() = default;
  virtual run_report radius_count(std::span<const point> queries, Real radius,
                                  std::span<std::uint32_t> counts,
                                  const spatial_query_options& options,
                                  const environment& env) const = 0;
  virtual neighbor_lists radius_list(std::span<const point> queries, Real radius,
                                     const spatial_query_options& options,
                                     const environment& env) const = 0;
  virtual radius_rows_report radius_rows(std::span<const point> queries, Real radius,
                                         std::size_t capacity, std::span<std::uint32_t> ids,
                                         std::span<std::uint32_t> counts,
                                         const spatial_query_options& options,
                                         const environment& env) const = 0;
  virtual run_report nearest(std::span<const point> queries, std::size_t k,
                             std::span<std::uint32_t> ids, std::span<Real> distances2,
                             const spatial_query_options& options,
                             const environment& env) const = 0;
  virtual run_report all_nearest_neighbors(std::size_t k, bool exclude_self,
                                           std::span<std::uint32_t> ids, std::span<Real> distances2,
                                           const spatial_query_options& options,
                                           const environment& env) const = 0;
  virtual async_run<run_report> radius_count_async(std::span<const point> queries, Real radius,
                                                   std::span<std::uint32_t> counts,
                                                   const spatial_query_options& options,
                                                   const environment& env) const = 0;
  virtual async_run<run_report> nearest_async(std::span<const point> queries, std::size_t k,
                                              std::span<std::uint32_t> ids,
                                              std::span<Real> distances2,
                                              const spatial_query_options& options,
                                              const environment& env) const = 0;
  virtual async_run<run_report> all_nearest_neighbors_async(std::size_t k, bool exclude_self,
                                                            std::span<std::uint32_t> ids,
                                                            std::span<Real> distances2,
                                                            const spatial_query_options& options,
                                                            const environment& env) const = 0;
  virtual spatial_cluster_report find_clusters(Real radius, std::span<std::uint32_t> labels,
                                               std::uint32_t min_points,
                                               const spatial_query_options& options,
                                               const environment& env) const = 0;
  virtual async_run<spatial_cluster_report> find_clusters_async(
      Real radius, std::span<std::uint32_t> labels, std::uint32_t min_points,
      const spatial_query_options& options, const environment& env) const = 0;
  virtual std::vector<spatial_index_node<Real, dim>> nodes() const = 0;
  virtual run_times refit(std::span<const point> positions, const environment& env) = 0;

  spatial_tree_report report;  ///< of the build
};

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// A spatial tree with its own copy of the points. Move-only. A moved-from index may only be
/// destroyed or assigned to.
template <class Real, int dim>
class spatial_index {
  static_assert((std::same_as<Real, float> || std::same_as<Real, double>)&&(dim == 2 || dim == 3),
                "compiled for float and double in 2D and 3D; else use <ramify/spatial_tree.cuh>");

 public:
  using point = std::array<Real, std::size_t{dim}>;  ///< A point of the caller.

  /// Builds the tree over `points`.
  /// \param env  its memory: spatial_tree_scratch_bytes() of <ramify/spatial_tree.cuh>
  /// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
  spatial_index(std::span<const point> points, const spatial_tree_options& options,
                const environment& env = {});
  /// Builds with the default options.
  explicit spatial_index(std::span<const point> points, const environment& env = {})
      : spatial_index(points, spatial_tree_options{}, env) {}

  /// Returns the report of the build.
  [[nodiscard]] const spatial_tree_report& report() const { return backend_->report; }

  /// Counts the points whose distance to a query is at most `radius`.
  /// \param counts  one count per query
  /// \param env     its memory: spatial_query_scratch_bytes() of <ramify/spatial_tree.cuh>
  /// \throws std::invalid_argument if counts.size() != queries.size(), or radius < 0; cuda_error
  run_report radius_count(std::span<const point> queries, Real radius,
                          std::span<std::uint32_t> counts, const spatial_query_options& options,
                          const environment& env = {}) const {
    return backend_->radius_count(queries, radius, counts, options, env);
  }
  /// Overload with the default options.
  run_report radius_count(std::span<const point> queries, Real radius,
                          std::span<std::uint32_t> counts, const environment& env = {}) const {
    return radius_count(queries, radius, counts, spatial_query_options{}, env);
  }

  /// Lists the points whose distance to a query is at most `radius`. Their order depends only on
  /// the points of the index.
  /// \param env  its memory: radius_list_scratch_bytes()
  /// \throws std::invalid_argument if radius < 0; std::length_error if the lists have more ids than
  ///         options.max_listed_ids, before they are allocated; cuda_error
  [[nodiscard]] neighbor_lists radius_list(std::span<const point> queries, Real radius,
                                           const spatial_query_options& options,
                                           const environment& env = {}) const {
    return backend_->radius_list(queries, radius, options, env);
  }
  /// Overload with the default options.
  [[nodiscard]] neighbor_lists radius_list(std::span<const point> queries, Real radius,
                                           const environment& env = {}) const {
    return radius_list(queries, radius, spatial_query_options{}, env);
  }

  /// Lists the points whose distance to a query is at most `radius` in rows, in one pass. Row i has
  /// the first points of the list that radius_list() returns; its rest is no_neighbor. All points
  /// are counted: if counts[i] exceeds the capacity, the row is not complete.
  /// \param ids     one row of `capacity` ids per query
  /// \param counts  one count per query
  /// \param env     its memory: spatial_query_scratch_bytes()
  /// \return a report with the number of rows that are not complete
  /// \throws std::invalid_argument if a result has another size, or radius < 0, or capacity == 0;
  ///         cuda_error
  radius_rows_report radius_rows(std::span<const point> queries, Real radius, std::size_t capacity,
                                 std::span<std::uint32_t> ids, std::span<std::uint32_t> counts,
                                 const spatial_query_options& options,
                                 const environment& env = {}) const {
    return backend_->radius_rows(queries, radius, capacity, ids, counts, options, env);
  }
  /// Overload with the default options.
  radius_rows_report radius_rows(std::span<const point> queries, Real radius, std::size_t capacity,
                                 std::span<std::uint32_t> ids, std::span<std::uint32_t> counts,
                                 const environment& env = {}) const {
    return radius_rows(queries, radius, capacity, ids, counts, spatial_query_options{}, env);
  }

  /// Finds the k points nearest to each query, sorted by distance, then by index. If the index has
  /// fewer than k points, the rest of a row is no_neighbor and infinity.
  /// \param ids         one row of k ids per query
  /// \param distances2  one row of k squared distances per query, or distances: see options.squared
  /// \param env         its memory: spatial_query_scratch_bytes()
  /// \throws std::invalid_argument if a result does not have k elements per query, or k == 0;
  ///         cuda_error
  run_report nearest(std::span<const point> queries, std::size_t k, std::span<std::uint32_t> ids,
                     std::span<Real> distances2, const spatial_query_options& options,
                     const environment& env = {}) const {
    return backend_->nearest(queries, k, ids, distances2, options, env);
  }
  /// Overload with the default options.
  run_report nearest(std::span<const point> queries, std::size_t k, std::span<std::uint32_t> ids,
                     std::span<Real> distances2, const environment& env = {}) const {
    return nearest(queries, k, ids, distances2, spatial_query_options{}, env);
  }

  /// Finds the k nearest neighbors of every point of the index, as nearest() does. Row i belongs to
  /// point i. With `exclude_self` a point is not its own neighbor; copies of it are neighbors.
  /// \param env  its memory is not used
  /// \throws std::invalid_argument if a result does not have k elements per point, or k == 0;
  ///         cuda_error
  run_report all_nearest_neighbors(std::size_t k, bool exclude_self, std::span<std::uint32_t> ids,
                                   std::span<Real> distances2, const spatial_query_options& options,
                                   const environment& env = {}) const {
    return backend_->all_nearest_neighbors(k, exclude_self, ids, distances2, options, env);
  }
  /// Overload with the default options.
  run_report all_nearest_neighbors(std::size_t k, bool exclude_self, std::span<std::uint32_t> ids,
                                   std::span<Real> distances2, const environment& env = {}) const {
    return all_nearest_neighbors(k, exclude_self, ids, distances2, spatial_query_options{}, env);
  }

  /// Starts radius_count(), and does not wait. \throws as radius_count()
  async_run<run_report> radius_count_async(std::span<const point> queries, Real radius,
                                           std::span<std::uint32_t> counts,
                                           const spatial_query_options& options,
                                           const environment& env = {}) const {
    return backend_->radius_count_async(queries, radius, counts, options, env);
  }
  /// Starts nearest(), and does not wait. \throws as nearest()
  async_run<run_report> nearest_async(std::span<const point> queries, std::size_t k,
                                      std::span<std::uint32_t> ids, std::span<Real> distances2,
                                      const spatial_query_options& options,
                                      const environment& env = {}) const {
    return backend_->nearest_async(queries, k, ids, distances2, options, env);
  }
  /// Starts all_nearest_neighbors(), and does not wait. \throws as all_nearest_neighbors()
  async_run<run_report> all_nearest_neighbors_async(std::size_t k, bool exclude_self,
                                                    std::span<std::uint32_t> ids,
                                                    std::span<Real> distances2,
                                                    const spatial_query_options& options,
                                                    const environment& env = {}) const {
    return backend_->all_nearest_neighbors_async(k, exclude_self, ids, distances2, options, env);
  }

  /// Finds the clusters of the points of the index: friends of friends, or DBSCAN clusters.
  /// <ramify/spatial_tree/clusters.cuh> states the rules.
  /// \param radius      of the ball around each point, 0 or more: the linking length
  /// \param labels      one label per point: the least index of a core point of its cluster; a
  ///                    border point has the least label of the core points in its ball; noise:
  ///                    no_cluster
  /// \param min_points  in the ball around a core point, itself included; 1: friends of friends
  /// \param env         its memory: find_clusters_scratch_bytes()
  /// \throws std::invalid_argument if labels does not have one element per point, or radius < 0, or
  ///         min_points == 0; cuda_error
  spatial_cluster_report find_clusters(Real radius, std::span<std::uint32_t> labels,
                                       std::uint32_t min_points,
                                       const spatial_query_options& options,
                                       const environment& env = {}) const {
    return backend_->find_clusters(radius, labels, min_points, options, env);
  }
  /// Overload with the default options.
  spatial_cluster_report find_clusters(Real radius, std::span<std::uint32_t> labels,
                                       std::uint32_t min_points = 1,
                                       const environment& env = {}) const {
    return find_clusters(radius, labels, min_points, spatial_query_options{}, env);
  }
  /// Starts find_clusters(), and does not wait. \throws as find_clusters()
  async_run<spatial_cluster_report> find_clusters_async(Real radius,
                                                        std::span<std::uint32_t> labels,
                                                        std::uint32_t min_points,
                                                        const spatial_query_options& options,
                                                        const environment& env = {}) const {
    return backend_->find_clusters_async(radius, labels, min_points, options, env);
  }
  /// Overload with the default options.
  async_run<spatial_cluster_report> find_clusters_async(Real radius,
                                                        std::span<std::uint32_t> labels,
                                                        std::uint32_t min_points = 1,
                                                        const environment& env = {}) const {
    return find_clusters_async(radius, labels, min_points, spatial_query_options{}, env);
  }

  /// Moves all points: the nodes keep their points, and get the boxes of the new positions. Queries
  /// have the results that a new index has, except that the order of a list remains that of the
  /// build. The more points have moved apart, the longer queries take: then build an index again.
  /// No other thread may use the index at the same time. Complexity: O(points + nodes).
  /// \param positions  one for each point, in the caller's order
  /// \param env        its stream and its trace are used
  /// \return the times of the call
  /// \throws std::invalid_argument if positions does not have one element per point, or naming the
  ///         first position that is not finite, before anything is changed; cuda_error
  run_times refit(std::span<const point> positions, const environment& env = {}) {
    return backend_->refit(positions, env);
  }

  /// Returns a copy of all nodes in host memory, for example to draw the tree. Node 0 is the root;
  /// an index without points has no nodes. The nodes depend on the points and on
  /// spatial_tree_options::leaf_size alone, but the index of a node may change from run to run.
  /// \throws cuda_error
  [[nodiscard]] std::vector<spatial_index_node<Real, dim>> nodes() const {
    return backend_->nodes();
  }

 private:
  std::unique_ptr<detail::facade::spatial_backend<Real, dim>> backend_;
};

}  // namespace ramify::inline RAMIFY_ABI
