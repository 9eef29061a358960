// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of <ramify/spatial_tree.cuh> that the facade instantiates. A test that links the
/// facade declares them `extern`, so that it does not compile them again.

#define RAMIFY_SPATIAL_FUNCTIONS(EXTERN, Real, dim)                                               \
  EXTERN template ramify::async_run<ramify::spatial_tree<Real, dim>>                              \
  ramify::detail::spatial_tree::start_build(const point<Real, dim>*, const std::size_t&,          \
                                            const spatial_tree_options&, const environment&,      \
                                            bool);                                                \
  EXTERN template ramify::async_run<ramify::run_report> ramify::radius_count_async(               \
      const spatial_tree_view<Real, dim>&, const point<Real, dim>*, const detail::element_count&, \
      Real, std::uint32_t*, const spatial_query_options&, const environment&);                    \
  EXTERN template ramify::async_run<ramify::device_neighbor_lists> ramify::radius_list_async(     \
      const spatial_tree_view<Real, dim>&, const point<Real, dim>*, std::size_t, Real,            \
      const spatial_query_options&, const environment&);                                          \
  EXTERN template ramify::async_run<ramify::radius_rows_report> ramify::radius_rows_async(        \
      const spatial_tree_view<Real, dim>&, const point<Real, dim>*, const detail::element_count&, \
      Real, const radius_row_arrays&, const spatial_query_options&, const environment&);          \
  EXTERN template ramify::async_run<ramify::run_report> ramify::nearest_async(                    \
      const spatial_tree_view<Real, dim>&, const point<Real, dim>*, const detail::element_count&, \
      std::size_t, std::uint32_t*, Real*, const spatial_query_options&, const environment&);      \
  EXTERN template ramify::async_run<ramify::run_report> ramify::all_nearest_neighbors_async(      \
      const spatial_tree_view<Real, dim>&, std::size_t, bool, std::uint32_t*, Real*,              \
      const spatial_query_options&, const environment&);                                          \
  EXTERN template ramify::async_run<ramify::spatial_cluster_report> ramify::find_clusters_async(  \
      const spatial_tree_view<Real, dim>&, Real, std::uint32_t*, std::uint32_t,                   \
      const spatial_query_options&, const environment&);
