// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/spatial_tree.hpp>

#include <stdexcept>
#include <string>
#include <utility>

#include "facade/backend_choice.hpp"
#include "spatial_tree/on_backend.hpp"

namespace ramify {
namespace {

/// Checks that the result `name` has k elements for each of `rows` queries.
/// \throws std::invalid_argument
void check_size(const char* name, std::size_t size, std::size_t rows, std::size_t k) {
  if (k == 0) throw std::invalid_argument("spatial_index: k is 0; it must be 1 or more");
  // Not size == rows * k: the product may overflow.
  if (size % k == 0 && size / k == rows) return;
  throw std::invalid_argument(std::string("spatial_index: ") + name + " has " +
                              std::to_string(size) + " elements, but " + std::to_string(rows) +
                              " queries have " + std::to_string(k) + " each");
}

/// Returns the report of a query with the index's reason for its backend.
run_report with_reason(run_report report, const run_report& of_index) {
  report.backend_reason = of_index.backend_reason;
  return report;
}

}  // namespace

template <class Real, int dim>
spatial_index<Real, dim>::spatial_index(std::span<const point> points,
                                        const spatial_tree_options& options) {
  validate(options);
  if (to_string(options.backend) == "?") {
    throw std::invalid_argument("spatial_tree_options.backend is none of the enumerators");
  }
  const run_report built = detail::facade::on_backend(
      options.backend, options.trace != nullptr, [&](auto where) -> run_report {
        backend_ = detail::facade::make_spatial_on<where, Real, dim>(points, options);
        return static_cast<const run_report&>(backend_->report);
      });
  backend_->report.backend_reason = built.backend_reason;
}

template <class Real, int dim>
spatial_index<Real, dim>::~spatial_index() = default;
template <class Real, int dim>
spatial_index<Real, dim>::spatial_index(spatial_index&&) noexcept = default;
template <class Real, int dim>
spatial_index<Real, dim>& spatial_index<Real, dim>::operator=(spatial_index&&) noexcept = default;

template <class Real, int dim>
const spatial_tree_report& spatial_index<Real, dim>::report() const {
  return backend_->report;
}

template <class Real, int dim>
run_report spatial_index<Real, dim>::radius_count(std::span<const point> queries, Real radius,
                                                  std::span<std::uint32_t> counts) const {
  check_size("counts", counts.size(), queries.size(), 1);
  return with_reason(backend_->radius_count(queries, radius, counts.data()), report());
}

template <class Real, int dim>
neighbor_lists spatial_index<Real, dim>::radius_list(std::span<const point> queries,
                                                     Real radius) const {
  neighbor_lists lists = backend_->radius_list(queries, radius);
  lists.report = with_reason(std::move(lists.report), report());
  return lists;
}

template <class Real, int dim>
run_report spatial_index<Real, dim>::nearest(std::span<const point> queries, std::size_t k,
                                             std::span<std::uint32_t> ids,
                                             std::span<Real> distances2) const {
  check_size("ids", ids.size(), queries.size(), k);
  check_size("distances2", distances2.size(), queries.size(), k);
  return with_reason(backend_->nearest(queries, k, ids.data(), distances2.data()), report());
}

template <class Real, int dim>
run_report spatial_index<Real, dim>::all_nearest_neighbors(std::size_t k, bool exclude_self,
                                                           std::span<std::uint32_t> ids,
                                                           std::span<Real> distances2) const {
  check_size("ids", ids.size(), report().points, k);
  check_size("distances2", distances2.size(), report().points, k);
  return with_reason(
      backend_->all_nearest_neighbors(k, exclude_self, ids.data(), distances2.data()), report());
}

template class spatial_index<float, 2>;
template class spatial_index<float, 3>;
template class spatial_index<double, 2>;
template class spatial_index<double, 3>;

}  // namespace ramify
