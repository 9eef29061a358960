// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/launch_costs.hpp>

#include "facade/backend_choice.hpp"

namespace ramify {

#if !RAMIFY_FACADE_HAS_CUDA
launch_costs detail::facade::launch_costs_on_cuda() { throw unavailable("built without CUDA"); }
#endif

launch_costs launch_costs_of_device() {
  static_cast<void>(
      detail::facade::choose_backend(backend::cuda));  // throws if there is no usable device
  return detail::facade::launch_costs_on_cuda();
}

}  // namespace ramify
