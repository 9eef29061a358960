// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's gravity on the backend of whichever compiler reads this.

#include <ramify/nbody.cuh>
#include <ramify/runtime/stream.cuh>

#include "device_arrays.cuh"
#include "nbody_on.hpp"

namespace ramify::inline RAMIFY_BUILD {

template <class Real>
std::span<const point<Real, 3>> as_points(std::span<const std::array<Real, 3>> vectors) {
  static_assert(sizeof(point<Real, 3>) == sizeof(std::array<Real, 3>));
  return {reinterpret_cast<const point<Real, 3>*>(vectors.data()), vectors.size()};
}
template <class Real>
std::span<point<Real, 3>> as_points(std::span<std::array<Real, 3>> vectors) {
  return {reinterpret_cast<point<Real, 3>*>(vectors.data()), vectors.size()};
}

inline gravity_config config_of(const gravity_options& options) {
  gravity_config config;
  static_cast<gravity_parameters&>(config) = options;
  config.route = options.route;
  return config;
}

template <class Real>
gravity_report gravity_here(std::span<const std::array<Real, 3>> positions,
                            std::span<const Real> masses,
                            std::span<std::array<Real, 3>> accelerations,
                            std::span<Real> potentials, const gravity_options& options) {
  const auto limits = scoped_pending_launches(options.pending_launches);
  const std::size_t n = positions.size();
  // The stream goes after all that is freed in it.
  const host_stream stream;
  const on_device x(as_points(positions), stream.get(), "positions");
  const on_device m(masses, stream.get(), "masses");
  const on_device a(as_points(accelerations), array_role::output, stream.get(), "accelerations");
  const on_device phi(potentials, array_role::output, stream.get(), "potentials");
  gravity_report report;
  if (options.method == gravity_method::tree) {
    report = barnes_hut<Real>(config_of(options))
                 .accelerations(x.data(), m.data(), n, a.data(), phi.data(), stream.get());
  } else {
    report = direct_gravity(x.data(), m.data(), n, a.data(), phi.data(), stream.get(), options);
  }
  a.copy_back(stream.get());
  phi.copy_back(stream.get());
  stream.synchronize();
  return report;
}

template <class Real>
class nbody_here final : public facade::nbody_on_backend<Real> {
  using vector = std::array<Real, 3>;

 public:
  nbody_here(std::span<const vector> positions, std::span<const vector> velocities,
             std::span<const Real> masses, const gravity_options& options)
      : pending_launches_(options.pending_launches), system_([&] {
          const auto limits = scoped_pending_launches(options.pending_launches);
          return nbody_system<Real>(as_points(positions).data(), as_points(velocities).data(),
                                    masses.data(), positions.size(), config_of(options),
                                    options.method, stream_.get());
        }()) {}

  void step(double dt, std::uint64_t count) override {
    const auto limits = scoped_pending_launches(pending_launches_);
    system_.step(dt, count);
  }

  nbody_conserved conserved() override { return system_.conserved(); }

  void download(std::span<vector> positions, std::span<vector> velocities,
                std::span<vector> accelerations, std::span<Real> potentials) override {
    const auto copy = [&](void* to, const void* from, std::size_t bytes) {
      if (bytes == 0) return;
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()),
            "copying the bodies back");
    };
    copy(positions.data(), system_.positions(), positions.size_bytes());
    copy(velocities.data(), system_.velocities(), velocities.size_bytes());
    copy(accelerations.data(), system_.accelerations(), accelerations.size_bytes());
    copy(potentials.data(), system_.potentials(), potentials.size_bytes());
    stream_.synchronize();
  }

  [[nodiscard]] std::size_t size() const override { return system_.size(); }
  [[nodiscard]] gravity_report report() const override { return system_.report(); }

 private:
  std::size_t pending_launches_;
  host_stream stream_;  // before what is freed in it
  nbody_system<Real> system_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::facade {

template <backend where, class Real>
gravity_report gravity_on(std::span<const std::array<Real, 3>> positions,
                          std::span<const Real> masses,
                          std::span<std::array<Real, 3>> accelerations, std::span<Real> potentials,
                          const gravity_options& options) {
  static_assert(where == (RAMIFY_ON_CUDA ? backend::cuda : backend::cpu));
  return gravity_here(positions, masses, accelerations, potentials, options);
}

template <backend where, class Real>
std::unique_ptr<nbody_on_backend<Real>> make_nbody_on(
    std::span<const std::array<Real, 3>> positions, std::span<const std::array<Real, 3>> velocities,
    std::span<const Real> masses, const gravity_options& options) {
  static_assert(where == (RAMIFY_ON_CUDA ? backend::cuda : backend::cpu));
  return std::make_unique<nbody_here<Real>>(positions, velocities, masses, options);
}

// All that the facade is compiled for on this backend.
#define RAMIFY_INSTANTIATE(Real)                                                                   \
  template gravity_report gravity_on<RAMIFY_ON_CUDA ? backend::cuda : backend::cpu>(               \
      std::span<const std::array<Real, 3>>, std::span<const Real>, std::span<std::array<Real, 3>>, \
      std::span<Real>, const gravity_options&);                                                    \
  template std::unique_ptr<nbody_on_backend<Real>>                                                 \
  make_nbody_on<RAMIFY_ON_CUDA ? backend::cuda : backend::cpu>(                                    \
      std::span<const std::array<Real, 3>>, std::span<const std::array<Real, 3>>,                  \
      std::span<const Real>, const gravity_options&);
RAMIFY_INSTANTIATE(float)
RAMIFY_INSTANTIATE(double)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify::facade
