// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <ramify/amr/distributed_settings.hpp>
#include <ramify/distributed_amr.hpp>
#include <string>

#include "amr/problem_values.hpp"
#include "distributed_amr/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify {
namespace {

using run_pointer = std::unique_ptr<detail::facade::distributed_amr_on_backend>;

template <detail::facade::build where>
run_pointer make_on(communicator& ranks, const amr_options& options, const amr_state* state) {
  return detail::facade::with_dimensions(options, [&]<int dim>() {
    return detail::facade::make_distributed_amr_on<where, double, dim>(ranks, options, state);
  });
}

shared_settings settings_of(const amr_options& options, bool continues) {
  shared_settings settings("distributed_amr_simulation");
  settings.add("amr_options.problem", options.problem);
  settings.add("amr_options.dimensions", options.dimensions);
  settings.add("amr_options.precision", options.precision);
  settings.add("amr_options.criterion", options.criterion);
  settings.add("amr_options.criterion_variable", options.criterion_variable);
  settings.add("amr_options.gradient_floor", options.gradient_floor);
  settings.add("amr_options.loehner_filter", options.loehner_filter);
  settings.add("amr_options.gamma", options.gamma);
  settings.add("amr_options.end_time", options.end_time);
  settings.add("distributed_amr_simulation: whether it continues from a state", continues);
  detail::amr::add_fields(settings, options, options.dimensions == 3 ? 3 : 2);
  return settings;
}

}  // namespace

void validate_for_ranks(const amr_options& options) {
  detail::amr::require(options.precision == amr_precision::double_, "amr_options.precision",
                       to_string(options.precision), "double on several ranks");
  validate_for_ranks(static_cast<const amr_config&>(options));
}

distributed_amr_simulation::distributed_amr_simulation(communicator& ranks,
                                                       const amr_options& options,
                                                       const amr_state* state)
    : ranks_(&ranks), options_(options) {
  ranks.require_equal(settings_of(options, state != nullptr));
  validate(options);
  validate_for_ranks(options);
  detail::facade::check_backend_of_ranks(ranks, options.backend, "amr_options.backend");
  amr_options chosen = options;
  chosen.backend = ranks.backend();
  detail::facade::on_backend(chosen, [&](auto where) {
    run_ = make_on<where>(ranks, chosen, state);
    return amr_report{};
  });
}

distributed_amr_simulation::distributed_amr_simulation(communicator& ranks,
                                                       const amr_options& options)
    : distributed_amr_simulation(ranks, options, nullptr) {}
distributed_amr_simulation::distributed_amr_simulation(communicator& ranks,
                                                       const amr_options& options,
                                                       const amr_state& state)
    : distributed_amr_simulation(ranks, options, &state) {}
distributed_amr_simulation::~distributed_amr_simulation() = default;
distributed_amr_simulation::distributed_amr_simulation(distributed_amr_simulation&&) noexcept =
    default;
distributed_amr_simulation& distributed_amr_simulation::operator=(
    distributed_amr_simulation&&) noexcept = default;

void distributed_amr_simulation::advance(std::uint64_t steps, double stop_time) {
  run_->advance(steps, stop_time);
}
void distributed_amr_simulation::advance_to(double stop_time) {
  advance(std::numeric_limits<std::uint64_t>::max(), stop_time);
}
double distributed_amr_simulation::time() const { return run_->time(); }
std::uint64_t distributed_amr_simulation::steps() const { return run_->steps(); }
std::vector<double> distributed_amr_simulation::totals() const { return run_->totals(); }

mesh_snapshot distributed_amr_simulation::snapshot(amr_fields kind) const {
  mesh_snapshot mesh = run_->snapshot();
  detail::facade::convert_to(kind, options_, mesh);
  return mesh;
}

mesh_part_snapshot distributed_amr_simulation::own_snapshot(amr_fields kind) const {
  mesh_part_snapshot part = run_->own_snapshot();
  detail::facade::convert_to(kind, options_, part);
  return part;
}

std::vector<double> distributed_amr_simulation::change_since_start() const {
  const mesh_snapshot mesh = run_->snapshot();
  std::array<double, 8> change{};  // a value is broadcast in host memory
  if (ranks_->rank() == 0) {
    std::ranges::copy(detail::facade::change_since_start(mesh, options_), change.begin());
  }
  change = ranks_->broadcast(change, 0);
  return {change.begin(), change.begin() + std::ptrdiff_t(mesh.fields.size())};
}

amr_state distributed_amr_simulation::state() const { return run_->state(); }

distributed_amr_report distributed_amr_simulation::report() const {
  distributed_amr_report report = run_->report();
  report.backend_reason = ranks_->backend_reason();
  return report;
}

}  // namespace ramify
