// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The check that the kernels of a build run on the backend of a communicator.

#include <ramify/cluster/communicator.hpp>
#include <ramify/runtime/cuda.hpp>
#include <stdexcept>
#include <string>

namespace ramify::detail::cluster::inline RAMIFY_BUILD {

/// Checks that the kernels of this build run where the ranks' memory is. `function` begins the
/// message. \throws std::invalid_argument
inline void check_kernel_backend(const communicator& comm, const char* function) {
  constexpr backend here = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
  if (comm.backend() == here) return;
  throw std::invalid_argument(std::string(function) + ": the backend of the communicator is " +
                              std::string(to_string(comm.backend())) +
                              ", but these kernels run on " + std::string(to_string(here)));
}

}  // namespace ramify::detail::cluster::inline RAMIFY_BUILD
