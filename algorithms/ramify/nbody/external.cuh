// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What acts on the bodies of a simulation besides their own gravity, as a functor of the caller:
/// external accelerations, and a callback between steps. Public: <ramify/nbody.cuh> includes this
/// header.
///
///     struct halo {
///       double stiffness;
///       __device__ point<double, 3> acceleration(const point<double, 3>& x, double time,
///                                                std::uint32_t body) const {
///         return {{-stiffness * x.x[0], -stiffness * x.x[1], -stiffness * x.x[2]}};
///       }
///       __device__ double potential(const point<double, 3>& x, double time,
///                                   std::uint32_t body) const;
///     };
///     ramify::nbody_system<double, halo> cluster(x, v, m, n, halo{0.1}, options, env);
///
/// An External has acceleration() or after_step(), or both, and may have potential():
///
///     vector acceleration(vector x, double time, std::uint32_t body) const
///     vector acceleration(vector x, vector v, double time, std::uint32_t body) const
///                          the acceleration of a body at x, with the velocity v. The kernels of
///                          the leapfrog add it to that by gravity in both kicks.
///     double potential(vector x, double time, std::uint32_t body) const
///                          the potential of acceleration(): conserved() adds mass * potential to
///                          the potential energy
///     void after_step(vector x, vector& v, Real mass, double time, std::uint32_t body) const
///                          called once for each body after each step, by the last kernel of the
///                          step. It may change the velocity, and what the External points to.
///
/// vector is point<Real, 3>; `body` is the index in the caller's arrays; `time` is the sum of the
/// steps since the system was constructed. Several threads call the members at the same time, for
/// different bodies. The members must not launch or synchronize.
///
/// With an acceleration that depends on the velocity, the second kick of a step estimates the
/// velocity at its end first. So the steps remain of second order; they are not symplectic and not
/// time-reversible.
///
/// Cost: nothing is added to the kernels of a system without an External. With one, a step has one
/// more grid, of one thread, which advances the time.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/field.hpp>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The External of a system in which nothing acts but gravity of the bodies on one another.
struct no_external {};

/// The External that nbody_field describes.
template <class Real>
class named_field {
  using vector = point<Real, 3>;

 public:
  named_field() = default;
  /// Reads options.gravitational_constant.
  /// \throws std::invalid_argument naming a field that is not finite, or too large for Real
  explicit named_field(const nbody_field& of, const nbody_options& options = {}) {
    detail::nbody::validate_range<Real>(of, options.gravitational_constant);
    stiffness_ = static_cast<Real>(of.stiffness);
    attraction_ = static_cast<Real>(options.gravitational_constant * of.point_mass);
    core2_ = static_cast<Real>(of.core_radius * of.core_radius);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      center_.x[axis] = static_cast<Real>(of.center[axis]);
      uniform_.x[axis] = static_cast<Real>(of.uniform[axis]);
    }
  }

  /// Returns the acceleration at x.
  [[nodiscard]] __device__ vector acceleration(const vector& x, double, std::uint32_t) const {
    const Real r2 = distance2(center_, x);
    // The third power of a distance may be too large or too small for Real: multiply step by step.
    const bool attracts = attraction_ != 0 && r2 + core2_ > 0;
    const Real inverse = attracts ? 1 / std::sqrt(r2 + core2_) : Real{0};
    const Real attraction = attraction_ * inverse * inverse;
    vector sum;
    for (int axis = 0; axis < 3; ++axis) {
      const Real d = x.x[axis] - center_.x[axis];
      sum.x[axis] = uniform_.x[axis] - stiffness_ * d - attraction * (d * inverse);
    }
    return sum;
  }

  /// Returns the potential per mass at x.
  [[nodiscard]] __device__ double potential(const vector& x, double, std::uint32_t) const {
    const Real r2 = distance2(center_, x);
    double sum = static_cast<double>(stiffness_) * r2 / 2;
    if (attraction_ != 0 && r2 + core2_ > 0) {
      sum -= static_cast<double>(attraction_) / std::sqrt(r2 + core2_);
    }
    for (int axis = 0; axis < 3; ++axis) {
      sum -= static_cast<double>(uniform_.x[axis]) * (x.x[axis] - center_.x[axis]);
    }
    return sum;
  }

 private:
  vector center_;
  vector uniform_;
  Real stiffness_;
  Real attraction_;  // the gravitational constant times the mass
  Real core2_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// States which members an External has.
template <class Real, class External>
struct external_types {
  using vector = point<Real, 3>;
  static constexpr bool by_position =
      requires(const External& e, const vector& x, double time, std::uint32_t body) {
    { e.acceleration(x, time, body) } -> std::convertible_to<vector>;
  };
  static constexpr bool by_velocity =
      requires(const External& e, const vector& x, double time, std::uint32_t body) {
    { e.acceleration(x, x, time, body) } -> std::convertible_to<vector>;
  };
  static constexpr bool has_acceleration = by_position || by_velocity;
  static constexpr bool has_potential =
      requires(const External& e, const vector& x, double time, std::uint32_t body) {
    { e.potential(x, time, body) } -> std::convertible_to<double>;
  };
  static constexpr bool has_callback = requires(const External& e, const vector& x, vector& v,
                                                Real mass, double time, std::uint32_t body) {
    e.after_step(x, v, mass, time, body);
  };
};

/// Reports each requirement that an External does not meet by a sentence of the compiler.
template <class Real, class External>
struct checked_external : external_types<Real, External> {
  using types = external_types<Real, External>;
  static_assert(is_plain<External>,
                "nbody_system: External must be trivially copyable and default-constructible");
  static_assert(types::has_acceleration || types::has_callback,
                "nbody_system: External needs point<Real, 3> acceleration(point<Real, 3> x, double "
                "time, std::uint32_t body) const, or with the velocity after x, or void "
                "after_step(point<Real, 3> x, point<Real, 3>& v, Real mass, double time, "
                "std::uint32_t body) const");
  static_assert(
      types::has_acceleration || !requires { &External::acceleration; },
      "nbody_system: External has an acceleration() with other parameters than "
      "(point<Real, 3> x, double time, std::uint32_t body) const");
  static_assert(
      types::has_potential || !requires { &External::potential; },
      "nbody_system: External has a potential() with other parameters than "
      "(point<Real, 3> x, double time, std::uint32_t body) const");
  static_assert(
      types::has_callback || !requires { &External::after_step; },
      "nbody_system: External has an after_step() with other parameters than "
      "(point<Real, 3> x, point<Real, 3>& v, Real mass, double time, std::uint32_t body) "
      "const");
};

/// Adds half of the change of a velocity in a step of dt.
template <class Real>
__device__ void kick_body(point<Real, 3>& velocity, const point<Real, 3>& acceleration, Real dt) {
  for (int axis = 0; axis < 3; ++axis) velocity.x[axis] += acceleration.x[axis] * (dt / 2);
}

/// An External as the kernels of a step use it, at the time *time + after.
template <class Real, class External>
struct external_forces {
  using vector = point<Real, 3>;
  using types = checked_external<Real, External>;
  static constexpr bool has_potential = types::has_potential;

  External external;
  const double* time;  ///< of the system, in device memory
  const Real* masses;
  double after = 0;

  /// Returns the forces at a later time.
  [[nodiscard]] external_forces later(double by) const { return {external, time, masses, by}; }

  [[nodiscard]] __device__ double now() const { return *time + after; }

  /// Returns the acceleration of body i by gravity and by the External.
  [[nodiscard]] __device__ vector total(const vector& gravity, const vector& x, const vector& v,
                                        std::uint32_t i) const {
    if constexpr (!types::has_acceleration) return gravity;
    vector sum = gravity;
    const vector added = by_external(x, v, i);
    for (int axis = 0; axis < 3; ++axis) sum.x[axis] += added.x[axis];
    return sum;
  }

  /// The kick at the beginning of a step of dt.
  __device__ void begin_step(vector& v, const vector& gravity, const vector& x, Real dt,
                             std::uint32_t i) const {
    kick_body(v, total(gravity, x, v, i), dt);
  }

  /// The kick at the end of a step of dt. `v` is the velocity in the middle of the step.
  __device__ void end_step(vector& v, const vector& gravity, const vector& x, Real dt,
                           std::uint32_t i) const {
    vector at_end = v;
    if constexpr (types::by_velocity) kick_body(at_end, total(gravity, x, v, i), dt);
    kick_body(v, total(gravity, x, at_end, i), dt);
  }

  /// Calls the callback after a step.
  __device__ void after_step(const vector& x, vector& v, std::uint32_t i) const {
    if constexpr (types::has_callback) external.after_step(x, v, masses[i], now(), i);
  }

  [[nodiscard]] __device__ double potential(const vector& x, std::uint32_t i) const {
    return external.potential(x, now(), i);
  }

 private:
  [[nodiscard]] __device__ vector by_external(const vector& x, const vector& v,
                                              std::uint32_t i) const {
    if constexpr (types::by_velocity) {
      return external.acceleration(x, v, now(), i);
    } else if constexpr (types::by_position) {
      return external.acceleration(x, now(), i);
    } else {
      return {};
    }
  }
};

/// Gravity alone.
template <class Real>
struct external_forces<Real, no_external> {
  using vector = point<Real, 3>;
  static constexpr bool has_potential = false;

  [[nodiscard]] external_forces later(double) const { return *this; }
  [[nodiscard]] __device__ const vector& total(const vector& gravity, const vector&, const vector&,
                                               std::uint32_t) const {
    return gravity;
  }
  __device__ void begin_step(vector& v, const vector& gravity, const vector&, Real dt,
                             std::uint32_t) const {
    kick_body(v, gravity, dt);
  }
  __device__ void end_step(vector& v, const vector& gravity, const vector&, Real dt,
                           std::uint32_t) const {
    kick_body(v, gravity, dt);
  }
  __device__ void after_step(const vector&, vector&, std::uint32_t) const {}
};

/// The progress of the steps of a simulation; initially zero. If the host must complete the forces
/// of a step, the kick and the steps after it do nothing.
struct step_progress {
  std::uint32_t waits;    ///< 1 if the second kick of a step waits for the host
  std::uint32_t skipped;  ///< steps that did nothing, such as later launches of a graph
};

/// Advances the time of a system by a step of dt, unless the step does nothing. One thread, between
/// the kicks of the step.
template <class Real>
__global__ void advance_time(double* time, Real dt, const step_progress* progress,
                             trace_ticket trace) {
  const traced here(trace, __func__);
  if (progress->waits == 0) *time += dt;
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
