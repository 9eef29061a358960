// SPDX-License-Identifier: BSD-3-Clause
// Advection of a scalar, and the velocities.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/amr/physics/advection.cuh>
#include <string>

using ramify::advection;
using ramify::reversing_vortex;
using ramify::uniform_velocity;

namespace {

/// Returns the largest net outflow of a cell of a mesh of cells^dim, whose edges have length 1.
template <int dim>
double greatest_outflow(const reversing_vortex<double, dim>& vortex, int cells, double time) {
  const double h = 1.0 / cells;
  double most = 0;
  const int deep = dim == 3 ? cells : 1;
  for (int cell = 0; cell < cells * cells * deep; ++cell) {
    const int index[3] = {cell % cells, cell / cells % cells, cell / cells / cells};
    double outflow = 0;
    for (int axis = 0; axis < dim; ++axis) {
      double where[dim];
      for (int i = 0; i < dim; ++i) where[i] = (index[i] + 0.5) * h;
      where[axis] = (index[axis] + 1) * h;
      outflow += vortex(where, time, axis);
      where[axis] = index[axis] * h;
      outflow -= vortex(where, time, axis);
    }
    most = std::max(most, std::abs(outflow));
  }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_advection)

BOOST_AUTO_TEST_CASE(the_flux_is_upwind) {
  const advection<double, 2, uniform_velocity<double, 2>> physics{{{2, -3}}};
  const double nowhere[2] = {};
  BOOST_TEST(physics.flux({{5}}, {{7}}, 0, nowhere, 0)[0] == 10);
  BOOST_TEST(physics.flux({{5}}, {{7}}, 1, nowhere, 0)[0] == -21);
  BOOST_TEST(physics.max_wave_speed({{5}}, 1, nowhere, 0) == 3);
  BOOST_TEST(physics.to_primitive(physics.to_conserved({{5}}))[0] == 5);
  BOOST_TEST(physics.reflected({{5}}, 0)[0] == 5);
  BOOST_TEST(physics.is_valid({{-5}}));
  BOOST_TEST(physics.is_positive({{-5}}));
  BOOST_TEST(!physics.is_valid({{std::numeric_limits<double>::quiet_NaN()}}));
  BOOST_TEST((physics.field_name(0) == std::string("concentration")));
}

BOOST_AUTO_TEST_CASE(the_vortex_has_no_net_outflow) {
  BOOST_TEST(greatest_outflow<2>({}, 16, 0.3) < 1e-15);
  BOOST_TEST(greatest_outflow<2>({}, 50, 0) < 1e-15);
  BOOST_TEST(greatest_outflow<3>({}, 16, 0.3) < 2e-15);
}

BOOST_AUTO_TEST_CASE(the_vortex_is_that_of_the_paper) {
  const reversing_vortex<double, 2> plane{8};
  const double pi = std::numbers::pi;
  const double where[2] = {0.3, 0.2};
  const double x = std::sin(0.3 * pi);
  const double y = std::sin(0.2 * pi);
  BOOST_TEST(std::abs(plane(where, 0, 0) - x * x * std::sin(0.4 * pi)) < 1e-15);
  BOOST_TEST(std::abs(plane(where, 0, 1) + y * y * std::sin(0.6 * pi)) < 1e-15);
  const reversing_vortex<double, 3> space{3};
  const double there[3] = {0.25, 0.25, 0.5};
  BOOST_TEST(std::abs(space(there, 0, 0)) < 1e-15);
  const double further[3] = {0.25, 0.25, 0.25};
  BOOST_TEST(std::abs(space(further, 0, 0) - 1) < 1e-15);
  BOOST_TEST(std::abs(space(further, 0, 1) + 0.5) < 1e-15);
  BOOST_TEST(std::abs(space(further, 0, 2) + 0.5) < 1e-15);
}

BOOST_AUTO_TEST_CASE(the_vortex_reverses) {
  const reversing_vortex<double, 2> vortex{2};
  const double where[2] = {0.3, 0.2};
  BOOST_TEST(std::abs(vortex(where, 0, 0)) > 0.5);  // negative control: it is not always 0
  BOOST_TEST(std::abs(vortex(where, 0.5, 0) + vortex(where, 1.5, 0)) < 1e-15);
  BOOST_TEST(std::abs(vortex(where, 0.2, 0) + vortex(where, 1.8, 0)) < 1e-15);
  BOOST_TEST(std::abs(vortex(where, 1, 0)) < 1e-15);  // it reverses
}

BOOST_AUTO_TEST_CASE(no_flow_crosses_the_boundary_of_the_vortex) {
  const reversing_vortex<double, 2> vortex{2};
  for (const double edge : {0.0, 1.0}) {
    const double side[2] = {edge, 0.3};
    const double end[2] = {0.3, edge};
    BOOST_TEST(std::abs(vortex(side, 0, 0)) < 1e-30);
    BOOST_TEST(std::abs(vortex(end, 0, 1)) < 1e-30);
  }
}

BOOST_AUTO_TEST_SUITE_END()
