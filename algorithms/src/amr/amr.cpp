// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/amr.hpp>

#include <array>
#include <cmath>
#include <ramify/amr/refine.cuh>
#include <ramify/amr/restore.cuh>

#include "amr/on_backend.hpp"
#include "amr/problem_of.cuh"
#include "amr/problem_values.hpp"
#include "amr/setup_checks.hpp"
#include "facade/backend_choice.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

using detail::amr::require;
using detail::facade::physics_group;
using detail::facade::with_group;

/// The values that recommended_setup() sets for each problem.
struct customary_values {
  boundary sides;
  double end_time;  ///< 0: return_time()
  double gamma;
  double cfl;
  double refine_above;    ///< threshold of the gradient criterion
  double gradient_floor;  ///< of the gradient criterion
};

/// The entries have the order of amr_problem; customize() sets what else a problem has. The
/// threshold of kelvin_helmholtz is above the initial jumps: only the rolls get the finest blocks.
constexpr customary_values customary[] = {
    {boundary::outflow, 0.2, 1.4, 0.4, 0.02, 1e-10},
    {boundary::outflow, 1, 1.4, 0.4, 0.1, 1e-10},
    {boundary::periodic, 1.5, 5.0 / 3, 0.8, 0.12, 1e-10},
    {boundary::periodic, 0, 5.0 / 3, 0.8, detail::amr::wave_amplitude * 0.1, 1e-10},
    {boundary::periodic, 0, 1.4, 0.8, 0.02, 0.5},
    {boundary::reflecting, 0, 1.4, 0.8, 0.05, 0.5},
    {boundary::prescribed, 0.2, 1.4, 0.4, 0.05, 1e-10},
    {boundary::reflecting, 2, 5.0 / 3, 0.4, 0.1, 1e-10},
    {boundary::periodic, 12.75, 1.4, 0.8, 0.05, 1e-10},
    {boundary::reflecting, 0.1, 1.4, 0.4, 0.005, 0.5},
    {boundary::outflow, 0.1, 2, 0.4, 0.02, 1e-10},
    {boundary::periodic, 0.5, 5.0 / 3, 0.8, 0.05, 1e-10},
    {boundary::outflow, 0.15, 1.4, 0.4, 0.05, 1e-10},
    {boundary::reflecting, 4, 1.4, 0.4, 0.05, 1e-10},
    {boundary::outflow, 1, 1.4, 0.4, 0.05, 1e-10},
};

void check_dimensions(int dimensions) {
  require(dimensions == 2 || dimensions == 3, "amr_setup.dimensions", dimensions, "2 or 3");
}

/// \throws std::invalid_argument if the problem does not have so many dimensions
void check_dimensions(amr_problem problem, int dimensions) {
  check_dimensions(dimensions);
  require(dimensions == 2 || !detail::facade::is_flat(problem), "amr_setup.dimensions", dimensions,
          "2 for " + std::string(to_string(problem)));
}

void check_in_range(const std::string& field, double value) {
  require(value >= 0 && value <= 1e30, "amr_setup." + field, value, "in [0, 1e30]");
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
  [[nodiscard]] double edge(const block_place<dim>& block, int axis, int number) const {
    return mesh.lower[std::size_t(axis)] +
           (double(block.index[axis]) * mesh.cells + number) * spacing(block.level, axis);
  }
};

/// Calls `use(leaf, number of the cell in its block)` for each cell.
template <class Use>
void for_each_cell(const mesh_snapshot& mesh, Use use) {
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) use(leaf, cell);
  }
}

/// Replaces conserved values by primitive ones, in all leaves that have values.
template <int dim, physics_group group>
void make_primitive(const amr_setup& setup, mesh_snapshot& mesh) {
  detail::amr::with_problem<double, dim, group>(setup, [&]<class Physics>(const Physics& physics,
                                                                          const auto&) {
    const std::size_t cells = mesh.cells_of_a_block();
    const std::size_t blocks = mesh.values.size() / (cells * mesh.fields.size());
    for (std::size_t block = 0; block < blocks; ++block) {
      double* const first = mesh.values.data() + block * cells * mesh.fields.size();
      for (std::size_t cell = 0; cell < cells; ++cell) {
        const auto value = [&](int v) -> double& { return first[std::size_t(v) * cells + cell]; };
        typename Physics::values u;
        for (int v = 0; v < Physics::variables; ++v) u[v] = value(v);
        u = physics.to_primitive(u);
        for (int v = 0; v < Physics::variables; ++v) value(v) = u[v];
      }
    }
  });
}

/// Implements amr_simulation::change_since_start().
template <int dim, physics_group group>
std::vector<double> change_of(const amr_setup& setup, const mesh_snapshot& mesh) {
  return detail::amr::with_problem<double, dim, group>(
      setup, [&]<class Physics, class Initial>(const Physics& physics, const Initial& initial) {
        const snapshot_view<Physics> view{mesh, physics};
        const detail::amr::fill_from_initial_state<Initial> start{initial};
        std::vector<double> change(std::size_t(Physics::variables), 0.0);
        double volume = 0;
        for_each_cell(mesh, [&](std::size_t leaf, std::size_t number) {
          const auto place = detail::amr::place_of<dim>(mesh.leaves[leaf]);
          int cell[dim];
          auto rest = int(number);
          double size = 1;
          for (int axis = 0; axis < dim; ++axis) {
            cell[axis] = rest % mesh.cells;
            rest /= mesh.cells;
            size *= view.spacing(place.level, axis);
          }
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
std::unique_ptr<detail::facade::amr_on_backend> make_on(const amr_setup& setup,
                                                        const amr_state* state,
                                                        const environment& env) {
  return with_group(setup, [&]<int dim, physics_group group>() {
    using detail::facade::make_amr_on;
    return setup.precision == amr_precision::float_
               ? make_amr_on<where, float, dim, group>(setup, state, env)
               : make_amr_on<where, double, dim, group>(setup, state, env);
  });
}

/// Sets the domain, the sides and the gravity of the problems that need more than customary_values.
void customize(amr_setup& setup) {
  auto& mesh = setup.options.mesh;
  const auto vertical = std::size_t(setup.dimensions) - 1;
  const auto scale_roots = [&](std::size_t axis, unsigned factor) { mesh.roots[axis] *= factor; };
  switch (setup.problem) {
    case amr_problem::sedov:
      mesh.lower = {-1.2, -1.2, -1.2};
      mesh.upper = {1.2, 1.2, 1.2};
      setup.criterion_variable = setup.dimensions + 1;  // pressure
      break;
    case amr_problem::double_mach:
      mesh.upper = {4, 1, 1};
      mesh.sides[0][1] = boundary::outflow;
      scale_roots(0, 4);
      break;
    case amr_problem::noh:
      for (auto& sides : mesh.sides) sides[1] = boundary::prescribed;
      break;
    case amr_problem::rayleigh_taylor:
      mesh.lower = {-0.25, -0.25, -0.25};
      mesh.upper = {0.25, 0.25, 0.25};
      mesh.lower[vertical] = -0.75;
      mesh.upper[vertical] = 0.75;
      mesh.sides[vertical] = {boundary::reflecting, boundary::reflecting};
      scale_roots(vertical, 3);
      setup.gravity[vertical] = -0.1;
      break;
    case amr_problem::forward_step:  // the step consists of root blocks
      mesh.upper = {3, 1, 1};
      mesh.sides[0] = {boundary::prescribed, boundary::outflow};
      mesh.roots = {15, 5, 1};
      setup.keep_positive = true;
      break;
    case amr_problem::regions: setup.regions.emplace_back(); break;
    default: break;
  }
}

/// Creates the run, and returns the reason for its backend.
std::string make_run(const amr_setup& setup, const amr_state* state, const environment& env,
                     std::unique_ptr<detail::facade::amr_on_backend>& run) {
  validate(setup);
  validate(env);
  return detail::facade::on_backend(env,
                                    [&](auto where) {
                                      run = make_on<where>(setup, state, env);
                                      return run->report();
                                    })
      .backend_reason;
}

}  // namespace

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::facade::inline RAMIFY_ABI {

void convert_to(amr_fields kind, const amr_setup& setup, mesh_snapshot& mesh) {
  if (kind == amr_fields::conserved) return;
  with_group(setup,
             [&]<int dim, physics_group group>() { make_primitive<dim, group>(setup, mesh); });
  mesh.fields = field_names(setup, kind);
}

std::vector<double> change_since_start(const mesh_snapshot& mesh, const amr_setup& setup) {
  return with_group(
      setup, [&]<int dim, physics_group group>() { return change_of<dim, group>(setup, mesh); });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

amr_setup recommended_setup(amr_problem problem, int dimensions, amr_criterion criterion) {
  check_enumerator(problem, "amr_setup.problem");
  check_dimensions(problem, dimensions);
  const customary_values& custom = customary[static_cast<std::size_t>(problem)];
  amr_setup setup;
  setup.problem = problem;
  setup.dimensions = dimensions;
  setup.criterion = criterion;
  setup.options.mesh.sides.fill({custom.sides, custom.sides});
  // Blocks have half as many cells along an edge in 3D.
  const bool flat = dimensions == 2;
  setup.options.mesh.roots = flat ? std::array{2u, 2u, 1u} : std::array{4u, 4u, 4u};
  setup.options.mesh.max_level = flat ? 3 : 2;
  setup.options.regrid.refine_above =
      criterion == amr_criterion::gradient ? custom.refine_above : 0.5;
  setup.options.regrid.coarsen_below = setup.options.regrid.refine_above / 4;
  setup.options.step.cfl = custom.cfl;
  setup.gradient_floor = custom.gradient_floor;
  setup.gamma = custom.gamma;
  setup.end_time = custom.end_time > 0 ? custom.end_time : return_time(setup);
  customize(setup);
  return setup;
}

void validate(const amr_setup& setup) {
  check_enumerator(setup.problem, "amr_setup.problem");
  check_dimensions(setup.problem, setup.dimensions);
  check_enumerator(setup.precision, "amr_setup.precision");
  check_enumerator(setup.criterion, "amr_setup.criterion");
  const auto variables = int(field_names(setup, amr_fields::conserved).size());
  require(setup.criterion_variable >= 0 && setup.criterion_variable < variables,
          "amr_setup.criterion_variable", setup.criterion_variable,
          "in [0, " + std::to_string(variables - 1) + "]");
  // Up to 1e30, so that float can represent them.
  check_in_range("gradient_floor", setup.gradient_floor);
  check_in_range("loehner_filter", setup.loehner_filter);
  require(setup.end_time >= 0 && std::isfinite(setup.end_time), "amr_setup.end_time",
          setup.end_time, "finite and at least 0");
  const bool in_float = setup.precision == amr_precision::float_;
  const double least = in_float ? 1e-5 : 1e-12;  // of gamma - 1: rounding is far smaller
  require(setup.gamma - 1 >= least && setup.gamma <= 1e6, "amr_setup.gamma", setup.gamma,
          std::string("in [1 + ") + (in_float ? "1e-5" : "1e-12") + ", 1e6]");
  validate(setup.options, setup.dimensions);
  detail::amr::check_forces(setup);
  detail::amr::check_refinement(setup);
  const int cells = setup.dimensions == 2 ? 16 : 8;
  if (in_float) {
    detail::amr::validate_cells<float>(setup.options.mesh, setup.dimensions, cells);
  } else {
    detail::amr::validate_cells<double>(setup.options.mesh, setup.dimensions, cells);
  }
}

std::vector<std::string> field_names(const amr_setup& setup, amr_fields kind) {
  if (detail::facade::is_scalar(setup.problem)) return {"concentration"};
  if (setup.problem == amr_problem::dam_break) {
    return {"elevation", "momentum_x", "momentum_y", "tracer"};
  }
  const bool is_plasma = detail::facade::is_plasma(setup.problem);
  std::vector<std::string> names{"density"};
  const std::string vector = kind == amr_fields::primitive ? "velocity_" : "momentum_";
  for (int k = 0; k < (is_plasma ? 3 : setup.dimensions); ++k) names.push_back(vector + "xyz"[k]);
  names.emplace_back(kind == amr_fields::primitive ? "pressure" : "energy");
  if (is_plasma) names.insert(names.end(), {"magnetic_x", "magnetic_y", "magnetic_z", "psi"});
  return names;
}

double return_time(const amr_setup& setup) {
  switch (setup.problem) {
    case amr_problem::linear_wave:  // it runs along the diagonal at speed 1
      return 1 / (detail::amr::wave_crests * std::sqrt(double(setup.dimensions)));
    case amr_problem::advect_gaussian: return 1;
    case amr_problem::vortex_in_box: return detail::amr::vortex_period(setup.dimensions);
    default: return 0;
  }
}

amr_simulation::amr_simulation(const amr_setup& setup, const environment& env)
    : setup_(setup), backend_reason_(make_run(setup, nullptr, env, run_)) {}
amr_simulation::amr_simulation(const amr_setup& setup, const amr_state& state,
                               const environment& env)
    : setup_(setup), backend_reason_(make_run(setup, &state, env, run_)) {}
amr_simulation::~amr_simulation() = default;
amr_simulation::amr_simulation(amr_simulation&&) noexcept = default;
amr_simulation& amr_simulation::operator=(amr_simulation&&) noexcept = default;

void amr_simulation::advance(std::uint64_t steps, double stop_time) {
  run_->advance(steps, stop_time);
}
void amr_simulation::advance_to(double stop_time) {
  advance(std::numeric_limits<std::uint64_t>::max(), stop_time);
}
double amr_simulation::time() const { return run_->time(); }
std::uint64_t amr_simulation::steps() const { return run_->steps(); }
std::vector<double> amr_simulation::totals() const { return run_->totals(); }

mesh_snapshot amr_simulation::snapshot(amr_fields kind) const {
  mesh_snapshot mesh = run_->snapshot();
  detail::facade::convert_to(kind, setup_, mesh);
  return mesh;
}

mesh_snapshot amr_simulation::derived_snapshot(const std::vector<derived_field>& fields) const {
  return run_->derived_snapshot(fields);
}

std::vector<double> amr_simulation::change_since_start() const {
  return detail::facade::change_since_start(run_->snapshot(), setup_);
}

amr_state amr_simulation::state() const { return run_->state(); }

amr_report amr_simulation::report() const {
  amr_report report = run_->report();
  report.backend_reason = backend_reason_;
  return report;
}

}  // namespace ramify::inline RAMIFY_ABI
