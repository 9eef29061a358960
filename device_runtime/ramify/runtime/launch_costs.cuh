// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What launches cost on the current device: measured once for each GPU, driver and CUDA runtime, kept
/// on disk, and in memory while the process lives.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA && RAMIFY_DEVICE_LAUNCH

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch_costs_file.hpp>
#include <ramify/runtime/measure_launch_costs.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <thread>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// What costs that are measured now, on the current device, would hold for. \throws cuda_error
[[nodiscard]] inline launch_costs_origin current_launch_costs_origin() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the device's name");
  std::ifstream file("/proc/driver/nvidia/version");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string driver = driver_version_in(text);
  if (driver.empty()) {  // hidden from this process
    int version = 0;
    check(cudaDriverGetVersion(&version), "asking for the driver's version");
    driver = "CUDA " + std::to_string(version);
  }
  return {properties.name, driver, CUDART_VERSION};
}

/// Measures the costs of the current device, whose origin is given, and keeps them in `folder`.
/// \throws as measure_launch_costs()
[[nodiscard]] inline launch_costs measure_and_keep_launch_costs(const std::filesystem::path& folder,
                                                                const launch_costs_origin& origin) {
  const launch_costs costs = measure_launch_costs();
  save_launch_costs(folder, origin, costs);
  return costs;
}

/// The costs, or why they are not known.
struct launch_costs_answer {
  std::optional<launch_costs> costs;
  std::string obstacle;
};

/// The costs on the current device, from memory, or else from disk, or else measured now, which is once
/// in a process. They are not measured while `stream` is being captured, or is busy, for that would
/// count as their time: of all calls the first waits for it, a second at most. Thread-safe.
/// \throws cuda_error if the device does not answer; that it cannot be measured is an answer
[[nodiscard]] inline launch_costs_answer find_launch_costs(cudaStream_t stream) {
  struct entry {
    launch_costs_answer answer;
    std::optional<launch_costs_origin> origin;  // once the disk has been looked at
    bool waited = false;
  };
  static std::mutex mutex;
  static std::map<int, entry> known;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  const std::lock_guard lock(mutex);
  entry& here = known[device];
  if (here.answer.costs || !here.answer.obstacle.empty()) return here.answer;

  const relaxed_capture_scope nothing_captured;
  const auto is_busy = [&] {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) check(state, "asking whether a stream is busy");
    return state == cudaErrorNotReady;
  };
  // 1. On disk.
  if (!here.origin) {
    here.origin = current_launch_costs_origin();
    here.answer.costs = load_launch_costs(launch_costs_folder(), *here.origin);
    if (here.answer.costs) return here.answer;
  }
  // 2. Not now? A stream that stays busy may wait for its owner, who waits for us.
  if (is_being_captured(stream)) return {{}, "the stream is being captured"};
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(std::exchange(here.waited, true) ? 0 : 1);
  while (is_busy()) {
    if (std::chrono::steady_clock::now() >= end) return {{}, "the stream is busy"};
    std::this_thread::yield();
  }
  // 3. Now.
  try {
    here.answer.costs = measure_and_keep_launch_costs(launch_costs_folder(), *here.origin);
  } catch (const unavailable& e) {  // of slots there may be more next time
    return {{}, e.what()};
  } catch (const cuda_error& e) {
    here.answer.obstacle = e.what();
  }
  return here.answer;
}

}  // namespace ramify::inline RAMIFY_BUILD

#endif
