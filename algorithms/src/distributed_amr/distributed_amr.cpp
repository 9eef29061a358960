// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <ramify/distributed_amr.hpp>
#include <ramify/distributed_amr/settings.hpp>
#include <string>
#include <vector>

#include "amr/problem_values.hpp"
#include "distributed_amr/on_backend.hpp"
#include "facade/on_ranks.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

using run_pointer = std::unique_ptr<detail::facade::distributed_amr_on_backend>;

template <detail::facade::build where>
run_pointer make_on(communicator& ranks, const amr_setup& setup, const amr_state* state,
                    const environment& env) {
  using namespace detail::facade;
  return with_group(setup, [&]<int dim, physics_group group>() {
    return make_distributed_amr_on<where, double, dim, group>(ranks, setup, state, env);
  });
}

void add_regions(shared_settings& settings, const std::vector<amr_region>& regions) {
  settings.add("amr_setup.regions", regions.size());
  for (const amr_region& region : regions) {
    // This does not compile without a field.
    const auto& [shape, point, upper, radius, normal, density, velocity, pressure] = region;
    settings.add("amr_setup.regions: a shape", shape);
    for (const auto* triple : {&point, &upper, &normal, &velocity}) {
      for (const double value : *triple) settings.add("amr_setup.regions: a coordinate", value);
    }
    settings.add("amr_setup.regions: a radius", radius);
    settings.add("amr_setup.regions: a density", density);
    settings.add("amr_setup.regions: a pressure", pressure);
  }
}

void add_refinement(shared_settings& settings, const std::vector<amr_refined_box>& boxes,
                    int buffer_cells) {
  settings.add("amr_setup.buffer_cells", buffer_cells);
  settings.add("amr_setup.refined_boxes", boxes.size());
  for (const amr_refined_box& box : boxes) {
    const auto& [lower, upper, level] = box;
    for (const auto* triple : {&lower, &upper}) {
      for (const double value : *triple) {
        settings.add("amr_setup.refined_boxes: a coordinate", value);
      }
    }
    settings.add("amr_setup.refined_boxes: a level", level);
  }
}

shared_settings settings_of(const amr_setup& setup, const environment& env, bool continues) {
  // This does not compile without a field.
  const auto& [problem, dimensions, precision, criterion, criterion_variable, gradient_floor,
               loehner_filter, gamma, gravity, keep_positive, regions, refined_boxes, buffer_cells,
               end_time, options] = setup;
  shared_settings settings("distributed_amr_simulation");
  settings.add("amr_setup.problem", problem);
  settings.add("amr_setup.dimensions", dimensions);
  settings.add("amr_setup.precision", precision);
  settings.add("amr_setup.criterion", criterion);
  settings.add("amr_setup.criterion_variable", criterion_variable);
  settings.add("amr_setup.gradient_floor", gradient_floor);
  settings.add("amr_setup.loehner_filter", loehner_filter);
  settings.add("amr_setup.gamma", gamma);
  for (const double pull : gravity) settings.add("amr_setup.gravity", pull);
  settings.add("amr_setup.keep_positive", keep_positive);
  add_regions(settings, regions);
  add_refinement(settings, refined_boxes, buffer_cells);
  settings.add("amr_setup.end_time", end_time);
  settings.add("distributed_amr_simulation: whether it continues from a state", continues);
  detail::amr::add_fields(settings, options, dimensions == 3 ? 3 : 2);
  settings.add(env);
  return settings;
}

}  // namespace

void validate_for_ranks(const amr_setup& setup, const environment& env) {
  detail::amr::require(setup.precision == amr_precision::double_, "amr_setup.precision",
                       to_string(setup.precision), "double on several ranks");
  detail::amr::check_launches_of_ranks(env);
}

distributed_amr_simulation::distributed_amr_simulation(communicator& ranks, const amr_setup& setup,
                                                       const amr_state* state,
                                                       const environment& env)
    : ranks_(&ranks), setup_(setup) {
  ranks.require_equal(settings_of(setup, env, state != nullptr));
  validate(setup);
  validate_for_ranks(setup, env);
  detail::facade::check_backend_of_ranks(ranks, env);
  environment chosen = env;
  chosen.backend = ranks.backend();
  detail::facade::on_backend(chosen, [&](auto where) {
    run_ = make_on<where>(ranks, setup, state, chosen);
    return amr_report{};
  });
}

distributed_amr_simulation::distributed_amr_simulation(communicator& ranks, const amr_setup& setup,
                                                       const environment& env)
    : distributed_amr_simulation(ranks, setup, nullptr, env) {}
distributed_amr_simulation::distributed_amr_simulation(communicator& ranks, const amr_setup& setup,
                                                       const amr_state& state,
                                                       const environment& env)
    : distributed_amr_simulation(ranks, setup, &state, env) {}
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
  detail::facade::convert_to(kind, setup_, mesh);
  return mesh;
}

mesh_part_snapshot distributed_amr_simulation::own_snapshot(amr_fields kind) const {
  mesh_part_snapshot part = run_->own_snapshot();
  detail::facade::convert_to(kind, setup_, part);
  return part;
}

std::vector<double> distributed_amr_simulation::change_since_start() const {
  const mesh_snapshot mesh = run_->snapshot();
  std::array<double, 8> change{};  // a value is broadcast in host memory
  if (ranks_->rank() == 0) {
    std::ranges::copy(detail::facade::change_since_start(mesh, setup_), change.begin());
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

}  // namespace ramify::inline RAMIFY_ABI
