// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_costs_of_device(): the launch costs of the current CUDA device, and gpu_and_driver(), for
/// which they hold. Plain C++.
///
///     std::cout << ramify::launch_costs_of_device();  // one line for each kind of launch

#include <ramify/runtime/detail/requirements.hpp>

#include <ramify/runtime/launch_costs.hpp>
#include <ramify/version.hpp>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// Returns the launch costs of the current CUDA device, by which route::automatic chooses a route.
///
/// The first call in a process reads them from a file
/// (<ramify/runtime/detail/launch_costs_file.hpp>). If there is none, it measures them, which takes
/// well under a second, and waits for its own work only.
/// \throws unavailable if there is no usable CUDA device, or too few launch slots are free;
///         cuda_error
[[nodiscard]] launch_costs launch_costs_of_device();

/// The name of a GPU and the version of its driver.
struct gpu_identity {
  std::string gpu;     ///< such as "NVIDIA H100 80GB HBM3"
  std::string driver;  ///< such as "550.54.15"; "CUDA 12040" if only its CUDA version is known
};

/// Returns the current CUDA device and its driver. Does not wait for the device.
/// \throws unavailable if there is no usable CUDA device; cuda_error
[[nodiscard]] gpu_identity gpu_and_driver();

}  // namespace ramify::inline RAMIFY_ABI
