// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/spatial_tree.hpp>

#include "facade/backend_choice.hpp"
#include "spatial_tree/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {

template <class Real, int dim>
spatial_index<Real, dim>::spatial_index(std::span<const point> points,
                                        const spatial_tree_options& options,
                                        const environment& env) {
  validate(options);
  validate(env);
  const run_report built = detail::facade::on_backend(env, [&](auto where) -> run_report {
    backend_ = detail::facade::make_spatial_on<where, Real, dim>(points, options, env);
    return static_cast<const run_report&>(backend_->report);
  });
  backend_->report.backend_reason = built.backend_reason;
}

template class spatial_index<float, 2>;
template class spatial_index<float, 3>;
template class spatial_index<double, 2>;
template class spatial_index<double, 3>;

}  // namespace ramify::inline RAMIFY_ABI
