// SPDX-License-Identifier: BSD-3-Clause
// The physics of a plasma on the host: its flux, its waves and its values.
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr/physics/mhd.cuh>
#include <ramify/amr/physics/positivity.cuh>
#include <random>

using ramify::mhd;

namespace {

using every_mhd = boost::mpl::list<mhd<double, 2>, mhd<double, 3>, mhd<float, 2>, mhd<float, 3>>;

/// Random primitive values; pressures of the gas and of the field are spread over four orders of
/// magnitude.
template <class Physics>
class random_plasma {
 public:
  using real = typename Physics::real;
  using values = typename Physics::values;

  values operator()() {
    values u;
    for (int v = 0; v < Physics::variables; ++v) u[v] = real(symmetric());
    u[Physics::density] = real(std::pow(10, 2 * symmetric()));
    u[Physics::pressure] = real(std::pow(10, 2 * symmetric()));
    for (int k = 0; k < 3; ++k) u[Physics::first_magnetic + k] *= real(std::pow(10, symmetric()));
    return u;
  }

 private:
  double symmetric() { return std::ldexp(double(numbers_()), -31) - 1; }
  std::mt19937 numbers_{5};
};

template <class Physics>
typename Physics::values face_flux(const Physics& physics, const typename Physics::values& left,
                                   const typename Physics::values& right, int axis) {
  const typename Physics::real nowhere[Physics::dimensions] = {};
  return physics.flux(left, right, axis, nowhere, 0);
}

/// Returns the flux of a constant state with psi = 0, by the tensors of the textbooks.
template <class Physics>
typename Physics::values flux_of_tensors(const Physics& physics, const typename Physics::values& w,
                                         int axis) {
  const double rho = double(w[0]), p = double(w[4]);
  double v[3], b[3], vv = 0, bb = 0, vb = 0;
  for (int k = 0; k < 3; ++k) {
    v[k] = double(w[1 + k]), b[k] = double(w[5 + k]);
    vv += v[k] * v[k], bb += b[k] * b[k], vb += v[k] * b[k];
  }
  const double energy = p / (double(physics.gamma) - 1) + rho * vv / 2 + bb / 2;
  double flow[9] = {rho * v[axis]};
  for (int k = 0; k < 3; ++k) {
    flow[1 + k] = rho * v[axis] * v[k] - b[axis] * b[k] + (k == axis ? p + bb / 2 : 0);
    flow[5 + k] = v[axis] * b[k] - b[axis] * v[k];
  }
  flow[4] = (energy + p + bb / 2) * v[axis] - b[axis] * vb;
  typename Physics::values all;
  for (int i = 0; i < 9; ++i) all[i] = typename Physics::real(flow[i]);
  return all;
}

/// Returns the largest difference of two fluxes, relative to the largest entry of one.
template <class Values>
double change_of_flux(const Values& a, const Values& b) {
  double most = 0, scale = 0;
  for (int i = 0; i < 9; ++i) {
    most = std::max(most, std::abs(double(a[i]) - double(b[i])));
    scale = std::max(scale, std::abs(double(b[i])));
  }
  return most / scale;
}

template <class Physics>
constexpr double rounding_of = sizeof(typename Physics::real) > 4 ? 1e-12 : 1e-4;

}  // namespace

BOOST_AUTO_TEST_SUITE(a_plasma)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_constant_state_has_the_flux_of_the_textbooks, Physics, every_mhd) {
  const Physics physics;
  random_plasma<Physics> random;
  for (int i = 0; i < 200; ++i) {
    auto u = random();
    u[Physics::psi] = 0;
    for (int axis = 0; axis < Physics::dimensions; ++axis) {
      if (i % 4 == 0) u[5 + i % 3] = 0;  // no field along one of the axes
      BOOST_TEST(change_of_flux(face_flux(physics, u, u, axis), flux_of_tensors(physics, u, axis)) <
                 rounding_of<Physics>);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(mirror_images_have_mirrored_fluxes_bit_by_bit, Physics, every_mhd) {
  Physics physics;
  physics.set_step_speed(3);
  random_plasma<Physics> random;
  for (int i = 0; i < 200; ++i) {
    const auto left = random();
    const auto right = random();
    for (int axis = 0; axis < Physics::dimensions; ++axis) {
      const auto flow = face_flux(physics, left, right, axis);
      const auto mirrored =
          face_flux(physics, physics.reflected(right, axis), physics.reflected(left, axis), axis);
      const auto expected = physics.reflected(flow, axis);
      for (int v = 0; v < Physics::variables; ++v) {
        BOOST_TEST(std::isfinite(flow[v]));
        BOOST_TEST(mirrored[v] == -expected[v]);
      }
      // A wall: nothing flows through it, except momentum toward it and the field's correction.
      const auto at_wall = face_flux(physics, left, physics.reflected(left, axis), axis);
      for (const int v : {0, 4, 8}) BOOST_TEST(at_wall[v] == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(isolated_waves_are_exact, Physics, every_mhd) {
  const Physics physics;
  random_plasma<Physics> random;
  using real = typename Physics::real;
  for (int i = 0; i < 200; ++i) {
    auto left = random();
    left[Physics::psi] = 0;
    for (int axis = 0; axis < Physics::dimensions; ++axis) {
      left[1 + axis] = real(i % 2 == 0 ? 0.1 : -0.1);
      // A contact: only the densities differ. It moves with the plasma.
      auto right = left;
      right[0] *= real(7);
      const auto& upwind = i % 2 == 0 ? left : right;
      BOOST_TEST(change_of_flux(face_flux(physics, left, right, axis),
                                flux_of_tensors(physics, upwind, axis)) < rounding_of<Physics>);
      // An Alfven wave: the field across the face turns, and the velocity follows.
      right = left;
      const int across = 5 + (axis + 1) % 3, other = 5 + (axis + 2) % 3;
      right[across] = left[other];
      right[other] = -left[across];
      const real sign = left[5 + axis] < 0 ? real(-1) : real(1);
      for (const int b : {across, other}) {  // it runs to the right, relative to the plasma
        right[b - 4] -= sign * (right[b] - left[b]) / std::sqrt(left[0]);
      }
      const real speed = left[1 + axis] + std::abs(left[5 + axis]) / std::sqrt(left[0]);
      const auto& behind = speed > 0 ? left : right;
      BOOST_TEST(change_of_flux(face_flux(physics, left, right, axis),
                                flux_of_tensors(physics, behind, axis)) < rounding_of<Physics>);
    }
  }
}

// Of a field along x: the exact waves are those at the speed 3, and the flux is theirs.
BOOST_AUTO_TEST_CASE(cleaning_waves_leave_a_jump_of_the_field) {
  mhd<double, 2> physics;
  physics.cleaning = 0.5;
  physics.set_step_speed(6);
  const mhd<double, 2>::values left{1, 0, 0, 0, 1, 0.5, 0, 0, 0.25};
  const mhd<double, 2>::values right{1, 0, 0, 0, 1, 0.75, 0, 0, 0.125};
  const auto flow = face_flux(physics, left, right, 0);
  // B - psi comes from the right, B + psi from the left.
  const double field = 0.5 * ((0.5 + 0.25) + (0.75 - 0.125));
  const double psi = 0.5 * ((0.5 + 0.25) - (0.75 - 0.125));
  BOOST_TEST(flow[5] == 3 * psi);
  BOOST_TEST(flow[8] == 3 * field);
  BOOST_TEST(std::abs(flow[1] - (1 - 0.5 * field * field)) < 1e-15);
  const double where[2] = {};
  BOOST_TEST(physics.max_wave_speed(left, 0, where, 0) == 3);
  const double edges[2] = {0.1, 0.2};
  const auto damped = physics.implicit_source(right, where, edges, 0, 0.02);
  BOOST_TEST(std::abs(damped[8] / 0.125 - std::exp(-0.1 * 3 * 0.02 / 0.1)) < 1e-15);
  for (int v = 0; v < 8; ++v) BOOST_TEST(damped[v] == right[v]);
  physics.cleaning = 0;
  physics.set_step_speed(6);
  BOOST_TEST(face_flux(physics, left, right, 0)[5] == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(speeds_and_values_follow_the_formulas, Physics, every_mhd) {
  const Physics physics;
  const typename Physics::real nowhere[Physics::dimensions] = {};
  random_plasma<Physics> random;
  for (int i = 0; i < 200; ++i) {
    const auto w = random();
    const auto u = physics.to_conserved(w);
    BOOST_TEST(physics.is_valid(u));
    BOOST_TEST(physics.is_positive(w));
    const auto back = physics.to_primitive(u);
    for (int v = 0; v < Physics::variables; ++v) {
      const double scale = v == 4 ? double(u[4]) : std::abs(double(w[v]));
      BOOST_TEST(std::abs(double(back[v]) - double(w[v])) <= 10 * rounding_of<Physics> * scale);
    }
    for (int axis = 0; axis < Physics::dimensions; ++axis) {
      // The larger root of c^4 - (a^2 + b^2) c^2 + a^2 b_n^2 = 0.
      const long double a2 = (long double)(physics.gamma) * w[4] / w[0];
      const long double b2 =
          ((long double)(w[5]) * w[5] + (long double)(w[6]) * w[6] + (long double)(w[7]) * w[7]) /
          w[0];
      const long double n2 = (long double)(w[5 + axis]) * w[5 + axis] / w[0];
      const long double sum = a2 + b2;
      const long double fast = std::sqrt((sum + std::sqrt(sum * sum - 4 * a2 * n2)) / 2);
      const double found = double(physics.max_wave_speed(w, axis, nowhere, 0));
      BOOST_TEST(std::abs(found / double(fast + std::abs((long double)(w[1 + axis]))) - 1) <
                 rounding_of<Physics>);
    }
  }
}

BOOST_AUTO_TEST_CASE(invalid_values_and_floors) {
  ramify::with_positivity<mhd<double, 2>> physics;
  const mhd<double, 2>::values w{1, 2, 3, 4, 1e-3, 5, 6, 7, 0.5};
  auto u = physics.to_conserved(w);
  BOOST_TEST(std::abs(u[4] - (1.5e-3 + 0.5 * 29 + 0.5 * 110)) < 1e-13);
  BOOST_TEST(physics.is_valid(u));
  BOOST_TEST(physics.is_above_floors(u));
  physics.pressure_floor = 0.1;
  BOOST_TEST(!physics.is_above_floors(u));
  const auto raised = physics.to_primitive(physics.at_floors(u));
  BOOST_TEST(std::abs(raised[4] - 0.1) < 1e-12);
  for (const int v : {0, 1, 2, 3, 5, 6, 7, 8}) BOOST_TEST(std::abs(raised[v] - w[v]) < 1e-14);
  u[4] -= 0.01;  // less energy than that of motion and field
  BOOST_TEST(!physics.is_valid(u));
  u[4] = NAN;
  BOOST_TEST(!physics.is_valid(u));
  u = physics.to_conserved(w);
  u[8] = INFINITY;
  BOOST_TEST(!physics.is_valid(u));
  // A vacuum is at rest, and keeps the field.
  u = physics.to_conserved(w);
  u[0] = -1;
  BOOST_TEST(!physics.is_valid(u));
  const auto vacuum = physics.to_primitive(physics.at_floors(u));
  BOOST_TEST(vacuum[0] == physics.density_floor);
  BOOST_TEST(vacuum[1] == 0);
  BOOST_TEST(vacuum[6] == 6);
  BOOST_TEST(std::abs(vacuum[4] - 0.1) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
