// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's gravity on the backend of whichever compiler reads this.

#include <ramify/nbody.cuh>

#include "facade/device_arrays.cuh"
#include "nbody/on_backend.hpp"

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
  config.trace = options.trace;
  return config;
}

template <class Real>
gravity_report gravity_here(std::span<const std::array<Real, 3>> positions,
                            std::span<const Real> masses,
                            std::span<std::array<Real, 3>> accelerations,
                            std::span<Real> potentials, const gravity_options& options) {
  const std::size_t n = positions.size();
  facade_call call(options.pending_launches);
  const on_device x(as_points(positions), call, "positions");
  const on_device m(masses, call, "masses");
  const on_device a(as_points(accelerations), array_role::output, call, "accelerations");
  const on_device phi(potentials, array_role::output, call, "potentials");
  gravity_report report;
  if (options.method == gravity_method::tree) {
    report = barnes_hut<Real>(config_of(options))
                 .accelerations(x.data(), m.data(), n, a.data(), phi.data(), call.stream());
  } else {
    report = direct_gravity(x.data(), m.data(), n, a.data(), phi.data(), call.stream(), options, {},
                            options.trace);
  }
  a.copy_back();
  phi.copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

template <class Real>
class nbody_here final : public facade::nbody_on_backend<Real> {
  using vector = std::array<Real, 3>;

 public:
  nbody_here(std::span<const vector> positions, std::span<const vector> velocities,
             std::span<const Real> masses, const gravity_options& options)
      : pending_launches_(options.pending_launches), system_([&] {
          facade_call call(options.pending_launches, stream_);
          // For the start alone: the system has bodies of its own.
          const on_device x(as_points(positions), call, "positions");
          const on_device v(as_points(velocities), call, "velocities");
          const on_device m(masses, call, "masses");
          nbody_system<Real> system(x.data(), v.data(), m.data(), positions.size(),
                                    config_of(options), options.method, stream_.get());
          spent_ += call.finish();
          return system;
        }()) {}

  void step(double dt, std::uint64_t count) override {
    facade_call call(pending_launches_, stream_);
    system_.step(dt, count);
    spent_ += call.finish();
  }

  nbody_conserved conserved() override {
    facade_call call(0, stream_);
    const nbody_conserved sums = system_.conserved();
    spent_ += call.finish();
    return sums;
  }

  void download(std::span<vector> positions, std::span<vector> velocities,
                std::span<vector> accelerations, std::span<Real> potentials) override {
    facade_call call(0, stream_);
    call.copy_out(positions.data(), system_.positions(), positions.size_bytes());
    call.copy_out(velocities.data(), system_.velocities(), velocities.size_bytes());
    call.copy_out(accelerations.data(), system_.accelerations(), accelerations.size_bytes());
    call.copy_out(potentials.data(), system_.potentials(), potentials.size_bytes());
    spent_ += call.finish();
  }

  [[nodiscard]] std::size_t size() const override { return system_.size(); }
  [[nodiscard]] gravity_report report() const override {
    gravity_report report = system_.report();
    static_cast<run_times&>(report) = spent_;
    return report;
  }

 private:
  std::size_t pending_launches_;
  run_times spent_;
  host_stream stream_;  // before what is freed in it
  nbody_system<Real> system_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::facade {

template <build where, class Real>
gravity_report gravity_on(std::span<const std::array<Real, 3>> positions,
                          std::span<const Real> masses,
                          std::span<std::array<Real, 3>> accelerations, std::span<Real> potentials,
                          const gravity_options& options) {
  static_assert(where == this_build);
  return gravity_here(positions, masses, accelerations, potentials, options);
}

template <build where, class Real>
std::unique_ptr<nbody_on_backend<Real>> make_nbody_on(
    std::span<const std::array<Real, 3>> positions, std::span<const std::array<Real, 3>> velocities,
    std::span<const Real> masses, const gravity_options& options) {
  static_assert(where == this_build);
  return std::make_unique<nbody_here<Real>>(positions, velocities, masses, options);
}

}  // namespace ramify::facade

/// Instantiates the facade's gravity with numbers of type Real, for this backend.
#define RAMIFY_INSTANTIATE(Real)                                                                   \
  namespace ramify::facade {                                                                       \
  template gravity_report gravity_on<this_build>(                                                  \
      std::span<const std::array<Real, 3>>, std::span<const Real>, std::span<std::array<Real, 3>>, \
      std::span<Real>, const gravity_options&);                                                    \
  template std::unique_ptr<nbody_on_backend<Real>> make_nbody_on<this_build>(                      \
      std::span<const std::array<Real, 3>>, std::span<const std::array<Real, 3>>,                  \
      std::span<const Real>, const gravity_options&);                                              \
  }
