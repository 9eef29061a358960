// SPDX-License-Identifier: BSD-3-Clause
// A binary in the field of a galaxy, as seen from a turning frame. The host integrates the same
// equations in another form, by another method and with other numbers.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "external_systems.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;

namespace tests::inline RAMIFY_BUILD {

/// The functor of a user: a logarithmic halo, a tide that grows with time, and the Coriolis and
/// centrifugal accelerations of a frame that turns around the z axis.
struct turning_galaxy {
  double speed2 = 0.5, core2 = 0.04, turning = 0.3, tide = 0.02;

  __host__ __device__ vec acceleration(const vec& x, const vec& v, double time,
                                       std::uint32_t) const {
    const double r2 = x.x[0] * x.x[0] + x.x[1] * x.x[1] + x.x[2] * x.x[2];
    const double pull = -speed2 / (r2 + core2);
    return {{(pull + turning * turning + tide * time) * x.x[0] + 2 * turning * v.x[1],
             (pull + turning * turning) * x.x[1] - 2 * turning * v.x[0],
             (pull - tide * time) * x.x[2]}};
  }
};

/// The same equations in another form and another method: the center of mass and the separation of
/// the two bodies, in long double, by the classic Runge-Kutta method.
class binary_on_host {
  using real = long double;
  using vector = std::array<real, 3>;
  using phase = std::array<vector, 4>;  // center and its velocity, separation and its velocity

 public:
  binary_on_host(const std::vector<vec>& x, const std::vector<vec>& v, double m0, double m1)
      : m0_(m0), m1_(m1) {
    for (std::size_t k = 0; k < 3; ++k) {
      now_[0][k] = (m0 * real(x[0].x[k]) + m1 * real(x[1].x[k])) / (m0_ + m1_);
      now_[1][k] = (m0 * real(v[0].x[k]) + m1 * real(v[1].x[k])) / (m0_ + m1_);
      now_[2][k] = real(x[1].x[k]) - x[0].x[k];
      now_[3][k] = real(v[1].x[k]) - v[0].x[k];
    }
  }

  void advance(double time, int steps) {
    const real h = real(time) / steps;
    for (int s = 0; s < steps; ++s) {
      const phase k1 = rate(now_, time_);
      const phase k2 = rate(moved(now_, k1, h / 2), time_ + h / 2);
      const phase k3 = rate(moved(now_, k2, h / 2), time_ + h / 2);
      const phase k4 = rate(moved(now_, k3, h), time_ + h);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
          now_[i][k] += h / 6 * (k1[i][k] + 2 * k2[i][k] + 2 * k3[i][k] + k4[i][k]);
        }
      }
      time_ += h;
    }
  }

  /// Returns the position of body 0 or 1.
  [[nodiscard]] vector3 position(int body) const {
    const vector at = place(now_, body);
    return {double(at[0]), double(at[1]), double(at[2])};
  }

 private:
  [[nodiscard]] vector place(const phase& p, int body, std::size_t first = 0) const {
    const real share = body == 0 ? -m1_ / (m0_ + m1_) : m0_ / (m0_ + m1_);
    vector at;
    for (std::size_t k = 0; k < 3; ++k) at[k] = p[first][k] + share * p[2 + first][k];
    return at;
  }
  /// The acceleration of the field in cylindrical coordinates, and in complex numbers in the plane.
  [[nodiscard]] vector field(const phase& p, int body, real time) const {
    const turning_galaxy g;
    const vector x = place(p, body);
    const vector v = place(p, body, 1);
    const real radius = std::hypot(x[0], x[1]);
    const real angle = std::atan2(x[1], x[0]);
    const real pull = real(g.speed2) / (radius * radius + x[2] * x[2] + real(g.core2));
    const real outward = (real(g.turning) * g.turning - pull) * radius;
    return {outward * std::cos(angle) + real(g.tide) * time * x[0] + 2 * real(g.turning) * v[1],
            outward * std::sin(angle) - 2 * real(g.turning) * v[0],
            -pull * x[2] - real(g.tide) * time * x[2]};
  }
  [[nodiscard]] phase rate(const phase& p, real time) const {
    const real d2 = p[2][0] * p[2][0] + p[2][1] * p[2][1] + p[2][2] * p[2][2];
    const real mutual = -(m0_ + m1_) / (d2 * std::sqrt(d2));
    const vector f0 = field(p, 0, time);
    const vector f1 = field(p, 1, time);
    phase r{p[1], {}, p[3], {}};
    for (std::size_t k = 0; k < 3; ++k) {
      r[1][k] = (m0_ * f0[k] + m1_ * f1[k]) / (m0_ + m1_);
      r[3][k] = mutual * p[2][k] + f1[k] - f0[k];
    }
    return r;
  }
  static phase moved(const phase& p, const phase& rate, real h) {
    phase to = p;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 3; ++k) to[i][k] += h * rate[i][k];
    }
    return to;
  }

  real m0_, m1_, time_ = 0;
  phase now_{};
};

/// Two bodies on a circle around each other, on their way around the galaxy.
struct binary {
  std::vector<vec> x{{{1, 0, 0.1}}, {{1.2, 0, 0.1}}};
  std::vector<vec> v{{{0, 0.4, 0}}, {{0, 1.2, 0}}};
  std::vector<double> m{0.1, 0.02};
};

/// Returns the larger distance of the two bodies from where the host has them.
double error_of_binary(unsigned levels, int steps, const vector3 (&truth)[2]) {
  const binary b;
  // A softening of 1e-6 changes the force by 1e-10; block steps require one.
  const double dt = 2.0 / steps;
  const nbody_options options{.softening = levels > 1 ? 1e-6 : 0,
                              .step_levels = levels,
                              .step_accuracy = 0.1 * dt * dt / 1e-6};
  auto system = system_of(b.x, b.v, b.m, turning_galaxy{}, options);
  system.step(dt, std::uint64_t(steps));
  if (levels > 1) {  // the bodies have steps of different lengths
    BOOST_TEST(std::ranges::count(system.report().bodies_on_level, 1u) == 2);
  }
  BOOST_TEST(system.time() == 2, boost::test_tools::tolerance(1e-12));
  const auto at = positions_of(system);
  double error = 0;
  for (int i = 0; i < 2; ++i) {
    const auto& p = at[std::size_t(i)].x;
    error = std::max(error, distance({p[0], p[1], p[2]}, truth[i]));
  }
  return error;
}

}  // namespace tests::inline RAMIFY_BUILD

using namespace tests;

BOOST_AUTO_TEST_SUITE(external_fields)

BOOST_DATA_TEST_CASE(a_binary_in_a_field_follows_the_host, data::make({1u, 3u}), levels) {
  const binary b;
  binary_on_host host(b.x, b.v, b.m[0], b.m[1]);
  host.advance(2, 4'000);
  const vector3 truth[2] = {host.position(0), host.position(1)};
  double last = 0;
  for (const int steps : {200, 400, 800}) {
    const double error = error_of_binary(levels, steps, truth);
    BOOST_TEST_MESSAGE(levels << " levels, " << steps << " steps: " << error);
    if (last > 0) {
      BOOST_TEST(last / error > 3);  // second order
      BOOST_TEST(last / error < 5.5);
    }
    last = error;
  }
  BOOST_TEST(last < 1e-3);
  // Negative control: without the field, the binary is elsewhere.
  nbody_system<double> alone(b.x.data(), b.v.data(), b.m.data(), 2,
                             nbody_options{.method = ramify::nbody_method::direct});
  alone.step(2.0 / 400, 400);
  const auto away = positions_of(alone)[0];
  BOOST_TEST(distance(truth[0], {away.x[0], away.x[1], away.x[2]}) > 0.1);
}

BOOST_AUTO_TEST_SUITE_END()
