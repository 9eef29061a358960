// SPDX-License-Identifier: BSD-3-Clause
// Shallow water: exact solutions of Stoker and Bernoulli, a lake at rest, friction.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr.cuh>

#include "exceptions.hpp"
#include "functors.cuh"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace ramify;
using namespace tests;

namespace {

using point = const double (&)[2];

/// A hump on the bottom, high `height`, around the center.
struct hump {
  double height;
  double depth = 1;     ///< away from the hump
  bool is_long = true;  ///< the hump is a ridge along y

  [[nodiscard]] __host__ __device__ double operator()(point where) const {
    const double x = where[0] - 0.5;
    const double y = is_long ? 0 : where[1] - 0.4;
    return depth - height * std::exp(-(x * x + y * y) / 0.02);
  }
};

using water = shallow_water<double, hump>;

constexpr double discharge = 1;

/// Returns the elevation of the steady, subcritical flow of a discharge of 1 over the hump: by
/// Bernoulli, q^2 / (2 h^2) + g elevation has the same value everywhere. Newton's iteration.
[[nodiscard]] __host__ __device__ double steady_elevation(const water& physics, point where) {
  const double at_rest = physics.depth_at_rest(where);
  const double head =
      0.5 * discharge * discharge / (physics.depth_at_rest.depth * physics.depth_at_rest.depth);
  double elevation = 0;
  for (int i = 0; i < 6; ++i) {
    const double h = at_rest + elevation;
    const double value = 0.5 * discharge * discharge / (h * h) + physics.gravity * elevation - head;
    elevation -= value / (physics.gravity - discharge * discharge / (h * h * h));
  }
  return elevation;
}

/// The initial states, and the sides.
enum class flow { at_rest, dam, stream, drift };
struct flow_of {
  flow kind;
  water physics;
  double left;   ///< dam: the elevations on its sides
  double right;  ///< also that at rest
  int axis = 0;  ///< orthogonal to the dam

  [[nodiscard]] __host__ __device__ water::values operator()(point where) const {
    switch (kind) {
      case flow::at_rest: break;
      case flow::dam: {
        const double elevation = where[axis] < 0.5 ? left : right;
        const double depth = physics.depth_at_rest.depth + elevation;
        return {elevation, 0, 0, where[axis] < 0.5 ? depth : 0};
      }
      case flow::stream: {
        const double elevation = steady_elevation(physics, where);
        return {elevation, discharge, 0, 0.5 * (physics.depth_at_rest(where) + elevation)};
      }
      case flow::drift: return {0, 2, 0, 0};
    }
    return {right, 0, 0, 0};
  }
  [[nodiscard]] __host__ __device__ water::values operator()(const water&, const water::values&,
                                                             int, int, point where, double) const {
    return (*this)(where);
  }
};

using water_with_sides = with_boundary<water, flow_of>;
using run_type = amr_run<water_with_sides, criterion_of<water_with_sides>, 8>;

run_type start(const setting& s, const flow_of& f) {
  water_with_sides physics{f.physics, f};
  return {physics, criterion_of<water_with_sides>{s}, f, s.options};
}

setting refined(boundary side, bool subcycle) {
  setting s;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {2, 2, 1};
  s.options.mesh.max_level = 2;
  s.options.regrid = {.refine_above = 1, .coarsen_below = 0.5, .every = 0};
  set_boundaries(s, side);
  s.criterion = criterion_kind::box;
  s.boxes[0] = {{0.3, 0.3, 0}, {0.7, 0.7, 1}};
  s.boxes[1] = {{0.4, 0.4, 0}, {0.45, 0.45, 1}};
  return s;
}

/// Calls use(center, values, area) for each cell.
template <class Use>
void for_each_cell(const run_type& run, Use use) {
  const mesh_snapshot mesh = run.snapshot();
  const std::size_t cells = mesh.cells_of_a_block();
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
      water::values u;
      for (int v = 0; v < 4; ++v) {
        u[v] = mesh.values[(leaf * 4 + std::size_t(v)) * cells + cell];
      }
      const auto center = cell_center(mesh, leaf, cell);
      const int level = mesh.leaves[leaf].level;
      use({center[0], center[1]}, u, mesh.spacing(level, 0) * mesh.spacing(level, 1));
    }
  }
}

/// Returns the L1 error of a variable; `exact(where)` are the exact values.
template <class Exact>
double error_of(const run_type& run, int variable, Exact exact) {
  double sum = 0;
  for_each_cell(run, [&](const double(&where)[2], const water::values& u, double area) {
    sum += area * std::abs(u[variable] - exact(where)[variable]);
  });
  return sum;
}

/// The flow after a dam between the depths `left` and `right` at x = 0 breaks, `right` < `left`.
/// J. J. Stoker, Water Waves, 1957, 10.8. A rarefaction runs left, a shock runs right.
struct stoker {
  double left, right, gravity;
  double middle = 0;
  double velocity = 0;
  double shock = 0;

  stoker(double l, double r, double g) : left(l), right(r), gravity(g) {
    double low = right;
    double high = left;
    for (int i = 0; i < 100; ++i) {  // velocities behind the shock and behind the rarefaction
      middle = 0.5 * (low + high);
      velocity = 2 * (std::sqrt(gravity * left) - std::sqrt(gravity * middle));
      const double of_shock =
          (middle - right) * std::sqrt(0.5 * gravity * (middle + right) / (middle * right));
      (of_shock < velocity ? low : high) = middle;
    }
    shock = middle * velocity / (middle - right);
  }

  /// Depth, momentum along the axis and tracer at x / time; the water on the left has the tracer 1.
  [[nodiscard]] std::array<double, 3> at(double speed) const {
    const double wave = std::sqrt(gravity * left);
    if (speed < -wave) return {left, 0, left};
    if (speed < velocity - std::sqrt(gravity * middle)) {
      const double h = (2 * wave - speed) * (2 * wave - speed) / (9 * gravity);
      return {h, h * 2 * (wave + speed) / 3, h};
    }
    if (speed < velocity) return {middle, middle * velocity, middle};
    if (speed < shock) return {middle, middle * velocity, 0};
    return {right, 0, 0};
  }
};

/// The values of a broken dam across `axis`, relative to the depth 1.
struct broken_dam {
  stoker exact;
  int axis;
  double time;

  [[nodiscard]] water::values operator()(point where) const {
    const auto [depth, momentum, tracer] = exact.at((where[axis] - 0.5) / time);
    water::values u{depth - 1, 0, 0, tracer};
    u[1 + axis] = momentum;
    return u;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(water_that_is_shallow,
                      *boost::unit_test::precondition(not_under_thread_sanitizer))

BOOST_DATA_TEST_CASE(a_lake_at_rest_stays_at_rest, data::make(subcycling), subcycle) {
  for (const boundary side : {boundary::reflecting, boundary::periodic, boundary::prescribed}) {
    setting s = refined(side, subcycle);
    s.options.regrid.every = 1;
    flow_of lake{flow::at_rest, {{0.8, 1, false}}, 0, 0};
    auto run = start(s, lake);
    BOOST_TEST(run.report().finest_level == 2);
    run.advance(10);
    BOOST_TEST(run.time() > 0.01);
    const std::vector<double> still(run.snapshot().values.size(), 0);
    BOOST_TEST((run.snapshot().values == still));  // all bits
    // On a mesh of one level, the level of the lake may be another one.
    s.options.mesh.max_level = 0;
    lake.right = 0.25;
    auto higher = start(s, lake);
    higher.advance(10);
    BOOST_TEST(error_of(higher, 1, lake) < 1e-14);
    BOOST_TEST(error_of(higher, 0, lake) < 1e-14);
  }
  // The negative control: the water beyond the sides is lower.
  setting s = refined(boundary::prescribed, subcycle);
  const flow_of lake{flow::at_rest, {{0.8, 1, false}}, 0, 0.25};
  flow_of beyond = lake;
  beyond.right = 0.2;
  run_type emptied({lake.physics, beyond}, criterion_of<water_with_sides>{s}, lake, s.options);
  emptied.advance(10);
  BOOST_TEST(error_of(emptied, 1, lake) > 1e-3);
}

BOOST_DATA_TEST_CASE(a_dam_breaks_as_stoker_computed, data::make({0, 1}) * data::make(subcycling),
                     axis, subcycle) {
  setting s = refined(boundary::outflow, subcycle);
  s.criterion = criterion_kind::gradient;
  s.variable = 3;
  s.options.regrid = {.refine_above = 0.1, .coarsen_below = 0.02, .every = 4};
  const flow_of dam{flow::dam, {{0, 1}}, 1, -0.5, axis};
  const stoker exact(2, 0.5, dam.physics.gravity);
  const double end = 0.06;
  const broken_dam at_end{exact, axis, end};
  double before[4] = {};
  for (const int levels : {0, 2}) {
    s.options.mesh.max_level = levels;
    auto run = start(s, dam);
    run.advance_to(end);
    for (const int v : {0, 1 + axis, 3}) {
      const double error = error_of(run, v, at_end);
      if (levels == 0) {
        BOOST_TEST(error < 0.17);
      } else {
        BOOST_TEST(error < 0.045);
        BOOST_TEST(before[v] / error > 2.5);  // of first order at shocks: four times finer
      }
      before[v] = error;
    }
    BOOST_TEST(error_of(run, 2 - axis, at_end) == 0.0);
  }
}

// Inflow, outflow, slope and tracer: the flow over a ridge is steady.
BOOST_DATA_TEST_CASE(a_stream_over_a_ridge_is_steady, data::make(subcycling), subcycle) {
  setting s = refined(boundary::prescribed, subcycle);
  s.options.mesh.max_level = 1;
  s.options.mesh.sides[1] = {boundary::periodic, boundary::periodic};
  const flow_of stream{flow::stream, {{0.2, 1}}, 0, 0};
  double before = 0;
  for (const unsigned roots : {4u, 8u}) {
    s.options.mesh.roots = {roots, roots, 1};
    auto run = start(s, stream);
    run.advance_to(0.02);
    const double error = error_of(run, 0, stream);
    BOOST_TEST(error < 1e-4);
    if (before > 0) BOOST_TEST(before / error > 3.0);
    before = error;
    BOOST_TEST(error_of(run, 1, stream) < 3e-4);
    BOOST_TEST(error_of(run, 3, stream) < 3e-4);
  }
}

BOOST_AUTO_TEST_CASE(friction_slows_a_stream_as_manning_measured) {
  setting s = refined(boundary::periodic, false);
  s.options.mesh.max_level = 0;
  flow_of drift{flow::drift, {{0, 1}}, 0, 0};
  drift.physics.manning = 0.5;
  auto run = start(s, drift);
  run.advance_to(0.2);
  // d/dt u = -g n^2 u^2 / h^(4/3), with h = 1.
  const double rate = drift.physics.gravity * 0.25;
  const double exact = 2 / (1 + 2 * rate * 0.2);
  BOOST_TEST(std::abs(run.totals()[1] / exact - 1) < 0.02);
  BOOST_TEST(std::abs(run.totals()[1] / exact - 1) > 1e-6);
  BOOST_TEST(std::abs(run.totals()[0]) < 1e-14);
}

BOOST_AUTO_TEST_CASE(a_dry_bottom_ends_the_run) {
  setting s = refined(boundary::outflow, false);
  s.options.mesh.max_level = 0;
  const flow_of island{flow::at_rest, {{1.2, 1, false}}, 0, -0.5};
  auto run = start(s, island);
  BOOST_CHECK_EXCEPTION(run.advance(3), amr_error, names("is invalid: elevation"));
}

BOOST_AUTO_TEST_SUITE_END()
