// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <map>
#include <mutex>
#include <ramify/runtime/detail/launch_costs.cuh>
#include <ramify/runtime/notice.hpp>

#include "facade/backend_choice.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {
namespace {

// Represents all kernels of the program, which are compiled for the same architectures.
__global__ void any_kernel() {}

// Notifies the program once if the next use of a kernel makes the driver compile all of them. The
// query of a kernel's attributes would already do so, hence the list of the build.
void notify_of_compilation(const cudaDeviceProp& device) {
  static std::atomic_flag done;
  if (!detail::runtime::is_compiled_by_driver(RAMIFY_MACHINE_CODE, RAMIFY_OLDEST_PTX, device.major,
                                              device.minor)) {
    return;
  }
  if (done.test_and_set()) return;
  detail::runtime::notify(
      detail::runtime::compilation_notice(device.name, device.major, device.minor));
}

/// Returns the properties of a device, which the driver takes long to collect. Null: an error.
const cudaDeviceProp* properties_of(int device) {
  static std::mutex mutex;
  static auto& known = *new std::map<int, cudaDeviceProp>;  // never destroyed
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(device);
  if (is_new && cudaGetDeviceProperties(&found->second, device) != cudaSuccess) {
    known.erase(found);
    return nullptr;
  }
  return &found->second;
}

}  // namespace

cuda_device find_cuda_device() {
  const relaxed_capture_scope here;  // a graph may capture the call that needs the device
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    return {false, std::string("no CUDA device: ") + cudaGetErrorString(error)};
  }
  if (count == 0) return {false, "no CUDA device"};
  int current = 0;
  const cudaDeviceProp* const found =
      cudaGetDevice(&current) == cudaSuccess ? properties_of(current) : nullptr;
  if (found == nullptr) return {false, "the CUDA device cannot be queried"};
  const cudaDeviceProp& properties = *found;
  notify_of_compilation(properties);
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, any_kernel) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {false, std::string(properties.name) + " (compute capability " +
                       std::to_string(properties.major) + '.' + std::to_string(properties.minor) +
                       ") is not an architecture that this program was compiled for"};
  }
  return {true, properties.name};
}

launch_costs launch_costs_on_cuda() {
  const host_stream stream;
  const auto known = detail::runtime::find_launch_costs(stream.get());
  if (!known.costs) throw unavailable("launch costs cannot be measured: " + known.obstacle);
  return *known.costs;
}

gpu_identity gpu_on_cuda() {
  const auto origin = detail::runtime::current_launch_costs_origin();
  return {origin.gpu, origin.driver};
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
