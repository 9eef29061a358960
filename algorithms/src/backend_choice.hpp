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

template <backend where>
using on = std::integral_constant<backend, where>;

/// Calls `body` with on<backend::cuda> or on<backend::cpu>, whichever `wanted` comes to, and says
/// in the run_report that it gives back why it was that one. \throws unavailable
template <class Body>
auto on_backend(backend wanted, Body body) {
  backend_choice choice = choose_backend(wanted);
  decltype(body(on<backend::cpu>{})) report;
#if RAMIFY_FACADE_HAS_CUDA
  if (choice.taken == backend::cuda) report = body(on<backend::cuda>{});
#endif
  if (choice.taken == backend::cpu) report = body(on<backend::cpu>{});
  report.backend_reason = std::move(choice.reason);
  return report;
}

}  // namespace ramify::facade
