// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_costs_of_device() for plain C++: what launches cost on the current CUDA device, on which
/// route::automatic is decided.
///
///     std::cout << ramify::launch_costs_of_device();  // launch by the host: 3.2 us ...
///
/// Waits     until they are measured, well under a second, if they are not known in this process
///           nor in a file; see <ramify/runtime/launch_costs_file.hpp> for where that is.
/// Errors    unavailable if there is no CUDA device that this program can use, or if too few of its
///           launch slots are free to measure with; cuda_error.

#include <ramify/runtime/launch_costs.hpp>

namespace ramify {

[[nodiscard]] launch_costs launch_costs_of_device();

}  // namespace ramify
