// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/nbody.hpp>

#include <ramify/runtime/detail/arguments.hpp>

#include "facade/backend_choice.hpp"
#include "facade/started_call.hpp"
#include "nbody/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {

namespace {

/// Checks the arguments of gravity(), and returns its arrays. \throws std::invalid_argument
template <class Real>
detail::facade::gravity_arrays<Real> checked(std::span<const std::array<Real, 3>> positions,
                                             std::span<const Real> masses,
                                             std::span<std::array<Real, 3>> accelerations,
                                             std::span<Real> potentials,
                                             const nbody_options& options, const environment& env) {
  validate(options);
  validate(env);
  const std::size_t n = positions.size();
  const detail::required_count bodies{"gravity", n, "bodies"};
  bodies.check(masses.size(), "masses");
  bodies.check(accelerations.size(), "accelerations");
  const detail::facade::gravity_arrays<Real> arrays{positions.data(),
                                                    masses.data(),
                                                    n,
                                                    accelerations.data(),
                                                    bodies.data_of(potentials, "potentials"),
                                                    n};
  detail::nbody::check_overlap(arrays, "gravity");
  return arrays;
}

}  // namespace

template <nbody_real Real>
nbody_report gravity(std::span<const std::array<Real, 3>> positions, std::span<const Real> masses,
                     std::span<std::array<Real, 3>> accelerations, std::span<Real> potentials,
                     const nbody_options& options, const environment& env) {
  const auto arrays = checked(positions, masses, accelerations, potentials, options, env);
  return detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::gravity_on<where, Real>(arrays, options, env);
  });
}

template <nbody_real Real>
async_run<nbody_report> gravity_async(std::span<const std::array<Real, 3>> positions,
                                      std::span<const Real> masses,
                                      std::span<std::array<Real, 3>> accelerations,
                                      std::span<Real> potentials, const nbody_options& options,
                                      const environment& env) {
  const auto arrays = checked(positions, masses, accelerations, potentials, options, env);
  return detail::facade::start_on_backend("gravity", env, [&](auto where) {
    return detail::facade::start_gravity_on<where, Real>(arrays, options, env);
  });
}

template <nbody_real Real>
async_run<nbody_report> gravity_async(std::span<const std::array<Real, 3>> positions,
                                      std::span<const Real> masses,
                                      std::span<std::array<Real, 3>> accelerations,
                                      std::span<Real> potentials, const environment& env) {
  return gravity_async(positions, masses, accelerations, potentials, nbody_options{}, env);
}

template <nbody_real Real>
nbody_report gravity(std::span<const std::array<Real, 3>> positions, std::span<const Real> masses,
                     std::span<std::array<Real, 3>> accelerations, std::span<Real> potentials,
                     const environment& env) {
  return gravity(positions, masses, accelerations, potentials, nbody_options{}, env);
}

template <nbody_real Real>
nbody_collisions find_collisions(std::span<const std::array<Real, 3>> positions,
                                 std::span<const Real> radii, std::span<body_pair> pairs,
                                 const environment& env) {
  validate(env);
  detail::required_count{"find_collisions", positions.size(), "bodies"}.check(radii.size(),
                                                                              "radii");
  detail::check_overlaps(
      "find_collisions",
      std::array{detail::input_array(positions.data(), positions.size(), "positions"),
                 detail::input_array(radii.data(), radii.size(), "radii"),
                 detail::output_array(pairs.data(), pairs.size(), "pairs")});
  return detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::find_collisions_on<where, Real>(positions, radii, pairs, env);
  });
}

template <nbody_real Real>
nbody_simulation<Real>::nbody_simulation(std::span<const vector> positions,
                                         std::span<const vector> velocities,
                                         std::span<const Real> masses, const nbody_field* field,
                                         const nbody_options& options, const environment& env) {
  validate(options);
  if (field != nullptr) {
    detail::nbody::validate_range<Real>(*field, options.gravitational_constant);
  }
  validate(env);
  const detail::required_count bodies{"nbody_simulation", positions.size(), "bodies"};
  bodies.check(velocities.size(), "velocities");
  bodies.check(masses.size(), "masses");
  const nbody_report first = detail::facade::on_backend(env, [&](auto where) {
    bodies_ = detail::facade::make_nbody_on<where, Real>(positions, velocities, masses, field,
                                                         options, env);
    return bodies_->report();
  });
  bodies_->backend_reason = first.backend_reason;
}

template <nbody_real Real>
void nbody_simulation<Real>::download(std::span<vector> positions, std::span<vector> velocities,
                                      std::span<vector> accelerations,
                                      std::span<Real> potentials) const {
  const detail::required_count bodies{"nbody_simulation::download", size(), "bodies"};
  const auto check = [&](std::size_t elements, const char* name) {
    if (elements != 0) bodies.check(elements, name);
  };
  check(positions.size(), "positions");
  check(velocities.size(), "velocities");
  check(accelerations.size(), "accelerations");
  check(potentials.size(), "potentials");
  bodies_->download(positions, velocities, accelerations, potentials);
}

// The types that on_backend.cuh is compiled for.
#define RAMIFY_INSTANTIATE(Real)                                                                   \
  template nbody_report gravity(std::span<const std::array<Real, 3>>, std::span<const Real>,       \
                                std::span<std::array<Real, 3>>, std::span<Real>,                   \
                                const nbody_options&, const environment&);                         \
  template nbody_report gravity(std::span<const std::array<Real, 3>>, std::span<const Real>,       \
                                std::span<std::array<Real, 3>>, std::span<Real>,                   \
                                const environment&);                                               \
  template async_run<nbody_report> gravity_async(                                                  \
      std::span<const std::array<Real, 3>>, std::span<const Real>, std::span<std::array<Real, 3>>, \
      std::span<Real>, const nbody_options&, const environment&);                                  \
  template async_run<nbody_report> gravity_async(                                                  \
      std::span<const std::array<Real, 3>>, std::span<const Real>, std::span<std::array<Real, 3>>, \
      std::span<Real>, const environment&);                                                        \
  template nbody_collisions find_collisions(std::span<const std::array<Real, 3>>,                  \
                                            std::span<const Real>, std::span<body_pair>,           \
                                            const environment&);                                   \
  template class nbody_simulation<Real>;
RAMIFY_INSTANTIATE(float)
RAMIFY_INSTANTIATE(double)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify::inline RAMIFY_ABI
