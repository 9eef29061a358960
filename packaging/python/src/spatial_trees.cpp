// SPDX-License-Identifier: BSD-3-Clause
// Spatial trees over points of float or double in two or three dimensions.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <ramify/spatial_tree.hpp>
#include <utility>
#include <variant>

#include "arrays.hpp"

namespace ramify::python {

namespace {

template <class Real, int dim>
using point = std::array<Real, std::size_t{dim}>;

template <class Real, int dim>
std::span<const point<Real, dim>> points_of(const input& array) {
  return {reinterpret_cast<const point<Real, dim>*>(array.data()), array.shape(0)};
}

/// A query's options with a period for each axis, 0 for none. Distances are not squared.
spatial_query_options options_of(const std::array<double, 3>& period, std::size_t max_ids = 0) {
  return {.period = period, .squared = false, .max_listed_ids = max_ids};
}

/// A list of indices for each query, whose memory belongs to Python.
nb::tuple lists_of(neighbor_lists lists) {
  const std::size_t ids = lists.ids.size();
  const std::size_t offsets = lists.offsets.size();
  return nb::make_tuple(array_of<std::int64_t>(std::move(lists.offsets), {offsets}),
                        array_of<std::int32_t>(std::move(lists.ids), {ids}));
}

class spatial_tree {
 public:
  spatial_tree(const input& points, unsigned leaf_size, const environment& env) {
    const bool is_3d = points.shape(1) == 3;
    const spatial_tree_options options{.leaf_size = leaf_size};
    const bool is_float = points.dtype() == nb::dtype<float>();
    const nb::gil_scoped_release other_threads_may_run;
    if (is_float && is_3d) build<float, 3>(points, options, env);
    if (is_float && !is_3d) build<float, 2>(points, options, env);
    if (!is_float && is_3d) build<double, 3>(points, options, env);
    if (!is_float && !is_3d) build<double, 2>(points, options, env);
  }

  std::string report() const {
    std::ostringstream text;
    std::visit([&](const auto& index) { text << index->report(); }, index_);
    return text.str();
  }

  std::string nearest(const input& queries, std::size_t k, const output& ids,
                      const output& distances, const std::array<double, 3>& period,
                      const environment& env) const {
    return visit([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.nearest(points_of<Real, dim>(queries), k, indices(ids),
                           elements<Real>(distances), options_of(period), env);
    });
  }

  std::string neighbors(std::size_t k, bool exclude_self, const output& ids,
                        const output& distances, const std::array<double, 3>& period,
                        const environment& env) const {
    return visit([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.all_nearest_neighbors(k, exclude_self, indices(ids), elements<Real>(distances),
                                         options_of(period), env);
    });
  }

  std::string ball_count(const input& queries, double radius, const output& counts,
                         const std::array<double, 3>& period, const environment& env) const {
    return visit([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.radius_count(points_of<Real, dim>(queries), static_cast<Real>(radius),
                                indices(counts), options_of(period), env);
    });
  }

  started_run nearest_async(const input& queries, std::size_t k, const output& ids,
                            const output& distances, const std::array<double, 3>& period,
                            const environment& env) const {
    return start([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.nearest_async(points_of<Real, dim>(queries), k, indices(ids),
                                 elements<Real>(distances), options_of(period), env);
    });
  }

  started_run neighbors_async(std::size_t k, bool exclude_self, const output& ids,
                              const output& distances, const std::array<double, 3>& period,
                              const environment& env) const {
    return start([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.all_nearest_neighbors_async(k, exclude_self, indices(ids),
                                               elements<Real>(distances), options_of(period), env);
    });
  }

  started_run ball_count_async(const input& queries, double radius, const output& counts,
                               const std::array<double, 3>& period, const environment& env) const {
    return start([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.radius_count_async(points_of<Real, dim>(queries), static_cast<Real>(radius),
                                      indices(counts), options_of(period), env);
    });
  }

  /// \throws nb::python_error, a MemoryError, if there are more than `max_ids` ids
  nb::tuple ball_list(const input& queries, double radius, const std::array<double, 3>& period,
                      std::size_t max_ids, const environment& env) const {
    return lists_of(std::visit(
        [&]<class Real, int dim>(const std::unique_ptr<spatial_index<Real, dim>>& index) {
          return within_limit([&] {
            return index->radius_list(points_of<Real, dim>(queries), static_cast<Real>(radius),
                                      options_of(period, max_ids), env);
          });
        },
        index_));
  }

  void refit(const input& positions, const environment& env) {
    std::visit(
        [&]<class Real, int dim>(const std::unique_ptr<spatial_index<Real, dim>>& index) {
          const nb::gil_scoped_release other_threads_may_run;
          index->refit(points_of<Real, dim>(positions), env);
        },
        index_);
  }

  std::string clusters(double radius, std::uint32_t min_points, const output& labels,
                       const std::array<double, 3>& period, const environment& env) const {
    return visit([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.find_clusters(static_cast<Real>(radius), indices(labels), min_points,
                                 options_of(period), env);
    });
  }

  started_run clusters_async(double radius, std::uint32_t min_points, const output& labels,
                             const std::array<double, 3>& period, const environment& env) const {
    return start([&]<class Real, int dim>(const spatial_index<Real, dim>& index) {
      return index.find_clusters_async(static_cast<Real>(radius), indices(labels), min_points,
                                       options_of(period), env);
    });
  }

 private:
  template <class Real, int dim>
  using index_ptr = std::unique_ptr<spatial_index<Real, dim>>;

  template <class Real, int dim>
  void build(const input& points, const spatial_tree_options& options, const environment& env) {
    index_ = std::make_unique<spatial_index<Real, dim>>(points_of<Real, dim>(points), options, env);
  }

  /// Calls `run` with the index and returns the text of the report.
  template <class Run>
  std::string visit(Run run) const {
    return std::visit([&](const auto& index) { return outcome_of([&] { return run(*index); }); },
                      index_);
  }

  /// Calls `run` with the index; it returns an async_run.
  template <class Run>
  started_run start(Run run) const {
    return std::visit(
        [&](const auto& index) { return without_lock([&] { return started_run(run(*index)); }); },
        index_);
  }

  std::variant<index_ptr<float, 2>, index_ptr<float, 3>, index_ptr<double, 2>, index_ptr<double, 3>>
      index_;
};

}  // namespace

void add_spatial_trees(nb::module_& module) {
  const auto written = [](const char* name) { return nb::arg(name).noconvert(); };
  nb::class_<spatial_tree> tree(module, "SpatialTree");
  tree.def(nb::init<const input&, unsigned, const environment&>(), nb::arg("points").noconvert(),
           nb::arg("leaf_size"), nb::arg("env"), nb::keep_alive<1, 4>())
      .def("refit", &spatial_tree::refit, written("positions"), nb::arg("env"))
      .def("report", &spatial_tree::report)
      .def("ball_list", &spatial_tree::ball_list, written("queries"), nb::arg("radius"),
           nb::arg("period"), nb::arg("max_ids"), nb::arg("env"));
  const auto define_clusters = [&](const char* name, auto method) {
    tree.def(name, method, nb::arg("radius"), nb::arg("min_points"), written("labels"),
             nb::arg("period"), nb::arg("env"));
  };
  define_clusters("clusters", &spatial_tree::clusters);
  define_clusters("clusters_async", &spatial_tree::clusters_async);
  const auto define_nearest = [&](const char* name, auto method) {
    tree.def(name, method, written("queries"), nb::arg("k"), written("ids"), written("distances"),
             nb::arg("period"), nb::arg("env"));
  };
  define_nearest("nearest", &spatial_tree::nearest);
  define_nearest("nearest_async", &spatial_tree::nearest_async);
  const auto define_neighbors = [&](const char* name, auto method) {
    tree.def(name, method, nb::arg("k"), nb::arg("exclude_self"), written("ids"),
             written("distances"), nb::arg("period"), nb::arg("env"));
  };
  define_neighbors("neighbors", &spatial_tree::neighbors);
  define_neighbors("neighbors_async", &spatial_tree::neighbors_async);
  const auto define_ball_count = [&](const char* name, auto method) {
    tree.def(name, method, written("queries"), nb::arg("radius"), written("counts"),
             nb::arg("period"), nb::arg("env"));
  };
  define_ball_count("ball_count", &spatial_tree::ball_count);
  define_ball_count("ball_count_async", &spatial_tree::ball_count_async);
}

}  // namespace ramify::python
