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

/// Calls `body` with on<build::cuda> or on<build::cpu>, as choose_backend(env.backend) decides; if
/// env.trace is not null and the backend is cuda, with on<build::cuda_traced>. Returns the
/// run_report that `body` returns, with the reason for the backend.
/// \throws unavailable, also if the program has no traced kernels
template <class Body>
auto on_backend(const environment& env, Body body) {
  backend_choice choice = choose_backend(env.backend);
  [[maybe_unused]] const bool is_traced = env.trace != nullptr;
  decltype(body(on<build::cpu>{})) report;
  if (choice.taken == backend::cpu) report = body(on<build::cpu>{});
#if RAMIFY_FACADE_HAS_CUDA
  if (choice.taken == backend::cuda && !is_traced) report = body(on<build::cuda>{});
  if (choice.taken == backend::cuda && is_traced) {
#if RAMIFY_FACADE_HAS_TRACED_CUDA
    report = body(on<build::cuda_traced>{});
#else
    throw unavailable(
        "a trace of a CUDA device needs traced kernels: configure Ramify with "
        "RAMIFY_TRACED_KERNELS=ON");
#endif
  }
#endif
  report.backend_reason = std::move(choice.reason);
  return report;
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
