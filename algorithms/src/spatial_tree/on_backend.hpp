// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The interface between spatial_index and the backends. Each backend's implementation is compiled
/// separately, for the GPU and for the CPU executor.

#include <memory>
#include <ramify/spatial_tree.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

/// A spatial tree on one backend. Its functions are those of spatial_index without size checks.
template <class Real, int dim>
class spatial_backend {
 public:
  using point = std::array<Real, dim>;
  virtual ~spatial_backend() = default;

  virtual run_report radius_count(std::span<const point> queries, Real radius,
                                  std::uint32_t* counts) const = 0;
  virtual neighbor_lists radius_list(std::span<const point> queries, Real radius) const = 0;
  virtual run_report nearest(std::span<const point> queries, std::size_t k, std::uint32_t* ids,
                             Real* distances2) const = 0;
  virtual run_report all_nearest_neighbors(std::size_t k, bool exclude_self, std::uint32_t* ids,
                                           Real* distances2) const = 0;

  spatial_tree_report report;  ///< of the build
};

/// Builds a tree on the backend `where`. One definition per build.
template <build where, class Real, int dim>
std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on(
    std::span<const std::array<Real, dim>> points, const spatial_tree_options& options);

}  // namespace ramify::detail::facade
