// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launch costs of the current device. They are measured once for each GPU, driver and CUDA
/// runtime, and kept on disk and in the process.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA && RAMIFY_DEVICE_LAUNCH

#include <sched.h>

#include <map>
#include <mutex>
#include <optional>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/detail/host_clock.hpp>
#include <ramify/runtime/detail/launch_costs_file.hpp>
#include <ramify/runtime/detail/measure_launch_costs.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns the GPU, driver and CUDA runtime for which costs measured now on the current device
/// hold.
/// \throws cuda_error
[[nodiscard]] inline launch_costs_origin current_launch_costs_origin() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, current_device()), "querying the device's name");
  std::string driver = driver_version_in(beginning_of_file("/proc/driver/nvidia/version"));
  if (driver.empty()) {  // this process cannot read the file
    int version = 0;
    check(cudaDriverGetVersion(&version), "querying the driver's version");
    driver = "CUDA " + std::to_string(version);
  }
  return {properties.name, driver, CUDART_VERSION};
}

/// The launch costs, or the reason why they are not known.
struct launch_costs_answer {
  std::optional<launch_costs> costs;
  std::string obstacle;
};

/// Returns the launch costs of the current device: from memory, else from disk, else measured now.
///
/// It does not measure while `stream` is being captured or is busy, because the work in the stream
/// would count as launch time. The first call waits up to one second for a busy stream; later calls
/// do not wait. A failed measurement is returned as the obstacle. Thread-safe.
/// \throws cuda_error if a query of the device fails
[[nodiscard]] inline launch_costs_answer find_launch_costs(cudaStream_t stream) {
  struct entry {
    launch_costs_answer answer;
    std::optional<launch_costs_origin> origin;  // set after the file has been read
    bool waited = false;
  };
  static std::mutex mutex;
  static auto& known = *new std::map<int, entry>;  // never destroyed
  const int device = current_device();
  const std::lock_guard lock(mutex);
  entry& here = known[device];
  if (here.answer.costs || !here.answer.obstacle.empty()) return here.answer;

  const relaxed_capture_scope nothing_captured;
  const auto is_busy = [&] {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) check(state, "querying whether a stream is busy");
    return state == cudaErrorNotReady;
  };
  // 1. Read the file.
  if (!here.origin) {
    here.origin = current_launch_costs_origin();
    here.answer.costs = load_launch_costs(launch_costs_folder(), *here.origin);
    if (here.answer.costs) return here.answer;
  }
  // 2. Wait for the stream, but not forever: its work may wait for the calling thread.
  if (is_being_captured(stream)) return {{}, "the stream is being captured"};
  const double end = host_seconds() + (std::exchange(here.waited, true) ? 0 : 1);
  while (is_busy()) {
    if (host_seconds() >= end) return {{}, "the stream is busy"};
    ::sched_yield();
  }
  // 3. Measure.
  try {
    here.answer.costs = measure_launch_costs();
    save_launch_costs(launch_costs_folder(), *here.origin, *here.answer.costs);
  } catch (const unavailable& e) {  // the next call may find more free slots
    return {{}, e.what()};
  } catch (const cuda_error& e) {
    here.answer.obstacle = e.what();
  }
  return here.answer;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

#endif
