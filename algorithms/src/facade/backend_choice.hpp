// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which backend a call of the compiled facade runs on.

#include <ramify/runtime/error.hpp>
#include <ramify/runtime/launch_costs.hpp>
#include <ramify/runtime/report.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "facade/kernel_build.hpp"

namespace ramify::facade {

/// A device that can run kernels, or why there is none.
struct cuda_device {
  bool usable;
  std::string description;
};

/// Asks the driver, every time: a device may come or go with the environment.
[[nodiscard]] cuda_device find_cuda_device();

/// launch_costs_of_device(), where there is a device. \throws unavailable; cuda_error
[[nodiscard]] launch_costs launch_costs_on_cuda();

struct backend_choice {
  backend taken;
  std::string reason;
};

/// \throws unavailable
[[nodiscard]] backend_choice choose_backend(backend wanted);

template <build where>
using on = std::integral_constant<build, where>;

/// Calls `body` with on<build::cuda> or on<build::cpu>, whichever `wanted` comes to, and says
/// in the run_report that it gives back why it was that one. \throws unavailable
template <class Body>
auto on_backend(backend wanted, Body body) {
  backend_choice choice = choose_backend(wanted);
  decltype(body(on<build::cpu>{})) report;
#if RAMIFY_FACADE_HAS_CUDA
  if (choice.taken == backend::cuda) report = body(on<build::cuda>{});
#endif
  if (choice.taken == backend::cpu) report = body(on<build::cpu>{});
  report.backend_reason = std::move(choice.reason);
  return report;
}

/// The same for a run that may be traced; then on a CUDA device `body` gets on<build::cuda_traced>.
/// \throws unavailable, too, if there are no such kernels
template <class Body>
auto on_backend(backend wanted, [[maybe_unused]] bool is_traced, Body body) {
  return on_backend(wanted, [&](auto where) {
#if RAMIFY_FACADE_HAS_CUDA
    if constexpr (where == build::cuda) {
      if (is_traced) {
#if RAMIFY_FACADE_HAS_TRACED_CUDA
        return body(on<build::cuda_traced>{});
#else
        throw unavailable(
            "a trace of a CUDA device needs kernels that Ramify was configured without: "
            "RAMIFY_TRACED_KERNELS");
#endif
      }
    }
#endif
    return body(where);
  });
}

}  // namespace ramify::facade
