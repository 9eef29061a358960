// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/amr.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <ramify/amr/refine.cuh>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "amr/on_backend.hpp"
#include "amr/problem_of.cuh"
#include "facade/backend_choice.hpp"

namespace ramify {
namespace {

void check_dimensions(int dimensions) {
  if (dimensions == 2 || dimensions == 3) return;
  throw std::invalid_argument("amr_options.dimensions is " + std::to_string(dimensions) +
                              "; it must be 2 or 3");
}

void check_at_least_0(const char* field, double value) {
  if (value >= 0 && std::isfinite(value)) return;
  std::ostringstream text;
  text << "amr_options." << field << " is " << value << "; it must be finite and at least 0";
  throw std::invalid_argument(text.str());
}

/// The members of a run_view that fill_from_initial_state uses, for the cells of a snapshot.
template <class Physics>
struct snapshot_view {
  static constexpr int dim = Physics::dimensions;
  using real = typename Physics::real;
  using values = typename Physics::values;

  const mesh_snapshot& mesh;
  Physics physics;

  [[nodiscard]] real spacing(int level, int axis) const { return mesh.spacing(level, axis); }
  void center(const block_place<dim>& block, const int (&cell)[dim], real (&where)[dim]) const {
    for (int axis = 0; axis < dim; ++axis) {
      const auto a = std::size_t(axis);
      where[axis] = mesh.lower[a] + (double(block.index[axis]) * mesh.cells + cell[axis] + 0.5) *
                                        spacing(block.level, axis);
    }
  }
};

/// Calls `use(leaf, cell, number of the cell in its block, place)` for each cell.
template <int dim, class Use>
void for_each_cell(const mesh_snapshot& mesh, Use use) {
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    block_place<dim> place{};
    place.level = mesh.leaves[leaf].level;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      place.index[axis] = mesh.leaves[leaf].index[axis];
    }
    for (std::size_t number = 0; number < mesh.cells_of_a_block(); ++number) {
      int cell[dim];
      int rest = int(number);
      for (int& at : cell) {
        at = rest % mesh.cells;
        rest /= mesh.cells;
      }
      use(leaf, number, place, cell);
    }
  }
}

/// Replaces conserved values by primitive ones.
template <int dim>
void make_primitive(const amr_options& options, mesh_snapshot& mesh) {
  const std::size_t in_block = mesh.cells_of_a_block();
  detail::amr::with_problem<double, dim>(
      options, [&]<class Physics>(const Physics& physics, const auto&) {
        constexpr std::size_t variables = Physics::variables;
        for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
          double* const first = mesh.values.data() + leaf * variables * in_block;
          for (std::size_t cell = 0; cell < in_block; ++cell) {
            typename Physics::values u;
            for (std::size_t v = 0; v < variables; ++v) u[int(v)] = first[v * in_block + cell];
            u = physics.to_primitive(u);
            for (std::size_t v = 0; v < variables; ++v) first[v * in_block + cell] = u[int(v)];
          }
        }
      });
}

/// amr_simulation::change_since_start().
template <int dim>
std::vector<double> change_of(const amr_options& options, const mesh_snapshot& mesh) {
  return detail::amr::with_problem<double, dim>(
      options, [&]<class Physics, class Initial>(const Physics& physics, const Initial& initial) {
        const snapshot_view<Physics> view{mesh, physics};
        const detail::amr::fill_from_initial_state<Initial> start{initial};
        std::vector<double> change(std::size_t(Physics::variables), 0.0);
        double volume = 0;
        for_each_cell<dim>(mesh, [&](std::size_t leaf, std::size_t number,
                                     const block_place<dim>& place, const int(&cell)[dim]) {
          double size = 1;
          for (int axis = 0; axis < dim; ++axis) size *= view.spacing(place.level, axis);
          volume += size;
          const auto was = start.at(view, place, cell);
          for (std::size_t v = 0; v < change.size(); ++v) {
            change[v] += size * std::fabs(mesh.field(leaf, v)[number] - was[int(v)]);
          }
        });
        for (double& each : change) each /= volume;
        return change;
      });
}

template <detail::facade::build where>
std::unique_ptr<detail::facade::amr_on_backend> make_on(const amr_options& options,
                                                        const amr_state* state) {
  using detail::facade::make_amr_on;
  if (options.precision == amr_precision::float_) {
    return options.dimensions == 2 ? make_amr_on<where, float, 2>(options, state)
                                   : make_amr_on<where, float, 3>(options, state);
  }
  return options.dimensions == 2 ? make_amr_on<where, double, 2>(options, state)
                                 : make_amr_on<where, double, 3>(options, state);
}

/// Makes the run, and returns the reason for its backend.
std::string make_run(const amr_options& options, const amr_state* state,
                     std::unique_ptr<detail::facade::amr_on_backend>& run) {
  validate(options);
  return detail::facade::on_backend(options.backend, options.trace != nullptr,
                                    [&](auto where) {
                                      run = make_on<where>(options, state);
                                      return run->report();
                                    })
      .backend_reason;
}

}  // namespace

std::string_view to_string(amr_problem problem) {
  switch (problem) {
    case amr_problem::sod: return "sod";
    case amr_problem::sedov: return "sedov";
    case amr_problem::kelvin_helmholtz: return "kelvin-helmholtz";
    case amr_problem::linear_wave: return "linear-wave";
    case amr_problem::advect_gaussian: return "advect-gaussian";
    case amr_problem::vortex_in_box: return "vortex-in-box";
  }
  return "?";
}

std::string_view to_string(amr_criterion criterion) {
  switch (criterion) {
    case amr_criterion::gradient: return "gradient";
    case amr_criterion::loehner: return "loehner";
  }
  return "?";
}

std::string_view to_string(amr_precision precision) {
  switch (precision) {
    case amr_precision::double_: return "double";
    case amr_precision::float_: return "float";
  }
  return "?";
}

amr_problem parse_amr_problem(std::string_view text) {
  using enum amr_problem;
  return parse_choice(
      "problem", text,
      std::array{sod, sedov, kelvin_helmholtz, linear_wave, advect_gaussian, vortex_in_box});
}
amr_criterion parse_amr_criterion(std::string_view text) {
  return parse_choice("criterion", text,
                      std::array{amr_criterion::gradient, amr_criterion::loehner});
}
amr_precision parse_amr_precision(std::string_view text) {
  return parse_choice("precision", text, std::array{amr_precision::double_, amr_precision::float_});
}

amr_options recommended_options(amr_problem problem, int dimensions, amr_criterion criterion) {
  check_dimensions(dimensions);
  amr_options options;
  options.problem = problem;
  options.dimensions = dimensions;
  options.criterion = criterion;
  const bool flat = dimensions == 2;
  const auto all_sides = [&](boundary side) {
    for (auto& of_axis : options.mesh.sides) of_axis = {side, side};
  };
  const auto refine = [&](double gradient) {
    const double above = criterion == amr_criterion::gradient ? gradient : 0.5;
    options.regrid.refine_above = above;
    options.regrid.coarsen_below = above / 4;
  };
  // Blocks have half as many cells along an edge in 3D.
  options.mesh.roots = flat ? std::array{2u, 2u, 1u} : std::array{4u, 4u, 4u};
  options.mesh.max_level = flat ? 3 : 2;
  switch (problem) {
    case amr_problem::sod:
      all_sides(boundary::outflow);
      options.end_time = 0.2;
      refine(0.02);
      break;
    case amr_problem::sedov:
      options.mesh.lower = {-1.2, -1.2, -1.2};
      options.mesh.upper = {1.2, 1.2, 1.2};
      all_sides(boundary::outflow);
      options.criterion_variable = dimensions + 1;  // pressure
      options.end_time = 1;
      refine(0.1);
      break;
    case amr_problem::kelvin_helmholtz:
      all_sides(boundary::periodic);
      options.gamma = 5.0 / 3;
      options.end_time = 1.5;
      options.step.cfl = 0.8;
      refine(0.12);  // above the initial jumps, so that only the rolls get the finest blocks
      break;
    case amr_problem::linear_wave:
      all_sides(boundary::periodic);
      options.gamma = 5.0 / 3;
      options.end_time = return_time(options);
      options.step.cfl = 0.8;
      refine(detail::amr::wave_amplitude * 0.1);
      break;
    case amr_problem::advect_gaussian:
      all_sides(boundary::periodic);
      options.end_time = return_time(options);
      options.step.cfl = 0.8;
      options.gradient_floor = 0.5;
      refine(0.02);
      break;
    case amr_problem::vortex_in_box:
      all_sides(boundary::reflecting);
      options.end_time = return_time(options);
      options.step.cfl = 0.8;
      options.gradient_floor = 0.5;
      refine(0.05);
      break;
  }
  return options;
}

void validate(const amr_options& options) {
  if (to_string(options.problem) == "?") {
    throw std::invalid_argument("amr_options.problem is none of the enumerators");
  }
  check_dimensions(options.dimensions);
  if (to_string(options.precision) == "?") {
    throw std::invalid_argument("amr_options.precision is none of the enumerators");
  }
  if (to_string(options.criterion) == "?") {
    throw std::invalid_argument("amr_options.criterion is none of the enumerators");
  }
  const int variables = detail::amr::is_gas(options.problem) ? options.dimensions + 2 : 1;
  if (options.criterion_variable < 0 || options.criterion_variable >= variables) {
    throw std::invalid_argument("amr_options.criterion_variable is " +
                                std::to_string(options.criterion_variable) +
                                "; it must be in [0, " + std::to_string(variables - 1) + "]");
  }
  check_at_least_0("gradient_floor", options.gradient_floor);
  check_at_least_0("loehner_filter", options.loehner_filter);
  check_at_least_0("end_time", options.end_time);
  if (!(options.gamma > 1) || !std::isfinite(options.gamma)) {
    throw std::invalid_argument("amr_options.gamma is " + std::to_string(options.gamma) +
                                "; it must be finite and above 1");
  }
  validate(static_cast<const amr_config&>(options), options.dimensions);
}

std::vector<std::string> field_names(const amr_options& options, amr_fields kind) {
  if (!detail::amr::is_gas(options.problem)) return {"concentration"};
  std::vector<std::string> names{"density"};
  for (int axis = 0; axis < options.dimensions; ++axis) {
    const char* const what = kind == amr_fields::primitive ? "velocity_" : "momentum_";
    names.push_back(what + std::string(1, char('x' + axis)));
  }
  names.emplace_back(kind == amr_fields::primitive ? "pressure" : "energy");
  return names;
}

double return_time(const amr_options& options) {
  switch (options.problem) {
    case amr_problem::linear_wave:  // it runs along the diagonal at speed 1
      return 1 / (detail::amr::wave_crests * std::sqrt(double(options.dimensions)));
    case amr_problem::advect_gaussian: return 1;
    case amr_problem::vortex_in_box: return detail::amr::vortex_period(options.dimensions);
    default: return 0;
  }
}

amr_simulation::amr_simulation(const amr_options& options)
    : options_(options), backend_reason_(make_run(options, nullptr, run_)) {}
amr_simulation::amr_simulation(const amr_options& options, const amr_state& state)
    : options_(options), backend_reason_(make_run(options, &state, run_)) {}
amr_simulation::~amr_simulation() = default;
amr_simulation::amr_simulation(amr_simulation&&) noexcept = default;
amr_simulation& amr_simulation::operator=(amr_simulation&&) noexcept = default;

void amr_simulation::advance(std::uint64_t steps, double stop_time) {
  run_->advance(steps, stop_time);
}
void amr_simulation::advance_to(double stop_time) {
  advance(std::numeric_limits<std::uint64_t>::max(), stop_time);
}
double amr_simulation::time() const { return run_->report().time; }
std::uint64_t amr_simulation::steps() const { return run_->report().steps; }
std::vector<double> amr_simulation::totals() const { return run_->totals(); }

mesh_snapshot amr_simulation::snapshot(amr_fields kind) const {
  mesh_snapshot mesh = run_->snapshot();
  if (kind == amr_fields::primitive) {
    options_.dimensions == 2 ? make_primitive<2>(options_, mesh)
                             : make_primitive<3>(options_, mesh);
    mesh.fields = field_names(options_, kind);
  }
  return mesh;
}

std::vector<double> amr_simulation::change_since_start() const {
  const mesh_snapshot mesh = run_->snapshot();
  return options_.dimensions == 2 ? change_of<2>(options_, mesh) : change_of<3>(options_, mesh);
}

amr_state amr_simulation::state() const { return run_->state(); }

amr_report amr_simulation::report() const {
  amr_report report = run_->report();
  report.backend_reason = backend_reason_;
  return report;
}

}  // namespace ramify
