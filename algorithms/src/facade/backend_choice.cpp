// SPDX-License-Identifier: BSD-3-Clause
#include "facade/backend_choice.hpp"

#include <ramify/launch_costs.hpp>

namespace ramify::detail::facade::inline RAMIFY_ABI {

#if !RAMIFY_FACADE_HAS_CUDA
cuda_device find_cuda_device() { return {false, "built without CUDA"}; }
launch_costs launch_costs_on_cuda() { throw unavailable("built without CUDA"); }
gpu_identity gpu_on_cuda() { throw unavailable("built without CUDA"); }
#endif

backend_choice choose_backend(backend wanted) {
  if (wanted == backend::cpu) return {backend::cpu, "requested"};
  const cuda_device device = find_cuda_device();
  if (device.usable) {
    return {backend::cuda,
            (wanted == backend::cuda ? "requested: " : "found ") + device.description};
  }
  if (wanted == backend::cuda) {
    throw unavailable("the cuda backend cannot run: " + device.description);
  }
  return {backend::cpu, device.description};
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

launch_costs launch_costs_of_device() {
  // It throws if there is no usable device.
  static_cast<void>(detail::facade::choose_backend(backend::cuda));
  return detail::facade::launch_costs_on_cuda();
}

gpu_identity gpu_and_driver() {
  static_cast<void>(detail::facade::choose_backend(backend::cuda));
  return detail::facade::gpu_on_cuda();
}

}  // namespace ramify::inline RAMIFY_ABI
