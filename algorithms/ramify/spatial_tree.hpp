// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// spatial_index for plain C++: compiled code behind std::span, on whatever machine runs it.
///
///     std::vector<std::array<float, 3>> points = ...;
///     const ramify::spatial_index<float, 3> index(points);
///     std::cout << index.report();                         // on which backend, by which route
///     std::vector<std::uint32_t> ids(10 * points.size());
///     std::vector<float> distances2(ids.size());
///     index.nearest_of_own_points(10, true, ids, distances2);
///
/// Points    float or double, two- or three-dimensional, finite, fewer than 2^31, in any order.
/// Memory    ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back, device and managed memory is read and written
///           in place. Results must not overlap the queries or one another. The tree has points of
///           its own: the caller's are read by the constructor alone.
/// Waits     each call, until its result is there. One call at a time on an index.
/// Errors    std::invalid_argument for a bad argument, and for a NaN or an infinity, naming the
///           point; unavailable for a backend or a route that this machine or this build cannot
///           run; all before anything is written. cuda_error, device_launch_error.
/// Cost      as <ramify/spatial_tree.cuh> and <ramify/spatial_queries.cuh>, which say what the tree
///           is; on the CUDA backend host memory adds the copies.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/options.hpp>
#include <ramify/spatial_tree/config.hpp>
#include <span>
#include <vector>

namespace ramify {

namespace facade {
template <class Real, int dim>
class spatial_backend;
}

struct spatial_options : run_options {
  /// As in spatial_tree_config.
  unsigned leaf_size = spatial_tree_config{}.leaf_size;
  unsigned block_points = spatial_tree_config{}.block_points;
  // run_options::trace gets the build's grids; a query is one grid, of which its report tells all.
};

/// The points in many balls. Those in ball i are ids[offsets[i]] to ids[offsets[i + 1] - 1].
struct neighbour_lists {
  std::vector<std::uint64_t> offsets;  ///< one more than there are queries
  std::vector<std::uint32_t> ids;
  run_report report;
};

/// A spatial tree with points of its own. Move-only; moved-from it may only be destroyed or
/// assigned.
template <class Real, int dim>
class spatial_index {
  static_assert((std::same_as<Real, float> || std::same_as<Real, double>)&&(dim == 2 || dim == 3),
                "compiled for float and double in 2D and 3D; else take <ramify/spatial_tree.cuh>");

 public:
  using point = std::array<Real, dim>;

  explicit spatial_index(std::span<const point> points, const spatial_options& options = {});
  ~spatial_index();
  spatial_index(spatial_index&&) noexcept;
  spatial_index& operator=(spatial_index&&) noexcept;

  /// Of the build.
  [[nodiscard]] const spatial_tree_report& report() const;

  /// Counts the points whose distance to a query is `radius` or less.
  /// \throws std::invalid_argument if `counts` is not as long as `queries`, or radius < 0
  run_report radius_count(std::span<const point> queries, Real radius,
                          std::span<std::uint32_t> counts) const;

  /// Lists them, in an order that depends on the tree's points alone.
  [[nodiscard]] neighbour_lists radius_list(std::span<const point> queries, Real radius) const;

  /// The k nearest points to each query, nearest first, equally near ones by their index: a row of
  /// k ids and squared distances for each query. Where there are fewer than k points, the rest of a
  /// row is no_neighbour and infinity.
  /// \throws std::invalid_argument if the results are not k times as long as `queries`, or k == 0
  run_report nearest(std::span<const point> queries, std::size_t k, std::span<std::uint32_t> ids,
                     std::span<Real> distances2) const;

  /// The same for all points of the index; with `except_self` a point is not its own neighbour.
  run_report nearest_of_own_points(std::size_t k, bool except_self, std::span<std::uint32_t> ids,
                                   std::span<Real> distances2) const;

 private:
  std::unique_ptr<facade::spatial_backend<Real, dim>> backend_;
};

}  // namespace ramify
