// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/nbody.hpp>

#include <stdexcept>
#include <string>

#include "facade/backend_choice.hpp"
#include "nbody/on_backend.hpp"

namespace ramify {
namespace {

void check_size(const char* algorithm, const char* name, std::size_t size, std::size_t n) {
  if (size == n) return;
  throw std::invalid_argument(std::string(algorithm) + ": " + std::to_string(n) + " bodies, but " +
                              std::to_string(size) + ' ' + name);
}

}  // namespace

void validate(const nbody_options& options) {
  check_enumerator(options.backend, "nbody_options.backend");
  validate(static_cast<const nbody_config&>(options));
}

template <nbody_real Real>
nbody_report gravity(std::span<const std::array<Real, 3>> positions, std::span<const Real> masses,
                     std::span<std::array<Real, 3>> accelerations, std::span<Real> potentials,
                     const nbody_options& options) {
  validate(options);
  const std::size_t n = positions.size();
  check_size("gravity", "masses", masses.size(), n);
  check_size("gravity", "accelerations", accelerations.size(), n);
  if (!potentials.empty()) check_size("gravity", "potentials", potentials.size(), n);
  const detail::facade::gravity_arrays<Real> arrays{
      positions.data(),
      masses.data(),
      n,
      accelerations.data(),
      potentials.empty() ? nullptr : potentials.data(),
      n};
  detail::nbody::check_overlap(arrays, "gravity");
  return detail::facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
    return detail::facade::gravity_on<where, Real>(arrays, options);
  });
}

template <nbody_real Real>
nbody_simulation<Real>::nbody_simulation(std::span<const vector> positions,
                                         std::span<const vector> velocities,
                                         std::span<const Real> masses,
                                         const nbody_options& options) {
  validate(options);
  check_size("nbody_simulation", "velocities", velocities.size(), positions.size());
  check_size("nbody_simulation", "masses", masses.size(), positions.size());
  const nbody_report first =
      detail::facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
        bodies_ =
            detail::facade::make_nbody_on<where, Real>(positions, velocities, masses, options);
        return bodies_->report();
      });
  bodies_->backend_reason = first.backend_reason;
}

template <nbody_real Real>
void nbody_simulation<Real>::download(std::span<vector> positions, std::span<vector> velocities,
                                      std::span<vector> accelerations,
                                      std::span<Real> potentials) const {
  const auto check = [&](const char* name, const auto& span) {
    if (!span.empty()) check_size("nbody_simulation::download", name, span.size(), size());
  };
  check("positions", positions);
  check("velocities", velocities);
  check("accelerations", accelerations);
  check("potentials", potentials);
  bodies_->download(positions, velocities, accelerations, potentials);
}

// The types that on_backend.cuh is compiled for.
#define RAMIFY_INSTANTIATE(Real)                                                             \
  template nbody_report gravity(std::span<const std::array<Real, 3>>, std::span<const Real>, \
                                std::span<std::array<Real, 3>>, std::span<Real>,             \
                                const nbody_options&);                                       \
  template class nbody_simulation<Real>;
RAMIFY_INSTANTIATE(float)
RAMIFY_INSTANTIATE(double)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify
