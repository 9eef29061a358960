// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of <ramify/nbody.hpp> on one backend. on_backend.cuh defines them; the C++
/// compiler and nvcc each compile it.

#include <memory>
#include <ramify/nbody.hpp>
#include <ramify/nbody/arrays.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"
#include "facade/started_call.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// The arrays of gravity().
template <class Real>
using gravity_arrays = nbody::body_arrays<Real, std::array<Real, 3>>;

/// Implements gravity() on the backend `where`.
template <build where, class Real>
nbody_report gravity_on(const gravity_arrays<Real>& arrays, const nbody_options& options,
                        const environment& env);

/// Implements gravity_async() on the backend `where`.
template <build where, class Real>
started_call<nbody_report> start_gravity_on(const gravity_arrays<Real>& arrays,
                                            const nbody_options& options, const environment& env);

/// Implements find_collisions() on the backend `where`.
template <build where, class Real>
nbody_collisions find_collisions_on(std::span<const std::array<Real, 3>> positions,
                                    std::span<const Real> radii, std::span<body_pair> pairs,
                                    const environment& env);

/// Returns the bodies of a new simulation on the backend `where`, in `field` unless it is null.
template <build where, class Real>
std::unique_ptr<nbody_on_backend<Real>> make_nbody_on(
    std::span<const std::array<Real, 3>> positions, std::span<const std::array<Real, 3>> velocities,
    std::span<const Real> masses, const nbody_field* field, const nbody_options& options,
    const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
