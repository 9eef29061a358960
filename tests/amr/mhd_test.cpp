// SPDX-License-Identifier: BSD-3-Clause
// A plasma on meshes, beside exact solutions, published figures and conservation laws.
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <ramify/amr.cuh>
#include <ramify/amr/physics/mhd_problems.cuh>

#include "exceptions.hpp"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace ramify;
using namespace tests;

namespace {

using plasma = mhd<double, 2>;
using values = plasma::values;
using run_in_2d = amr_run<plasma, gradient_criterion<plasma>, 4>;

/// The initial states: a circularly polarized Alfven wave, standard problems, and a false field.
enum class start { alfven_wave, vortex, disc, false_field };
struct initial {
  start what;
  double shift = 0;  ///< how far the wave has run
  static constexpr double angle = std::numbers::pi / 6;

  [[nodiscard]] __host__ __device__ values operator()(const double (&where)[2]) const {
    switch (what) {
      case start::alfven_wave: return wave(where);
      case start::vortex: return orszag_tang<double, 2>{}(where);
      case start::disc: return rotor<double, 2>{{0, 0}}(where);
      case start::false_field: break;
    }
    // A uniform field and a hump of its x component, whose divergence is not zero.
    const double x = where[0] - 0.5;
    const double y = where[1] - 0.5;
    return {1, 0, 0, 0, 6, 1 + 0.1 * std::exp(-(x * x + y * y) / 0.01), 0, 0, 0};
  }
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<double, 2>& cell) const {
    return what == start::disc ? rotor<double, 2>{{0, 0}}.average(physics, cell)
                               : average_by_points(*this, physics, cell);
  }

  /// G. Toth, J. Comput. Phys. 161 (2000) 605: an exact solution of any amplitude. With the field
  /// along the wave it runs at the speed 1, against the field.
  [[nodiscard]] __host__ __device__ values wave(const double (&where)[2]) const {
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const double phase = 2 * std::numbers::pi * (where[0] * c + where[1] * s + shift);
    const double across = 0.1 * std::sin(phase);
    const double up = 0.1 * std::cos(phase);
    return {1, -across * s, across * c, up, 0.1, c - across * s, s + across * c, up, 0};
  }
};

using hot = with_ppm<with_positivity<with_scalars<plasma, 1>>>;

/// A hot disc in a cold plasma with a strong field. The scalar has the concentration 1.
struct explosion {
  [[nodiscard]] __host__ __device__ hot::values operator()(const double (&where)[2]) const {
    const bool inside = where[0] * where[0] + where[1] * where[1] < 0.01;
    return {1, 0, 0, 0, inside ? 1000.0 : 0.1, 28.2, 0, 0, 0, 1};
  }
};

amr_options mesh_of(unsigned x, unsigned y, boundary side) {
  amr_options options;
  options.mesh.roots = {x, y, 1};
  options.mesh.max_level = 0;
  options.mesh.sides.fill({side, side});
  options.step.cfl = 0.4;
  options.regrid = {.refine_above = 0.05, .coarsen_below = 0.01, .every = 4};
  return options;
}

/// Returns the mean absolute difference of a variable between two meshes with equal leaves.
double mean_change(const mesh_snapshot& a, const mesh_snapshot& b, std::size_t variable) {
  double sum = 0;
  for (std::size_t leaf = 0; leaf < a.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < a.cells_of_a_block(); ++cell) {
      sum += std::abs(a.field(leaf, variable)[cell] - b.field(leaf, variable)[cell]);
    }
  }
  return sum / double(a.leaves.size() * a.cells_of_a_block());
}

/// Returns the primitive values of the cell that contains a point.
template <class Run>
auto values_at(const Run& run, const mesh_snapshot& mesh, std::array<double, 3> point) {
  using physics_type = std::remove_cvref_t<decltype(run.leaves().physics())>;
  constexpr int dim = physics_type::dimensions;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
      const auto center = cell_center(mesh, leaf, cell);
      bool inside = true;
      for (std::size_t axis = 0; axis < dim; ++axis) {
        const double half = 0.5 * mesh.spacing(mesh.leaves[leaf].level, int(axis));
        inside = inside && std::abs(point[axis] - center[axis]) <= half * (1 + 1e-9);
      }
      if (!inside) continue;
      typename physics_type::values u;
      for (int v = 0; v < physics_type::variables; ++v) {
        u[v] = typename physics_type::real(mesh.field(leaf, std::size_t(v))[cell]);
      }
      return run.leaves().physics().to_primitive(u);
    }
  }
  throw std::runtime_error("no cell contains the point");
}

/// Returns the largest and the mean absolute divergence of the field.
std::array<double, 2> divergence(const run_in_2d& run) {
  const mesh_snapshot found = run.derived_snapshot({derived_field::magnetic_divergence});
  double most = 0, sum = 0;
  for (const double d : found.values) {
    most = std::max(most, std::abs(d));
    sum += std::abs(d);
  }
  return {most, sum / double(found.values.size())};
}

/// Waves between the plasmas of a tube: where their middle is at the end, and the state there.
struct plateau {
  double place;
  double density, pressure, along, across, up, field_across, field_up;
};

/// Runs a tube, and checks the states between waves.
template <class Run, class Tube>
void check_plateaus(Run& run, const Tube& tube, double end, const std::vector<plateau>& expected,
                    double tolerance) {
  run.advance_to(end);
  const mesh_snapshot mesh = run.snapshot();
  for (const plateau& p : expected) {
    std::array<double, 3> where{0.01, 0.01, 0.01};
    where[std::size_t(tube.axis)] = p.place;
    const auto u = values_at(run, mesh, where);
    const int a = tube.axis;
    const int b = a == 1 ? 0 : 1;  // the axes that have the places of y and z
    const int c = a == 2 ? 0 : 2;
    BOOST_TEST_CONTEXT("at " << p.place << " along axis " << a) {
      const std::array<std::array<double, 2>, 8> pairs{{{double(u[0]), p.density},
                                                        {double(u[4]), p.pressure},
                                                        {double(u[1 + a]), p.along},
                                                        {double(u[1 + b]), p.across},
                                                        {double(u[1 + c]), p.up},
                                                        {double(u[5 + b]), p.field_across},
                                                        {double(u[5 + c]), p.field_up},
                                                        {double(u[5 + a]), double(tube.left[5])}}};
      for (const auto& [found, wanted] : pairs) BOOST_TEST(std::abs(found - wanted) < tolerance);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_plasma_on_meshes,
                      *boost::unit_test::precondition(not_under_thread_sanitizer))

BOOST_AUTO_TEST_CASE(an_alfven_wave_has_an_error_of_second_order) {
  double before = 0;
  for (const unsigned roots : {8u, 16u}) {
    amr_options options = mesh_of(roots, roots, boundary::periodic);
    options.mesh.upper = {1 / std::cos(initial::angle), 1 / std::sin(initial::angle), 1};
    run_in_2d run(plasma{}, gradient_criterion<plasma>{}, initial{start::alfven_wave}, options);
    const double end = 0.125;
    run.advance_to(end);
    const run_in_2d exact(plasma{}, gradient_criterion<plasma>{}, initial{start::alfven_wave, end},
                          options);
    const double error = mean_change(run.snapshot(), exact.snapshot(), 7);  // of the field along z
    BOOST_TEST_MESSAGE("Alfven wave, " << 4 * roots << " cells: " << error);
    if (before > 0) {
      BOOST_TEST(before / error > 3.2);
      BOOST_TEST(error < 1.5e-4);
    }
    before = error;
  }
}

// D. Ryu, T. W. Jones, Astrophys. J. 442 (1995) 228, table of problem 2a: the exact solution has
// seven waves. From left to right: fast shock, rotation, slow shock, contact, slow shock, rotation,
// fast shock.
BOOST_DATA_TEST_CASE(seven_waves_leave_the_states_of_ryu_and_jones, data::make({0, 1}), axis) {
  const double unit = 1 / std::sqrt(4 * std::numbers::pi);
  const values left{1.08, 1.2, 0.01, 0.5, 0.95, 2 * unit, 3.6 * unit, 2 * unit, 0};
  const values right{1, 0, 0, 0, 1, 2 * unit, 4 * unit, 2 * unit, 0};
  const plasma_tube<double, 2> tube{axis, 0.5, left, right};
  amr_options options = mesh_of(1, 1, boundary::outflow);
  options.mesh.roots[std::size_t(axis)] = 20;
  options.mesh.max_level = 1;
  options.step.subcycle = axis == 1;
  gradient_criterion<plasma> criterion;
  run_in_2d run(plasma{}, criterion, tube, options);
  const std::vector<plateau> exact{
      {0.41, 1.4903, 1.6558, 0.60588, 0.11235, 0.55686, 1.4383, 0.79907},
      {0.59, 1.6343, 1.9317, 0.57538, 0.047601, 0.24734, 1.4126, 0.43772},
      {0.65, 1.4735, 1.9317, 0.57538, 0.047601, 0.24734, 1.4126, 0.43772},
      {0.80, 1.3090, 1.5844, 0.53432, -0.094572, -0.047286, 1.5078, 0.75392}};
  check_plateaus(run, tube, 0.2, exact, 0.01);
  BOOST_TEST(run.report().finest_level == 1);
}

// The states between the waves: left of the compound wave, on both sides of the contact. Those of
// the fast rarefaction and of the density are in the figures of Brio and Wu and in the table of
// the program SPLASH (D. J. Price), which is from them and from a run of Athena.
BOOST_AUTO_TEST_CASE(the_tube_of_brio_and_wu_in_3d_in_float_along_z) {
  using small = mhd<float, 3>;
  const int axis = 2;
  plasma_tube<float, 3> tube{axis};
  amr_options options = mesh_of(1, 1, boundary::outflow);
  options.mesh.roots[std::size_t(axis)] = 20;
  small physics;
  physics.gamma = 2;
  amr_run<small, gradient_criterion<small>, 4> run(physics, gradient_criterion<small>{}, tube,
                                                   options);
  const std::vector<plateau> published{{0.435, 0.67623, 0.447, 0.63721, -0.23345, 0, 0.5849, 0},
                                       {0.53, 0.6962, 0.5160, 0.600, -1.584, 0, -0.5341, 0},
                                       {0.61, 0.2352, 0.5160, 0.600, -1.584, 0, -0.5341, 0}};
  check_plateaus(run, tube, 0.1, published, 0.04);
}

BOOST_DATA_TEST_CASE(totals_stay_and_the_divergence_is_cleaned, data::make(subcycling), subcycle) {
  amr_options options = mesh_of(3, 3, boundary::periodic);
  options.mesh.max_level = 1;
  options.step.subcycle = subcycle;
  options.regrid.refine_above = 0.1;
  std::array<double, 2> uncleaned{};
  for (const double cleaning : {0.0, 1.0}) {
    plasma physics;
    physics.cleaning = cleaning;
    run_in_2d run(physics, gradient_criterion<plasma>{}, initial{start::vortex}, options);
    const auto first = run.totals();
    run.advance_to(0.25);
    const auto last = run.totals();
    for (std::size_t v = 0; v < 8; ++v) BOOST_TEST(std::abs(last[v] - first[v]) < 1e-13);
    BOOST_TEST(run.report().finest_level == 1);
    const auto found = divergence(run);
    BOOST_TEST_MESSAGE("div B: at most " << found[0] << ", mean " << found[1]);
    if (cleaning == 0) {
      uncleaned = found;
    } else {
      BOOST_TEST(uncleaned[1] > 2 * found[1]);
      BOOST_TEST(found[0] < uncleaned[0]);
    }
  }
}

// A field with a divergence: waves carry it away, and damping reduces them. The negative control
// keeps it.
BOOST_AUTO_TEST_CASE(a_false_field_decays) {
  const auto left_of_it = [](double cleaning, double damping) {
    plasma physics;
    physics.cleaning = cleaning;
    physics.damping = damping;
    run_in_2d run(physics, gradient_criterion<plasma>{}, initial{start::false_field},
                  mesh_of(6, 6, boundary::periodic));
    const double before = divergence(run)[0];
    run.advance(80);
    return divergence(run)[0] / before;
  };
  const double kept = left_of_it(0, 0.1);
  const double carried = left_of_it(1, 0);
  const double damped = left_of_it(1, 0.1);
  BOOST_TEST_MESSAGE("kept " << kept << ", carried " << carried << ", damped " << damped);
  BOOST_TEST(kept > 0.7);
  BOOST_TEST(carried < 0.5 * kept);
  BOOST_TEST(damped < 0.5 * carried);
}

// The figures of Toth (2000) for his first rotor at its end, as other codes cite them: density
// 0.483 to 12.95, pressure 0.0202 to 2.008, magnetic pressure 0.0177 to 2.642.
BOOST_AUTO_TEST_CASE(the_rotor_has_the_published_ranges_and_stays_symmetric) {
  amr_options options = mesh_of(8, 8, boundary::outflow);
  options.mesh.lower = {-0.5, -0.5, 0};
  options.mesh.upper = {0.5, 0.5, 1};
  options.mesh.max_level = 1;
  plasma physics;
  physics.gamma = 1.4;
  run_in_2d run(physics, gradient_criterion<plasma>{}, initial{start::disc}, options);
  run.advance_to(0.15);
  const mesh_snapshot mesh = run.snapshot();
  const mesh_snapshot magnetic = run.derived_snapshot({derived_field::magnetic_pressure});
  double least[3] = {1e9, 1e9, 1e9}, most[3] = {};
  std::size_t unequal = 0;
  const std::size_t last = mesh.leaves.size() - 1;
  const std::size_t cells = mesh.cells_of_a_block();
  for (std::size_t leaf = 0; leaf <= last; ++leaf) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
      values u;
      for (int v = 0; v < 9; ++v) u[v] = mesh.field(leaf, std::size_t(v))[cell];
      const values w = physics.to_primitive(u);
      const double found[] = {w[0], w[4], magnetic.field(leaf, 0)[cell]};
      for (int i = 0; i < 3; ++i) {
        least[i] = std::min(least[i], found[i]);
        most[i] = std::max(most[i], found[i]);
      }
      // A turn by half a circle reverses the order of Morton, and the velocity; the field stays.
      const auto turned = [&](std::size_t v) {
        return mesh.field(last - leaf, v)[cells - 1 - cell];
      };
      for (const std::size_t v : {0, 4, 5, 6}) unequal += turned(v) != u[int(v)] ? 1 : 0;
      for (const std::size_t v : {1, 2}) unequal += turned(v) != -u[int(v)] ? 1 : 0;
    }
  }
  BOOST_TEST_MESSAGE("rotor: density " << least[0] << " to " << most[0] << ", pressure " << least[1]
                                       << " to " << most[1] << ", magnetic pressure " << least[2]
                                       << " to " << most[2]);
  BOOST_TEST(unequal == 0u);
  BOOST_TEST(run.report().finest_level == 1);
  // The cells of 1/64 smear the extremes: all are within the published ranges. The inner bounds are
  // those of this resolution; with cells of 1/1024 the density is 0.459 to 13.4.
  BOOST_TEST((least[0] > 0.483 && least[0] < 0.9));
  BOOST_TEST((most[0] > 8.5 && most[0] < 12.95));
  BOOST_TEST((least[1] > 0.0202 && least[1] < 0.04));
  BOOST_TEST((most[1] > 1.75 && most[1] < 2.008));
  BOOST_TEST((least[2] > 0.0177 && least[2] < 0.12));
  BOOST_TEST((most[2] > 2.25 && most[2] < 2.642));
}

// D. S. Balsara, D. S. Spicer, J. Comput. Phys. 149 (1999) 270: a blast whose surroundings have a
// magnetic pressure 4,000 times that of the gas. All additions, and both routes.
BOOST_AUTO_TEST_CASE(a_blast_in_a_strong_field_with_all_additions) {
  amr_options options = mesh_of(2, 2, boundary::periodic);
  options.mesh.lower = {-0.5, -0.5, 0};
  options.mesh.upper = {0.5, 0.5, 1};
  options.mesh.max_level = 1;
  options.step.cfl = 0.15;
  hot physics;
  physics.gamma = 1.4;
  std::vector<mesh_snapshot> meshes;
  for (const route taken : {route::device, route::flat}) {
    amr_run<hot, gradient_criterion<hot>, 6> run(physics, gradient_criterion<hot>{hot::pressure},
                                                 explosion{}, options, {.route = taken});
    const auto first = run.totals();
    run.advance_to(0.003);
    const auto last = run.totals();
    meshes.push_back(run.snapshot());
    const mesh_snapshot& mesh = meshes.back();
    BOOST_TEST(run.report().finest_level == 1);
    BOOST_TEST_MESSAGE("blast: " << run.report().steps << " steps, " << run.report().fallback_cells
                                 << " cells of first order, " << run.report().floored_cells
                                 << " at floors");
    const double updates = 2.0 * double(run.report().cell_updates);
    BOOST_TEST(run.report().fallback_cells > 0u);
    BOOST_TEST(double(run.report().fallback_cells) < 0.1 * updates);
    for (const std::size_t v : {0, 5, 6, 7, 9}) BOOST_TEST(std::abs(last[v] - first[v]) < 1e-11);
    for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
      for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
        BOOST_REQUIRE(mesh.field(leaf, 9)[cell] == mesh.field(leaf, 0)[cell]);
      }
    }
  }
  BOOST_TEST(same_bits(meshes[0], meshes[1]));
}

BOOST_AUTO_TEST_SUITE_END()
