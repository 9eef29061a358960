// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Describes the GPU, measures wall-clock times of work on it, copies vectors to and from it, and
/// generates keys.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/hash.cuh>
#include <sstream>
#include <string>
#include <vector>

#include "measure.hpp"

namespace benchmark {

/// Queries properties of the current device with nvidia-smi. Returns "unknown" for each property
/// that is not available.
inline std::vector<std::string> query_nvidia_smi(const std::vector<std::string>& properties) {
  std::vector<std::string> values(properties.size(), "unknown");
  int device = 0;
  std::array<char, 32> bus{};
  ramify::check(cudaGetDevice(&device), "querying the current device");
  ramify::check(cudaDeviceGetPCIBusId(bus.data(), bus.size(), device), "querying its bus");
  std::string command = std::string("nvidia-smi --format=csv,noheader,nounits --id=") + bus.data();
  for (const std::string& p : properties) {
    command += (&p == &properties.front() ? " --query-gpu=" : ",") + p;
  }
  const auto close = [](FILE* pipe) { static_cast<void>(pclose(pipe)); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen((command + " 2>&1").c_str(), "r"), close);
  std::array<char, 512> line{};
  if (pipe == nullptr || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) {
    return values;
  }
  std::vector<std::string> words;
  std::istringstream text(line.data());
  for (std::string word; std::getline(text >> std::ws, word, ',');) words.push_back(word);
  if (words.size() != properties.size()) return values;  // an error message
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i].erase(words[i].find_last_not_of(" \r\n") + 1);
    if (!words[i].empty() && words[i].front() != '[') values[i] = words[i];  // "[N/A]"
  }
  return values;
}

/// Returns the current device, its driver and its clocks. Creates a context, which raises the
/// clocks from idle.
inline facts this_gpu() {
  int device = 0;
  int runtime = 0;
  cudaDeviceProp properties{};
  ramify::check(cudaFree(nullptr), "creating a context");
  ramify::check(cudaGetDevice(&device), "querying the current device");
  ramify::check(cudaGetDeviceProperties(&properties, device), "querying the device");
  ramify::check(cudaRuntimeGetVersion(&runtime), "querying the runtime version");
  const auto values = query_nvidia_smi(
      {"driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "clocks.max.mem"});
  return {
      {"GPU", properties.name},
      {"SMs", properties.multiProcessorCount},
      {"driver", values[0]},
      {"CUDA runtime", std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10)},
      {"SM clock, MHz", values[1]},
      {"SM clock at most, MHz", values[2]},
      {"memory clock, MHz", values[3]},
      {"memory clock at most, MHz", values[4]}};
}

/// Returns the median wall-clock time of `repeats` calls, until the device is idle, after two
/// warm-up calls.
template <class Call>
timing host_time_of(int repeats, Call call) {
  std::vector<double> times;
  for (int i = -2; i < repeats; ++i) {
    ramify::check(cudaDeviceSynchronize(), "waiting for the device");
    const auto begin = std::chrono::steady_clock::now();
    call();
    ramify::check(cudaDeviceSynchronize(), "waiting for the device");
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - begin;
    if (i >= 0) times.push_back(elapsed.count());
  }
  return summarize(times);
}

/// Provides a different place in device memory for the scratch memory of each call. The place
/// changes the time of random reads (benchmarks/graph.md states by how much).
class scratch_places {
 public:
  static constexpr int count = 15;

  /// Allocates `count` places of `bytes` bytes.
  explicit scratch_places(std::size_t bytes)
      : stride_((bytes / page + 1) * page), memory_(count * stride_, nullptr) {}

  /// Returns the place of the next call, aligned to 256 bytes.
  [[nodiscard]] std::byte* next() { return memory_.data() + stride_ * (calls_++ % count); }

 private:
  static constexpr std::size_t page = std::size_t{1} << 21;

  std::size_t stride_;
  ramify::device_buffer<std::byte> memory_;
  unsigned calls_ = 0;
};

/// Copies a vector to a new buffer in device memory. Waits for the copy.
template <class T>
ramify::device_buffer<T> upload(const std::vector<T>& host) {
  ramify::device_buffer<T> buffer(host.size(), nullptr);
  ramify::check(
      cudaMemcpy(buffer.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
      "uploading");
  return buffer;
}

/// Copies `n` elements from device memory to a vector. Waits for the copy.
template <class T>
std::vector<T> download(const T* data, std::size_t n) {
  std::vector<T> host(n);
  ramify::check(cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost),
                "downloading");
  return host;
}

/// Returns the i-th number of splitmix64 whose state begins with 0.
__host__ __device__ inline std::uint64_t scrambled(std::uint64_t i) {
  return ramify::detail::runtime::splitmix64_finalize((i + 1) * 0x9e3779b97f4a7c15u);
}

}  // namespace benchmark
