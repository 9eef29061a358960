// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Systems in external fields, for their tests.

#include <ramify/nbody.cuh>
#include <vector>

#include "kepler.hpp"
#include "nbody_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using vec = point<double, 3>;

template <class External>
nbody_system<double, External> system_of(const std::vector<vec>& x, const std::vector<vec>& v,
                                         const std::vector<double>& m, const External& external,
                                         nbody_options options, const environment& env = {}) {
  options.method = nbody_method::direct;
  return {x.data(), v.data(), m.data(), x.size(), external, options, env};
}

template <class System>
std::vector<vec> positions_of(const System& system) {
  return download_array(system.positions(), system.size());
}

}  // namespace tests::inline RAMIFY_BUILD
