// SPDX-License-Identifier: BSD-3-Clause
// The problems of the facade with prescribed sides, gravity, water or regions, beside exact
// solutions and published figures.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

#include "backend_under_test.hpp"

namespace {

using ramify::amr_fields;
using ramify::amr_problem;
using ramify::amr_region;
using ramify::amr_setup;
using ramify::amr_shape;
using ramify::amr_simulation;
using ramify::boundary;

const ramify::environment on_cpu{.backend = ramify::backend::cpu};

amr_setup with_roots(amr_problem problem, std::array<unsigned, 3> roots, int max_level) {
  amr_setup setup = recommended_setup(problem, 2);
  setup.options.mesh.roots = roots;
  setup.options.mesh.max_level = max_level;
  return setup;
}

/// Calls `use(x, y, area, values)` for each cell of a mesh in 2D.
template <class Use>
void for_each_cell(const ramify::mesh_snapshot& mesh, Use use) {
  std::vector<double> values(mesh.fields.size());
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const auto& [level, index] = mesh.leaves[leaf];
    const double dx = mesh.spacing(level, 0);
    const double dy = mesh.spacing(level, 1);
    for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
      const auto n = std::size_t(mesh.cells);
      const double x = mesh.lower[0] + (double(index[0] * n + cell % n) + 0.5) * dx;
      const double y = mesh.lower[1] + (double(index[1] * n + cell / n) + 0.5) * dy;
      for (std::size_t v = 0; v < values.size(); ++v) values[v] = mesh.field(leaf, v)[cell];
      use(x, y, dx * dy, values);
    }
  }
}

void check_rejected(const amr_setup& setup, const std::string& text) {
  BOOST_CHECK_EXCEPTION(validate(setup), std::invalid_argument,
                        [&](const std::invalid_argument& e) {
                          BOOST_TEST_INFO(e.what());
                          return std::string(e.what()).find(text) != std::string::npos;
                        });
}

/// The water of a dam break (Stoker): a rarefaction, a state between, and a shock.
class stoker {
 public:
  stoker(double deep, double shallow, double gravity)
      : deep_(deep), shallow_(shallow), gravity_(gravity) {
    // The depth between, at which both waves give the same velocity, by bisection.
    double low = shallow;
    double high = deep;
    for (int i = 0; i < 100; ++i) {
      middle_ = 0.5 * (low + high);
      const double by_shock =
          (middle_ - shallow) * std::sqrt(0.5 * gravity * (1 / middle_ + 1 / shallow));
      (by_shock < velocity() ? low : high) = middle_;
    }
    shock_ = middle_ * velocity() / (middle_ - shallow);
  }
  [[nodiscard]] double depth(double speed) const {
    const double wave = std::sqrt(gravity_ * deep_);
    if (speed < -wave) return deep_;
    if (speed < velocity() - std::sqrt(gravity_ * middle_)) {
      return std::pow(2 * wave - speed, 2) / (9 * gravity_);
    }
    return speed < shock_ ? middle_ : shallow_;
  }
  [[nodiscard]] double middle() const { return middle_; }

 private:
  [[nodiscard]] double velocity() const {
    return 2 * (std::sqrt(gravity_ * deep_) - std::sqrt(gravity_ * middle_));
  }
  double deep_, shallow_, gravity_;
  double middle_ = 0, shock_ = 0;
};

/// A gas of density and pressure 1 that moves along x, with outflow at all sides.
amr_setup wind(double speed) {
  amr_setup setup = with_roots(amr_problem::regions, {1, 1, 1}, 0);
  setup.regions[0].velocity = {speed, 0, 0};
  return setup;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(named_problems,
                      *boost::unit_test::precondition(tests::not_under_thread_sanitizer))

BOOST_AUTO_TEST_CASE(noh_has_its_shock_and_its_density) {
  amr_setup setup = with_roots(amr_problem::noh, {1, 1, 1}, 1);
  amr_simulation gas(setup, on_cpu);
  const double end = 0.9;
  gas.advance_to(end);
  BOOST_TEST(gas.report().finest_level == 1);
  double inside = 0, area = 0, error = 0, largest_error_before = 0;
  for_each_cell(gas.snapshot(), [&](double x, double y, double size, const auto& u) {
    const double r = std::hypot(x, y);
    // Noh: the shock is at a third of the time. Near the origin the error of the wall heating.
    const double exact = r < end / 3 ? 16 : 1 + end / r;
    error += size * std::abs(u[0] - exact);
    if (r > 0.12 && r < 0.22) inside += size * u[0], area += size;
    if (r > 0.5) largest_error_before = std::max(largest_error_before, std::abs(u[0] / exact - 1));
  });
  BOOST_TEST(std::abs(inside / area - 16) < 1.0);
  BOOST_TEST(error < 0.25);
  BOOST_TEST(largest_error_before < 0.05);
}

BOOST_AUTO_TEST_CASE(the_exact_gas_enters_the_domain_of_noh_in_3d) {
  amr_setup setup = recommended_setup(amr_problem::noh, 3);
  setup.options.mesh.roots = {1, 1, 1};
  setup.options.mesh.max_level = 0;
  amr_simulation gas(setup, on_cpu);
  const double before = gas.totals()[0];
  gas.advance_to(0.3);
  // The flux of mass through the upper side along x is the integral of the density (1 + t/r)^2
  // times x/r.
  double entered = 0;
  const int points = 64;
  for (int i = 0; i < points * points * points; ++i) {
    const double y = (i % points + 0.5) / points;
    const double z = (i / points % points + 0.5) / points;
    const double t = 0.3 * (i / points / points + 0.5) / points;
    const double r = std::sqrt(1 + y * y + z * z);
    entered += 3 * 0.3 * (1 + t / r) * (1 + t / r) / r / (points * points * points);
  }
  BOOST_TEST(std::abs((gas.totals()[0] - before) / entered - 1) < 0.01);
}

// The velocity of the mode in the plane between the gases is a cosh(s t) + b, where b is the part
// with vorticity, which does not grow. Three times give s.
BOOST_AUTO_TEST_CASE(the_fingers_of_rayleigh_and_taylor_grow_at_their_rate) {
  const double pi = std::acos(-1.0);
  amr_simulation gas(with_roots(amr_problem::rayleigh_taylor, {1, 3, 1}, 0), on_cpu);
  const auto first = gas.totals();
  const auto velocity_at = [&](double time) {
    gas.advance_to(time);
    double mode = 0;
    for_each_cell(gas.snapshot(amr_fields::primitive),
                  [&](double x, double y, double size, const auto& w) {
                    if (std::abs(y) < 1.0 / 32) mode += size * w[2] * std::cos(4 * pi * x);
                  });
    return mode;
  };
  const double early = velocity_at(1.5);
  const double middle = velocity_at(2.75);
  const double late = velocity_at(4);
  // (late - middle) / (middle - early) is this for the rate s.
  const auto ratio = [](double s) { return std::sinh(3.375 * s) / std::sinh(2.125 * s); };
  double low = 0.01, high = 3;
  for (int i = 0; i < 60; ++i) {
    const double s = 0.5 * (low + high);
    (ratio(s) < (late - middle) / (middle - early) ? low : high) = s;
  }
  const double theory = std::sqrt(0.1 / 3 * 4 * pi);  // Taylor
  BOOST_TEST(std::abs(low / theory - 1) < 0.15);
  BOOST_TEST(std::abs(gas.totals()[0] / first[0] - 1) < 1e-13);
}

BOOST_AUTO_TEST_CASE(a_broken_dam_has_the_waves_of_stoker) {
  amr_setup setup = with_roots(amr_problem::dam_break, {4, 1, 1}, 1);
  setup.options.mesh.upper[1] = 0.25;
  amr_simulation water(setup, on_cpu);
  const auto first = water.totals();
  const double end = 0.1;
  water.advance_to(end);
  const auto last = water.totals();
  const stoker exact(1, 0.1, 9.81);
  BOOST_TEST(std::abs(exact.middle() - 0.39618) < 1e-4);  // of 1 and 0.1, from Stoker's equations
  double error = 0, earlier = 0;
  for_each_cell(water.snapshot(), [&](double x, double, double size, const auto& u) {
    error += 4 * size * std::abs(1 + u[0] - exact.depth((x - 0.5) / end));
    earlier += 4 * size * std::abs(1 + u[0] - exact.depth((x - 0.5) / (0.9 * end)));
  });
  BOOST_TEST(error < 0.006);
  BOOST_TEST(earlier > 2 * error);
  BOOST_TEST(std::abs(last[0] - first[0]) < 1e-13);
  BOOST_TEST(std::abs(last[3] / first[3] - 1) < 1e-13);  // the tracer: the water of the deep side
  BOOST_TEST(std::abs(first[3] - 0.5 * 0.25) < 1e-13);
}

// Above the reflection the shock has its exact place. At the wall, Woodward and Colella's contours
// of the density end at 20.9, with cells of 1/120.
BOOST_AUTO_TEST_CASE(the_double_mach_reflection_has_its_shock) {
  amr_setup setup = with_roots(amr_problem::double_mach, {4, 1, 1}, 1);
  amr_simulation gas(setup, on_cpu);
  const double end = 0.05;
  gas.advance_to(end);
  double excess = 0, most = 0;
  for_each_cell(gas.snapshot(), [&](double, double y, double size, const auto& u) {
    if (y > 0.75) excess += size * (u[0] - 1.4);
    most = std::max(most, u[0]);
  });
  const double place = excess / (0.25 * (8 - 1.4));
  const double exact = 1.0 / 6 + (0.875 + 20 * end) / std::sqrt(3.0);
  BOOST_TEST(std::abs(place - exact) < 0.01);
  BOOST_TEST(most > 12.0);
  BOOST_TEST(most < 23.0);
}

// The wind enters above and below the height of the step, and leaves above it until the first wave
// arrives: walls take no mass. The gas at the foot of the step is heated by a shock that runs
// against the wind, as at a closed end of a tube.
BOOST_AUTO_TEST_CASE(a_step_keeps_the_wind_that_it_stops) {
  amr_setup setup = with_roots(amr_problem::forward_step, {6, 2, 1}, 0);
  setup.options.mesh.upper = {1.2, 0.4, 1};
  amr_simulation gas(setup, on_cpu);
  const double before = gas.totals()[0];
  BOOST_TEST(std::abs(before - 1.2 * 0.4 * 1.4) < 1e-12);
  const double end = 0.06;
  gas.advance_to(end);
  BOOST_TEST(std::abs(gas.totals()[0] - before - 1.4 * 3 * 0.2 * end) < 1e-12);
  // A shock that stops a gas of Mach 3 and pressure 1, by the relations of Rankine and Hugoniot.
  const double a = 3 * 2.4 / 4;
  const double shock_mach = a + std::sqrt(a * a + 1);
  const double stopped = (2.8 * shock_mach * shock_mach - 0.4) / 2.4;
  double least = 1e9, most = 0, changed = 0;
  for_each_cell(gas.snapshot(amr_fields::primitive), [&](double x, double y, double,
                                                         const auto& w) {
    if (x > 0.6 && y < 0.2) {
      changed = std::max({changed, std::abs(w[0] - 1.4), std::abs(w[1] - 3), std::abs(w[3] - 1)});
    }
    if (x > 0.5875 && x < 0.6 && y < 0.03) {
      least = std::min(least, w[3]);
      most = std::max(most, w[3]);
    }
  });
  BOOST_TEST(changed < 1e-14);
  BOOST_TEST(std::abs(least / stopped - 1) < 0.05);
  BOOST_TEST(std::abs(most / stopped - 1) < 0.05);
  setup.keep_positive = false;
  check_rejected(setup,
                 "amr_setup.keep_positive is 0; it must be true for the problem forward-step");
}

// At the end of the customary time the shock before the step moves slowly. Then the gas in front of
// the step has the total enthalpy of the wind, and about the pressure of Rayleigh's pitot formula,
// of which an entropy error at the walls takes a part.
BOOST_AUTO_TEST_CASE(the_gas_at_the_step_has_the_enthalpy_of_the_wind) {
  if (tests::effort() < 1) return;
  const amr_setup setup = with_roots(amr_problem::forward_step, {3, 1, 1}, 0);
  BOOST_TEST(setup.end_time == 4);
  amr_simulation gas(setup, on_cpu);
  gas.advance_to(setup.end_time);
  const double pitot = std::pow(2.4 * 2.4 * 9 / (4 * 1.4 * 9 - 2 * 0.4), 3.5) * 24.8 / 2.4;
  const double of_wind = 3.5 / 1.4 + 4.5;
  int cells = 0;
  for_each_cell(gas.snapshot(amr_fields::primitive),
                [&](double x, double y, double, const auto& w) {
                  if (x < 0.57 || x > 0.6 || y > 0.06) return;
                  ++cells;
                  const double speed2 = w[1] * w[1] + w[2] * w[2];
                  BOOST_TEST(speed2 < 0.1);
                  BOOST_TEST(std::abs((3.5 * w[3] / w[0] + speed2 / 2) / of_wind - 1) < 0.015);
                  BOOST_TEST(w[3] / pitot > 0.8);
                  BOOST_TEST(w[3] / pitot < 1.02);
                });
  BOOST_TEST(cells == 1);
}

BOOST_AUTO_TEST_CASE(regions_are_a_tube_and_a_ball) {
  amr_setup tube = with_roots(amr_problem::sod, {1, 1, 1}, 1);
  amr_setup own = tube;
  own.problem = amr_problem::regions;
  own.regions = {{.density = 0.125, .pressure = 0.1},
                 {.shape = amr_shape::half_space, .point = {0.5, 9, 0}, .normal = {2, 0, 0}}};
  const auto after = [](const amr_setup& setup) {
    amr_simulation gas(setup, on_cpu);
    gas.advance(5);
    return gas.snapshot();
  };
  BOOST_TEST((after(own).values == after(tube).values));
  own.regions[1] = {.shape = amr_shape::box, .point = {-1, -1, 0}, .upper = {0.5, 2, 0}};
  BOOST_TEST((after(own).values == after(tube).values));
  own.regions[1] = {.shape = amr_shape::ball, .point = {0.4, 0.55, 0}, .radius = 0.23};
  const double ball = std::acos(-1.0) * 0.23 * 0.23;
  const amr_simulation disc(own, on_cpu);
  BOOST_TEST(std::abs(disc.totals()[0] / (0.125 + 0.875 * ball) - 1) < 1e-4);
  // The last region that contains a point has its state.
  own.regions.push_back({.density = 3});
  BOOST_TEST(std::abs(amr_simulation(own, on_cpu).totals()[0] - 3) < 1e-13);
}

BOOST_AUTO_TEST_CASE(regions_beyond_an_inflow_are_a_nozzle) {
  amr_setup setup = wind(0);
  setup.options.mesh.sides[0][0] = boundary::prescribed;
  setup.regions.push_back({.shape = amr_shape::box,
                           .point = {-1, 0.25, 0},
                           .upper = {0, 0.5, 0},
                           .density = 2,
                           .velocity = {10, 0, 0}});
  amr_simulation jet(setup, on_cpu);
  BOOST_TEST(std::abs(jet.totals()[0] - 1) < 1e-13);
  jet.advance_to(0.02);
  // The rest of the side is at rest. A supersonic jet has the flux of mass 2 * 10 * 0.25.
  BOOST_TEST(std::abs(jet.totals()[0] - 1 - 0.02 * 5) < 1e-3);
  setup.options.mesh.sides[0][0] = boundary::reflecting;
  amr_simulation closed(setup, on_cpu);
  closed.advance(4);
  BOOST_TEST(std::abs(closed.totals()[0] - 1) < 1e-13);
}

BOOST_AUTO_TEST_CASE(gravity_pulls_a_gas) {
  amr_setup setup = wind(1);
  setup.options.mesh.sides.fill({boundary::periodic, boundary::periodic});
  setup.gravity = {0, -2, 0};
  amr_simulation gas(setup, on_cpu);
  gas.advance_to(0.1);
  const auto totals = gas.totals();
  BOOST_TEST(std::abs(totals[1] - 1) < 1e-13);
  BOOST_TEST(std::abs(totals[2] + 0.2) < 1e-13);
  BOOST_TEST(std::abs(totals[3] - (2.5 + 0.5 + 0.02)) < 1e-13);
}

BOOST_AUTO_TEST_CASE(bad_problems_are_rejected_by_name) {
  const auto with = [](auto change) {
    amr_setup setup = wind(0);
    change(setup);
    return setup;
  };
  const auto with_region = [&](const amr_region& region) {
    return with([&](auto& o) { o.regions.push_back(region); });
  };
  for (const amr_problem flat :
       {amr_problem::double_mach, amr_problem::dam_break, amr_problem::forward_step}) {
    BOOST_CHECK_THROW(static_cast<void>(recommended_setup(flat, 3)), std::invalid_argument);
    amr_setup setup = recommended_setup(flat, 2);
    setup.dimensions = 3;
    check_rejected(setup,
                   "amr_setup.dimensions is 3; it must be 2 for " + std::string(to_string(flat)));
  }
  check_rejected(with([](auto& o) { o.regions.clear(); }), "amr_setup.regions is 0");
  check_rejected(with([](auto& o) { o.regions.resize(13); }),
                 "amr_setup.regions is 13; it must be in [1, 12]");
  check_rejected(with([](auto& o) { o.problem = amr_problem::sod; }),
                 "amr_setup.regions is 1; it must be 0, except for the problem regions");
  check_rejected(with([](auto& o) { o.regions[0].shape = amr_shape::box; }),
                 "amr_setup.regions[0].shape is box; it must be everywhere");
  check_rejected(with_region({.shape = amr_shape(9)}), "amr_setup.regions[1].shape");
  check_rejected(with_region({.shape = amr_shape::box}), "amr_setup.regions[1].upper[0] is 0");
  check_rejected(with_region({.shape = amr_shape::ball}), "amr_setup.regions[1].radius is 0");
  check_rejected(with_region({.shape = amr_shape::half_space}), "amr_setup.regions[1].normal is 0");
  check_rejected(with_region({.density = 0}), "amr_setup.regions[1].density is 0");
  check_rejected(with_region({.velocity = {0, NAN, 0}}), "amr_setup.regions[1].velocity[1] is nan");
  check_rejected(with_region({.pressure = -1}), "amr_setup.regions[1].pressure is -1");
  check_rejected(with([](auto& o) { o.gravity[1] = INFINITY; }), "amr_setup.gravity[1] is inf");
  amr_setup hill = recommended_setup(amr_problem::advect_gaussian, 2);
  hill.gravity[0] = 1;
  check_rejected(hill, "amr_setup.gravity[0] is 1; it must be 0 for the problem advect-gaussian");
  amr_setup tube = recommended_setup(amr_problem::sod, 2);
  tube.options.mesh.sides[1][1] = boundary::prescribed;
  check_rejected(tube, "amr_options.mesh.sides[1] is prescribed");
}

BOOST_AUTO_TEST_SUITE_END()
