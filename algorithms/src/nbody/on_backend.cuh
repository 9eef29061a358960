// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's gravity on one backend: the C++ compiler compiles it for the CPU executor, nvcc for
/// CUDA.

#include <ramify/nbody.cuh>
#include <ramify/version.hpp>

#include "facade/device_arrays.cuh"
#include "facade/start_call.cuh"
#include "nbody/on_backend.hpp"
#include "spatial_tree/as_points.cuh"

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

using spatial_tree::as_points;

template <class Real, class External>
class nbody_here final : public facade::nbody_on_backend<Real> {
  using vector = std::array<Real, 3>;

 public:
  nbody_here(std::span<const vector> positions, std::span<const vector> velocities,
             std::span<const Real> masses, [[maybe_unused]] const External& external,
             const nbody_options& options, const environment& env)
      : env_(env), system_([&] {
          facade_call call(env);
          // For this call only: the system copies the bodies.
          const on_device x(as_points(positions), call, "positions");
          const on_device v(as_points(velocities), call, "velocities");
          const on_device m(masses, call, "masses");
          const std::size_t n = positions.size();
          auto system = [&]() -> nbody_system<Real, External> {
            if constexpr (std::is_same_v<External, no_external>) {
              return {x.data(), v.data(), m.data(), n, options, env};
            } else {
              return {x.data(), v.data(), m.data(), n, external, options, env};
            }
          }();
          times_ += call.finish();
          return system;
        }()) {}

  void step(double dt, std::uint64_t count) override {
    facade_call call(env_);
    system_.step(dt, count);
    times_ += call.finish();
  }

  nbody_conserved conserved() override {
    facade_call call(env_);
    const nbody_conserved sums = system_.conserved();
    times_ += call.finish();
    return sums;
  }

  void download(std::span<vector> positions, std::span<vector> velocities,
                std::span<vector> accelerations, std::span<Real> potentials) override {
    facade_call call(env_);
    call.copy_out(positions.data(), system_.positions(), positions.size_bytes());
    call.copy_out(velocities.data(), system_.velocities(), velocities.size_bytes());
    call.copy_out(accelerations.data(), system_.accelerations(), accelerations.size_bytes());
    call.copy_out(potentials.data(), system_.potentials(), potentials.size_bytes());
    times_ += call.finish();
  }

  [[nodiscard]] nbody_report report() const override {
    nbody_report report = system_.report();
    static_cast<run_times&>(report) = times_;
    report.backend_reason = this->backend_reason;
    return report;
  }

 private:
  environment env_;
  run_times times_;
  nbody_system<Real, External> system_;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <build where, class Real>
nbody_report gravity_on(const gravity_arrays<Real>& arrays, const nbody_options& options,
                        const environment& env) {
  static_assert(where == this_build);
  const std::size_t n = arrays.n;
  facade_call call(env);
  const on_device x(nbody::as_points(std::span(arrays.positions, n)), call, "positions");
  const on_device m(std::span(arrays.masses, n), call, "masses");
  const on_device a(nbody::as_points(std::span(arrays.accelerations, n)), array_role::output, call,
                    "accelerations");
  const on_device phi(arrays.potentials, n, call, "potentials");
  auto run = nbody::start_gravity<Real>("gravity", {x.data(), m.data(), n, a.data(), phi.data(), n},
                                        0, options, detail::waiting(env));
  return call.finish(run.get(), a, phi);
}

template <build where, class Real>
started_call<nbody_report> start_gravity_on(const gravity_arrays<Real>& arrays,
                                            const nbody_options& options, const environment& env) {
  static_assert(where == this_build);
  const std::size_t n = arrays.n;
  const auto points = [n](auto* vectors) { return nbody::as_points(std::span(vectors, n)).data(); };
  const nbody::device_arrays<Real> bodies{points(arrays.positions),     arrays.masses,     n,
                                          points(arrays.accelerations), arrays.potentials, n};
  return start_call<nbody_report>(
      env, [&] { return nbody::gravity_bytes<Real>(n, options); },
      [&](const environment& here) {
        return nbody::start_gravity<Real>("gravity", bodies, 0, options, here);
      });
}

template <build where, class Real>
nbody_collisions find_collisions_on(std::span<const std::array<Real, 3>> positions,
                                    std::span<const Real> radii, std::span<body_pair> pairs,
                                    const environment& env) {
  static_assert(where == this_build);
  facade_call call(env);
  const on_device x(nbody::as_points(positions), call, "positions");
  const on_device r(radii, call, "radii");
  const on_device found(pairs, array_role::in_place, call, "pairs");
  auto run = nbody::start_collisions<Real>(x.data(), {r.data(), 0}, positions.size(), found.data(),
                                           pairs.size(), nullptr, detail::waiting(env));
  return call.finish(run.get(), found);
}

template <build where, class Real>
std::unique_ptr<nbody_on_backend<Real>> make_nbody_on(
    std::span<const std::array<Real, 3>> positions, std::span<const std::array<Real, 3>> velocities,
    std::span<const Real> masses, const nbody_field* field, const nbody_options& options,
    const environment& env) {
  static_assert(where == this_build);
  const auto make = [&](const auto& external) -> std::unique_ptr<nbody_on_backend<Real>> {
    using external_type = std::remove_cvref_t<decltype(external)>;
    return std::make_unique<nbody::nbody_here<Real, external_type>>(positions, velocities, masses,
                                                                    external, options, env);
  };
  if (field == nullptr) return make(no_external{});
  return make(named_field<Real>(*field, options));
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

/// Instantiates the facade's gravity with numbers of type Real, for this backend.
#define RAMIFY_INSTANTIATE(Real)                                                                  \
  namespace ramify::detail::facade::inline RAMIFY_ABI {                                           \
  template nbody_report gravity_on<this_build>(const gravity_arrays<Real>&, const nbody_options&, \
                                               const environment&);                               \
  template started_call<nbody_report> start_gravity_on<this_build>(const gravity_arrays<Real>&,   \
                                                                   const nbody_options&,          \
                                                                   const environment&);           \
  template nbody_collisions find_collisions_on<this_build>(std::span<const std::array<Real, 3>>,  \
                                                           std::span<const Real>,                 \
                                                           std::span<body_pair>,                  \
                                                           const environment&);                   \
  template std::unique_ptr<nbody_on_backend<Real>> make_nbody_on<this_build>(                     \
      std::span<const std::array<Real, 3>>, std::span<const std::array<Real, 3>>,                 \
      std::span<const Real>, const nbody_field*, const nbody_options&, const environment&);       \
  }
