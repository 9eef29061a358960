// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The choice of the backend for a call of the compiled facade.

#include <ramify/launch_costs.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Whether the current CUDA device can run kernels of this program.
struct cuda_device {
  bool usable;
  std::string description;  ///< the name of the device, or the reason why it is not usable
};

/// Queries the driver. Each call repeats the query, because the environment may change.
[[nodiscard]] cuda_device find_cuda_device();

/// Returns the launch costs of the current device, which must be usable.
/// \throws unavailable; cuda_error
[[nodiscard]] launch_costs launch_costs_on_cuda();

/// Returns the name of the current device, which must be usable, and of its driver.
/// \throws cuda_error
[[nodiscard]] gpu_identity gpu_on_cuda();

/// A backend and the reason for it.
struct backend_choice {
  backend taken;
  std::string reason;
};

/// Chooses the backend of a call. \throws unavailable if `wanted` cannot run
[[nodiscard]] backend_choice choose_backend(backend wanted);

/// The type by which a facade's body gets its build at compile time.
template <build where>
using on = std::integral_constant<build, where>;

/// Calls `body` with on<build::cuda> or on<build::cpu>; if env.trace is not null and the backend is
/// cuda, with on<build::cuda_traced>. Returns what `body` returns.
/// \throws unavailable if the program has no traced kernels
template <class Body>
auto call_body(backend taken, [[maybe_unused]] const environment& env, Body& body) {
#if RAMIFY_FACADE_HAS_CUDA
  if (taken == backend::cuda && env.trace == nullptr) return body(on<build::cuda>{});
  if (taken == backend::cuda) {
#if RAMIFY_FACADE_HAS_TRACED_CUDA
    return body(on<build::cuda_traced>{});
#else
    throw unavailable(
        "a trace of a CUDA device needs traced kernels: configure Ramify with "
        "RAMIFY_TRACED_KERNELS=ON");
#endif
  }
#else
  static_cast<void>(taken);
#endif
  return body(on<build::cpu>{});
}

/// Calls `body` for the backend that choose_backend(env.backend) chooses; see call_body(). Returns
/// the run_report that `body` returns, with the reason for the backend. \throws unavailable
template <class Body>
auto on_backend(const environment& env, Body body) {
  backend_choice choice = choose_backend(env.backend);
  auto report = call_body(choice.taken, env, body);
  report.backend_reason = std::move(choice.reason);
  return report;
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
